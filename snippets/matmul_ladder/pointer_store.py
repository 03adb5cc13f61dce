"""What goes wrong: warps that specialize, and a result stored by pointers. Most of c is wrong, and a corner is not."""
# needs: sm_90
import sys

import torch

if not torch.cuda.is_available() or torch.cuda.get_device_capability() != (9, 0):
    print("needs: sm_90 (a GPU of compute capability 9.0)")
    sys.exit(2)

import triton
import triton.language as tl

from kernels.tools.benchmark import keep


# --8<-- [start:kernel]
@triton.jit
def pointer_store_kernel(
    a_ptr, b_ptr, c_ptr, M, N, K,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr, GROUP_M: tl.constexpr,
    SPECIALIZE: tl.constexpr,
):
    # This program owns every num_programs-th tile of c.
    a_desc = tl.make_tensor_descriptor(a_ptr, [M, K], [K, 1], [BLOCK_M, BLOCK_K])
    b_desc = tl.make_tensor_descriptor(b_ptr, [K, N], [N, 1], [BLOCK_K, BLOCK_N])
    n_rows, n_columns = tl.cdiv(M, BLOCK_M), tl.cdiv(N, BLOCK_N)
    first, n_tiles, step = tl.program_id(0), n_rows * n_columns, tl.num_programs(0)
    for tile in tl.range(first, n_tiles, step, warp_specialize=SPECIALIZE):
        group = tile // (GROUP_M * n_columns)
        height = tl.minimum(n_rows - group * GROUP_M, GROUP_M)
        place = tile % (GROUP_M * n_columns)
        row = (group * GROUP_M + place % height) * BLOCK_M
        column = place // height * BLOCK_N
        total = tl.zeros((BLOCK_M, BLOCK_N), tl.float32)
        for k in range(0, K, BLOCK_K):
            a = a_desc.load([row, k])  # [BLOCK_M, BLOCK_K]
            b = b_desc.load([k, column])  # [BLOCK_K, BLOCK_N]
            total = tl.dot(a, b, total)
        rows, columns = row + tl.arange(0, BLOCK_M), column + tl.arange(0, BLOCK_N)
        c_ptrs = c_ptr + rows.to(tl.int64)[:, None] * N + columns[None, :]
        mask = (rows < M)[:, None] & (columns < N)[None, :]
        tl.store(c_ptrs, total.to(c_ptr.dtype.element_ty), mask=mask)
# --8<-- [end:kernel]


def scratch(size, alignment, stream):
    """Memory for the descriptors, which the programs of a launch write."""
    return torch.empty(size, dtype=torch.int8, device="cuda")


# --8<-- [start:count]
def product(a, b, specialize):
    c = torch.zeros_like(a)
    sides = {"BLOCK_M": 128, "BLOCK_N": 256, "BLOCK_K": 64, "GROUP_M": 8}
    options = {"SPECIALIZE": specialize, "num_warps": 4 if specialize else 8}
    sizes = (a.shape[0], b.shape[1], a.shape[1])
    pointer_store_kernel[(132,)](a, b, c, *sizes, **sides, **options, num_stages=3)
    return c


torch.manual_seed(0)
triton.set_allocator(scratch)
a, b = (torch.randn(4096, 4096, device="cuda").bfloat16() for _ in range(2))
expected, found = a.double() @ b.double(), {}
for name, specialize in (("plain", False), ("specialized", True)):
    near = torch.isclose(product(a, b, specialize).double(), expected, rtol=1e-2, atol=0.1)
    rows = near.view(32, 128, 4096).all(dim=2).all(dim=0)  # of the 128 rows of every tile
    corner, count = bool(near[:8, :8].all()), int((~near).sum())
    print(f"{name}: {count:,} of {near.numel():,} elements are wrong")
    print(f"  rows of a tile that are right in every tile: {int(rows.sum())} of 128")
    print(f"  the corner of 8 by 8 is right: {corner}")
    found[name] = {"wrong": count, "all": near.numel(), "right_rows": int(rows.sum()), "corner": corner}
# --8<-- [end:count]

keep(figures=found)
