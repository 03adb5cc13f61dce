"""What a class that does not exist does."""
import os

import torch

if not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"  # before triton is imported
    print("No CUDA device found: Triton's interpreter runs the kernel on the CPU.")

# --8<-- [start:out_of_range]
from kernels.cross_entropy import cross_entropy

device = "cuda" if torch.cuda.is_available() else "cpu"
logits = torch.randn(3, 10, device=device)
target = torch.tensor([0, 10, 2], device=device)  # the classes are 0 to 9
try:
    loss = cross_entropy(logits, target, reduction="none")
    noticed = loss.isnan().tolist() == [False, True, False]
except ValueError as error:  # the host can see the target
    noticed = str(error).endswith("from 0 to 9, or ignore_index -100, got 10")
print("noticed:", noticed)
#> noticed: True
# --8<-- [end:out_of_range]
