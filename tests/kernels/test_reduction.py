"""How kernels.sum and kernels.max cut a tensor up: layouts that need no copy, and launches that the specimens know."""

import math

import pytest
import torch

from kernels.reductions.plan import Plan, reduction_plan
from scripts.launches.reductions import LIBRARY

SHAPES = {
    "all": ((2**28,), None),
    "all-odd": ((2**28 + 1,), None),
    "all-small": ((2**24,), None),
    "rows": ((8192, 4096), 1),
    "rows-odd": ((65536, 781), 1),
    "rows-short": ((524288, 64), 1),
    "rows-long": ((1024, 262144), 1),
    "rows-few": ((16, 2**22), 1),
    "columns": ((262144, 1024), 0),
    "columns-middle": ((8192, 4096), 0),
    "columns-odd": ((65536, 781), 0),
    "columns-few": ((2**22, 16), 0),
    "middle": ((64, 512, 1024), 1),
}
KNOWN = [specimen for specimen in LIBRARY if specimen.function != "histogram_bins_kernel"]


def plan_of(shape: tuple[int, ...], dim: int | None, indices: bool = False) -> Plan:
    return reduction_plan(shape, torch.empty(shape, device="meta").stride(), dim, indices)


@pytest.mark.parametrize("specimen", KNOWN, ids=lambda specimen: specimen.name)
def test_specimens_are_launched_as_the_library_does(specimen):
    label, _, _ = specimen.label.replace("-indices", "").rpartition("-")
    plan = plan_of(*SHAPES[label], indices=bool(specimen.arguments.get("INDICES")))
    names = ("outer_stride", "result_stride", "term_stride", "n_results", "n_terms", "n_parts")
    assert plan.sizes == tuple(specimen.arguments[name] for name in names)
    assert plan.meta == {name: specimen.arguments[name] for name in plan.meta}


@pytest.mark.parametrize("dim", [None, 0, 1, 2])
@pytest.mark.parametrize("indices", [False, True])
def test_plans_are_within_what_a_program_can_hold(indices, dim):
    sizes = (1, 3, 16, 64, 255, 256, 781, 4096, 100_000)
    for shape in ((a, b, c) for a in sizes for b in sizes for c in sizes):
        plan = plan_of(shape, dim, indices)
        assert plan.n_outer * plan.n_results * plan.n_terms == math.prod(shape)
        assert plan.n_outer * plan.n_results == math.prod(plan.shape)
        assert 1 <= plan.parts <= 1024 and plan.parts * plan.block_n <= max(plan.n_terms, plan.block_n)
        assert plan.block_m * max(plan.block_n, plan.meta["PARTS"]) <= 16_384


def test_a_plan_is_made_once():
    assert plan_of((30, 40), 1) is plan_of((30, 40), 1)


@pytest.mark.parametrize(
    ("shape", "strides", "dim", "copied"),
    [
        ((6, 7, 8), (56, 8, 1), None, False),
        ((6, 8, 7), (56, 1, 8), None, False),  # transposed
        ((8, 6, 7), (1, 56, 8), None, False),  # permuted
        ((6, 7, 4), (56, 8, 2), None, False),  # every other column
        ((6, 7, 3), (56, 8, 1), None, True),  # columns cut off
        ((6, 2, 8), (56, 8, 1), None, True),  # rows cut off
        ((6, 7, 3), (56, 8, 1), 0, False),
        ((6, 7, 3), (56, 8, 1), 1, False),
        ((6, 7, 3), (56, 8, 1), 2, False),
        ((2, 3, 7, 8), (168, 56, 8, 1), 2, False),
        ((2, 3, 7, 4), (336, 56, 8, 2), 2, True),  # three strides remain
        ((5, 6), (0, 1), 0, False),  # expanded
    ],
)
def test_what_has_strides_enough_is_not_copied(shape, strides, dim, copied):
    assert reduction_plan(shape, strides, dim).copy == copied
