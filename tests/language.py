"""triton.language as it is before any kernel has run: the interpreter changes it, and does not always change it back."""

import functools
from typing import Any


@functools.cache
def language() -> list[tuple[Any, dict[str, Any]]]:
    """The parts of triton.language that the interpreter changes, as they were when this was first asked."""
    import triton.experimental.gluon.language  # noqa: F401  it takes functions of triton.language when it is imported
    import triton.language as tl

    changed = (tl, tl.core, tl.math, *{value for value in vars(tl.core).values() if isinstance(value, type)})
    return [(holder, dict(vars(holder))) for holder in changed]


def put_language_back() -> None:
    """Undo what the interpreter has changed in triton.language.

    A kernel that fails, or that calls another jitted function, leaves it changed, and nothing after it could compile.
    """
    for holder, kept in language():
        for name in vars(holder).keys() - kept.keys():
            delattr(holder, name)
        for name, value in kept.items():
            if vars(holder).get(name) is not value:
                setattr(holder, name, value)
