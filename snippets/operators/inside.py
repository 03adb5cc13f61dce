"""The library's functions alone, as operators, and in a compiled graph: as called, and in a CUDA graph, where no host counts."""
# needs: cuda
import sys

import torch

if not torch.cuda.is_available():
    print("needs: cuda (an NVIDIA GPU that PyTorch can use)")
    sys.exit(2)

from kernels.tools.benchmark import Benchmark
from kernels.norm import layer_norm
from kernels.matmul import matmul
from kernels.operators.register import operator_in_graph
from kernels.operators.elements import swiglu_in_graph
from kernels.operators.products import matmul_in_graph
from kernels.operators.rows import layer_norm_in_graph, softmax_in_graph
from kernels.softmax import softmax
from kernels.activations import swiglu

benchmark = Benchmark()
for rows in (64, 8192):
    x, y = torch.randn(2, rows, 4096, device="cuda").bfloat16().unbind()
    w, b = torch.randn(2, 4096, device="cuda").bfloat16().unbind()
    square = (torch.randn(4096, 4096, device="cuda") / 64).bfloat16()
    cases = {
        "softmax": (softmax, softmax_in_graph, (x,), 2 * x.nbytes, None),
        "layer_norm": (layer_norm, layer_norm_in_graph, (x, w, b), 2 * x.nbytes, None),
        "swiglu": (swiglu, swiglu_in_graph, (x, y), 3 * x.nbytes, None),
        "matmul": (matmul, matmul_in_graph, (x, square), 2 * x.nbytes + square.nbytes, 2 * rows * 4096**2),
    }
    for op, (function, in_graph, arguments, moved, flops) in cases.items():
        torch.compiler.reset()
        compiled = torch.compile(operator_in_graph(function, in_graph), fullgraph=True, dynamic=False)
        functions = {"blockwise": function, "operator": in_graph, "compiled": compiled}
        ways = {name: lambda f=f, a=arguments: f(*a) for name, f in functions.items()}
        benchmark.case(f"inside_{op}", "fwd", f"{rows}x4096", x.dtype, moved, flops, ways, function(*arguments))
benchmark.finish()
