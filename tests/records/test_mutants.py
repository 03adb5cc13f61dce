"""The mutants: every place of a kernel is changed once; the records: of this code, and above the bar."""

import ast
from collections import Counter
from types import SimpleNamespace

import pytest

from scripts import matrix, mutate
from scripts.mutation.mutants import mutants
from scripts.provenance import records, sources
from scripts.provenance.environment import primary_machine
from tests.records.freshness import waiting

KERNEL = '''
import triton
import triton.language as tl


@triton.jit
def scale_kernel(x_ptr, y_ptr, x_stride, n, BLOCK: tl.constexpr):
    """Not 1 + 1."""
    row = tl.program_id(0).to(tl.int64)
    columns = tl.arange(0, BLOCK)  # [BLOCK]
    mask = columns < n
    x = tl.load(x_ptr + row * x_stride + columns, mask=mask, other=-float("inf"))
    x = x.to(tl.float32)
    total = tl.sum(x[None, :], axis=1)
    y = tl.where(mask, -x, total) + tl.sum(x[None, :], axis=1)
    tl.store(y_ptr + columns, y, mask=mask)


def launch(x):
    return x + 1
'''
EXPECTED = """
conversion: tl.program_id(0).to(tl.int64) -> tl.program_id(0)
number: 0 -> (0 + 1)
number: 0 -> (0 + 1) (2)
comparison: columns < n -> (columns) <= (n)
arithmetic: x_ptr + row * x_stride -> ((x_ptr) - (row * x_stride))
arithmetic: x_ptr + row * x_stride + columns -> ((x_ptr + row * x_stride) - (columns))
arithmetic: row * x_stride -> ((row) + (x_stride))
stride: x_stride -> (x_stride + 1)
mask: mask -> (mask) | True
other: -float("inf") -> 0.0
conversion: x.to(tl.float32) -> x
choice: tl.where(mask, -x, total) -> tl.where(mask, total, -x)
arithmetic: tl.where(mask, -x, total) + tl.sum(x[None, :], axis=1) -> ((tl.where(mask, -x, total)) - (tl.sum(x[None, :], axis=1)))
arithmetic: -x -> (x)
function: tl.sum -> tl.max
function: tl.sum -> tl.max (2)
arithmetic: y_ptr + columns -> ((y_ptr) - (columns))
mask: mask -> (mask) | True (2)
"""


def test_every_place_of_a_kernel_is_changed_once():
    names = [mutant.name.removeprefix("scale_kernel: ") for mutant in mutants(KERNEL)]
    assert sorted(names) == sorted(EXPECTED.strip().splitlines())


def test_a_mutant_differs_in_its_one_place_and_nowhere_else():
    for mutant in mutants(KERNEL):
        changed = mutant.of(KERNEL)
        assert changed != KERNEL and ast.unparse(ast.parse(changed)) != ast.unparse(ast.parse(KERNEL)), mutant.name
        start, rest = KERNEL.encode()[: mutant.start].decode(), KERNEL.encode()[mutant.end :].decode()
        assert changed == start + mutant.after + rest


def test_places_are_counted_in_bytes():
    kernel = KERNEL.replace("# [BLOCK]", "# [BLÖCK] in ≤ 2³¹")
    assert [mutant.name for mutant in mutants(kernel)] == [mutant.name for mutant in mutants(KERNEL)]
    for mutant in mutants(kernel):
        ast.parse(mutant.of(kernel))


