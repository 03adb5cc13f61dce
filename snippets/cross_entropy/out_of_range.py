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
    seen = cross_entropy(logits, target, reduction="none").isnan().tolist()
except ValueError as error:
    seen = str(error)
print(seen)
# --8<-- [end:out_of_range]
on_gpu = [False, True, False]
on_cpu = "target: expected classes from 0 to 9, or ignore_index -100, got 10"
assert seen == (on_gpu if device == "cuda" else on_cpu)
