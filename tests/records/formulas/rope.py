"""The recorded run of *Rotary embedding*."""

from collections.abc import Iterator

import numpy as np

from tests.records.formulas import Formula, Step


def turn(token: int) -> Iterator[Step]:
    pairs, all_lanes = np.arange(4), np.full(4, True)
    yield "token", token
    yield "pairs", pairs
    yield "load cos", 4 * token + pairs, all_lanes
    yield "load sin", 4 * token + pairs, all_lanes
    yield "x_ptrs", 8 * token + pairs
    yield "load x", 8 * token + pairs, all_lanes
    yield "load x", 8 * token + 4 + pairs, all_lanes
    yield "out_ptrs", 8 * token + pairs
    yield "store out", 8 * token + pairs, all_lanes
    yield "store out", 8 * token + 4 + pairs, all_lanes


FORMULAS = {"turn": Formula(turn, (3,), {"x": 24, "cos": 12, "sin": 12, "out": 24})}
