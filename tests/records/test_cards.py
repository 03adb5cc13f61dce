"""The choice of a card: there with a second card's fresh records, and nowhere else. The second card is made up."""

import csv
import json
import re
from html import unescape
from pathlib import Path

import pytest

from scripts import charts, prepare
from scripts.drawing.data import ticks
from scripts.pages import cards
from scripts.provenance import records
from scripts.provenance.environment import primary_machine
from scripts.provenance.records import RecordError
from tests.records.second_card import ALONE, BOTH, GPU, MACHINE, SLOWER, plant


@pytest.fixture(scope="module")
def planted(tmp_path_factory) -> Path:
    return plant(tmp_path_factory.mktemp("docs") / "docs")


@pytest.fixture
def docs(planted, monkeypatch) -> Path:
    """What is prepared where a second card has records."""
    monkeypatch.setattr(prepare, "DOCS", planted)
    prepare.write_charts()
    return planted


def figure(docs: Path, name: str) -> str:
    return (docs / "generated" / "charts" / f"{name}.html").read_text(encoding="utf-8")


def offered(text: str) -> list[dict[str, object]]:
    return json.loads(unescape(re.search(r'data-cards="([^"]*)"', text).group(1)))


def test_with_one_card_there_is_no_choice(planted, monkeypatch, tmp_path):
    monkeypatch.setattr(prepare, "DOCS", tmp_path)
    (tmp_path / "charts").mkdir()
    (tmp_path / "charts" / primary_machine()).symlink_to(planted / "charts" / primary_machine())
    prepare.write_charts()
    for name in (*BOTH, ALONE):
        text = figure(tmp_path, name)
        assert "chart-cards" not in text and text.startswith(f'<figure class="chart" id="chart-{name}">\n<chart-values ')
    assert not [path for path in (tmp_path / "data" / "charts").iterdir() if path.is_dir()]


def test_every_chart_offers_each_card_and_says_which_has_it(docs):
    for name, has in ((BOTH[0], True), (BOTH[1], True), (ALONE, False)):
        text = figure(docs, name)
        assert offered(text) == [
            {"machine": "", "gpu": "NVIDIA H200", "has": True},
            {"machine": MACHINE, "gpu": GPU, "has": has},
        ]
        without = re.sub(r"<chart-cards.*</chart-cards>\n", "", text)
        committed = json.loads((charts.DRAWN / primary_machine() / f"{name}.json").read_text(encoding="utf-8"))
        drawings = prepare.drawings_of(charts.DRAWN / primary_machine() / f"{name}.json")
        is_old = any(source in prepare.older(primary_machine()) for source in committed["sources"])
        assert without == prepare.chart_figure(committed, *drawings, is_old=is_old), "the primary stands without scripts"
        assert ("has changed since" in without) == is_old


def test_what_is_put_in_a_chart_s_place_is_the_other_card_s_whole(docs):
    folder = docs / "data" / "charts" / MACHINE
    assert {path.stem for path in folder.glob("*.html")} == set(BOTH)
    for name in BOTH:
        text = (folder / f"{name}.html").read_text(encoding="utf-8")
        assert f"Measured on an {GPU}, driver" in text and "NVIDIA" not in text and "../" not in text
        assert text.count("<svg") == 2 and f'data-src="{name}.json"' in text and f'href="{name}.csv"' in text
        with (folder / f"{name}.csv").open(encoding="utf-8") as file, (docs / f"data/charts/{name}.csv").open() as own:
            head, *rows = csv.reader(file)
            medians = [[float(row[head.index("time p50 (ms)")]) for row in each] for each in (rows, list(csv.reader(own))[1:])]
        assert medians[0] == pytest.approx([SLOWER * ms for ms in medians[1]])


def test_a_card_s_stale_records_leave_the_choice(planted):
    (card,) = cards.others(planted / "charts", planted / "baked")
    assert (card.machine, card.gpu, set(card.charts)) == (MACHINE, GPU, set(BOTH))
    path = records.record_path(MACHINE, "program", charts.CHARTS[BOTH[0]][1][0], planted / "baked")
    fresh = path.read_text(encoding="utf-8")
    try:
        records.write(path, records.read(path) | {"hash": "0"})
        assert [set(card.charts) for card in cards.others(planted / "charts", planted / "baked")] == [{BOTH[1]}]
        path.unlink()
        assert [set(card.charts) for card in cards.others(planted / "charts", planted / "baked")] == [{BOTH[1]}]
    finally:
        path.write_text(fresh, encoding="utf-8")


def test_a_chart_that_another_card_cannot_fill_is_left_out_and_the_primary_s_is_an_error(planted, tmp_path, capsys):
    for machine in (MACHINE, primary_machine()):
        for source in {source for name in BOTH for source in charts.CHARTS[name][1]}:
            record = records.read(records.record_path(MACHINE, "program", source, planted / "baked"))
            if source == charts.CHARTS[BOTH[0]][1][0]:
                record["measurements"] = []
            records.write(records.record_path(machine, "program", source, tmp_path), record)
    drawn = {path.stem.partition(".")[0] for path in charts.files(MACHINE, tmp_path)}
    assert drawn == {BOTH[1]} and f"{MACHINE}: {BOTH[0]} cannot be drawn" in capsys.readouterr().err
    with pytest.raises(RecordError, match=f"{BOTH[0]} cannot be drawn"):
        charts.files(primary_machine(), tmp_path)


@pytest.mark.parametrize("top", [9.5, 70, 330, 1100, 1790, 4700, 8300, 14400, 30000])
@pytest.mark.parametrize("usual", [200, 1000])
def test_an_axis_has_a_few_round_numbers_whatever_the_card(top, usual):
    places = ticks(top, usual)
    assert 3 <= len(places) <= 9 and places[0] == 0 and places[-1] <= top
    assert all(str(place).rstrip("0") in ("", *map(str, range(100))) for place in places)
