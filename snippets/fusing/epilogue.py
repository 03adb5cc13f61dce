"""A bias and an activation on the way out of a product: the same numbers as in a pass of their own, and what that saves."""
# counters: fused separate eager
import os
import sys

import torch

if not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"  # before triton is imported
    print("No CUDA device found: Triton's interpreter runs the kernels on the CPU.")

from kernels.tools.benchmark import Benchmark, keep

# --8<-- [start:imports]
import torch
import torch.nn.functional as F
import triton
import triton.language as tl

from kernels.activations.activation import activated
from kernels.activations import gelu
from kernels.matmul import matmul
from kernels.matmul.matmul import matmul_reference
# --8<-- [end:imports]

# --8<-- [start:check]
torch.manual_seed(0)
device = "cuda" if torch.cuda.is_available() else "cpu"
a, weight = torch.randn(100, 80, device=device), torch.randn(60, 80, device=device)
bias = torch.randn(60, device=device)
for activation in (None, "relu", "gelu", "gelu_tanh", "silu"):
    fused = matmul(a, weight.T, bias, activation)
    expected = matmul_reference(a.double(), weight.double().T, bias.double(), activation)
    print(activation, torch.allclose(fused.double(), expected, rtol=1e-4, atol=1e-4))
    #> None True
    #> relu True
    #> gelu True
    #> gelu_tanh True
    #> silu True
# --8<-- [end:check]

SHAPES = [(8192, 14336, 4096), (8192, 4096, 4096), (1024, 4096, 1024), (16, 8192, 8192)]


def ways_of(a, weight, bias):
    """For each operation: fused, in a pass of its own, PyTorch's, a library's that fuses too, and compiled."""
    b, tanh = weight.T, {"approximate": "tanh"}

    def linear_gelu(a, weight, bias):
        return F.gelu(F.linear(a, weight, bias), **tanh)

    def linear_silu(a, weight, bias):
        return F.silu(F.linear(a, weight, bias))

    compiled_gelu, compiled_silu = (torch.compile(f, dynamic=False) for f in (linear_gelu, linear_silu))
    searched = torch.compile(linear_gelu, dynamic=False, mode="max-autotune-no-cudagraphs")
    gelu_ways = {
        "fused": lambda: matmul(a, b, bias, "gelu_tanh"),
        "separate": lambda: gelu(matmul(a, b), bias, **tanh),
        "eager": lambda: linear_gelu(a, weight, bias),
        "cublas": lambda: torch._addmm_activation(bias, a, b, use_gelu=True),
        "compile": lambda: compiled_gelu(a, weight, bias),
    }
    if a.shape[0] == 8192 and weight.shape[0] == 14336:
        gelu_ways["compile_max"] = lambda: searched(a, weight, bias)
    return {
        "gelu": gelu_ways,
        "silu": {
            "fused": lambda: matmul(a, b, bias, "silu"),
            "separate": lambda: F.silu(matmul(a, b, bias)),
            "eager": lambda: linear_silu(a, weight, bias),
            "compile": lambda: compiled_silu(a, weight, bias),
        },
        "bias": {
            "fused": lambda: matmul(a, b, bias),
            "separate": lambda: matmul(a, b) + bias,
            "eager": lambda: F.linear(a, weight, bias),
        },
        "product": {"fused": lambda: matmul(a, b), "eager": lambda: a @ b},
    }


def exact(a, weight, bias):
    product = a.double() @ weight.double().T
    z = product + bias.double()
    return {"gelu": F.gelu(z, approximate="tanh"), "silu": F.silu(z), "bias": z, "product": product}


def given(M, N, K):
    """Rows, a weight as a linear layer keeps it, and a bias; the product's numbers are about as large as one."""
    a, weight = torch.randn(M, K, device="cuda"), torch.randn(N, K, device="cuda") / K**0.5
    return a.bfloat16(), weight.bfloat16(), torch.randn(N, device="cuda").bfloat16()


if device == "cuda":
    if sys.argv[1:]:  # the profiler watches one way a run, after a call that compiles
        way = ways_of(*given(8192, 14336, 4096))["gelu"][sys.argv[1]]
        way()
        torch.cuda.synchronize()
        torch.cuda.profiler.start()
        way()
        torch.cuda.profiler.stop()
    else:
        benchmark, failed = Benchmark(), {}
        for M, N, K in SHAPES:
            torch.compiler.reset()
            matrices, shape = given(M, N, K), f"{M}x{N}x{K}"
            operations, wanted = ways_of(*matrices), exact(*matrices)
            for operation, ways in operations.items():
                for name in list(ways):
                    try:
                        near = torch.isclose(ways[name]().double(), wanted[operation], rtol=2e-2, atol=0.05)
                        off = int((~near).sum())
                        failed |= {f"{shape} {operation} {name}": f"{off} elements are wrong"} if off else {}
                    except Exception as error:
                        failed[f"{shape} {operation} {name}"] = f"{type(error).__name__}: {error}"[:200]
                ways = {name: way for name, way in ways.items() if f"{shape} {operation} {name}" not in failed}
                moved, flops = 2 * (M * K + K * N + M * N), 2 * M * N * K
                benchmark.case(f"epilogue_{operation}", "fwd", shape, torch.bfloat16, moved, flops, ways, wanted[operation])
            del operations, wanted
        print("failed:", failed or "none")
        keep(ceilings=benchmark.ceilings, measurements=benchmark.measurements, figures={"failed": failed})