def test_a_score_counts_what_is_caught_what_is_equivalent_and_what_is_left(monkeypatch):
    found = mutants(KERNEL)[:5]
    monkeypatch.setattr(mutate, "equivalents", lambda: {mutant.name: "nobody can tell" for mutant in found[1:3]})
    noticed = [(found[0], "test_a"), (found[1], ""), (found[2], ""), (found[3], "test_b"), (found[4], "")]
    score = mutate.score("scale", noticed, {found[2].name: 7})
    assert score["total"] == {"caught": 2, "equivalent": 1, "same": 1, "gap": 1}
    assert [(left["name"], left["outcome"], left["reason"]) for left in score["left"]] == [
        (found[1].name, "equivalent", "nobody can tell"),
        (found[2].name, "same", "the same machine code in 7 specimens"),
        (found[4].name, "gap", ""),
    ]
    assert score["caught"] == [[found[0].name, "test_a"], [found[3].name, "test_b"]]


@pytest.mark.parametrize("changed", [False, True])
def test_a_last_score_is_a_start_for_kernels_that_have_not_changed(monkeypatch, changed):
    now = mutate.kernels_at("add")
    assert now["add_kernel"].startswith("@triton.jit\ndef add_kernel(") and "add" not in now
    before = {name: "another" if changed else text for name, text in now.items()}
    monkeypatch.setattr(mutate, "kernels_at", lambda module, commit=None: before if commit else now)
    monkeypatch.setattr(mutate.subprocess, "run", lambda *_, **__: SimpleNamespace(stdout="0123abc\n"))
    last, alike = mutate.last_score("add")
    found = records.read(records.record_path("cpu", "mutants", "add"))
    kept = {} if changed else dict(found["caught"]) | {left["name"]: "" for left in found["left"]}
    assert last == kept
    same = {left["name"]: int(left["reason"].split()[-2]) for left in found["left"] if left["outcome"] == "same"}
    assert same and alike == ({} if changed else {left["name"]: same.get(left["name"], 0) for left in found["left"]})


def test_a_module_of_the_same_kernels_and_tests_gives_its_outcomes(monkeypatch):
    monkeypatch.setattr(mutate, "is_due", lambda module: module != "rms_norm")
    found, same = mutate.score_of_twin("layer_norm")
    score = records.read(records.record_path("cpu", "mutants", "rms_norm"))
    assert {name: test for name, test in found.items() if test} == dict(score["caught"])
    assert set(same) == {left["name"] for left in score["left"]} == set(found) - set(dict(score["caught"]))
    assert mutate.score_of_twin("add_rms_norm") == mutate.score_of_twin("add") == ({}, {})
    monkeypatch.setattr(mutate, "is_due", lambda module: True)
    assert mutate.score_of_twin("layer_norm") == ({}, {})


def test_without_a_commit_no_last_score_is_a_start(monkeypatch):
    monkeypatch.setattr(mutate.subprocess, "run", lambda *_, **__: SimpleNamespace(stdout=""))
    with pytest.raises(RuntimeError, match="add: no commit has a score"):
        mutate.last_score("add")


def test_what_compiles_to_the_same_machine_code_is_told_from_what_does_not(tmp_path):
    """A term that is promoted anyway, and a number that is in the code."""
    mutate.copy_checkout(tmp_path)
    given = {mutant.name: mutant for _, mutant in mutate.of_module("add")}
    same = given["add_kernel: conversion: x.to(tl.float32) -> x"]
    other = given["add_kernel: arithmetic: pid * BLOCK -> ((pid) + (BLOCK))"]
    before = (tmp_path / "kernels/add.py").read_text(encoding="utf-8")
    assert mutate.same_code(tmp_path, "kernels/add.py", same, {}) == len(mutate.specimens_of("kernels/add.py", "add_kernel")) >= 3
    assert mutate.same_code(tmp_path, "kernels/add.py", other, {}) == 0
    assert (tmp_path / "kernels/add.py").read_text(encoding="utf-8") == before


def test_a_function_is_compiled_in_every_kernel_that_uses_it():
    found = mutate.specimens_of("kernels/activations/activation.py", "activated_with_slope")
    used_by = {name.partition("/")[0] for name in found}
    assert {"gelu_backward_kernel", "gated_unit_backward_kernel"} <= used_by and "add_kernel" not in used_by
    first = mutate.specimens_of("kernels/activations/gelu.py", "gelu_kernel")[: mutate.FEW]
    assert all("16" in name.rpartition("-")[2] for name in first), "16-bit floats first: a conversion is nothing in float32"


