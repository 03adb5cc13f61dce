"""A remark on launches of which most programs find nothing to do."""

from collections.abc import Sequence

from kernels.labs.tasks.cases import Case
from kernels.labs.watch.watch import Watch

FEWEST = 4  # programs of a launch, below which nothing is said of it


def mostly_idle(watch: Watch) -> tuple[int, int] | None:
    """The launch with the most idle programs, if more than half of its programs are; how many, and of how many."""
    idle, programs = max(watch.idle, default=(0, 0))
    return (idle, programs) if programs >= FEWEST and idle > programs / 2 else None


def remark(tried: Sequence[tuple[Case, Watch]]) -> str:
    """What to say of a grid with too many programs; nothing of one that is the same for all sizes, as a persistent kernel's."""
    found = [(case.label, *most) for case, watch in tried if case.out.numel() and (most := mostly_idle(watch))]
    if len({programs for _, _, programs in found}) < 2:
        return ""
    label, idle, programs = found[0]
    return (
        f"A remark: of the {programs} programs for {label}, {idle} had nothing to do, because every lane of theirs was masked "
        "off. The result is right, and a GPU starts each of them. How many elements does one program own? The grid is the "
        "number of elements divided by that, rounded up: `(triton.cdiv(n, BLOCK),)`."
    )
