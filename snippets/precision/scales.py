"""8-bit floats need scales: one for a whole matrix, or one for each row, where one row is much larger than the others."""
import os

import torch

if not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"  # before triton is imported
    print("No CUDA device found: Triton's interpreter runs the kernel on the CPU.")

from kernels.tools.benchmark import keep

# --8<-- [start:scales]
import torch

from kernels.matmul import scaled_matmul

E4M3 = torch.float8_e4m3fn
LARGEST = torch.finfo(E4M3).max


def shrunk(matrix: torch.Tensor, axis: int | None) -> tuple[torch.Tensor, torch.Tensor]:
    """A matrix as 8-bit floats, and what they are to be multiplied by: one number, or one for each line."""
    size = matrix.abs()
    scale = (size.max() if axis is None else size.amax(axis, keepdim=True)) / LARGEST
    return (matrix / scale).to(E4M3), scale


torch.manual_seed(0)
device = "cuda" if torch.cuda.is_available() else "cpu"
a, b = torch.randn(64, 128, device=device), torch.randn(128, 64, device=device)
a[0] *= 200_000
exact = a.double() @ b.double()
errors = {}
for name, axes in (("one scale", (None, None)), ("one a row", (1, 0))):
    (a8, a_scale), (b8, b_scale) = shrunk(a, axes[0]), shrunk(b, axes[1])
    c = scaled_matmul(a8, b8, a_scale, b_scale, out_dtype=torch.float32)
    off = (c.double() - exact)[1:]  # of all rows but the large one
    errors[name] = (off.norm() / exact[1:].norm()).item()
assert errors["one scale"] > 0.5 and errors["one a row"] < 0.05
# --8<-- [end:scales]
print("relative error of the other rows:", *(f"{name} {error:.2f}" for name, error in errors.items()))
keep(figures={"one": errors["one scale"], "row": errors["one a row"]})
