"""The list of *The whole list* on every card that searched it, held against the card whose numbers the pages give.

    compared(kept)  ->  for each other card and shape: its fastest configuration, what the pages' fastest costs there, how
                        much longer the fastest and the slowest quarter take, and how alike the two order what both timed
"""

import statistics
from typing import Any

SEARCH, SHEET = "landscape/search", "hardware/sheet"
NAMES = ("block_m", "block_n", "block_k", "group_m", "num_warps", "num_stages")
Row = dict[str, Any]


def compared(kept: dict[str, dict[str, Row]]) -> list[Row]:
    """Of each card but the first, by its name: `kept` has what each kept of the search and of its sheet."""
    (_, own), *others = kept.items()
    found = []
    for gpu, there in others:
        ways = [(shape, own[SEARCH]["shapes"][shape], searched) for shape, searched in there[SEARCH]["shapes"].items()]
        shapes = {shape: beside(timed(mine), timed(theirs)) for shape, mine, theirs in ways}
        sheet = {key: there[SHEET][key] for key in ("multiprocessors", "shared_bytes_program", "copy_gbps")}
        found.append({"gpu": gpu, "shapes": shapes, "same": sum(row["foreign"] == 1 for row in shapes.values()), **sheet})
    return found


def timed(searched: dict[str, Any]) -> dict[tuple[int, ...], float]:
    return {tuple(row[name] for name in NAMES): row["us"] for row in searched["rows"] if row["us"]}


def beside(own: dict[tuple[int, ...], float], there: dict[tuple[int, ...], float]) -> Row:
    """Two cards at one shape. A configuration that does not run on a card is not compared there."""
    both = sorted((configuration for configuration in own if configuration in there), key=own.__getitem__)
    mine, best = min(own, key=own.__getitem__), min(there, key=there.__getitem__)
    return {
        "best": dict(zip(NAMES, best, strict=True)),
        "foreign": there[mine] / there[best] if mine in there else None,
        "slower": there[best] / own[mine],
        "slow_ones": statistics.median(there[each] / own[each] for each in both[len(both) * 3 // 4 :]),
        "order": statistics.correlation(ranks(both, own), ranks(both, there)),
    }


def ranks(configurations: list[tuple[int, ...]], us: dict[tuple[int, ...], float]) -> list[int]:
    """The place of each in the order of their times; equal times in the order of their numbers."""
    ordered = sorted(configurations, key=lambda each: (us[each], each))
    return [ordered.index(each) for each in configurations]
