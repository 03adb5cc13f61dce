"""Kernels of every form that the recorder knows, each recorded once; run under the interpreter, prints JSON."""

import json
import sys
from typing import Any

import torch
import triton
import triton.language as tl

from scripts.recording.recorder import record


@triton.jit
def copy_tile_kernel(x_ptr, y_ptr, rows, columns, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr):
    m = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    n = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    offsets = m[:, None] * columns + n[None, :]
    mask = (m[:, None] < rows) & (n[None, :] < columns)
    x = tl.load(x_ptr + offsets, mask=mask)
    tl.store(y_ptr + offsets, x, mask=mask)


@triton.jit
def transpose_kernel(x_ptr, y_ptr, rows, columns, BLOCK: tl.constexpr):
    pid_m = tl.program_id(0)
    pid_n = tl.program_id(1)
    m = pid_m * BLOCK + tl.arange(0, BLOCK)
    n = pid_n * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + m[:, None] * columns + n[None, :], mask=(m[:, None] < rows) & (n[None, :] < columns))
    y = tl.trans(x)
    tl.store(y_ptr + n[:, None] * rows + m[None, :], y, mask=(n[:, None] < columns) & (m[None, :] < rows))


@triton.jit
def sum_rows_kernel(x_ptr, y_ptr, stride_m, stride_n, rows, columns, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr):
    m = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    total = tl.zeros((BLOCK_M,), dtype=tl.float32)
    for start in range(0, columns, BLOCK_N):
        n = start + tl.arange(0, BLOCK_N)
        mask = (m[:, None] < rows) & (n[None, :] < columns)
        x = tl.load(x_ptr + m[:, None] * stride_m + n[None, :] * stride_n, mask=mask, other=0.0)
        total += tl.sum(x, axis=1)
    largest = tl.max(total, axis=0)
    tl.store(y_ptr + m, tl.where(m < rows, total, largest), mask=m < rows)


@triton.jit
def matmul_kernel(a_ptr, b_ptr, c_ptr, M, N, K, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr):
    m = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)[:, None]
    n = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)[None, :]
    c = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for start in range(0, K, BLOCK_K):
        k = start + tl.arange(0, BLOCK_K)
        a = tl.load(a_ptr + m * K + k[None, :], mask=(m < M) & (k[None, :] < K), other=0.0)
        b = tl.load(b_ptr + k[:, None] * N + n, mask=(k[:, None] < K) & (n < N), other=0.0)
        c = tl.dot(a, b, c)
    tl.store(c_ptr + m * N + n, c, mask=(m < M) & (n < N))


@triton.jit
def histogram_kernel(x_ptr, counts_ptr, n_elements, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n_elements
    bins = tl.load(x_ptr + offsets, mask=mask)
    before = tl.atomic_add(counts_ptr + bins, 1, mask=mask)  # noqa: F841


@triton.jit
def nested_kernel(x_ptr, y_ptr, ROUNDS: tl.constexpr):
    # No element outside the view is one of its own, though it lies between them.
    n = tl.arange(0, 8)
    for i in range(2):  # noqa: B007
        for j in tl.static_range(ROUNDS):  # noqa: B007
            x = tl.load(x_ptr + n)
            tl.store(y_ptr + n, x)


def digits(*shape: int) -> torch.Tensor:
    return torch.randint(0, 10, shape, generator=torch.Generator().manual_seed(0)).float()


def recordings() -> dict[str, Any]:
    x, y = digits(2, 6, 10).unbind()  # neighbors in memory: most of a ragged tile's masked lanes point into the other one
    found = {"copy": record(copy_tile_kernel, lambda: copy_tile_kernel[(2, 3)](x, y, 6, 10, 4, 4), {"x": x, "y": y})}
    turned = torch.full((10, 6), float("nan"))
    run = lambda: transpose_kernel[(2, 3)](x, turned, 6, 10, 4)  # noqa: E731
    found["transpose"] = record(transpose_kernel, run, {"x": x, "y": turned})
    view, sums = digits(10, 6).T, torch.full((6,), float("nan"))
    run = lambda: sum_rows_kernel[(2,)](view, sums, *view.stride(), 6, 10, 4, 4)  # noqa: E731
    found["sum_rows"] = record(sum_rows_kernel, run, {"x": view, "y": sums})
    a, b, c = digits(24, 40), digits(40, 20), torch.full((24, 20), float("nan"))
    run = lambda: matmul_kernel[(2, 2)](a, b, c, 24, 20, 40, 16, 16, 16)  # noqa: E731
    found["matmul"] = record(matmul_kernel, run, {"a": a, "b": b, "c": c})
    which, counts = digits(50).int(), torch.zeros(10, dtype=torch.int32)
    found["histogram"] = record(
        histogram_kernel, lambda: histogram_kernel[(4,)](which, counts, 50, 16), {"x": which, "counts": counts}
    )
    every, out = digits(20)[::2], digits(10)
    found["nested"] = record(nested_kernel, lambda: nested_kernel[(1,)](every, out, 1), {"x": every, "y": out})
    assert torch.equal(c, a @ b) and torch.equal(turned, x.T) and torch.equal(sums, view.sum(1))
    return found


if __name__ == "__main__":
    json.dump(recordings(), sys.stdout)
