"""Where the checker's tensors lie: each far from the others, filled with NaN wherever nothing was put."""

from dataclasses import dataclass, field

import numpy as np
import torch

# Bytes on either side of a tensor. A kernel that strays a little ends up here, and in no other tensor.
GUARD = 2**18
FILL = 0xFF
# Around an output lies something else than NaN, so that a NaN written there shows.
AROUND = 0xA5
INTEGERS = {1: torch.int8, 2: torch.int16, 4: torch.int32, 8: torch.int64}


def placed(values: torch.Tensor, strides: tuple[int, ...] | None = None, empty: bool = False) -> torch.Tensor:
    """Copy `values` to memory of their own with these strides; NaN lies around them, or is all they hold if `empty`."""
    values = values.contiguous()
    strides = strides or values.stride()
    last = sum((size - 1) * stride for size, stride in zip(values.shape, strides, strict=True))
    extent = (last + 1) * values.element_size() if values.numel() else 0
    extent += -extent % 16
    raw = torch.full((extent + 2 * GUARD,), AROUND if empty else FILL, dtype=torch.uint8, device=values.device)
    start = GUARD // values.element_size()
    tensor = torch.empty(0, dtype=values.dtype, device=values.device)
    tensor.set_(raw.untyped_storage(), start, values.shape, strides)
    return emptied(tensor) if empty else tensor.copy_(values)


def emptied(tensor: torch.Tensor) -> torch.Tensor:
    """The tensor, with each bit of its elements set, as in FILL."""
    tensor.view(INTEGERS[tensor.element_size()]).fill_(-1)
    return tensor


def strayed(tensor: torch.Tensor, around: int = FILL) -> bool:
    """Whether something was written around a tensor made by `placed`, or between its elements."""
    raw = torch.empty(0, dtype=torch.uint8, device=tensor.device).set_(tensor.untyped_storage())
    size = tensor.element_size()
    outside = torch.ones(len(raw) // size, dtype=torch.bool, device=tensor.device)
    outside.as_strided(tensor.shape, tensor.stride(), tensor.storage_offset()).fill_(False)
    return bool((raw[outside.repeat_interleave(size)] != around).any())


class FarTensor(torch.Tensor):
    """A small tensor that says its rows lie 2^30 elements apart; the watch finds them where they really are."""

    row_stride: int = 0

    def stride(self, dim=None):
        strides = tuple(super().stride())
        if self.row_stride:
            strides = (self.row_stride, *strides[1:])
        return strides if dim is None else strides[dim]


def far(tensor: torch.Tensor, row_stride: int = 2**30) -> torch.Tensor:
    pretended = tensor.as_subclass(FarTensor)
    pretended.row_stride = row_stride
    return pretended


def near(value):
    """A far tensor as it is; anything else unchanged."""
    return value.as_subclass(torch.Tensor) if isinstance(value, FarTensor) else value


def element_offsets(shape: tuple[int, ...], strides: tuple[int, ...]) -> np.ndarray:
    """The offset of every element from the first one, in the order of their indices."""
    offsets = np.zeros((), dtype=np.int64)
    for size, stride in zip(shape, strides, strict=True):
        offsets = offsets[..., None] + np.arange(size, dtype=np.int64) * stride
    return offsets.ravel()


@dataclass
class Region:
    """A tensor as a kernel may touch it: the addresses of its elements, and which of them were written."""

    name: str
    role: str  # "input", "out" or "scratch"
    tensor: torch.Tensor
    begin: int = 0
    addresses: np.ndarray = field(init=False)  # sorted, as the kernel computes them
    real: np.ndarray = field(init=False)  # where the elements truly lie
    index: np.ndarray = field(init=False)  # the element's number, by sorted address
    written: np.ndarray = field(init=False)
    skipped: np.ndarray = field(init=False)

    def __post_init__(self):
        plain, itemsize = self.tensor.as_subclass(torch.Tensor), self.tensor.element_size()
        self.begin = plain.data_ptr()
        self.shape, self.strides = tuple(self.tensor.shape), tuple(self.tensor.stride())
        addresses = self.begin + element_offsets(self.shape, self.strides) * itemsize
        self.index = np.argsort(addresses, kind="stable")
        self.addresses = addresses[self.index]
        self.real = self.begin + element_offsets(self.shape, plain.stride())[self.index] * itemsize
        self.written = np.zeros(len(addresses), dtype=bool)
        self.skipped = np.zeros(len(addresses), dtype=bool)

    @property
    def is_far(self) -> bool:
        return isinstance(self.tensor, FarTensor)

    def find(self, addresses: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """For each address: is it an element, and which one in the sorted order."""
        if not len(self.addresses):
            return np.zeros(addresses.shape, dtype=bool), np.zeros(addresses.shape, dtype=np.int64)
        at = np.searchsorted(self.addresses, addresses).clip(max=len(self.addresses) - 1)
        return self.addresses[at] == addresses, at

    def offsets(self, addresses: np.ndarray) -> np.ndarray:
        """Addresses counted in elements from the first one."""
        return (addresses - self.begin) // self.tensor.element_size()

    def untouched(self) -> np.ndarray:
        """Which elements, by sorted address, still hold what `placed` filled them with."""
        plain = self.tensor.as_subclass(torch.Tensor).contiguous()
        raw = plain.reshape(-1, 1).view(torch.uint8).reshape(len(self.index), -1).numpy()
        return (raw == FILL).all(axis=1)[self.index]

    def distance(self, address: int) -> int:
        """How far an address is from this tensor, in bytes."""
        if not len(self.addresses):
            return abs(self.begin - address)
        return max(int(self.addresses[0]) - address, address - int(self.addresses[-1]), 0)

    def indices(self, numbers: np.ndarray) -> list[tuple[int, ...]]:
        """The indices of elements given by their place in the sorted order."""
        return [tuple(int(i) for i in np.unravel_index(number, self.shape)) for number in np.sort(self.index[numbers])]
