"""What autograd keeps of a gated unit for its backward pass."""
import os

import torch

if not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"  # before triton is imported
    print("No CUDA device found: Triton's interpreter runs the kernel on the CPU.")


# --8<-- [start:kept]
import torch.nn.functional as F

from kernels.activations import swiglu

device = "cuda" if torch.cuda.is_available() else "cpu"
gate, up = torch.randn(2, 64, 256, device=device).requires_grad_().unbind()


def tensors_kept(function):
    kept = []

    def note(tensor):
        kept.append(tensor.numel())
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(note, lambda tensor: tensor):
        function(gate, up)
    return sum(kept) / gate.numel()


print("two kernels keep", tensors_kept(lambda gate, up: F.silu(gate) * up))
#> two kernels keep 3.0
print("one kernel keeps", tensors_kept(swiglu))
#> one kernel keeps 2.0
# --8<-- [end:kept]
