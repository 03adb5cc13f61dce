"""The gradient of attention's gradient: refused with a word, and what to call in its place."""
import os

# --8<-- [start:torch]
import torch
# --8<-- [end:torch]

if not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"  # before triton is imported
    print("No CUDA device found: Triton's interpreter runs the kernel on the CPU.")

# --8<-- [start:twice]
from kernels.attention import attention
from kernels.attention.attention import attention_reference


def penalized(function, q, k, v):
    """The gradient of a loss with a penalty on the gradient in it."""
    loss = function(q, k, v, is_causal=True).square().sum()
    (dq,) = torch.autograd.grad(loss, q, create_graph=True)
    return torch.autograd.grad(loss + dq.square().sum(), q)[0]


device = "cuda" if torch.cuda.is_available() else "cpu"
q, k, v = torch.randn(3, 1, 2, 20, 16, device=device).unbind()
q.requires_grad_()
try:
    penalized(attention, q, k, v)
except NotImplementedError as error:
    print(str(error).partition(";")[0])
    #> the gradient of attention cannot be differentiated again

try:
    penalized(torch.nn.functional.scaled_dot_product_attention, q, k, v)
except RuntimeError as error:
    print("PyTorch's own:", "is not implemented" in str(error))
    #> PyTorch's own: True

found = penalized(attention_reference, q, k, v)
right = penalized(attention_reference, *(x.detach().double().requires_grad_() for x in (q, k, v)))
assert (found - right).norm() < 1e-4 * right.norm()
print("attention_reference agrees with itself in float64")
#> attention_reference agrees with itself in float64
# --8<-- [end:twice]
