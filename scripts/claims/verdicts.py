"""The words for what a judge may find, and the ways of finding it that several judges share."""

import statistics
from collections.abc import Sequence

TRUE, TRUE_IF, FALSE = "true", "true if", "false"
UNMEASURED = "not yet measured"  # a judge waits for a record
UNTESTED, CANNOT = "untested", "cannot be tested"  # no judge: the claim gives the reason
JUDGED = (TRUE, TRUE_IF, FALSE)
VERDICTS = (*JUDGED, UNMEASURED, UNTESTED, CANNOT)
MOST = 0.8  # of the cases must hold for a claim to be true without an "if"


def of_each(holds: Sequence[bool]) -> str:
    """True where every case holds, false where none does, and true if for what lies between."""
    return TRUE if all(holds) else TRUE_IF if any(holds) else FALSE


def of_most(holds: Sequence[bool]) -> str:
    """As `of_each`, but four cases of five are enough to be true."""
    return TRUE if sum(holds) >= MOST * len(holds) else TRUE_IF if any(holds) else FALSE


def spread(values: Sequence[float]) -> dict[str, float]:
    """The least, the median and the most of some values, as sentences bind them."""
    return {"least": min(values), "median": statistics.median(values), "most": max(values)}


def shares(holds: Sequence[bool]) -> dict[str, int]:
    """How many cases hold, of how many."""
    return {"holding": sum(holds), "cases": len(holds)}


def size(shape: str) -> str:
    """A shape as a sentence says it."""
    return " × ".join(f"{int(side):,}" for side in shape.split("x"))
