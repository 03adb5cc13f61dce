"""What a function of one tensor may be asked to do inside PyTorch: a table of situations, tried one by one."""
import sys

# --8<-- [start:situations]
import torch


class Between(torch.nn.Module):
    """A function with something to fuse on both sides of it."""

    def __init__(self, form):
        super().__init__()
        self.form = form

    def forward(self, x):
        return self.form(x * 2) + 1


def compiled_whole(form, x):
    return torch.compile(Between(form), fullgraph=True)(x)


def gradient(form, x):
    leaf = x.clone().requires_grad_()
    return torch.autograd.grad(form(leaf).square().sum(), leaf)[0]


def without_numbers(form, x):
    with torch._subclasses.fake_tensor.FakeTensorMode():
        y = form(torch.empty(x.shape, dtype=x.dtype, device=x.device))
    if x.is_cuda:
        torch.cuda.synchronize()  # a launch that fails says so later
    return torch.empty(y.shape, dtype=y.dtype).fill_(0)


def captured_in_a_cuda_graph(form, x):
    recording = torch.cuda.CUDAGraph()
    form(x)
    torch.cuda.synchronize()
    with torch.cuda.graph(recording):
        y = form(x)
    recording.replay()
    return y


SITUATIONS = {
    "called": lambda form, x: form(x),
    "gradient": gradient,
    "compile": compiled_whole,
    "compiled gradient": lambda form, x: gradient(lambda x: compiled_whole(form, x), x),
    "fake tensors": without_numbers,
    "export": lambda form, x: torch.export.export(Between(form), (x,)).module()(x),
    "vmap": lambda form, x: torch.vmap(form)(x),
    "CUDA graph": captured_in_a_cuda_graph,
}


def failure(call):
    """The error that a call ends in, in one line; nothing if it ends well."""
    try:
        call()
    except Exception as error:
        return f"{type(error).__name__}: " + " ".join(str(error).split())[:160]
    return ""


def verdict(situation, form, plain, x):
    """`yes`, or the error, or that the result is another than that of the plain function."""
    torch.compiler.reset()
    tried = SITUATIONS[situation]
    return failure(lambda: torch.testing.assert_close(tried(form, x), tried(plain, x))) or "yes"
# --8<-- [end:situations]


def graphs_of(function, x):
    """How many graphs a function becomes, or the error; a backend counts them and runs them as they are."""
    graphs = []

    def counting(graph, inputs):
        graphs.append(graph)
        return graph.forward

    torch.compiler.reset()
    return failure(lambda: torch.compile(Between(function), backend=counting)(x)) or len(graphs)


if __name__ == "__main__":
    x = torch.randn(8, 8, device="cuda" if torch.cuda.is_available() else "cpu")
    for name in SITUATIONS:
        if torch.cuda.is_available() or name not in ("compile", "compiled gradient", "CUDA graph"):
            print(f"{name:18} {verdict(name, torch.tanh, torch.tanh, x)}")
            assert verdict(name, torch.tanh, torch.tanh, x) == "yes"
