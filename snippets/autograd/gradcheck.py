"""gradcheck on a kernel that knows no float64, and on one with a mistake planted in its backward pass."""
import os

# --8<-- [start:torch]
import torch
# --8<-- [end:torch]

if not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"  # before triton is imported
    print("No CUDA device found: Triton's interpreter runs the kernel on the CPU.")

import warnings

warnings.filterwarnings("ignore", message="Input #0 requires gradient and is not a double")

# --8<-- [start:gradcheck]
from torch.autograd import gradcheck

from kernels.softmax import softmax
from kernels.softmax.softmax import softmax_forward

device = "cuda" if torch.cuda.is_available() else "cpu"
x = torch.randn(3, 7, device=device, requires_grad=True)
in_float32 = {"eps": 1e-2, "atol": 1e-3, "rtol": 1e-2}
print(gradcheck(softmax, x, **in_float32))
#> True


class Forgetful(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        y = softmax_forward(x, 1)
        ctx.save_for_backward(y)
        return y

    @staticmethod
    def backward(ctx, dy):
        (y,) = ctx.saved_tensors
        return y * dy  # the mistake: the row's sum is missing


print(gradcheck(Forgetful.apply, x, **in_float32, raise_exception=False))
#> False
print(gradcheck(softmax, x, eps=1e-6, raise_exception=False))  # meant for float64
#> False
# --8<-- [end:gradcheck]
