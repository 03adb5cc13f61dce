"""Matrix products for Hopper GPUs: whole tiles come through the tensor memory accelerator, and programs persist.

The accelerator copies a tile into shared memory at one instruction of one thread, and counts its bytes. A descriptor tells
it where the matrix lies, so the kernel computes no addresses and needs no masks: what lies outside reads as zero, and is
not written. The host makes the descriptors, because a program that makes its own spends a microsecond or two on it.
One program a multiprocessor walks over many tiles. With `flatten` the loop over tiles and the loop along K are one, so the
loads of the next tile begin before this one is stored.
"""

from typing import Any

import torch
import triton
import triton.language as tl
from triton.tools.tensor_descriptor import TensorDescriptor

from kernels.common.arguments import INTERPRETED
from kernels.matmul.epilogue import (
    Epilogue,
    Launch,
    descriptor_factory,
    known_step,
    matmul_activated,
    matmul_finished,
    matmul_known,
    matmul_tile,
)


# --8<-- [start:kernel]
@triton.jit
def matmul_hopper_kernel(
    a_desc,
    b_desc,
    c_desc,
    c_ptr,
    z_ptr,
    bias_ptr,
    scale_a_ptr,
    scale_b_ptr,
    M,
    N,
    K,
    c_stride,
    N_STEP: tl.constexpr,
    A_T: tl.constexpr,
    B_T: tl.constexpr,
    UPCAST: tl.constexpr,
    ROW_SCALES: tl.constexpr,
    ACTIVATION: tl.constexpr,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    BLOCK_K: tl.constexpr,
    GROUP_M: tl.constexpr,
):
    # This program owns every num_programs-th tile of c.
    N, c_stride = matmul_known(N, N_STEP), matmul_known(c_stride, N_STEP)
    n_tiles = tl.cdiv(M, BLOCK_M) * tl.cdiv(N, BLOCK_N)
    first = tl.program_id(0).to(tl.int64)
    for tile in tl.range(first, n_tiles, tl.num_programs(0), flatten=True):
        pid_m, pid_n = matmul_tile(tile, M, N, BLOCK_M, BLOCK_N, GROUP_M)
        row, column = (pid_m * BLOCK_M).to(tl.int32), (pid_n * BLOCK_N).to(tl.int32)
        total = tl.zeros((BLOCK_M, BLOCK_N), tl.float32)
        for k in range(0, K, BLOCK_K):
            a = a_desc.load([k, row]).T if A_T else a_desc.load([row, k])  # [BLOCK_M, BLOCK_K]
            b = b_desc.load([column, k]).T if B_T else b_desc.load([k, column])  # [BLOCK_K, BLOCK_N]
            if UPCAST:
                a, b = a.to(tl.float32), b.to(tl.float32)
            total = tl.dot(a, b, total)
        rows = row + tl.arange(0, BLOCK_M)  # [BLOCK_M]
        columns = column + tl.arange(0, BLOCK_N)  # [BLOCK_N]
        total = matmul_finished(total, bias_ptr, scale_a_ptr, scale_b_ptr, rows, columns, M, N, ROW_SCALES)
        offsets = rows.to(tl.int64)[:, None] * c_stride + columns[None, :]  # [BLOCK_M, BLOCK_N]
        mask = (rows < M)[:, None] & (columns < N)[None, :]  # [BLOCK_M, BLOCK_N]
        if z_ptr is not None:
            tl.store(z_ptr + offsets, total, mask=mask)
        c = matmul_activated(total, ACTIVATION).to(c_ptr.dtype.element_ty)
        if c_desc is not None:
            c_desc.store([row, column], c)
        else:
            tl.store(c_ptr + offsets, c, mask=mask)
# --8<-- [end:kernel]


def descriptor(matrix: torch.Tensor, rows: int, columns: int) -> TensorDescriptor:
    """A descriptor of tiles of `rows` by `columns`, which lie in memory the other way round where the matrix does."""
    size, strides = list(matrix.shape), list(matrix.stride())
    if strides[1] != 1:
        return TensorDescriptor(matrix, size[::-1], strides[::-1], [columns, rows])
    return TensorDescriptor(matrix, size, strides, [rows, columns])


# --8<-- [start:launch]
def matmul_hopper(
    a: torch.Tensor, b: torch.Tensor, c: torch.Tensor, finish: Epilogue, precision: str, configuration: dict[str, int]
) -> Launch:
    """The launch for matrices of these shapes and strides, to be called with them."""
    (m, k), n = a.shape, b.shape[1]
    options: dict[str, Any] = dict(configuration)
    block_m, block_n, block_k = (options[f"BLOCK_{name}"] for name in "MNK")
    n_tiles = -(-m // block_m) * -(-n // block_n)
    grid = (min(n_tiles, options.pop("programs")),)
    # What the activation is given is stored by pointers; a program has no room for a second way out.
    stored = options.pop("DESCRIPTOR_STORE") and finish.z is None and c.stride(0) * c.element_size() % 16 == 0
    options |= {"A_T": a.stride(1) != 1, "B_T": b.stride(1) != 1, "UPCAST": INTERPRETED, **finish.constants}
    options["N_STEP"] = known_step(n, c.stride(0))
    sizes, run = (m, n, k, c.stride(0)), matmul_hopper_kernel[grid]
    of_a, of_b = descriptor_factory(descriptor(a, block_m, block_k)), descriptor_factory(descriptor(b, block_k, block_n))
    of_c = descriptor_factory(descriptor(c, block_m, block_n)) if stored else lambda c: None

    def launch(a: torch.Tensor, b: torch.Tensor, c: torch.Tensor, finish: Epilogue) -> None:
        run(of_a(a), of_b(b), of_c(c), c, *finish[:4], *sizes, **options)

    return launch
# --8<-- [end:launch]
