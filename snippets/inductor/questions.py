"""What the questions of the lesson ask, asked of Dynamo: each line is the answer to one."""
import torch

graphs = []


def counting(graph, inputs):
    """A backend that compiles nothing and keeps what it is asked for."""
    graphs.append(graph)
    return graph.forward


def graphs_of(function, *calls):
    torch.compiler.reset()
    graphs.clear()
    compiled = torch.compile(function, backend=counting)
    for x in calls:
        compiled(*x)
    return list(graphs)


def decides_twice(x):
    y = x * 2
    if y.sum() > 0:
        y = y + 1
    if y.max() > 3:
        y = y - 1
    return torch.tanh(y)


print(f"breaks: {len(graphs_of(decides_twice, (torch.ones(8),)))}")

lengths = [(torch.ones(n),) for n in (300, 200, 50)]
print(f"lengths: {len(graphs_of(lambda x: torch.tanh(x * 2), *lengths))}")

(chain,) = graphs_of(lambda x, y: (x * y + x).tanh() * x.sigmoid(), (torch.ones(8), torch.ones(8)))
loads = sum(node.op == "placeholder" for node in chain.graph.nodes)
stores = sum(len(node.args[0]) for node in chain.graph.nodes if node.op == "output")
print(f"chain: {loads} loads, {stores} store")
