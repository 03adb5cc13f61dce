"""Blocks that stand where one truth belongs: after `if`, beside `and`, in Python's `max`."""

import re

from kernels.labs.watch.source import masks_joined_by_words
from kernels.labs.watch.watch import Watch

CONDITION = re.compile(r"(?:if|elif|while) ")


def one_truth(watch: Watch) -> str:
    """What to say of a block that was taken for one truth; nothing if none was."""
    found = next((text for text in map(masks_joined_by_words, watch.sources) if text), "")
    if found:
        return (
            f"`{found}` is no mask of both. On blocks, use `&` for `and`, `|` for `or` and `~` for `not`, with parentheses "
            "around each comparison."
        )
    if not watch.truths:
        return ""
    statement = watch.truths[0]
    if re.search(r"\b(?:max|min)\(", statement.replace("tl.max(", "").replace("tl.min(", "")):
        return (
            f"in `{statement}`, Python's own `max` or `min` takes one of two blocks as a whole. Lane by lane it is "
            "`tl.maximum(a, b)` or `tl.minimum(a, b)`."
        )
    return (
        f"`{statement}` asks a whole block for one truth. It is true in some lanes and false in others: choose lane by lane with "
        "`tl.where(condition, a, b)`."
    )


def refused(watch: Watch) -> str:
    """What to say of a condition on a block that went well by chance: a GPU's compiler refuses it."""
    if not any(map(CONDITION.match, watch.truths)):
        return ""
    return f"The result is right here, and Triton's compiler refuses this kernel.\n\nUsually: {one_truth(watch)}"
