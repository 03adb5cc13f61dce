"""The exercise's solution: b is stored by columns, as the weight of a linear layer is."""
import os

import torch

if not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"  # before triton is imported
    print("No CUDA device found: Triton's interpreter runs the kernel on the CPU.")

import triton
import triton.language as tl


# --8<-- [start:solution]
@triton.jit
def transposed_matmul_kernel(
    a_ptr, b_ptr, c_ptr, M, N, K,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr, GROUP_M: tl.constexpr,
):
    # This program owns one tile of c. Where each matrix lies is said once.
    a_desc = tl.make_tensor_descriptor(a_ptr, [M, K], [K, 1], [BLOCK_M, BLOCK_K])
    b_desc = tl.make_tensor_descriptor(b_ptr, [N, K], [K, 1], [BLOCK_N, BLOCK_K])
    c_desc = tl.make_tensor_descriptor(c_ptr, [M, N], [N, 1], [BLOCK_M, BLOCK_N])
    tile = tl.program_id(0)
    n_rows, n_columns = tl.cdiv(M, BLOCK_M), tl.cdiv(N, BLOCK_N)
    group = tile // (GROUP_M * n_columns)
    height = tl.minimum(n_rows - group * GROUP_M, GROUP_M)
    place = tile % (GROUP_M * n_columns)
    row = (group * GROUP_M + place % height) * BLOCK_M
    column = place // height * BLOCK_N
    total = tl.zeros((BLOCK_M, BLOCK_N), tl.float32)
    for k in range(0, K, BLOCK_K):
        a = a_desc.load([row, k])  # [BLOCK_M, BLOCK_K], zero outside of a
        b = b_desc.load([column, k]).T  # [BLOCK_K, BLOCK_N]
        total = tl.dot(a, b, total)
    c_desc.store([row, column], total.to(c_ptr.dtype.element_ty))  # nothing outside of c


def by_columns(a, weight):
    (M, K), N = a.shape, weight.shape[0]
    c = torch.empty((M, N), dtype=a.dtype, device=a.device)
    triton.set_allocator(lambda size, align, stream: torch.empty(size, dtype=torch.int8, device="cuda"))
    grid = (triton.cdiv(M, 128) * triton.cdiv(N, 128),)
    sides = {"BLOCK_M": 128, "BLOCK_N": 128, "BLOCK_K": 64, "GROUP_M": 8}
    transposed_matmul_kernel[grid](a, weight, c, M, N, K, **sides, num_warps=8, num_stages=3)
    return c


device = "cuda" if torch.cuda.is_available() else "cpu"
dtype = torch.bfloat16 if device == "cuda" else torch.float16
x = torch.randint(-4, 5, (300, 200), device=device).to(dtype)
weight = torch.randint(-4, 5, (520, 200), device=device).to(dtype)
expected = (x.float() @ weight.float().T).to(dtype)
print("same as PyTorch:", torch.equal(by_columns(x, weight), expected))
#> same as PyTorch: True
# --8<-- [end:solution]
