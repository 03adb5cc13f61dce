"""The interpreter's memory: addresses that are only numbers, and loads, stores and atomics through them, on NumPy.

Every allocation gets a range of addresses of its own, with unmapped ones behind it. So an access outside of a tensor's memory
raises here, and says where and which lanes; on a CPU with PyTorch it would read whatever lies there.
"""

import contextlib
import sys
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

GAP = 4096  # bytes behind each allocation that belong to none
ALIGNED = 256
FEW = 4  # lanes that an error names
# Modules whose frames are not the reader's: what lies between a kernel's line and the access that it makes.
OURS = ("triton", "torch", "numpy", "runtime", "scripts", "kernels", "start")


class Space:
    """Which allocation lies where."""

    def __init__(self) -> None:
        self.live: dict[int, np.ndarray] = {}  # first address -> bytes, in rising order
        self.next = 0x1000_0000
        self.table: tuple[np.ndarray, list[tuple[int, np.ndarray]]] | None = None  # of `live`, until it changes

    def register(self, content: np.ndarray) -> int:
        """Give bytes an address."""
        base, self.table = self.next, None
        self.next += (content.size // ALIGNED + 1) * ALIGNED + GAP
        self.live[base] = content
        return base

    def release(self, base: int) -> None:
        self.live.pop(base, None)
        self.table = None

    def allocations(self, addresses: np.ndarray) -> tuple[np.ndarray, list[tuple[int, np.ndarray]]]:
        """For each address the number of the allocation that begins before it, or -1; and the allocations."""
        if self.table is None:
            self.table = np.array(list(self.live), np.uint64), list(self.live.items())
        bases, found = self.table
        return np.searchsorted(bases, addresses, side="right") - 1, found


class Launch:
    """The kernel that runs, as far as an error wants to know it: its tensors by the names of its arguments."""

    def __init__(self) -> None:
        self.kernel = ""
        self.tensors: dict[str, Any] = {}
        self.program: tuple[int, ...] = (0, 0, 0)
        self.tried = 0  # is autotuning trying out configurations?

    @contextlib.contextmanager
    def of(self, kernel: str, tensors: dict[str, Any]) -> Iterator[None]:
        before = self.kernel, self.tensors
        self.kernel, self.tensors = kernel, tensors
        try:
            yield
        finally:
            self.kernel, self.tensors = before


space = Space()
launch = Launch()
register, release = space.register, space.release


class OutsideOfTensors(IndexError):
    """A lane points outside of the tensors. `told` has tensor, program, lanes and their count."""

    def __init__(self, message: str, told: dict[str, Any]):
        super().__init__(message)
        self.told = told


def outside(what: str, pointers: np.ndarray, on: np.ndarray, bad: np.ndarray, size: int) -> OutsideOfTensors:
    """The error for the lanes `bad`, indices into the flat block of `pointers`, of which the lanes `on` are switched on."""
    addresses = pointers.reshape(-1).astype(np.int64)
    name, tensor = owner(addresses[on], int(addresses[bad[0]]))
    shown = [lane_of(int(lane), pointers.shape) for lane in bad[:FEW]]
    lanes = ", ".join(str(tuple(lane)) if isinstance(lane, list) else str(lane) for lane in shown)
    many = f"lane {lanes} points" if len(bad) == 1 else f"lanes {lanes}{', ...' if len(bad) > FEW else ''} point"
    if pointers.size == 1:
        many = "the pointer points"
    counted = f" ({len(bad)} of the {len(on)} that are on)" if pointers.size > 1 else ""
    program = [int(index) for index in launch.program]
    number = program[0] if not any(program[1:]) else tuple(program)
    text = f"{what}, line {line_of_kernel()}, program {number}: {many} outside of "
    if tensor is None:
        text += f"all tensors{counted}: address {int(addresses[bad[0]]):#x}"
    else:
        element = (int(addresses[bad[0]]) - tensor.data_ptr()) // size
        last = sum((side - 1) * step for side, step in zip(tensor.shape, tensor.stride(), strict=True))
        end = "the first one is 0" if element < 0 else f"the last one is {last}"
        end = end if tensor.numel() else "there is none"
        text += f"{name}{counted}: {'it' if len(bad) == 1 else 'the first'} would be element {element}, where {end}"
    return OutsideOfTensors(text, {"tensor": name, "program": program, "lanes": shown, "count": len(bad)})


def owner(addresses: np.ndarray, first: int) -> tuple[str | None, Any]:
    """The launch's tensor that holds most of the addresses, or else the one that is nearest to the first bad one."""

    def rank(item: tuple[str, Any]) -> tuple[int, int]:
        begin = item[1].data_ptr()
        end = begin + item[1].untyped_storage().nbytes() - item[1].storage_offset() * item[1].element_size()
        return int(((addresses >= begin) & (addresses < end)).sum()), -max(begin - first, first - end, 0)

    return max(launch.tensors.items(), key=rank, default=(None, None))


def lane_of(lane: int, shape: tuple[int, ...]) -> int | list[int]:
    return lane if len(shape) < 2 else [int(index) for index in np.unravel_index(lane, shape)]


def line_of_kernel() -> int | str:
    """The innermost line that is not of the machinery."""
    frame = sys._getframe(1)
    while frame is not None and str(frame.f_globals.get("__name__", "")).split(".")[0] in OURS:
        frame = frame.f_back  # type: ignore[assignment]
    return frame.f_lineno if frame else "?"


def located(what: str, pointers: np.ndarray, mask: np.ndarray, size: int) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """Each allocation that the block points into: its bytes, the lanes that do so, and their offsets in bytes."""
    on = np.nonzero(mask.reshape(-1))[0]
    if on.size == 0:
        return
    addresses = pointers.reshape(-1)[on]
    which, found = space.allocations(addresses)
    first = which[0]
    numbers = [first] if (which == first).all() else np.unique(which)
    for number in numbers:
        mine = slice(None) if len(numbers) == 1 else np.nonzero(which == number)[0]
        lanes = on[mine]
        if number < 0:
            raise outside(what, pointers, on, lanes, size)
        base, content = found[number]
        offsets = (addresses[mine] - np.uint64(base)).astype(np.int64)
        bad = offsets > content.size - size
        if bad.any():
            raise outside(what, pointers, on, lanes[bad], size)
        yield content, lanes, offsets


def typed(content: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """The bytes of an allocation as elements, as many as are whole."""
    return content[: content.size // dtype.itemsize * dtype.itemsize].view(dtype)


def aligned(offsets: np.ndarray, size: int) -> bool:
    return size == 1 or not (offsets % size).any()


def gather(content: np.ndarray, offsets: np.ndarray, dtype: np.dtype) -> np.ndarray:
    if aligned(offsets, dtype.itemsize):
        return typed(content, dtype)[offsets // dtype.itemsize]
    return content[offsets[:, None] + np.arange(dtype.itemsize)].view(dtype)[:, 0]


def scatter(content: np.ndarray, offsets: np.ndarray, values: np.ndarray) -> None:
    size = values.dtype.itemsize
    if aligned(offsets, size):
        typed(content, values.dtype)[offsets // size] = values
    else:
        content[offsets[:, None] + np.arange(size)] = np.ascontiguousarray(values)[:, None].view(np.uint8)


def load(pointers: np.ndarray, mask: Any, other: Any, dtype: Any) -> np.ndarray:
    pointers, mask, other = np.broadcast_arrays(pointers, np.asarray(mask, bool), other)
    dtype = np.dtype(dtype)
    loaded = np.array(other, dtype=dtype).reshape(-1)
    for content, lanes, offsets in located("load", pointers, mask, dtype.itemsize):
        loaded[lanes] = gather(content, offsets, dtype)
    return loaded.reshape(pointers.shape)


def store(pointers: np.ndarray, value: np.ndarray, mask: Any) -> None:
    pointers, mask, value = np.broadcast_arrays(pointers, np.asarray(mask, bool), value)
    values = value.reshape(-1)
    # A block with a bad lane writes nothing, also where its other lanes point into another allocation.
    for content, lanes, offsets in list(located("store", pointers, mask, value.dtype.itemsize)):
        scatter(content, offsets, values[lanes])


def one_by_one(what: str, pointers: np.ndarray, value: np.ndarray, mask: Any, step: Callable[[Any, Any, int], Any]) -> np.ndarray:
    """Change what the lanes point at, one lane after the other, as the native interpreter does. Returns the old values."""
    pointers, value, mask = np.broadcast_arrays(pointers, value, np.asarray(mask, bool))
    values, old = value.reshape(-1), np.zeros(value.size, value.dtype)
    for content, lanes, offsets in list(located(what, pointers, mask, value.dtype.itemsize)):
        elements = typed(content, value.dtype)
        for lane, place in zip(lanes.tolist(), (offsets // value.dtype.itemsize).tolist(), strict=True):
            old[lane] = elements[place]
            elements[place] = step(elements[place], values[lane], lane)
    return old.reshape(value.shape)


CHANGES: dict[str, Callable[[Any, Any], Any]] = {
    "ADD": lambda old, new: old + new,
    "FADD": lambda old, new: old + new,
    "AND": lambda old, new: old & new,
    "OR": lambda old, new: old | new,
    "XOR": lambda old, new: old ^ new,
    "XCHG": lambda old, new: new,
    "MAX": max,
    "MIN": min,
    "UMAX": max,
    "UMIN": min,
}


def atomic_rmw(kind: Any, pointers: np.ndarray, value: np.ndarray, mask: Any, semantics: Any) -> np.ndarray:
    change = CHANGES[kind.name]
    with np.errstate(over="ignore"):
        return one_by_one(f"atomic {kind.name.lower()}", pointers, value, mask, lambda old, new, lane: change(old, new))


def atomic_cas(pointers: np.ndarray, expected: np.ndarray, value: np.ndarray, semantics: Any) -> np.ndarray:
    pointers, expected, value = np.broadcast_arrays(pointers, expected, value)
    wanted = expected.reshape(-1)
    return one_by_one("atomic cas", pointers, value, True, lambda old, new, lane: new if old == wanted[lane] else old)
