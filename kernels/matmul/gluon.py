"""Matrix products on Hopper GPUs in tiles of 192 by 128, whose sides Triton does not allow: written in Gluon.

The sides of a block are powers of two. So three groups of four warps share a tile, and each owns 64 rows of it. One more warp
does nothing but load: it fills a ring of stages through the tensor memory accelerator, as soon as all groups are done with what
was there, and runs ahead into the next tile while the groups still store this one. In Gluon this division of labor is written
down, with the barriers at which the warps wait for each other; in Triton the compiler would have to find it.

It is taken where tiles of this shape leave fewer multiprocessors idle in the last wave than those of `kernels.matmul.hopper`.
"""

from typing import Any

import torch
from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.language.nvidia.hopper import fence_async_shared, mbarrier, tma, warpgroup_mma, warpgroup_mma_wait
from triton.experimental.gluon.nvidia.hopper import TensorDescriptor as GluonDescriptor

from kernels.common.tile_copies import load_tile, store_tile
from kernels.matmul.epilogue import (
    Epilogue,
    Launch,
    descriptor_factory,
    known_step,
    matmul_activated,
    matmul_known,
    matmul_tile,
)

GROUPS = gl.constexpr(3)
ROWS = gl.constexpr(64)  # of a group, and the sides of what it loads of a and stores of c


