"""Layouts as Triton counts them: every bit of a register's, a lane's or a warp's number moves an element by a fixed step.

A step (`basis`) is a tuple with an entry for each axis; the element that a number stands for is the exclusive or of the steps
of its bits. Steps are named by what is counted: `register`, `lane`, `warp`, or `offset` in shared memory.
"""

from collections.abc import Iterable, Sequence
from itertools import product
from typing import NamedTuple

Basis = tuple[int, ...]
Element = tuple[int, ...]
Shape = Sequence[int]


class LayoutError(Exception):
    """A layout that this room does not read, or text that it cannot."""


class Owner(NamedTuple):
    """Where an element is: which of a thread's registers, which thread of a warp, which warp of a program."""

    register: int
    lane: int
    warp: int


class Steps:
    """A layout that grows by the bits of its counters; each axis begins at size 1 and doubles with every bit it takes."""

    def __init__(self, rank: int, counters: Iterable[str]):
        self.sizes = [1] * rank
        self.bases: dict[str, list[Basis]] = {counter: [] for counter in counters}

    def take(self, counter: str, axis: int, count: int) -> "Steps":
        """Let `count` values of a counter run along an axis, beyond what lies there already."""
        for _ in range(bits(count)):
            self.bases[counter].append(self.along(axis, self.sizes[axis]))
            self.sizes[axis] *= 2
        return self

    def repeat(self, counter: str, count: int) -> "Steps":
        """Let `count` values of a counter hold copies."""
        self.bases[counter] += [self.along(0, 0)] * bits(count)
        return self

    def fit(self, shape: Shape, order: Sequence[int]) -> "Steps":
        """Fold what is larger than the shape into copies; let registers walk over what is left, the axes in `order` first."""
        for axis, size in enumerate(shape):
            bits(size)
            for bases in self.bases.values():
                bases[:] = [tuple(0 if step[axis] >= size else part for part in step) for step in bases]
            self.sizes[axis] = min(self.sizes[axis], size)
        for axis in order:
            self.take("register", axis, shape[axis] // self.sizes[axis])
        return self

    def along(self, axis: int, step: int) -> Basis:
        return tuple(step if other == axis else 0 for other in range(len(self.sizes)))


def bits(count: int) -> int:
    """How many bits count up to a power of two."""
    if count < 1 or count & count - 1:
        raise LayoutError(f"{count} is not a power of two")
    return count.bit_length() - 1


def reached(bases: Sequence[Basis], number: int, rank: int) -> Element:
    """The element that a counter's number stands for."""
    element = [0] * rank
    for bit, step in enumerate(bases):
        if number >> bit & 1:
            element = [part ^ more for part, more in zip(element, step, strict=True)]
    return tuple(element)


def elements(shape: Shape) -> Iterable[Element]:
    """All elements, row by row."""
    return product(*(range(size) for size in shape))
