"""Which kernel finds the loss or the gradient of rows of a length, how it is laid out, and its launch.

Rows of up to 8192 logits are kept on the chip, several short ones a program. Longer ones are walked along: once for
their loss, twice where a gradient is written, too.
"""

import functools

import torch

from kernels.common.counters import arrival_counters, shared_key, workspace
from kernels.common.sizes import next_power_of_2
from kernels.cross_entropy.gradient import cross_entropy_gradient_kernel
from kernels.cross_entropy.long import cross_entropy_long_kernel
from kernels.cross_entropy.short import cross_entropy_short_kernel


@functools.cache
def cross_entropy_multiprocessors(device: torch.device) -> int:
    """How many multiprocessors there are; the interpreter is one."""
    return torch.cuda.get_device_properties(device).multi_processor_count if device.type == "cuda" else 1


@functools.cache
def cross_entropy_plan(n_columns: int, element_size: int, gradient: bool, few: bool = False) -> tuple:
    """The kernel for rows of this length, its rows a program, its programs a multiprocessor, and its constants.

    `few` says that there is a multiprocessor for every row, so that a program may be as large as one can hold.
    """
    if n_columns <= 8192:
        block = next_power_of_2(n_columns)
        rows = max(1, 1024 // block)
        num_warps = 2 if block <= 1024 else 4 if block <= 4096 else 8
        return cross_entropy_short_kernel, rows, 16, {"ROWS": rows, "BLOCK": block, "num_warps": num_warps}
    vector = 16 // element_size
    if gradient:
        # As many programs as the GPU runs at once: the fewer the rows in flight, the more of them the caches hold.
        lanes, num_warps, resident = (1024, 8, 3) if n_columns * element_size <= 2**17 else (4096, 32, 1)
        meta = {"LANES": lanes, "VECTOR": vector, "num_warps": num_warps}
        return cross_entropy_gradient_kernel, 1, resident, meta
    lanes = 256 if n_columns <= 65536 else 2048 if few else 512
    return cross_entropy_long_kernel, 1, 2**16, {"LANES": lanes, "VECTOR": vector, "num_warps": lanes // 64}


@functools.lru_cache(maxsize=4096)
def cross_entropy_grid(
    n_rows: int, n_columns: int, row_stride: int, element_size: int, gradient: bool, device: torch.device
) -> tuple:
    """The kernel, its programs, and its constants."""
    multiprocessors = cross_entropy_multiprocessors(device)
    kernel, rows, resident, meta = cross_entropy_plan(n_columns, element_size, gradient, n_rows <= multiprocessors)
    if kernel is cross_entropy_short_kernel:
        meta = {**meta, "EVEN": n_columns % 8 == row_stride % 8 == 0}
    return kernel, min(multiprocessors * resident, (n_rows + rows - 1) // rows), meta


def cross_entropy_launch(logits, target, options, counts, loss=None, dlogits=None, dloss=None, ready=False):
    """Write the loss, the gradient, or both, whichever is given; with `ready`, nothing if `dloss` is one."""
    n_rows, n_columns = logits.shape
    ignore_index, reduction = options
    row_stride, device = logits.stride()[0], logits.device
    gradient = dlogits is not None
    kernel, programs, meta = cross_entropy_grid(n_rows, n_columns, row_stride, logits.element_size(), gradient, device)
    grid, sizes = (programs,), (n_rows, n_columns, ignore_index)
    parts = arrived = None
    if loss is not None and reduction != "none":
        key = shared_key(logits)
        parts, arrived = workspace(logits, 2 * programs, key), arrival_counters(logits, 1, key)
    if kernel is cross_entropy_long_kernel:
        kernel[grid](logits, target, parts, arrived, loss, row_stride, *sizes, REDUCTION=reduction, **meta)
        return
    strides = (row_stride, dlogits.stride(0) if gradient else 0, 0 if dloss is None or reduction != "none" else dloss.stride(0))
    tensors = (logits, target, dloss, counts, parts, arrived, loss, dlogits)
    kernel[grid](*tensors, *strides, *sizes, REDUCTION=reduction, READY=ready, **meta)
