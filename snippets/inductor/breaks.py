"""Where torch.compile gives up on one graph: the graphs that it makes of a function are counted."""

# --8<-- [start:whole]
import torch


def whole(x):
    return torch.relu(x * 2).sum() + 1
# --8<-- [end:whole]


# --8<-- [start:breaks]
def reads(x):
    y = x * 2
    largest = y.max().item()  # a number of Python's
    return torch.relu(y).sum() / largest


def branches(x):
    y = x * 2
    if y.sum() > 0:  # which way is known only when the numbers are
        y = torch.relu(y)
    return y.sum() + 1


def graphs_of(function, x):
    """How many graphs a function becomes, by a backend that counts them."""
    graphs = []

    def counting(graph, inputs):
        graphs.append(graph)
        return graph.forward

    torch.compiler.reset()
    result = torch.compile(function, backend=counting)(x)
    torch.testing.assert_close(result, function(x))
    return len(graphs)


x = torch.ones(100)
print("whole:   ", graphs_of(whole, x))
#> whole:    1
print("reads:   ", graphs_of(reads, x))
#> reads:    2
print("branches:", graphs_of(branches, x))
#> branches: 2
# --8<-- [end:breaks]

# --8<-- [start:fullgraph]
try:
    torch.compile(branches, fullgraph=True, backend="eager")(x)
except torch._dynamo.exc.Unsupported as error:
    print(str(error).splitlines()[0])
    #> Data-dependent branching
# --8<-- [end:fullgraph]

# --8<-- [start:recompiles]
torch.compiler.reset()
compilations = []


def counting(graph, inputs):
    compilations.append([tuple(value.shape) for value in inputs if isinstance(value, torch.Tensor)])
    return graph.forward


compiled = torch.compile(whole, backend=counting)
for n in (100, 101, 102, 103, 5000):
    compiled(torch.ones(n))
print(len(compilations), "compilations for five lengths")
#> 2 compilations for five lengths
compiled(torch.ones(100, dtype=torch.float16))
compiled(torch.ones(10, 10))
print(len(compilations), "with another dtype and another number of dimensions")
#> 4 with another dtype and another number of dimensions
# --8<-- [end:recompiles]

# --8<-- [start:solution]
def branchless(x):
    y = x * 2
    return torch.where(y.sum() > 0, torch.relu(y), y).sum() + 1


print("branchless:", graphs_of(branchless, x))
#> branchless: 1
torch.testing.assert_close(branchless(-x), branches(-x))
# --8<-- [end:solution]
