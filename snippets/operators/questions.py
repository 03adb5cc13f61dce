"""What the questions of the lesson ask, asked of PyTorch: each line is the answer to one."""
import torch
from torch._subclasses import FakeTensorMode

ran = []


@torch.library.custom_op("questions::soft", mutates_args=())
def soft(x: torch.Tensor) -> torch.Tensor:
    ran.append(x.shape)
    return x / (1 + x.abs())


@soft.register_fake
def soft_fake(x):
    return torch.empty_like(x)


with FakeTensorMode():
    soft(torch.empty(8, 300))
print(f"fake: {len(ran)}")

graphs = []


def keeping(graph, inputs):
    graphs.append(graph)
    return graph.forward


torch.compile(lambda x: soft(x * 2) + 1, backend=keeping, fullgraph=True)(torch.randn(8))
print(f"graph: {sum(node.op == 'call_function' for node in graphs[0].graph.nodes)}")

x = torch.randn(8, requires_grad=True)
try:
    soft(x).sum().backward()
    print(f"gradient: {'silent' if x.grad is None else 'right'}")
except RuntimeError:
    print("gradient: error")
