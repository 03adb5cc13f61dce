"""Shapes that nobody chose: how they are drawn, and what is said of the times that a benchmark finds there."""

import math

import pytest
import torch

from kernels.tools import drawn as harness
from kernels.tools.drawn import FORMS, draw_heads, draw_products, draw_rows
from scripts.pages import drawn, drawn_kinds
from tests.records.made_up import drawn as made_up

MANY = 3000


@pytest.mark.parametrize("draw", [draw_rows, draw_products, draw_heads])
def test_a_seed_draws_the_same_shapes_and_another_one_others(draw):
    assert draw(5) == draw(5) != draw(6)
    assert len(draw(5)) >= 48


def test_rows_are_drawn_as_the_page_says():
    cases = draw_rows(1, MANY)
    kinds = [sum(test(case.columns) for case in cases) for test in (by_64, by_8, by_neither)]
    assert all(abs(kind - MANY / 3) < MANY / 20 for kind in kinds), kinds
    assert all(2**17 <= case.rows * case.columns <= 2**27 * 1.02 for case in cases)
    assert {case.dtype for case in cases} == {torch.float32, torch.float16, torch.bfloat16}
    # As many lengths in one order of size as in the next: either half of the logarithm holds about as many.
    middle = math.sqrt(32 * 2**18)
    assert 0.4 < sum(case.columns < middle for case in cases) / MANY < 0.6
    assert sum(case.rows <= 64 for case in cases) > MANY / 20 and sum(case.columns <= 512 for case in cases) > MANY / 5


def by_64(length: int) -> bool:
    return length % 64 == 0


def by_8(length: int) -> bool:
    return length % 8 == 0 and not by_64(length)


def by_neither(length: int) -> bool:
    return length % 8 != 0


def test_products_have_all_four_forms_and_no_more_work_than_said():
    cases = draw_products(1, 400)
    by_form = {form: cases[place::4] for place, form in enumerate(FORMS)}
    assert all(case.m == case.n == case.k for case in by_form["square"])
    assert all(min(case.m, case.n) <= 128 for case in by_form["thin"])
    assert all(case.k >= 7 * max(case.m, case.n) for case in by_form["deep"])
    assert all(2**27 <= case.m * case.n * case.k <= 2**40 for case in cases)


def test_heads_are_shared_evenly():
    assert all(case.heads % case.k_heads == 0 for case in draw_heads(1, 400))


def record(*times: dict[str, float], copy: float = 1e9) -> drawn.Record:
    """A record of cases that move 10⁶ bytes, each with times in milliseconds, beside a copy of `copy` bytes a millisecond."""
    row = {"op": "softmax", "direction": "fwd", "shape": "2x3", "dtype": "fp32", "bytes": 10**6, "flops": None}
    found = [row | {"ms": {name: [ms, ms, ms] for name, ms in each.items()}} for each in times]
    return {"ceilings": {"copy": {"bytes": copy, "ms": [1, 1, 1]}}, "drawn": {"op": "softmax", "seed": 1, "cases": found}}


def test_the_best_peer_counts_and_a_case_near_the_copy_is_level_at_least():
    slow, near = drawn.cases(record({"blockwise": 2, "eager": 4, "compile": 1}, {"blockwise": 2, "eager": 1}, copy=0.53e6))
    assert (slow.peer, slow.ratio) == ("compile", 0.5)
    assert near.of_copy == pytest.approx(0.943, abs=1e-3) and near.counted == 1 and near.ratio == 0.5
    (far,) = drawn.cases(record({"blockwise": 2, "eager": 1}, copy=0.56e6))
    assert far.counted == 0.5


def test_the_summary_follows_from_the_cases():
    ours = [{"blockwise": 1, "eager": ratio} for ratio in (0.5, 0.985, 1.0, 2.0, 4.0)]
    of = drawn.summary(drawn.cases(record(*ours)))
    assert of["cases"] == 5 and (of["won"], of["lost"]) == (2, 1)
    assert of["mean"] == pytest.approx((0.5 * 0.985 * 8) ** 0.2)
    assert of["worst"] == {"shape": "2x3", "dtype": "fp32", "ratio": 0.5, "peer": "eager"}
    assert of["tenth"] == pytest.approx(0.5 + 0.4 * 0.485)


def test_the_table_has_a_line_for_each_direction():
    lines = drawn.table({"softmax": made_up("drawn/softmax"), "add": made_up("drawn/add")})
    assert [line[:3] for line in lines[1:]] == [["softmax", "forward", 48], ["softmax", "backward", 48], ["add", "forward", 48]]


def test_a_figure_that_is_missed_by_a_hair_is_missed():
    head, line = drawn.met({"softmax": record(*[{"blockwise": 1, "eager": 1.0499}] * 4)})[0]
    assert len(head) == len(line) and line[2:] == ["1.05", "1.050", "missed", "0.92", "1.050", "met"]
    lines, count = drawn.met({"softmax": record(*[{"blockwise": 1, "eager": 1.0501}] * 4)})
    assert lines[1][4::3] == ["met", "met"] and count == 1


