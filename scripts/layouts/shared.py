"""Layouts of shared memory: at which offset an element lies, in elements from the start of the block."""

from dataclasses import dataclass

from scripts.layouts.bits import Element, LayoutError, Shape, elements


class Shared:
    """A layout of shared memory. Each kind says where one element lies."""

    def offset(self, shape: Shape, element: Element) -> int:
        raise NotImplementedError

    def offsets(self, shape: Shape) -> list[int]:
        """Where each element lies, row by row."""
        return [self.offset(shape, element) for element in elements(shape)]


@dataclass(frozen=True)
class Swizzled(Shared):
    """Line after line; in each, groups of `vec` elements change places by the exclusive or with the line's phase."""

    vec: int
    per_phase: int
    max_phase: int
    order: tuple[int, ...]

    def offset(self, shape: Shape, element: Element) -> int:
        if len(shape) > 2 and self.max_phase > 1:
            raise LayoutError("swizzles of more than two axes are not read here")
        *outer, inner = reversed(self.order)  # the slowest axis first
        line = 0
        for axis in outer:
            line = line * shape[axis] + element[axis]
        phase = line // self.per_phase % self.max_phase * self.vec
        return line * shape[inner] + (element[inner] ^ phase % shape[inner])


@dataclass(frozen=True)
class NvmmaShared(Shared):
    """As `wgmma` and descriptors want it: panels of `swizzle` bytes side by side, 16-byte groups exchanged in each row."""

    swizzle: int
    transposed: bool
    element_bits: int

    def offset(self, shape: Shape, element: Element) -> int:
        if len(shape) != 2:
            raise LayoutError("nvmma_shared is read here with two axes")
        if not self.swizzle:
            return element[0] * shape[1] + element[1]
        (row, column), rows = (element[::-1], shape[1]) if self.transposed else (element, shape[0])
        vec = 128 // self.element_bits
        across = self.swizzle * 8 // self.element_bits
        phase = row // (128 // self.swizzle) % (self.swizzle // 16)
        panel, within = divmod(column, across)
        return panel * rows * across + row * across + (within ^ phase * vec)


@dataclass(frozen=True)
class Padded(Shared):
    """Line after line, with a gap after every so many elements."""

    gaps: tuple[tuple[int, int], ...]  # (after so many elements, so many left free)
    order: tuple[int, ...]

    def offset(self, shape: Shape, element: Element) -> int:
        place = 0
        for axis in reversed(self.order):
            place = place * shape[axis] + element[axis]
        return place + sum(place // every * gap for every, gap in self.gaps)
