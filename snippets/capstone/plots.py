"""Time the small library beside PyTorch, and draw a plot of each kernel into the folder `plots`."""
# needs: cuda
import os
import sys

import torch

if not torch.cuda.is_available():
    print("needs: cuda (an NVIDIA GPU that PyTorch can use)")
    sys.exit(2)

import torch.nn.functional as F
from triton.testing import do_bench

from snippets.capstone.dropout import dropout
from snippets.capstone.layer_norm import layer_norm
from snippets.capstone.rms_norm import rms_norm
from snippets.capstone.softmax import softmax

try:
    import matplotlib
except ImportError:
    print("matplotlib is not installed: the times are printed, and nothing is drawn")
    matplotlib = None

COLUMNS = (512, 1024, 2048, 4096, 8192)
OURS = {
    "softmax": lambda x, w, b: softmax(x),
    "layer_norm": layer_norm,
    "rms_norm": lambda x, w, b: rms_norm(x, w),
    "dropout": lambda x, w, b: dropout(x, 0.1, seed=1),
}
PYTORCH = {
    "softmax": lambda x, w, b: torch.softmax(x, dim=-1),
    "layer_norm": lambda x, w, b: F.layer_norm(x, w.shape, w, b),
    "rms_norm": lambda x, w, b: F.rms_norm(x, w.shape, w, 1e-6),
    "dropout": lambda x, w, b: F.dropout(x, 0.1),
}


ELEMENTS = 2**26  # so many that a call takes longer than Python's share of it


def rates(function):
    """Gigabytes a second of the forward pass for each length of a row, in bfloat16; each number is read or written once."""
    found = []
    for columns in COLUMNS:
        x = torch.randn(ELEMENTS // columns, columns, device="cuda").bfloat16()
        weight, bias = torch.randn(2, columns, device="cuda").bfloat16().unbind()
        with torch.no_grad():
            found.append(2 * x.nbytes / do_bench(lambda: function(x, weight, bias)) / 1e6)
    return found


for name in OURS:
    ours, theirs = rates(OURS[name]), rates(PYTORCH[name])
    for columns, one, other in zip(COLUMNS, ours, theirs, strict=True):
        print(f"{name:10} {ELEMENTS // columns:6} x {columns:5}: {one:6.0f} GB/s, PyTorch {other:6.0f} GB/s")
    if matplotlib:
        matplotlib.use("Agg")
        from matplotlib import pyplot

        figure, axes = pyplot.subplots()
        axes.plot(COLUMNS, ours, marker="o", label="this kernel")
        axes.plot(COLUMNS, theirs, marker="s", label="PyTorch")
        axes.set(title=f"{name}, 2**26 numbers in bfloat16", xlabel="columns", ylabel="GB/s", xscale="log", ylim=(0, None))
        axes.legend()
        os.makedirs("plots", exist_ok=True)
        figure.savefig(f"plots/{name}.png")
        pyplot.close(figure)
