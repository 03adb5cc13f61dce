"""Numbers, indices and programs in words."""

from collections.abc import Sequence

import numpy as np


def span(values: Sequence[int] | np.ndarray) -> str:
    """`3`, `3 and 4`, `3 to 9`, or the first few of many."""
    numbers = [int(value) for value in values]
    if len(numbers) == 1:
        return str(numbers[0])
    if numbers == list(range(numbers[0], numbers[-1] + 1)):
        return f"{numbers[0]} {'and' if len(numbers) == 2 else 'to'} {numbers[-1]}"
    shown = ", ".join(str(number) for number in numbers[:4])
    return f"{shown}, ... ({len(numbers)} in all)" if len(numbers) > 4 else shown


def lanes_of(lanes: np.ndarray, shape: tuple[int, ...]) -> str:
    """Which lanes of a block: a span, or the first and last index of a tile's."""
    word = "lane" if len(lanes) == 1 else "lanes"
    if len(shape) < 2 or lanes.size == 0:
        return f"{word} {span(lanes)}"
    first, last = ([int(i) for i in np.unravel_index(lane, shape)] for lane in (lanes[0], lanes[-1]))
    return f"{word} {first}" if len(lanes) == 1 else f"{word} {first} to {last} ({len(lanes)} in all)"


def program_of(program: tuple[int, ...], grid: tuple[int, ...]) -> str:
    """`Program 3 of 4`, or `Program (1, 2) of (4, 4)`."""
    axes = max((axis for axis in range(3) if grid[axis] > 1), default=0) + 1
    if axes == 1:
        return f"Program {program[0]} of {grid[0]}"
    return f"Program {tuple(program[:axes])} of a {' by '.join(map(str, grid[:axes]))} grid"


def index_of(index: Sequence[int]) -> str:
    return "[" + ", ".join(str(int(i)) for i in index) + "]"


def number(value: float) -> str:
    return f"{value:.6g}"
