"""The library beside its peers on every card that timed the same cases, held against the card whose numbers the pages give.

    compared(own, others)  ->  for each other card, by the topics of the measurement pages: the cases that both timed, how many
                               are won on each, how far ahead ours is on average, and which are won on one and lost on the other

The standard library alone.
"""

import statistics
from collections.abc import Iterable
from typing import Any

from scripts.pages import measurements
from scripts.pages.peers import verdict

Row = dict[str, Any]
Case = tuple[str, str, str, str, str, str]


def compared(own: list[Row], others: dict[str, list[Row]]) -> list[Row]:
    """Of each other card, by its name; `own` and the values of `others` are rows of measurements."""
    found = []
    for gpu, theirs in others.items():
        topics = {topic: beside(own, theirs, ops) for topic, ops in measurements.PAGES.items()}
        topics = {topic: pairs for topic, pairs in topics.items() if pairs}
        every = {case: pair for pairs in topics.values() for case, pair in pairs.items()}
        if not every:
            continue
        ends = sorted((there / here, case, here, there) for case, (here, there) in every.items() if is_turned((here, there)))
        turned = [{"case": list(case), "here": here, "there": there} for _, case, here, there in ends]
        counted = {topic: counts(pairs.values()) for topic, pairs in topics.items()}
        found.append({"gpu": gpu, "topics": counted, "all": counts(every.values()), "turned": turned})
    return found


def is_turned(pair: tuple[float, float]) -> bool:
    return {verdict(ratio) for ratio in pair} == {"won", "lost"}


def beside(own: list[Row], theirs: list[Row], ops: list[str]) -> dict[Case, tuple[float, float]]:
    """The best peer's time over ours, on both cards, of each case that both timed: by the replay where both have it."""
    found: dict[Case, tuple[float, float]] = {}
    for op in ops:
        mine, there = measurements.cases(own, op), measurements.cases(theirs, op)
        for key in [key for key in mine if key in there]:
            shared = [timing for timing in ("graph", "call") if timing in mine[key] and timing in there[key]]
            here, other = mine[key][shared[0]], there[key][shared[0]]
            for ours, (way, rivals) in measurements.WAYS.items():
                peers = [name for name in rivals if name in here and name in other]
                if peers and ours in here and ours in other:
                    ratio, ratio_there = (min(times[name] for name in peers) / times[ours] for times in (here, other))
                    found[op, way, *key, shared[0]] = ratio, ratio_there
    return found


def counts(pairs: Iterable[tuple[float, float]]) -> Row:
    """Of pairs of ratios, here and there: the verdicts of each, how many are the same, and the geometric means."""
    pairs = list(pairs)
    said = [(verdict(here), verdict(there)) for here, there in pairs]
    found: Row = {"cases": len(pairs), "alike": sum(here == there for here, there in said), "turned": sum(map(is_turned, pairs))}
    for at, where in enumerate(("here", "there")):
        found[where] = {name: sum(both[at] == name for both in said) for name in ("won", "level", "lost")}
        found[where]["mean"] = statistics.geometric_mean(pair[at] for pair in pairs)
    return found
