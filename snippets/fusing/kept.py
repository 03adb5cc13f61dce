"""What a fused activation keeps for the backward pass, and what keeping it costs."""
# counters: alone kept
import os
import sys

import torch

if not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"  # before triton is imported
    print("No CUDA device found: Triton's interpreter runs the kernels on the CPU.")

from kernels.tools.benchmark import Benchmark, keep
from kernels.matmul.matmul import matmul_forward

# --8<-- [start:kept]
import torch

from kernels.matmul import matmul

device = "cuda" if torch.cuda.is_available() else "cpu"
a, b = (torch.randn(64, 64, device=device).requires_grad_() for _ in range(2))
for activation in (None, "relu", "gelu", "silu"):
    c = matmul(a, b, None, activation)
    kept = [t for t in c.grad_fn.saved_tensors if t is not None and t is not a and t is not b]
    print(activation, len(kept), any(t.data_ptr() == c.data_ptr() for t in kept))
    #> None 0 False
    #> relu 1 True
    #> gelu 1 False
    #> silu 1 False
# --8<-- [end:kept]

if device == "cuda":
    torch.manual_seed(0)
    M, N, K = 8192, 14336, 4096
    a, weight = torch.randn(M, K, device="cuda"), torch.randn(N, K, device="cuda") / K**0.5
    a, weight, bias = a.bfloat16(), weight.bfloat16(), torch.randn(N, device="cuda").bfloat16()
    ways = {
        "alone": lambda: matmul_forward(a, weight.T, bias, "gelu_tanh", False)[0],
        "kept": lambda: matmul_forward(a, weight.T, bias, "gelu_tanh", False, keep=True)[0],
    }
    if sys.argv[1:]:  # the profiler watches one way a run, after a call that compiles
        ways[sys.argv[1]]()
        torch.cuda.synchronize()
        torch.cuda.profiler.start()
        ways[sys.argv[1]]()
        torch.cuda.profiler.stop()
    else:
        z = a.double() @ weight.double().T + bias.double()
        expected, benchmark = torch.nn.functional.gelu(z, approximate="tanh"), Benchmark()
        given = matmul_forward(a, weight.T, bias, "gelu_tanh", False, keep=True)[1].double()
        for name, found, wanted in (("z", given, z), *((name, way().double(), expected) for name, way in ways.items())):
            assert torch.isclose(found, wanted, rtol=2e-2, atol=0.05).all(), f"{name} is wrong"
        del z, given
        moved, flops = 2 * (M * K + K * N + M * N), 2 * M * N * K
        benchmark.case("epilogue_kept", "fwd", f"{M}x{N}x{K}", a.dtype, moved, flops, ways, expected)
        keep(ceilings=benchmark.ceilings, measurements=benchmark.measurements, figures={"kept_bytes": 2 * M * N})
