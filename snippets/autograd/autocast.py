"""Under autocast PyTorch chooses the dtype of its own operations. A Function of yours has to say what it wants."""
import os

# --8<-- [start:torch]
import torch
# --8<-- [end:torch]

if not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"  # before triton is imported
    print("No CUDA device found: Triton's interpreter runs the kernel on the CPU.")

# --8<-- [start:autocast]
from kernels.softmax import softmax
from kernels.softmax.softmax import softmax_backward, softmax_forward

device = "cuda" if torch.cuda.is_available() else "cpu"


class InFloat32(torch.autograd.Function):
    @staticmethod
    @torch.amp.custom_fwd(device_type=device, cast_inputs=torch.float32)
    def forward(ctx, x):
        y = softmax_forward(x, 1)
        ctx.save_for_backward(y)
        return y

    @staticmethod
    @torch.amp.custom_bwd(device_type=device)
    def backward(ctx, dy):
        return softmax_backward(ctx.saved_tensors[0], dy, 1)


layer = torch.nn.Linear(16, 16, device=device)
x = torch.randn(4, 16, device=device)
with torch.autocast(device, dtype=torch.bfloat16):
    scores = layer(x)
    print("the layer's result:", scores.dtype)
    #> the layer's result: torch.bfloat16
    if device == "cuda":  # for the CPU, PyTorch's list is another
        print("torch.softmax of it:", torch.softmax(scores, dim=-1).dtype)
    print("kernels.softmax of it:", softmax(scores).dtype)
    #> kernels.softmax of it: torch.bfloat16
    print("with custom_fwd:", InFloat32.apply(scores).dtype)
    #> with custom_fwd: torch.float32
# --8<-- [end:autocast]
