"""When a compiled flex_attention is compiled again: lengths, masks, numbers and tensors that change. Counted without a GPU."""

# --8<-- [start:imports]
import warnings

import torch
from torch.nn.attention.flex_attention import create_block_mask, flex_attention
# --8<-- [end:imports]

from snippets.flex_attention.variants import causal, documents_of, prefix_of, soft_cap_of, window_of

# --8<-- [start:times]
warnings.simplefilter("ignore")
compilations = []


def counting(graph, inputs):
    """A backend that compiles nothing and counts how often it is asked."""
    compilations.append(graph)
    return graph.forward


def times_compiled(calls, **options):
    torch.compiler.reset()
    compilations.clear()
    flex = torch.compile(flex_attention, backend=counting, **options)
    for tokens, score_mod, mask_mod in calls:
        q, k, v = torch.randn(3, 1, 2, tokens, 16).unbind()
        mask = mask_mod and create_block_mask(mask_mod, None, None, tokens, tokens, device="cpu", BLOCK_SIZE=32)
        flex(q, k, v, score_mod=score_mod, block_mask=mask)
    return len(compilations)
# --8<-- [end:times]


# --8<-- [start:lengths]
lengths = [(tokens, None, causal) for tokens in (128, 160, 192, 256)]
print("four lengths, as it learns:", times_compiled(lengths))
#> four lengths, as it learns: 2
print("dynamic=True:", times_compiled(lengths, dynamic=True))
#> dynamic=True: 1
print("dynamic=False:", times_compiled(lengths, dynamic=False))
#> dynamic=False: 4
# --8<-- [end:lengths]

# --8<-- [start:same]
print("four block masks of one function:", times_compiled([(128, None, causal)] * 4))
#> four block masks of one function: 1
documents = [torch.arange(128) // n for n in (8, 16, 24, 32)]
print("four sets of documents:", times_compiled([(128, None, documents_of(d)) for d in documents]))
#> four sets of documents: 1
# --8<-- [end:same]

# --8<-- [start:numbers]
spans = [8, 16, 24, 32]
print("four spans, Python numbers:", times_compiled([(128, None, window_of(span)) for span in spans]))
#> four spans, Python numbers: 2
print("the same, dynamic=False:", times_compiled([(128, None, window_of(span)) for span in spans], dynamic=False))
#> the same, dynamic=False: 4
tensors = [torch.tensor(span) for span in spans]
print("four spans, tensors:", times_compiled([(128, None, window_of(span)) for span in tensors], dynamic=False))
#> four spans, tensors: 1
# --8<-- [end:numbers]

# --8<-- [start:functions]
others = [(128, None, mask) for mask in (causal, window_of(8), prefix_of(8))] + [(128, soft_cap_of(20.0), causal)]
print("four other functions:", times_compiled(others))
#> four other functions: 4
# --8<-- [end:functions]
