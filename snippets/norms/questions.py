"""What the questions of the lesson ask, run: each line is the answer to one."""
import os

import torch

if not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"  # before triton is imported
    print("No CUDA device found: Triton's interpreter runs the kernel on the CPU.")

import triton
import triton.language as tl


@triton.jit
def row_variance(x_ptr, out_ptr, n_columns, BLOCK: tl.constexpr):
    columns = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + columns, mask=columns < n_columns, other=0.0)
    centered = x - tl.sum(x, axis=0) / n_columns
    tl.store(out_ptr, tl.sum(centered * centered, axis=0) / n_columns)


@triton.jit
def leave_partials(dy_ptr, partials_ptr, n_rows, n_columns, BLOCK: tl.constexpr):
    columns = tl.arange(0, BLOCK)
    mask = columns < n_columns
    total = tl.zeros([BLOCK], tl.float32)
    for row in range(tl.program_id(0), n_rows, tl.num_programs(0)):
        total += tl.load(dy_ptr + row * n_columns + columns, mask=mask, other=0.0)
    tl.store(partials_ptr + tl.program_id(0) * n_columns + columns, total, mask=mask)


device = "cuda" if torch.cuda.is_available() else "cpu"
out = torch.empty(1, device=device)
row_variance[(1,)](torch.full((100,), 5.0, device=device), out, 100, BLOCK=128)
print(f"variance: {out.item()}")

dy = torch.randn(64, 10, device=device)
partials = torch.full((64, 10), float("nan"), device=device)
leave_partials[(4,)](dy, partials, 64, 10, BLOCK=16)
left = partials[~partials.isnan().any(1)]
assert torch.allclose(left.sum(0), dy.sum(0), atol=1e-5)
print(f"partials: {len(left)}")

x = torch.randn(4, 100, device=device)
before = torch.nn.functional.rms_norm(x, (100,))
for name, changed in {"add": x + 1000, "multiply": 1000 * x}.items():
    if torch.allclose(torch.nn.functional.rms_norm(changed, (100,)), before, atol=1e-3):
        print(f"unchanged: {name}")
