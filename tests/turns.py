"""Of many tests that are alike, which ones a run takes: of what changed lately, and of the others a part, by turns.

What such a test asks was asked when the thing was last changed or baked, and its record is fresh. So a run asks again of a part,
and another commit of another one. Where one change reaches nearly all, as a sentence in every page does, `few` bounds how long
a run takes. EVERYTHING=1 takes all, as a checkout without git does.
"""

import functools
import os
import random
import subprocess
import zlib
from collections.abc import Callable, Sequence
from typing import Any

from tests.docs.pages import ROOT

LATELY = 15  # commits


def git(*arguments: str) -> list[str]:
    done = subprocess.run(["git", *arguments], cwd=ROOT, text=True, capture_output=True)
    return done.stdout.splitlines() if done.returncode == 0 else []


@functools.cache
def changed() -> frozenset[str]:
    """The files that the last commits changed."""
    return frozenset(git("log", f"-{LATELY}", "--name-only", "--pretty=format:"))


@functools.cache
def number() -> int | None:
    """The number of commits, which chooses the part."""
    counted = git("rev-list", "--count", "HEAD")
    return int(counted[0]) if counted and not os.environ.get("EVERYTHING") else None


def files(*patterns: str) -> list[str]:
    """The files of the checkout that patterns name, such as `runtime/*.py`, as sources of tests."""
    return [path.relative_to(ROOT).as_posix() for pattern in patterns for path in ROOT.glob(pattern)]


def changed_lately(*files: str) -> bool:
    return number() is None or not changed().isdisjoint(files)


def taken_if(is_due: bool) -> Callable[[Callable[..., None]], Callable[..., None] | None]:
    """A decorator: the test is there, or it is not."""
    return lambda test: test if is_due else None


def taken(parts: int, *sources: str) -> Callable[[Callable[..., None]], Callable[..., None] | None]:
    """A decorator: the test is there if a file that it is about changed lately, else in one of `parts` runs."""
    return lambda test: test if due(test.__name__, parts, *sources) else None


def part(items: list[Any], parts: int, *sources: str) -> list[Any]:
    """All of some cases, if a file that they are about changed lately; else one in `parts` of them, by turns."""
    counted = number()
    return items if counted is None or changed_lately(*sources) else items[counted % parts :: parts]


def few(most: int, items: Sequence[Any], files_of: Callable[[Any], Sequence[str]], *shared: str) -> list[Any]:
    """At most so many of some cases: of those whose files changed lately, then of the others. Another commit takes others.

    All, if a file that all of them go through changed lately.
    """
    counted = number()
    if counted is None or changed_lately(*shared):
        return list(items)
    places = random.Random(counted).sample(range(len(items)), len(items))
    places.sort(key=lambda place: not changed_lately(*files_of(items[place])))
    return [items[place] for place in sorted(places[:most])]


def due(file: str, parts: int, *sources: str) -> bool:
    """Whether the tests of a file, named from the root, are taken now. Of those that did not change, nor their sources, one in
    `parts` is."""
    if changed_lately(file, *sources):
        return True
    return (zlib.crc32(file.encode()) + number()) % parts == 0
