"""A product whose rows come from everywhere: it begins with its own, and waits for others as they arrive."""

import os

# --8<-- [start:torch]
import torch
# --8<-- [end:torch]

if __name__ == "__main__":
    os.environ["TRITON_INTERPRET"] = "1"  # before triton is imported
    print("Triton's interpreter runs the kernel on the CPU, whether there is a GPU or not.")

# --8<-- [start:imports]
import time

import triton
import triton.language as tl
from triton.tools.tensor_descriptor import TensorDescriptor

from kernels.tools.forked import in_processes, shared
from kernels.tools.meeting import LIMIT
# --8<-- [end:imports]


# --8<-- [start:kernel]
@triton.jit
def several_gather_product_kernel(
    a_desc, b_desc, c_desc, arrived_ptr, missing_ptr, M, N, K, rank, limit,
    WORLD: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr, GROUP: tl.constexpr,
):  # fmt: skip
    n_columns = tl.cdiv(N, BLOCK_N)
    rows_each = M // WORLD // BLOCK_M  # tiles from the rows of one rank
    n_tiles = rows_each * n_columns
    for step in range(WORLD):
        source = (rank + step) % WORLD  # my own rows first, for they are here
        tries = 0
        arrived = tl.atomic_add(arrived_ptr + source, 0, sem="acquire", scope="sys")
        while (arrived == 0) & (tries < limit):
            arrived = tl.atomic_add(arrived_ptr + source, 0, sem="acquire", scope="sys")
            tries += 1
        if arrived == 0:
            tl.store(missing_ptr + source, 1)
        tl.debug_barrier()
        # Each program goes on where it would be, had all tiles one number.
        first = (tl.program_id(0) + tl.num_programs(0) - step * n_tiles % tl.num_programs(0)) % tl.num_programs(0)
        for tile in tl.range(first, n_tiles, tl.num_programs(0), flatten=True):
            group = tile // (GROUP * n_columns) * GROUP
            height = min(rows_each - group, GROUP)
            row = (source * rows_each + group + tile % (GROUP * n_columns) % height) * BLOCK_M
            column = tile % (GROUP * n_columns) // height * BLOCK_N
            total = tl.zeros((BLOCK_M, BLOCK_N), tl.float32)
            for k in range(0, K, BLOCK_K):
                total = tl.dot(a_desc.load([row, k]), b_desc.load([k, column]), total)
            c_desc.store([row, column], total.to(c_desc.dtype))
# --8<-- [end:kernel]


# --8<-- [start:launch]
def gather_product(a, b, c, arrived, missing, rank, world, programs, tile=(128, 256, 64), limit=LIMIT, **options):
    """c = a @ b, where the rows of a rank are there once its number in `arrived` is no zero."""
    (m, k), n, (block_m, block_n, block_k) = a.shape, b.shape[1], tile
    if m % (world * block_m):
        raise ValueError(f"a: expected rows for {world} ranks in tiles of {block_m}, got {m}")
    of_a, of_b = TensorDescriptor.from_tensor(a, [block_m, block_k]), TensorDescriptor.from_tensor(b, [block_k, block_n])
    of_c = TensorDescriptor.from_tensor(c, [block_m, block_n])
    blocks = {"BLOCK_M": block_m, "BLOCK_N": block_n, "BLOCK_K": block_k, "GROUP": 8}
    launch = several_gather_product_kernel[(programs,)]
    launch(of_a, of_b, of_c, arrived, missing, m, n, k, rank, limit, WORLD=world, **blocks, **options)
# --8<-- [end:launch]


if __name__ == "__main__":
    # --8<-- [start:run]
    world, rows = 2, 32
    a, c = shared(world, world * rows, 32), shared(world, world * rows, 48)
    b = torch.randn(32, 48)
    arrived, missing = shared(world, world, dtype=torch.int32), shared(world, world, dtype=torch.int32)
    parts = torch.randn(world, rows, 32)
    for rank in range(world):
        a[rank].view(world, rows, 32)[rank] = parts[rank]  # each rank begins with its own rows
        arrived[rank, rank] = 1

    def run(process):
        rank = process % world
        if process < world:
            gather_product(a[rank], b, c[rank], arrived[rank], missing[rank], rank, world, 1, (16, 16, 16))
            return
        for peer in range(world):  # a second process of the rank, in place of a copy engine
            time.sleep(0.2)  # the link is slow
            a[rank].view(world, rows, 32)[peer] = a[peer].view(world, rows, 32)[peer]
            arrived[rank, peer] = 1

    in_processes(2 * world, run)
    print("the product on every rank:", all(torch.allclose(each, parts.flatten(0, 1) @ b, atol=1e-4) for each in c))
    #> the product on every rank: True
    # --8<-- [end:run]
