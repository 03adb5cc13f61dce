"""Call the library's addition as one would call PyTorch's."""
import os

import torch

if not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"  # before triton is imported
    print("No CUDA device found: Triton's interpreter runs the kernel on the CPU.")


# --8<-- [start:call]
from kernels.add import add

device = "cuda" if torch.cuda.is_available() else "cpu"
x = torch.rand(3, 1, device=device)
y = torch.rand(4, device=device, dtype=torch.float16)
out = add(x, y)
print(tuple(out.shape), out.dtype)
#> (3, 4) torch.float32
torch.testing.assert_close(out, x + y)

try:
    add(torch.rand(3, device=device), torch.rand(4, device=device))
except ValueError as error:
    print(error)
    #> y: expected a shape that broadcasts with x's (3,), got (4,)
# --8<-- [end:call]
