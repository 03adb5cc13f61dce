"""The same softmax on the GPU and under the interpreter: how many results are not the nearest float32."""
import os

# --8<-- [start:torch]
import torch
# --8<-- [end:torch]

if not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"  # before triton is imported
    print("no CUDA device: running under Triton's interpreter")
# --8<-- [start:device]
device = "cuda" if torch.cuda.is_available() else "cpu"

from kernels.softmax import softmax
# --8<-- [end:device]

# --8<-- [start:bits]
torch.manual_seed(0)
x = torch.randn(64, 1000)
right = torch.softmax(x.double(), dim=-1)
nearest = right.float()

for name, y in [("kernels.softmax", softmax(x.to(device)).cpu()), ("torch.softmax", torch.softmax(x, -1))]:
    steps = (y.view(torch.int32) - nearest.view(torch.int32)).abs()
    # --8<-- [end:bits]
    print(f"{name}: {(steps > 0).sum().item()} of {y.numel()} differ, by {steps.max().item()} steps at most")
assert torch.allclose(softmax(x.to(device)).cpu(), nearest, rtol=2e-6, atol=0)
