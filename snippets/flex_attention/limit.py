"""When a compiled flex_attention has been compiled for too many functions: the next one is not compiled at all."""

# --8<-- [start:limit]
import logging
import warnings

import torch
from torch.nn.attention.flex_attention import flex_attention

warnings.simplefilter("ignore")
logging.getLogger("torch._dynamo").setLevel(logging.ERROR)  # it warns at the limit
compilations = []


def counting(graph, inputs):
    """A backend that compiles nothing and counts how often it is asked."""
    compilations.append(graph)
    return graph.forward


def times_compiled(score_mods, **options):
    torch.compiler.reset()
    compilations.clear()
    flex = torch.compile(flex_attention, backend=counting, **options)
    q, k, v = torch.randn(3, 1, 2, 128, 16).unbind()
    for score_mod in score_mods:
        flex(q, k, v, score_mod=score_mod)
    return len(compilations)


functions = [eval(f"lambda score, batch, head, query, key: score * {n}") for n in range(10)]
print("ten functions:", times_compiled(functions))
#> ten functions: 8
# --8<-- [end:limit]

# --8<-- [start:fullgraph]
with torch._dynamo.config.patch(recompile_limit=2):
    try:
        times_compiled(functions[:3], fullgraph=True)
    except Exception as error:
        print(type(error).__name__)
        #> FailOnRecompileLimitHit
# --8<-- [end:fullgraph]
