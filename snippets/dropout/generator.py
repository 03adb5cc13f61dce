"""Seeds from PyTorch's generator: what torch.manual_seed decides, and what it does not."""
import os

# --8<-- [start:torch]
import torch
# --8<-- [end:torch]

if not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"  # before triton is imported
    print("No CUDA device found: Triton's interpreter runs the kernel on the CPU.")


# --8<-- [start:generator]
import torch.nn.functional as F

from kernels.dropout import dropout

device = "cuda" if torch.cuda.is_available() else "cpu"
x = torch.ones(1000, device=device)
torch.manual_seed(3)
first, second = dropout(x, 0.5), dropout(x, 0.5)  # each draws a seed of its own
torch.manual_seed(3)
print("the same again:", torch.equal(dropout(x, 0.5), first))
#> the same again: True
print("call by call the same:", torch.equal(first, second))
#> call by call the same: False
torch.manual_seed(3)
print("PyTorch's mask:", torch.equal(F.dropout(x, 0.5), first))
#> PyTorch's mask: False
# --8<-- [end:generator]
