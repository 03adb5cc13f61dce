"""A gate and an up that are the halves of one matrix are read where they lie."""
import os

# --8<-- [start:torch]
import torch
# --8<-- [end:torch]

if not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"  # before triton is imported
    print("No CUDA device found: Triton's interpreter runs the kernel on the CPU.")


# --8<-- [start:halves]
import torch.nn.functional as F

from kernels.activations import swiglu

device = "cuda" if torch.cuda.is_available() else "cpu"
both = torch.randn(30, 1000, device=device)  # what one matrix product gives
gate, up = both.chunk(2, dim=-1)
print("strides:", gate.stride(), "of a matrix with", gate.shape[1], "columns")
#> strides: (1000, 1) of a matrix with 500 columns
torch.testing.assert_close(swiglu(gate, up), F.silu(gate) * up)
# --8<-- [end:halves]
