"""The small library beside PyTorch, forward and backward, replayed from CUDA graphs: the times behind the page's table."""
# needs: cuda
import sys

import torch

if not torch.cuda.is_available():
    print("needs: cuda (an NVIDIA GPU that PyTorch can use)")
    sys.exit(2)

import torch._functorch.config
import torch.nn.functional as F

from kernels.tools.benchmark import alternate, capture, keep, quantiles
from snippets.capstone.dropout import dropout
from snippets.capstone.layer_norm import layer_norm
from snippets.capstone.rms_norm import rms_norm
from snippets.capstone.softmax import softmax

torch._functorch.config.donated_buffer = False  # a compiled backward is called more than once here
torch.manual_seed(0)
torch.cuda.set_stream(torch.cuda.Stream())  # where graphs are captured, inputs must have been made
SHAPES = [(65536, 1024), (32768, 2048), (16384, 4096), (8192, 8192)]
FUNCTIONS = {
    "softmax": (softmax, lambda x: torch.softmax(x, dim=-1), 0),
    "layer_norm": (layer_norm, lambda x, w, b: F.layer_norm(x, w.shape, w, b), 2),
    "rms_norm": (rms_norm, lambda x, w: F.rms_norm(x, w.shape, w, 1e-6), 1),
    "dropout": (lambda x: dropout(x, 0.1, seed=1), lambda x: F.dropout(x, 0.1), 0),
}
figures = {}


def replayed(calls):
    """How long each call takes on the GPU: backward, a call from Python may be mostly autograd."""
    for call in calls:  # what compiles or tunes itself has done so before it is captured
        call()
    replays = [capture(call) for call in calls]
    assert all(replays), "a call cannot be captured"
    return alternate(replays)


for name, (ours, theirs, weights) in FUNCTIONS.items():
    for rows, columns in SHAPES:
        torch.compiler.reset()
        dy = torch.randn(rows, columns, device="cuda").bfloat16()
        sizes = [(rows, columns), *[(columns,)] * weights]
        given = [torch.randn(size, device="cuda").bfloat16().requires_grad_() for size in sizes]
        ways = {"ours": ours, "eager": theirs, "compile": torch.compile(theirs, dynamic=False)}
        outputs = {way: function(*given) for way, function in ways.items()}
        if name != "dropout":  # which drops other elements
            torch.testing.assert_close(outputs["ours"], outputs["eager"], rtol=2e-2, atol=2e-2)
            of_ours, of_theirs = (
                torch.autograd.grad(outputs[way], given, dy, retain_graph=True) for way in ("ours", "eager")
            )
            for mine, other in zip(of_ours, of_theirs, strict=True):
                assert (mine - other).norm() < 2e-2 * other.norm(), f"{name}: a gradient is wrong"
        with torch.no_grad():
            forward = replayed([lambda f=f: f(*given) for f in ways.values()])
        calls = [lambda y=y: torch.autograd.grad(y, given, dy, retain_graph=True) for y in outputs.values()]
        for direction, times in (("fwd", forward), ("bwd", replayed(calls))):
            ms = {way: quantiles(each)[1] for way, each in zip(ways, times, strict=True)}
            figures.setdefault(name, {}).setdefault(f"{rows}x{columns}", {})[direction] = ms
            told = ", ".join(f"{way} {each * 1e3:.1f} us" for way, each in ms.items())
            print(f"{name:10} {direction} {rows}x{columns}: {told}", flush=True)
keep(figures=figures)
