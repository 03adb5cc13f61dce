"""What autograd notices when a tensor that it keeps is overwritten, and what it cannot notice."""
import os

# --8<-- [start:torch]
import torch
# --8<-- [end:torch]

if not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"  # before triton is imported
    print("No CUDA device found: Triton's interpreter runs the kernel on the CPU.")

# --8<-- [start:noticed]
from kernels.add import add_kernel
from kernels.softmax import softmax

device = "cuda" if torch.cuda.is_available() else "cpu"
x = torch.randn(4, 8, device=device, requires_grad=True)
weights = torch.randn(4, 8, device=device)


def complaint(action):
    try:
        action()
    except RuntimeError as error:
        return str(error).split(":")[0].removeprefix("one of the ")
    return "none"


y = softmax(x)
y += 1  # the backward pass needs y as it was
print(complaint(lambda: torch.autograd.grad((y * weights).sum(), x)))
#> variables needed for gradient computation has been modified by an inplace operation
print(complaint(lambda: x.add_(1)))
#> a leaf Variable that requires grad is being used in an in-place operation.
# --8<-- [end:noticed]

# --8<-- [start:unnoticed]
(right,) = torch.autograd.grad((softmax(x) * weights).sum(), x)
ones = torch.ones_like(x)

y = softmax(x)
loss = (y * weights).sum()
add_kernel[(1,)](y, ones, y, 32, BLOCK=32)  # writes into y, and says so to nobody
(wrong,) = torch.autograd.grad(loss, x)
print("right:", torch.allclose(wrong, right, atol=1e-6))
#> right: False

y = softmax(x)
loss = (y * weights).sum()
add_kernel[(1,)](y, ones, y, 32, BLOCK=32)
torch.autograd.graph.increment_version(y)  # now it is said
print(complaint(lambda: torch.autograd.grad(loss, x)))
#> variables needed for gradient computation has been modified by an inplace operation
# --8<-- [end:unnoticed]
assert not torch.allclose(wrong, right, atol=1e-6)
