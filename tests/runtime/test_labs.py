"""The labs run in the page: solved, every check passes and every cell prints what the record has; unsolved, none passes."""

import re

import pytest

from scripts.provenance import labs, records
from tests.runtime.page_python import ask

LAST_BITS = re.compile(r"\d\.\de-0\d")  # a difference of rounding, which is another with another library


def cells(name, solved):
    return [cell.text for cell in labs.version(labs.cells_of(name), solved) if not cell.markdown]


def done(name, texts, upto=None):
    (answer,) = ask(("lab", {"lab": name, "cells": texts, "upto": len(texts) - 1 if upto is None else upto}))
    return answer


@pytest.mark.parametrize("name", labs.names())
def test_a_solved_lab_passes_and_prints_what_its_record_has(name):
    answer, record = done(name, cells(name, True)), records.read(records.record_path("cpu", "lab", name))
    assert answer["done"]["error"] is None and answer["done"]["earlier"] == []
    assert len(answer["done"]["verdicts"]) >= 3 and all(verdict["passed"] for verdict in answer["done"]["verdicts"])
    recorded = [line for cell in record["cells"] for line in cell["output"]]
    assert [LAST_BITS.sub("~", line) for line in answer["out"]] == [LAST_BITS.sub("~", line) for line in recorded]


@pytest.mark.parametrize("name", labs.names())
def test_an_unsolved_lab_fails_each_check_with_a_message(name):
    verdicts = done(name, cells(name, False))["done"]["verdicts"]
    assert verdicts and not any(verdict["passed"] for verdict in verdicts)
    assert all(verdict["message"].startswith("✗") for verdict in verdicts)


def test_a_verdict_names_exercise_cell_and_hint():
    texts = cells("elementwise", True)
    wrong = [
        text.replace("offsets = pid * BLOCK + tl.arange(0, BLOCK)", "offsets = pid * 100 + tl.arange(0, BLOCK)") for text in texts
    ]
    first = done("elementwise", wrong, 2)["done"]["verdicts"][0]
    assert (first["exercise"], first["cell"], first["passed"]) == ("copy", 2, False)
    assert first["hint"] and first["hint"] in first["message"]


def test_an_earlier_cell_s_error_does_not_hide_a_later_check():
    texts = cells("elementwise", True)
    broken = [texts[0], "1 / 0", *texts[3:5]]
    told = done("elementwise", broken)["done"]
    assert told["error"] is None and [error["cell"] for error in told["earlier"]] == [1] and told["verdicts"][0]["passed"]
    assert done("elementwise", broken, 1)["done"]["error"]["line"] == 1
