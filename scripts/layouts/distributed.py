"""Layouts of registers: how a program's warps, their lanes and each lane's registers share the elements of a tensor."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import product
from operator import or_

from scripts.layouts.bits import Basis, Element, LayoutError, Owner, Shape, Steps, elements, reached

COUNTERS = ("register", "lane", "warp")


class Distributed:
    """A layout of registers. Each kind says what its bits mean, in `bases`; the rest follows from that."""

    def bases(self, shape: Shape) -> dict[str, list[Basis]]:
        """The step of every bit of the register's, the lane's and the warp's number."""
        raise NotImplementedError

    def element(self, shape: Shape, owner: Owner) -> Element:
        """What a register holds."""
        parts = (reached(bases, number, len(shape)) for bases, number in zip(self.bases(shape).values(), owner, strict=True))
        found = [0] * len(shape)
        for part in parts:
            found = [one ^ other for one, other in zip(found, part, strict=True)]
        return tuple(found)

    def places(self, shape: Shape) -> dict[Owner, Element]:
        """Every register of every lane of every warp, warp by warp, with the element that it holds; copies are among them."""
        bases = self.bases(shape)
        parts = [[reached(bases[name], number, len(shape)) for number in range(2 ** len(bases[name]))] for name in COUNTERS]
        registers, lanes, warps = parts
        found = {}
        for (warp, at_warp), (lane, at_lane), (register, at) in product(*map(enumerate, (warps, lanes, registers))):
            element = tuple(one ^ two ^ three for one, two, three in zip(at_warp, at_lane, at, strict=True))
            found[Owner(register, lane, warp)] = element
        return found

    def owners(self, shape: Shape) -> list[Owner]:
        """Who holds each element, row by row: of several holders the one with the lowest warp, lane and register."""
        first: dict[Element, Owner] = {}
        for owner, element in self.places(shape).items():
            first.setdefault(element, owner)
        return [first[element] for element in elements(shape)]


@dataclass(frozen=True)
class Blocked(Distributed):
    """Neighbors in one thread's registers, then in the lanes of a warp, then in warps, then again from the start."""

    per_thread: tuple[int, ...]
    threads: tuple[int, ...]
    warps: tuple[int, ...]
    order: tuple[int, ...]

    def bases(self, shape: Shape) -> dict[str, list[Basis]]:
        steps = Steps(len(shape), COUNTERS)
        for counter, counts in zip(COUNTERS, (self.per_thread, self.threads, self.warps), strict=True):
            for axis in self.order:
                steps.take(counter, axis, counts[axis])
        return steps.fit(shape, self.order).bases


@dataclass(frozen=True)
class Slice(Distributed):
    """Its parent's layout without one axis: what a sum over that axis leaves, and what `None` in an index puts back."""

    axis: int
    parent: Distributed

    def bases(self, shape: Shape) -> dict[str, list[Basis]]:
        within = self.parent.bases([*shape[: self.axis], 1, *shape[self.axis :]])
        found = {name: [(*step[: self.axis], *step[self.axis + 1 :]) for step in steps] for name, steps in within.items()}
        return found | {"register": [step for step in found["register"] if any(step)]}


@dataclass(frozen=True)
class Mma(Distributed):
    """The sums of tensor-core products: version 2 is `mma.sync` (16 by 8 a warp), version 3 `wgmma` (64 by N, four warps)."""

    version: int
    warps: tuple[int, ...]
    instruction: tuple[int, ...]

    def bases(self, shape: Shape) -> dict[str, list[Basis]]:
        if self.version not in (2, 3) or len(shape) != 2:
            raise LayoutError(f"nvidia_mma of version {self.version} with {len(shape)} axes is not read here")
        steps = fragment(self.instruction[:2], 2, 1)
        for axis in (1, 0) if self.version == 2 else (0, 1):
            steps.take("warp", axis, self.warps[axis])
        return steps.fit(shape, (1, 0)).bases


@dataclass(frozen=True)
class DotOperand(Distributed):
    """An operand in registers of `mma.sync`: the left one (0) or the right one (1) of a product whose sums are `parent`."""

    operand: int
    parent: Distributed
    width: int

    def bases(self, shape: Shape) -> dict[str, list[Basis]]:
        parent = self.parent
        if not isinstance(parent, Mma) or parent.version not in (2, 3) or (parent.version, self.operand) == (3, 1):
            raise LayoutError("only operands of nvidia_mma are read here; the right one of version 3 lies in shared memory")
        along = 1 - self.operand  # the axis that the product sums over
        tile = (16, 8 * self.width) if self.operand == 0 else (8 * self.width, 8)
        steps = fragment(tile, self.width, along)
        for axis in (1, 0) if parent.version == 2 else (0, 1):
            if axis == along:
                steps.repeat("warp", parent.warps[axis])
            else:
                steps.take("warp", axis, parent.warps[axis])
        return steps.fit(shape, (along, 1 - along)).bases


@dataclass(frozen=True)
class Linear(Distributed):
    """A layout that the compiler itself writes down bit by bit."""

    steps: tuple[tuple[Basis, ...], ...]

    def bases(self, shape: Shape) -> dict[str, list[Basis]]:
        sizes = [1 + reduce(or_, (step[axis] for steps in self.steps for step in steps), 0) for axis in range(len(shape))]
        if any(size > side for size, side in zip(sizes, shape, strict=True)):
            raise LayoutError(f"a linear layout of {sizes} does not fit {list(shape)}")
        found = Steps(len(shape), COUNTERS)
        for name, steps in zip(COUNTERS, self.steps, strict=True):
            found.bases[name] = list(steps)
        found.sizes = sizes
        return found.fit(shape, range(len(shape))[::-1]).bases


def fragment(tile: Sequence[int], width: int, inner: int) -> Steps:
    """One warp's tile, as the PTX ISA gives it: `width` neighbors a lane, four lanes along an axis, eight across it."""
    outer = 1 - inner
    steps = Steps(2, COUNTERS)
    steps.take("register", inner, width).take("lane", inner, 4).take("lane", outer, 8)
    return steps.take("register", outer, tile[outer] // 8).take("register", inner, tile[inner] // (4 * width))
