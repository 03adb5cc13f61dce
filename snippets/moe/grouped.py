"""Multiply the rows of every expert by its own matrix in one launch, whatever their numbers."""
import os

# --8<-- [start:torch]
import torch
# --8<-- [end:torch]

if __name__ == "__main__" and not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"  # before triton is imported
    print("No CUDA device found: Triton's interpreter runs the kernel on the CPU.")

# --8<-- [start:imports]
import triton
import triton.language as tl
# --8<-- [end:imports]


# --8<-- [start:tile]
@triton.jit
def rows_of_tile(start_ptr, tile, n_experts, BLOCK_M: tl.constexpr, EXPERTS: tl.constexpr):
    """The expert of a tile of rows, the place of its first row, and where that expert's rows end."""
    experts = tl.arange(0, EXPERTS)
    starts = tl.load(start_ptr + experts, mask=experts < n_experts, other=0)
    ends = tl.load(start_ptr + experts + 1, mask=experts < n_experts, other=0)
    tiles = tl.cdiv(ends - starts, BLOCK_M)
    last = tl.cumsum(tiles, axis=0)  # tiles of this expert and of those before
    expert = tl.sum((last <= tile).to(tl.int32), axis=0)
    mine = experts == expert
    first = tl.sum(tl.where(mine, starts + (tile - (last - tiles)) * BLOCK_M, 0), axis=0)
    return expert, first, tl.sum(tl.where(mine, ends, 0), axis=0)
# --8<-- [end:tile]


# --8<-- [start:kernel]
@triton.jit
def moe_grouped_kernel(
    x_ptr, w_ptr, y_ptr, start_ptr, n_experts, N, K,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr, EXPERTS: tl.constexpr,
):
    # This program owns one tile of one expert's rows of y, or none.
    tile, column_tile = tl.program_id(0).to(tl.int64), tl.program_id(1).to(tl.int64)
    expert, first, end = rows_of_tile(start_ptr, tile, n_experts, BLOCK_M, EXPERTS)
    if expert < n_experts:
        rows = first + tl.arange(0, BLOCK_M)  # [BLOCK_M]
        columns = column_tile * BLOCK_N + tl.arange(0, BLOCK_N)  # [BLOCK_N]
        inner = tl.arange(0, BLOCK_K)  # [BLOCK_K]
        here, known = (rows < end)[:, None], (columns < N)[None, :]
        total = tl.zeros((BLOCK_M, BLOCK_N), tl.float32)
        for k in range(0, K, BLOCK_K):
            left = k + inner < K
            x_offsets = rows[:, None] * K + (k + inner)[None, :]
            x = tl.load(x_ptr + x_offsets, mask=here & left[None, :], other=0.0)
            w_offsets = expert.to(tl.int64) * N * K + columns[None, :] * K + (k + inner)[:, None]
            w = tl.load(w_ptr + w_offsets, mask=known & left[:, None], other=0.0)
            total = tl.dot(x, w, total, input_precision="ieee")
        tl.store(y_ptr + rows[:, None] * N + columns[None, :], total, mask=here & known)
# --8<-- [end:kernel]


# --8<-- [start:launch]
def grouped(x, w, starts):
    """Rows that are sorted by expert, each times its expert's matrix of `w`, which is (experts, n, k)."""
    n_experts, n, k = w.shape
    y = x.new_empty((x.shape[0], n))
    most = x.shape[0] // 16 + n_experts  # tiles of 16 rows, if every expert has one that it does not fill
    grid = (most, triton.cdiv(n, 32))
    blocks = {"BLOCK_M": 16, "BLOCK_N": 32, "BLOCK_K": 32, "EXPERTS": triton.next_power_of_2(n_experts)}
    moe_grouped_kernel[grid](x, w, y, starts, n_experts, n, k, **blocks)
    return y
# --8<-- [end:launch]


if __name__ == "__main__":
    # --8<-- [start:run]
    device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.manual_seed(0)
    sizes = [4, 0, 40, 1, 19]
    x, w = torch.randn(64, 48, device=device), torch.randn(5, 40, 48, device=device)
    starts = torch.tensor([0, 4, 4, 44, 45, 64], dtype=torch.int32, device=device)
    wanted = torch.cat([rows @ matrix.T for rows, matrix in zip(x.split(sizes), w, strict=True)])
    print("right:", torch.allclose(grouped(x, w, starts), wanted, atol=1e-4))
    #> right: True
    # --8<-- [end:run]
