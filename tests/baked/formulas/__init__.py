"""What each recorded run must show, written in NumPy from the kernel's formula: a file for each chapter.

`FORMULAS` maps the name of a run to a `Formula`. Nothing here may import the recorder or a kernel.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

Step = tuple


@dataclass(frozen=True, eq=False)
class Formula:
    """The steps of every program of a run.

    `steps` is called with a program's numbers and yields, in the order of the kernel's statements:

        ("offsets", array)              a variable of integers or truth values
        ("out",) or ("out", array)      a variable of floating-point numbers, checked where they are given
        ("loop start", 16)              a round of a loop begins
        ("load x", offsets, mask)       likewise "store x" and "atomic_add x"; the mask broadcasts
        ("sum",), ("max",), ("dot",)    a reduction or a product, with or without its values

    `elements` tells for each tensor how many elements it has, or, of a view, at which offsets they lie.
    """

    steps: Callable[..., Iterator[Step]]
    grid: tuple[int, ...]
    elements: dict[str, int | np.ndarray]
