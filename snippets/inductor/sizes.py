"""When a compiled function is compiled again: sizes, branches on a size, arguments that are no tensors."""

# --8<-- [start:sizes]
import torch

compilations = []


def counting(graph, inputs):
    """A backend that compiles nothing and counts how often it is asked."""
    compilations.append(graph)
    return graph.forward


def times_compiled(function, calls, **options):
    torch.compiler.reset()
    compilations.clear()
    compiled = torch.compile(function, backend=counting, **options)
    for arguments in calls:
        compiled(*arguments)
    return len(compilations)


def shorter_than_100(x):
    return x.max() if x.shape[0] < 100 else x.sum()


lengths = [(torch.ones(n),) for n in (300, 200, 50, 60, 1)]
print("as it learns:", times_compiled(shorter_than_100, lengths))
#> as it learns: 4
print("variable at once:", times_compiled(shorter_than_100, lengths, dynamic=True))
#> variable at once: 3
print("every size anew:", times_compiled(shorter_than_100, lengths, dynamic=False))
#> every size anew: 5
# --8<-- [end:sizes]

# --8<-- [start:limit]
def named(x, name):
    return x + 1 if name else x


names = [(torch.ones(4), f"layer {n}") for n in range(12)]
print("twelve names:", times_compiled(named, names))
#> twelve names: 8
try:
    times_compiled(named, names, fullgraph=True)
except Exception as error:
    print(type(error).__name__)
    #> FailOnRecompileLimitHit
# --8<-- [end:limit]
