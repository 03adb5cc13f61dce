"""What the watch found: which lanes of which program did something that they must not."""

from dataclasses import dataclass, field

import numpy as np

from kernels.labs.watch.regions import Region


@dataclass
class Finding:
    """One thing that a kernel must not do, with everything that helps to see why."""

    kind: str  # "wild load", "wild store", "input", "unset", "lanes" or "race"
    region: Region
    program: tuple[int, ...]
    grid: tuple[int, ...]
    statement: str = ""
    lanes: np.ndarray = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    offsets: np.ndarray = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    shape: tuple[int, ...] = ()
    whole: bool = False  # no lane of the access was in its place
    other_program: tuple[int, ...] = ()
    other_statement: str = ""
    other_kind: str = ""  # "load", "store" or "atomic"
