"""A gated unit forward and backward in two ways, for the hardware's counters to watch."""
# needs: cuda
# counters: eager blockwise
# --8<-- [start:imports]
import sys

import torch
# --8<-- [end:imports]

if not torch.cuda.is_available():
    print("needs: cuda (an NVIDIA GPU that PyTorch can use)")
    sys.exit(2)

from kernels.tools.benchmark import keep
# --8<-- [start:traffic]
import torch.nn.functional as F

from kernels.activations import swiglu

WAYS = {"eager": lambda gate, up: F.silu(gate) * up, "blockwise": swiglu}
gate, up, dy = torch.randn(3, 8192, 14336, device="cuda").bfloat16()
gate, up = gate.requires_grad_(), up.requires_grad_()
for name, way in WAYS.items():
    if sys.argv[1:] in ([], [name]):  # the profiler watches one way a run
        torch.autograd.grad(way(gate, up), (gate, up), dy)  # compiles the kernels
        torch.cuda.synchronize()
        torch.cuda.profiler.start()
        y = way(gate, up)
        gradients = torch.autograd.grad(y, (gate, up), dy)
        torch.cuda.profiler.stop()
        torch.testing.assert_close(y, F.silu(gate) * up, rtol=0.02, atol=0.02)
        del y, gradients
# --8<-- [end:traffic]
print(f"one tensor: {gate.nbytes:,} bytes")
keep(extra={"tensor_bytes": gate.nbytes})
