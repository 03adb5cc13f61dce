"""A matrix that its tiles do not cover exactly: a mask in two dimensions."""
import os

# --8<-- [start:torch]
import torch
# --8<-- [end:torch]

if not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"  # before triton is imported
    print("No CUDA device found: Triton's interpreter runs the kernel on the CPU.")

# --8<-- [start:triton]
import triton
import triton.language as tl
# --8<-- [end:triton]


# --8<-- [start:tiles]
@triton.jit
def scale_tile_kernel(
    x_ptr, out_ptr, scale, M, N,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr,
):
    rows = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)  # [BLOCK_M]
    cols = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)  # [BLOCK_N]
    offsets = rows[:, None] * N + cols[None, :]  # [BLOCK_M, BLOCK_N]
    mask = (rows[:, None] < M) & (cols[None, :] < N)  # [BLOCK_M, BLOCK_N]
    x = tl.load(x_ptr + offsets, mask=mask)
    tl.store(out_ptr + offsets, scale * x, mask=mask)


device = "cuda" if torch.cuda.is_available() else "cpu"
x = torch.rand(6, 10, device=device)
out = torch.full_like(x, float("nan"))
scale_tile_kernel[(2, 3)](x, out, 3.0, 6, 10, BLOCK_M=4, BLOCK_N=4)
print("same as PyTorch:", torch.equal(out, 3.0 * x))
#> same as PyTorch: True
# --8<-- [end:tiles]
assert torch.equal(out, 3.0 * x)