def case(op: str, direction: str, shape: str, dtype: str = "fp16", ratio: float = 0.5, moved: int = 10**9) -> drawn.Case:
    return drawn.Case(op, direction, shape, dtype, moved, 1.0, "eager", ratio, 0.1)


@pytest.mark.parametrize(
    ("of_one", "of_none"),
    [
        (case("max", "fwd", "2x72 rows"), case("max", "fwd", "9x64 rows")),
        (case("max", "fwd", "9x64 columns"), case("max", "fwd", "9x9 all")),
        (case("mm", "fwd", "7x64x30000"), case("mm", "fwd", "7x64x29984")),
        (case("mm", "bwd", "7x64x72"), case("mm", "bwd", "7x64x60")),
        (case("attention", "fwd", "1x8x8x511x256c"), case("attention", "fwd", "1x8x8x512x256c")),
        (case("attention", "bwd", "1x32x2x4096x128"), case("attention", "bwd", "1x32x3x4096x128")),
        (case("rope", "fwd", "1x3x3x100x80c"), case("rope", "fwd", "1x3x3x100x64c")),
        (case("softmax", "bwd", "9x512"), case("softmax", "bwd", "9x513")),
        (case("swiglu", "bwd", "9x9", moved=10**7), case("swiglu", "fwd", "9x9", moved=10**7)),
    ],
)
def test_a_kind_is_told_from_the_shape(of_one, of_none):
    assert drawn_kinds.of_kind(of_one) and not drawn_kinds.of_kind(of_none)


def test_the_kinds_stand_beside_the_cases_of_none(monkeypatch):
    some = [case("softmax", "bwd", f"9x{columns}", ratio=ratio) for columns, ratio in ((8, 0.5), (9, 0.125), (513, 0.9))]
    monkeypatch.setattr(drawn_kinds, "cases", lambda record: some)
    head, line = drawn_kinds.table({"softmax": {}})
    assert len(head) == len(line) and line[3:] == [2, "0.25", "eager, in 2", 1, "0.90"]
    assert drawn_kinds.lost({"softmax": {}}) == (3, 2)


# The harness, with a clock that gives each function a time by its place, and graphs that are the functions themselves


@pytest.fixture
def bench(monkeypatch):
    def clock(functions, _):
        for function in functions:
            function()
        return [[float(place + 1)] * 3 for place, _ in enumerate(functions)]

    monkeypatch.setattr(harness, "alternate", clock)
    monkeypatch.setattr(harness, "capture", lambda function: function)
    bench = harness.Drawn.__new__(harness.Drawn)
    bench.op, bench.seed, bench.part, bench.cases = "double", 1, None, []
    return bench


CASE = harness.Rows(3, 5, torch.float32)


def double(x):
    return 2 * x


def test_both_directions_are_kept_with_the_peers_that_are_right(bench, capsys):
    def refuses(x):
        raise NotImplementedError

    functions = {"blockwise": double, "eager": lambda x: x + x, "wrong": lambda x: 2.1 * x, "refuses": refuses}
    bench.both(CASE, functions, (torch.randn(3, 5),), (120, 180))
    kept = [(row["direction"], row["bytes"], list(row["ms"])) for row in bench.cases]
    assert kept == [("fwd", 120, ["blockwise", "eager"]), ("bwd", 180, ["blockwise", "eager"])]
    said = capsys.readouterr().out
    assert "wrong is wrong for 3x5 in fp32" in said and "refuses does not take 3x5" in said


def test_a_wrong_result_or_gradient_of_ours_ends_the_benchmark(bench):
    with pytest.raises(AssertionError, match="double fwd 3x5 fp32: relative error"):
        bench.both(CASE, {"blockwise": lambda x: 2.1 * x, "eager": double}, (torch.randn(3, 5),), (1, 1))
    half = {"blockwise": lambda x: x + x.detach(), "eager": double}
    with pytest.raises(AssertionError, match="double bwd 3x5 fp32: relative error"):
        bench.both(CASE, half, (torch.randn(3, 5),), (1, 1))


def test_what_is_exact_is_not_timed_and_a_warmer_times_nothing(bench):
    functions = {"blockwise": double, "exact": double, "peer": double}
    bench.both(CASE, functions, (torch.randn(3, 5),), (1, 1), differentiable=0)
    assert [list(row["ms"]) for row in bench.cases] == [["blockwise", "peer"]]
    bench.part, bench.cases = (0, 2), []
    bench.both(CASE, functions, (torch.randn(3, 5),), (1, 1))
    assert bench.cases == [] and bench.each([1, 2, 3]) == [1, 3]


def test_steps_of_float16_near_zero_are_no_fault_of_a_kernel():
    exact = torch.rand(10_000, dtype=torch.float64) * 1e-6
    stored = exact.half()
    assert harness.relative_error(stored, exact) > 2e-3 > harness.relative_error(stored, exact, 2.0**-24)
    assert harness.relative_error(stored * 1.5, exact, 2.0**-24) > 2e-3
