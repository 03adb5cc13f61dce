"""Time what torch.compile writes, in both of its modes, beside the library's kernels, for six operations at four sizes each."""
# needs: cuda
import math
import sys

import torch
import torch.nn.functional as F

if not torch.cuda.is_available():
    print("needs: cuda (an NVIDIA GPU that PyTorch can use)")
    sys.exit(2)

from kernels.tools.benchmark import Benchmark, keep
from kernels.cross_entropy import cross_entropy
from kernels.activations import gelu
from kernels.norm import layer_norm
from kernels.norm import rms_norm
from kernels.softmax import softmax
from kernels.activations import swiglu

# For each operation: ours, PyTorch's, what it is given beside x, its passes over x, and the shapes of x.
NORMS = [(8192, 1024), (8192, 4096), (4096, 16384), (2048, 65536)]
UNITS = [(512, 4096), (8192, 4096), (8192, 14336), (8191, 4095)]
OPERATIONS = {
    "softmax": (softmax, lambda x: torch.softmax(x, -1), (), 2, [(4096, 1024), (8192, 4096), (4096, 32768), (4096, 131072)]),
    "layer_norm": (layer_norm, lambda x, w, b: F.layer_norm(x, w.shape, w, b), ("row", "row"), 2, NORMS),
    "rms_norm": (lambda x, w: rms_norm(x, w, 1e-6), lambda x, w: F.rms_norm(x, w.shape, w, 1e-6), ("row",), 2, NORMS),
    "swiglu": (swiglu, lambda x, y: F.silu(x) * y, ("like",), 3, UNITS),
    "bias_gelu": (
        lambda x, b: gelu(x, b, approximate="tanh"),
        lambda x, b: F.gelu(x + b, approximate="tanh"),
        ("row",),
        2,
        UNITS,
    ),
    "cross_entropy": (
        cross_entropy,
        F.cross_entropy,
        ("class",),
        1,
        [(8192, 4096), (8192, 32000), (2048, 50257), (4096, 128256)],
    ),
}


def given(kind, rows, columns):
    if kind == "class":
        return torch.randint(0, columns, (rows,), device="cuda")
    return torch.randn(*((columns,) if kind == "row" else (rows, columns)), device="cuda").bfloat16()


benchmark, failed = Benchmark(), {}
for op, (ours, plain, kinds, passes, shapes) in OPERATIONS.items():
    for rows, columns in shapes:
        torch.compiler.reset()
        x, rest = given("like", rows, columns), [given(kind, rows, columns) for kind in kinds]
        expected = plain(x.double(), *(t.double() if t.is_floating_point() else t for t in rest))
        compiled = torch.compile(plain, dynamic=False)
        searched = torch.compile(plain, dynamic=False, mode="max-autotune-no-cudagraphs")
        functions = {"blockwise": ours, "eager": plain, "compile": compiled, "compile_max": searched}
        ways = {name: lambda f=f, x=x, rest=rest: f(x, *rest) for name, f in functions.items()}
        for name in list(ways):
            try:
                ways[name]()
            except Exception as error:
                failed[f"{op} {rows}x{columns} {name}"] = f"{type(error).__name__}: {error}"[:200]
                del ways[name]
        benchmark.case(f"inductor_{op}", "fwd", f"{rows}x{columns}", x.dtype, passes * x.nbytes, None, ways, expected)

# The share of the library's speed that each mode reaches. Where a call is short, the launch is left out.
times = {}
for row in benchmark.measurements:
    times.setdefault((row["op"], row["shape"]), {}).setdefault(row["timing"], {})[row["implementation"]] = row["ms"][1]
figures = {"failed": failed}
for mode in ("compile", "compile_max"):
    shares = {}
    for (op, shape), timings in times.items():
        ms = timings.get("graph") or timings["call"]
        if mode in ms and "blockwise" in ms:
            shares.setdefault(op.removeprefix("inductor_"), {})[shape] = ms["blockwise"] / ms[mode]
    everything = [share for each in shares.values() for share in each.values()]
    mean = math.exp(sum(math.log(share) for share in everything) / len(everything))
    figures[mode] = {"mean": mean, "least": min(everything), "most": max(everything), "shares": shares, "cases": len(everything)}
    print(f"{mode} reaches {mean:.0%} of the library's speed: {min(everything):.0%} to {max(everything):.0%}")
print("failed:", failed or "none")
keep(ceilings=benchmark.ceilings, measurements=benchmark.measurements, figures=figures)
