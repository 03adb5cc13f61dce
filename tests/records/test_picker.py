"""The configuration picker shows what its record holds, and the texts that were compiled."""

import gzip
import json
import re

import pytest
import torch
import triton

from scripts.pages import picker
from scripts.provenance import records
from scripts.provenance.environment import primary_machine
from snippets.landscape import measure
from snippets.landscape.cuda_source import CONFIGURATIONS, cuda_source
from tests.records.made_up import of_picker

REAL = records.record_path(primary_machine(), "program", picker.NAME)
RECORDS = [of_picker(), *([records.read(REAL)] if REAL.exists() else [])]
BUDGET = 40_000


def numbers(value: object, path: tuple = ()) -> dict[tuple, float]:
    """Every number in a piece of JSON, by where it stands."""
    if isinstance(value, dict):
        return {place: number for key, inner in value.items() for place, number in numbers(inner, (*path, key)).items()}
    if isinstance(value, list):
        return {place: number for at, inner in enumerate(value) for place, number in numbers(inner, (*path, at)).items()}
    return {path: value} if isinstance(value, int | float) else {}


@pytest.mark.parametrize("record", RECORDS)
def test_every_number_of_the_data_is_the_record_s(record):
    given, kept = numbers(picker.data(record)), numbers(record["figures"])
    assert len(given) > 500
    assert {place: number for place, number in given.items() if kept.get(place) != number} == {}


@pytest.mark.parametrize("record", RECORDS)
def test_the_texts_are_those_of_the_program(record):
    texts = record["figures"]["texts"]
    assert record["figures"]["configurations"] == [list(each) for each in CONFIGURATIONS]
    for number, configuration in enumerate(CONFIGURATIONS):
        assert "\n".join(picker.lines_of(texts["cuda"], number)) + "\n" == cuda_source(*configuration)
        assert "\n".join(picker.lines_of(texts["triton"], number)) + "\n" == measure.triton_source(*configuration)


@pytest.mark.parametrize("record", RECORDS)
def test_the_rates_are_the_times(record):
    for shape, found in record["figures"]["shapes"].items():
        m, n, k = map(int, shape.split("x"))
        for row in [*found["triton"], *found["cuda"]]:
            assert (row["us"] is None) == (row["failure"] is not None)
            if row["us"]:
                assert row["tflops"] == pytest.approx(2 * m * n * k / row["us"] / 1e6, abs=0.06)
                assert row["us_p20"] <= row["us"] <= row["us_p80"]


@pytest.mark.parametrize("record", RECORDS)
def test_page_and_data_stay_within_their_budget(record):
    given = picker.data(record)
    element = picker.element_html(given, "../../data/picker.json")
    assert "\n\n" not in element
    data = json.dumps(given, ensure_ascii=False, separators=(",", ":"))
    assert len(gzip.compress(element.encode())) + len(gzip.compress(data.encode())) <= BUDGET


@pytest.mark.parametrize("configuration", [(64, 64, 32, 4, 3), (128, 256, 64, 8, 3)])
def test_the_triton_text_that_is_shown_runs_and_multiplies(configuration):
    text = measure.triton_source(*configuration)
    launch = text[text.index("\ntiles = ") :]
    torch.manual_seed(0)
    a, b = torch.randn(72, 128), torch.randn(128, 80)
    c = torch.full((72, 80), torch.nan)
    names = {"a": a, "b": b, "c": c, "M": 72, "N": 80, "K": 128, "triton": triton, "picker_kernel": measure.picker_kernel}
    exec(launch, names)
    torch.testing.assert_close(c, a @ b, rtol=1e-4, atol=1e-4)
    assert [int(number) for number in re.findall(r"(?:BLOCK_.|num_\w+)=(\d+)", launch)] == list(configuration)


def test_without_a_choice_the_fastest_is_shown():
    found = {"chosen": None, "triton": [{"us": None}, {"us": 3.0}, {"us": 2.0}]}
    assert [picker.opens(found), picker.opens(found | {"chosen": 0})] == [2, 0]
    assert picker.opens({"chosen": None, "triton": [{"us": None}]}) == 0
