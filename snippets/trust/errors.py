"""How far the library and PyTorch are from float64, for the same inputs."""
# needs: cuda
import sys

import torch
import torch.nn.functional as F

if not torch.cuda.is_available():
    print("needs: cuda (an NVIDIA GPU that PyTorch can use)")
    sys.exit(2)

from kernels.tools.benchmark import DTYPES, keep
from kernels.cross_entropy import cross_entropy
from kernels.activations import geglu
from kernels.activations import gelu
from kernels.norm import layer_norm
from kernels.norm import rms_norm
from kernels.softmax import softmax
from kernels.reductions import sum
from kernels.activations import swiglu


# --8<-- [start:error]
def error(y, right):
    """The distance to the right result, as a part of its length."""
    return ((y.double() - right).norm() / right.norm()).item()


def errors(ours, theirs, inputs):
    """The errors of the result and of all gradients, ours and PyTorch's, against PyTorch in float64."""
    results = []
    for function, dtype in ((ours, None), (theirs, None), (theirs, torch.float64)):
        leaves = [x.detach().to(dtype or x.dtype).requires_grad_() for x in inputs]
        y = function(*leaves)
        torch.manual_seed(1)
        dy = torch.randn(y.shape, device="cuda").to(inputs[0].dtype).to(y.dtype)
        results.append([y, *torch.autograd.grad(y, leaves, dy)])
    return [[error(y, right) for y, right in zip(found, results[2], strict=True)] for found in results[:2]]
# --8<-- [end:error]


def random(*shape, dtype):
    return torch.randn(shape, device="cuda").to(dtype)


kept, lines = {}, []
for dtype in (torch.float32, torch.float16, torch.bfloat16):
    for rows, columns in ((4096, 300), (2048, 4096), (128, 131072)):
        torch.manual_seed(0)
        x, y = random(rows, columns, dtype=dtype), random(rows, columns, dtype=dtype)
        w, b = random(columns, dtype=dtype), random(columns, dtype=dtype)
        target = torch.randint(columns, (rows,), device="cuda")
        cases = {
            "softmax": (softmax, lambda x: torch.softmax(x, -1), [x]),
            "layer_norm": (layer_norm, lambda x, w, b: F.layer_norm(x, x.shape[-1:], w, b), [x, w, b]),
            "rms_norm": (lambda x, w: rms_norm(x, w, 1e-6), lambda x, w: F.rms_norm(x, x.shape[-1:], w, 1e-6), [x, w]),
            "gelu": (gelu, F.gelu, [x]),
            "swiglu": (swiglu, lambda gate, up: F.silu(gate) * up, [x, y]),
            "geglu": (geglu, lambda gate, up: F.gelu(gate, approximate="tanh") * up, [x, y]),
            "cross_entropy": (lambda x, t=target: cross_entropy(x, t), lambda x, t=target: F.cross_entropy(x, t), [x]),
            "sum": (lambda x: sum(x, -1), lambda x: x.sum(-1), [x]),
        }
        for name, (ours, theirs, inputs) in cases.items():
            found = errors(ours, theirs, inputs)
            key = f"{name}_{rows}x{columns}_{DTYPES[dtype]}"
            kept[key] = {"ours": found[0], "theirs": found[1]}
            text = "  ".join(f"{a:.1e} {b:.1e}" for a, b in zip(*found, strict=True))
            lines.append(f"{name:14}{rows:>5}x{columns:<7}{DTYPES[dtype]}  {text}")
print("operation      shape        dtype  result: ours, PyTorch's, then each gradient's")
print(*lines, sep="\n")
keep(figures={"errors": kept})
