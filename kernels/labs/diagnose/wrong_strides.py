"""What would come if an address were computed with strides other than the tensor's own."""

from collections.abc import Iterator

import numpy as np
import torch

from kernels.labs.tasks.cases import Case, Task
from kernels.labs.watch.regions import FarTensor, Region


def lies_at(name: str) -> str:
    return f"{name}[i, j] lies at `i * {name}.stride(0) + j * {name}.stride(1)`"


def within_storage(x: torch.Tensor, strides: tuple[int, ...]) -> bool:
    last = x.storage_offset() + sum((size - 1) * stride for size, stride in zip(x.shape, strides, strict=True))
    return x.numel() > 0 and last < x.untyped_storage().nbytes() // x.element_size()


def wrong_strides(name: str, case: Case) -> Iterator[tuple[str, tuple[int, ...]]]:
    """The strides that a reader may have taken for those of a matrix, and what to say then."""
    own = case.inputs[name].stride()
    yield f"the row stride of `{name}` is missing in its address: {lies_at(name)}", (1, own[1])
    yield f"the column stride of `{name}` is missing in its address: {lies_at(name)}", (own[0], 1)
    yield f"rows and columns are exchanged in the address of `{name}`: {lies_at(name)}", (own[1], own[0])
    for other, value in case.inputs.items():
        if value.ndim == 2 and other != name:
            yield f"`{name}` is read with the strides of `{other}`: each tensor has its own", value.stride()


def misread(task: Task, case: Case) -> Iterator[tuple[str, torch.Tensor]]:
    """What the task would give if one of its matrices were read with wrong strides."""
    for name, x in case.inputs.items():
        if x.ndim != 2 or isinstance(x, FarTensor):
            continue
        for words, strides in wrong_strides(name, case):
            if tuple(strides) != x.stride() and within_storage(x, strides):
                read = case.inputs | {name: x.as_strided(x.shape, strides)}
                yield words, task.expected(*(value.double() if value.is_floating_point() else value for value in read.values()))


def rows_and_columns(offsets: np.ndarray, strides: tuple[int, ...]) -> tuple[np.ndarray, np.ndarray]:
    """The index that each offset is of in a matrix with these strides, the larger of which is the rows'."""
    rows, rest = np.divmod(offsets, strides[0])
    return rows, rest // strides[1]


def exchanged(region: Region, offsets: np.ndarray) -> bool:
    """Whether these offsets reach just as far as if rows were taken for columns."""
    if len(region.shape) != 2 or not region.strides[0] >= region.strides[1] > 0 or offsets.min() < 0:
        return False
    rows, columns = rows_and_columns(offsets, region.strides)
    reached = (int(rows.max()) + 1, int(columns.max()) + 1)
    return region.shape[0] != region.shape[1] and reached == region.shape[::-1]


def stride_of_another(region: Region, others: list[Region], offsets: np.ndarray) -> str:
    """The matrix whose strides would make these offsets elements of this one; nothing if there is none."""
    for other in others:
        if len(region.shape) == len(other.shape) == 2 and other.strides != region.strides and offsets.min() >= 0:
            if not other.strides[0] >= other.strides[1] > 0:
                continue
            rows, columns = rows_and_columns(offsets, other.strides)
            if rows.max() < region.shape[0] and columns.max() < region.shape[1]:
                return other.name
    return ""
