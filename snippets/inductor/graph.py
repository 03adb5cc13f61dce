"""What torch.compile hands to its backend: a graph of operations. A backend is a function that gets it."""

# --8<-- [start:graph]
import torch


graphs = []


def keeping(graph, inputs):
    """A backend that compiles nothing: it keeps what it is given, and has it run as it is."""
    graphs.append(graph.graph)
    return graph.forward


@torch.compile(backend=keeping)
def chain(x, y):
    return torch.tanh(x * y + 1) * torch.sigmoid(x)


x, y = torch.randn(2, 8, 8).unbind()
result = chain(x, y)
for node in graphs[0].nodes:
    print(f"{node.op:13} {getattr(node.target, '__name__', node.target):8} {node.args}")
    #> placeholder   L_x_     ()
    #> placeholder   L_y_     ()
    #> call_function mul      (l_x_, l_y_)
    #> call_function add      (mul, 1)
    #> call_function tanh     (add,)
    #> call_function sigmoid  (l_x_,)
    #> call_function mul      (tanh, sigmoid)
    #> output        output   ((mul_1,),)
torch.testing.assert_close(result, torch.tanh(x * y + 1) * torch.sigmoid(x))
# --8<-- [end:graph]
