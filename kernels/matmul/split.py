"""Matrix products with few tiles and a long inner dimension: the sums of one tile are dealt out to several programs.

Each program sums one stretch of the inner dimension and leaves its tile of partial sums in memory. The last to finish
adds them up, always in the same order: the same input gives the same bits every time. For `parts` programs a tile the
partial sums cost 8 * parts bytes an element of c on the way, mostly in the L2 cache.
"""

import torch
import triton
import triton.language as tl

from kernels.common.arguments import INTERPRETED
from kernels.common.counters import arrival_counters, shared_key, workspace
from kernels.matmul.epilogue import Epilogue, Launch, matmul_activated, matmul_finished, matmul_known, matmul_tile
from kernels.matmul.tiled import matmul_lines, matmul_sums


# --8<-- [start:kernel]
@triton.jit
def matmul_split_kernel(
    a_ptr,
    b_ptr,
    c_ptr,
    z_ptr,
    bias_ptr,
    scale_a_ptr,
    scale_b_ptr,
    partial_ptr,
    arrived_ptr,
    M,
    N,
    K,
    a_row_stride,
    a_column_stride,
    b_row_stride,
    b_column_stride,
    c_stride,
    part_blocks,
    N_STEP: tl.constexpr,
    A_T: tl.constexpr,
    B_T: tl.constexpr,
    A_STEP: tl.constexpr,
    B_STEP: tl.constexpr,
    WHOLE_K: tl.constexpr,
    UPCAST: tl.constexpr,
    PRECISION: tl.constexpr,
    ROW_SCALES: tl.constexpr,
    ACTIVATION: tl.constexpr,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    BLOCK_K: tl.constexpr,
    GROUP_M: tl.constexpr,
):
    # This program owns one tile of c and part_blocks blocks of its inner dimension.
    N, c_stride = matmul_known(N, N_STEP), matmul_known(c_stride, N_STEP)
    tile, part = tl.program_id(0).to(tl.int64), tl.program_id(1).to(tl.int64)
    pid_m, pid_n = matmul_tile(tile, M, N, BLOCK_M, BLOCK_N, GROUP_M)
    rows = pid_m * BLOCK_M + tl.arange(0, BLOCK_M)  # [BLOCK_M]
    columns = pid_n * BLOCK_N + tl.arange(0, BLOCK_N)  # [BLOCK_N]
    start = part * part_blocks * BLOCK_K
    stop = tl.minimum(start + part_blocks * BLOCK_K, K)
    total = matmul_sums(
        a_ptr, b_ptr, rows, columns, start, stop, M, N, K, a_row_stride, a_column_stride, b_row_stride, b_column_stride,
        A_T, B_T, A_STEP, B_STEP, WHOLE_K, UPCAST, PRECISION, BLOCK_M, BLOCK_N, BLOCK_K,
    )  # [BLOCK_M, BLOCK_N]
    # The partial sums are laid out as [parts, tiles, BLOCK_M, BLOCK_N].
    n_tiles, n_parts = tl.num_programs(0).to(tl.int64), tl.num_programs(1)
    places = tl.arange(0, BLOCK_M)[:, None] * BLOCK_N + tl.arange(0, BLOCK_N)[None, :]  # [BLOCK_M, BLOCK_N]
    partial_ptrs = partial_ptr + tile * (BLOCK_M * BLOCK_N) + places  # [BLOCK_M, BLOCK_N]
    tl.store(partial_ptrs + part * n_tiles * (BLOCK_M * BLOCK_N), total)
    tl.debug_barrier()  # all of the tile is stored before this program reports
    if tl.atomic_add(arrived_ptr + tile, 1, sem="acq_rel") == n_parts - 1:
        # This program is the last. It adds up what all have left, in their fixed order.
        total = tl.zeros((BLOCK_M, BLOCK_N), tl.float32)
        for _ in range(n_parts):
            total += tl.load(partial_ptrs, cache_modifier=".cg")
            partial_ptrs += n_tiles * (BLOCK_M * BLOCK_N)
        total = matmul_finished(total, bias_ptr, scale_a_ptr, scale_b_ptr, rows, columns, M, N, ROW_SCALES)
        c_offsets = rows[:, None] * c_stride + columns[None, :]  # [BLOCK_M, BLOCK_N]
        mask = (rows < M)[:, None] & (columns < N)[None, :]  # [BLOCK_M, BLOCK_N]
        if z_ptr is not None:
            tl.store(z_ptr + c_offsets, total, mask=mask)
        tl.store(c_ptr + c_offsets, matmul_activated(total, ACTIVATION), mask=mask)
        tl.store(arrived_ptr + tile, 0)
# --8<-- [end:kernel]


# --8<-- [start:launch]
def matmul_split(
    a: torch.Tensor, b: torch.Tensor, c: torch.Tensor, finish: Epilogue, precision: str, configuration: dict[str, int]
) -> Launch:
    """The launch for matrices of these shapes and strides, to be called with them."""
    (m, k), n = a.shape, b.shape[1]
    configuration = dict(configuration)
    block_m, block_n, block_k = (configuration[f"BLOCK_{name}"] for name in "MNK")
    n_tiles, n_blocks = -(-m // block_m) * -(-n // block_n), -(-k // block_k)
    part_blocks = -(-n_blocks // configuration.pop("parts"))
    grid = (n_tiles, -(-n_blocks // part_blocks))
    n_sums = grid[0] * grid[1] * block_m * block_n
    sizes = (m, n, k, *a.stride(), *b.stride(), c.stride(0), part_blocks)
    constants = matmul_lines(a, b, c)
    constants |= {"WHOLE_K": k % block_k == 0, "UPCAST": INTERPRETED and a.element_size() < 4}
    constants |= {"PRECISION": precision, **finish.constants, **configuration}

    def launch(a: torch.Tensor, b: torch.Tensor, c: torch.Tensor, finish: Epilogue) -> None:
        key = shared_key(a)
        shared = workspace(a, n_sums, key), arrival_counters(a, n_tiles, key)
        matmul_split_kernel[grid](a, b, c, *finish[:4], *shared, *sizes, **constants)

    return launch
# --8<-- [end:launch]