def test_an_equivalent_names_a_mutant_that_there_is_and_gives_a_reason():
    there = {mutant.name for module in (*matrix.modules(), *mutate.GLUON) for _, mutant in mutate.of_module(module)}
    for name, reason in mutate.equivalents().items():
        assert name in there, f"tests/kernels/equivalents.txt: no such mutant: {name}"
        assert len(reason.split()) >= 5, f"tests/kernels/equivalents.txt: {name} needs its reason in words"


@pytest.mark.parametrize("module", mutate.kept())
def test_the_score_is_of_this_code(module):
    found = records.read(records.record_path("cpu", "mutants", module))
    if mutate.is_due(module) and waiting(f"cpu/mutants/{module}"):
        return  # the list of what is to be made says so
    assert not mutate.is_due(module), f"older than its code: renew it with python scripts/mutate.py {module}"
    assert sum(found["total"].values()) == len(mutate.of_module(module)) == len(found["caught"]) + len(found["left"])
    reasons = mutate.equivalents()
    others = [left for left in found["left"] if left["outcome"] != "same"]
    assert [left["reason"] for left in others] == [reasons.get(left["name"], "") for left in others]


@pytest.mark.parametrize("module", mutate.kept())
def test_what_counts_as_caught_was_noticed_by_a_test_or_ended_the_run(module):
    found = records.read(records.record_path("cpu", "mutants", module))
    assert [name for name, noticed in found["caught"] if "::" not in noticed and noticed not in mutate.ENDED] == []
    others = mutate.noticed_by_others(module)
    own = (*sources.tests_of(module), "tests/kernels/test_compiles.py")
    borrowed = {name: noticed for name, noticed in found["caught"] if "::" in noticed and not noticed.startswith(own)}
    assert borrowed.items() <= others.items(), "tests of another operation must still notice what they are said to notice"
    helpers = [name for name, noticed in found["caught"] if noticed == "the run broke off" and "_kernel:" not in name]
    assert helpers == [], "a function that is compiled within its callers has no compiled form of its own to break off"


def test_the_tests_catch_enough():
    total = sum(mutate.together().values(), Counter())
    caught, same, equivalent, gap = (total[key] for key in ("caught", "same", "equivalent", "gap"))
    assert caught >= 0.95 * (caught + gap) and equivalent <= 0.05 * (caught + equivalent + gap) and same > 0


def test_what_slips_through_is_what_the_page_says():
    missed = {kind: counted["gap"] / counted.total() for kind, counted in mutate.together().items()}
    assert max(missed, key=missed.get) == "conversion"
    assert all(missed[kind] < 0.01 for kind in ("mask", "choice", "stride"))


def test_kernels_in_gluon_have_scores_of_the_gpu():
    """Of changes that a lot drew, the code's own: enough are noticed, and few argued away."""
    total = Counter[str]()
    for module in mutate.GLUON:
        if waiting(f"{primary_machine()}/mutants/{module}"):
            continue
        found = records.read(records.record_path(primary_machine(), "mutants", module))
        names = {name for name, _ in found["caught"]} | {left["name"] for left in found["left"]}
        assert names == {mutant.name for _, mutant in mutate.drawn(module, len(names))} and len(names) >= 40
        assert found["all"] == len(mutate.of_module(module))
        total += Counter(found["total"])
    assert total["caught"] >= 0.95 * (total["caught"] + total["gap"]) and total["equivalent"] <= 0.05 * total.total()


def test_an_operation_without_a_score_of_its_kernels_is_named(monkeypatch):
    without = [module for module in mutate.kept() if module != "softmax"]
    monkeypatch.setattr(mutate, "kept", lambda: without)
    assert "softmax" in mutate.unscored()