# --8<-- [start:load]
@gluon.jit
def matmul_gluon_load(
    descriptors, rings, barriers, sizes, BLOCK_N: gl.constexpr, BLOCK_K: gl.constexpr, STAGES: gl.constexpr,
    GROUP_M: gl.constexpr, A_T: gl.constexpr, B_T: gl.constexpr,
):
    # This warp fills stage after stage, tile after tile.
    a_desc, b_desc, _, _ = descriptors
    a_ring, b_ring, _ = rings
    ready, empty = barriers
    M, N, K = sizes
    BYTES: gl.constexpr = GROUPS * a_desc.block_type.nbytes + b_desc.block_type.nbytes
    step = 0
    for tile in range(gl.program_id(0), gl.cdiv(M, GROUPS * ROWS) * gl.cdiv(N, BLOCK_N), gl.num_programs(0)):
        pid_m, pid_n = matmul_tile(tile, M, N, GROUPS * ROWS, BLOCK_N, GROUP_M)
        row, column = pid_m * (GROUPS * ROWS), pid_n * BLOCK_N
        for k in range(0, K, BLOCK_K):
            stage = step % STAGES
            full = ready.index(stage)
            mbarrier.wait(empty.index(stage), (step // STAGES + 1) & 1)  # the first round passes at once
            mbarrier.expect(full, BYTES)
            for group in gl.static_range(GROUPS):
                a, place = a_ring.index(stage * GROUPS + group), row + group * ROWS
                load_tile(a_desc, [k, place] if A_T else [place, k], full, a)
            load_tile(b_desc, [column, k] if B_T else [k, column], full, b_ring.index(stage))
            step += 1
# --8<-- [end:load]


# --8<-- [start:store]
@gluon.jit
def matmul_gluon_store(c, c_desc, c_ptr, c_stride, M, N, N_STEP: gl.constexpr, page, row, column):
    # A group stores its rows through one page of shared memory, as many columns at a time as the page has.
    WIDTH: gl.constexpr = c.shape[1]
    if page.shape[1] < WIDTH:
        left, right = c.reshape([ROWS, 2, WIDTH // 2]).permute(0, 2, 1).split()
        matmul_gluon_store(left, c_desc, c_ptr, c_stride, M, N, N_STEP, page, row, column)
        matmul_gluon_store(right, c_desc, c_ptr, c_stride, M, N, N_STEP, page, row, column + WIDTH // 2)
    elif N_STEP < 8:
        # No descriptor can store rows that begin anywhere. A lane stores N_STEP numbers at a time, beside its neighbors.
        page.store(c)
        layout: gl.constexpr = gl.BlockedLayout([1, N_STEP], [max(1, N_STEP // 2), 32 // max(1, N_STEP // 2)], [4, 1], [1, 0])
        rows = row + gl.arange(0, ROWS, gl.SliceLayout(1, layout))  # [ROWS]
        columns = column + gl.arange(0, WIDTH, gl.SliceLayout(0, layout))  # [WIDTH]
        offsets = gl.expand_dims(rows.to(gl.int64) * matmul_known(c_stride, N_STEP), 1) + gl.expand_dims(columns, 0)
        mask = gl.expand_dims(rows < M, 1) & gl.expand_dims(columns < matmul_known(N, N_STEP), 0)
        gl.store(c_ptr + offsets, page.load(layout), mask=mask)
    else:
        tma.store_wait(0)  # what was in the page is stored
        page.store(c)
        fence_async_shared()
        store_tile(c_desc, [row, column], page)
# --8<-- [end:store]


# --8<-- [start:multiply]
@gluon.jit
def matmul_gluon_multiply(
    group: gl.constexpr, descriptors, rings, barriers, sizes, pointers, BLOCK_N: gl.constexpr, BLOCK_K: gl.constexpr,
    STAGES: gl.constexpr, GROUP_M: gl.constexpr, A_T: gl.constexpr, B_T: gl.constexpr, FINISH: gl.constexpr,
    N_STEP: gl.constexpr,
):
    # This group of four warps owns 64 rows of every tile.
    _, _, c_desc, z_desc = descriptors
    a_ring, b_ring, pages = rings
    ready, empty = barriers
    M, N, K = sizes
    c_ptr, z_ptr, bias_ptr, c_stride = pointers
    ACTIVATION: gl.constexpr = FINISH[2]
    layout: gl.constexpr = gl.NVMMADistributedLayout([3, 0], [4, 1], [16, BLOCK_N, 16])
    step = 0
    for tile in range(gl.program_id(0), gl.cdiv(M, GROUPS * ROWS) * gl.cdiv(N, BLOCK_N), gl.num_programs(0)):
        pid_m, pid_n = matmul_tile(tile, M, N, GROUPS * ROWS, BLOCK_N, GROUP_M)
        row, column = pid_m * (GROUPS * ROWS), pid_n * BLOCK_N
        total = gl.zeros([ROWS, BLOCK_N], gl.float32, layout)
        for k in range(0, K, BLOCK_K):
            stage = step % STAGES
            a, b = a_ring.index(stage * GROUPS + group), b_ring.index(stage)
            a = a.permute((1, 0)) if A_T else a  # [ROWS, BLOCK_K]
            b = b.permute((1, 0)) if B_T else b  # [BLOCK_K, BLOCK_N]
            mbarrier.wait(ready.index(stage), step // STAGES & 1)
            total = warpgroup_mma(a, b, total, is_async=True)
            total = warpgroup_mma_wait(1, (total,))  # the step before this one is done, and its stage free again
            mbarrier.arrive(empty.index((step + STAGES - 1) % STAGES), pred=k > 0)
            step += 1
        total = warpgroup_mma_wait(0, (total,))
        mbarrier.arrive(empty.index((step + STAGES - 1) % STAGES))
        if FINISH[0]:
            columns = column + gl.arange(0, BLOCK_N, gl.SliceLayout(0, layout))  # [BLOCK_N]
            bias = gl.load(bias_ptr + columns, mask=columns < N, other=0.0).to(gl.float32)  # [BLOCK_N]
            total += gl.expand_dims(bias, 0)
        page = pages.index(group)
        if FINISH[1]:
            z = total.to(z_desc.dtype)
            matmul_gluon_store(z, z_desc, z_ptr, c_stride, M, N, N_STEP, page, row + group * ROWS, column)
        c = matmul_activated(total, ACTIVATION).to(c_desc.dtype)
        matmul_gluon_store(c, c_desc, c_ptr, c_stride, M, N, N_STEP, page, row + group * ROWS, column)
    tma.store_wait(0)
# --8<-- [end:multiply]


# --8<-- [start:kernel]
@gluon.jit
def matmul_gluon_kernel(
    a_desc, b_desc, c_desc, z_desc, c_ptr, z_ptr, bias_ptr, M, N, K, c_stride, A_T: gl.constexpr, B_T: gl.constexpr,
    FINISH: gl.constexpr, N_STEP: gl.constexpr, BLOCK_N: gl.constexpr, BLOCK_K: gl.constexpr, STAGES: gl.constexpr,
    GROUP_M: gl.constexpr, REGISTERS: gl.constexpr,
):
    # This program owns every num_programs-th tile of c.
    a_ring = gl.allocate_shared_memory(a_desc.dtype, [STAGES * GROUPS] + a_desc.block_type.shape, a_desc.layout)
    b_ring = gl.allocate_shared_memory(b_desc.dtype, [STAGES] + b_desc.block_type.shape, b_desc.layout)
    pages = gl.allocate_shared_memory(c_desc.dtype, [GROUPS] + c_desc.block_type.shape, c_desc.layout)
    ready = gl.allocate_shared_memory(gl.int64, [STAGES, 1], mbarrier.MBarrierLayout())
    empty = gl.allocate_shared_memory(gl.int64, [STAGES, 1], mbarrier.MBarrierLayout())
    for stage in gl.static_range(STAGES):
        mbarrier.init(ready.index(stage), count=1)
        mbarrier.init(empty.index(stage), count=GROUPS)
    descriptors, rings, barriers, sizes = (a_desc, b_desc, c_desc, z_desc), (a_ring, b_ring, pages), (ready, empty), (M, N, K)
    pointers = c_ptr, z_ptr, bias_ptr, c_stride
    # The first group has the launch's warps; of the others it is said how many warps and how many registers a thread they have.
    gl.warp_specialize(
        [
            (
                matmul_gluon_multiply,
                (
                    0, descriptors, rings, barriers, sizes, pointers,
                    BLOCK_N, BLOCK_K, STAGES, GROUP_M, A_T, B_T, FINISH, N_STEP,
                ),
            ),
            (
                matmul_gluon_multiply,
                (
                    1, descriptors, rings, barriers, sizes, pointers,
                    BLOCK_N, BLOCK_K, STAGES, GROUP_M, A_T, B_T, FINISH, N_STEP,
                ),
            ),
            (
                matmul_gluon_multiply,
                (
                    2, descriptors, rings, barriers, sizes, pointers,
                    BLOCK_N, BLOCK_K, STAGES, GROUP_M, A_T, B_T, FINISH, N_STEP,
                ),
            ),
            (matmul_gluon_load, (descriptors, rings, barriers, sizes, BLOCK_N, BLOCK_K, STAGES, GROUP_M, A_T, B_T)),
        ],
        [4, 4, 1],
        [REGISTERS, REGISTERS, 24],
    )
# --8<-- [end:kernel]


# --8<-- [start:launch]
def gluon_descriptor(matrix: torch.Tensor, rows: int, columns: int) -> GluonDescriptor:
    """A descriptor of blocks of `rows` by `columns`, which lie in memory the other way round where the matrix does."""
    matrix, block = (matrix.t(), [columns, rows]) if matrix.stride(1) != 1 else (matrix, [rows, columns])
    layout = gl.NVMMASharedLayout.get_default_for(block, gl.bfloat16)  # of two bytes, whatever the dtype
    return GluonDescriptor(matrix, list(matrix.shape), list(matrix.stride()), block, layout)


def matmul_gluon(
    a: torch.Tensor, b: torch.Tensor, c: torch.Tensor, finish: Epilogue, precision: str, configuration: dict[str, int]
) -> Launch:
    """The launch for matrices of these shapes and strides, to be called with them."""
    (m, k), n = a.shape, b.shape[1]
    options: dict[str, Any] = {name: configuration[name] for name in ("BLOCK_N", "BLOCK_K", "GROUP_M", "num_warps")}
    n_tiles = -(-m // configuration["BLOCK_M"]) * -(-n // configuration["BLOCK_N"])
    grid = (min(n_tiles, configuration["programs"]),)
    options |= {"STAGES": configuration["num_stages"], "REGISTERS": 160, "maxnreg": 128}
    options |= {"A_T": a.stride(1) != 1, "B_T": b.stride(1) != 1}
    options["FINISH"] = finish.bias is not None, finish.z is not None, finish.activation
    of_a = descriptor_factory(gluon_descriptor(a, 64, options["BLOCK_K"]))
    of_b = descriptor_factory(gluon_descriptor(b, options["BLOCK_K"], options["BLOCK_N"]))
    options["N_STEP"] = known_step(n, c.stride(0))
    # Where pointers store, a's descriptor stands for that of c: it says of its blocks what c's would.
    of_c = descriptor_factory(gluon_descriptor(c, 64, 64)) if options["N_STEP"] >= 8 else None
    run = matmul_gluon_kernel[grid]

    def launch(a: torch.Tensor, b: torch.Tensor, c: torch.Tensor, finish: Epilogue) -> None:
        a_desc, z = of_a(a), c if finish.z is None else finish.z
        c_desc, z_desc = (of_c(c), of_c(z)) if of_c else (a_desc, a_desc)
        run(a_desc, of_b(b), c_desc, z_desc, c, z, c if finish.bias is None else finish.bias, m, n, k, c.stride(0), **options)

    return launch
# --8<-- [end:launch]
