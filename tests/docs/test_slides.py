"""The numbers that readers may change in a lesson: each stands in its program where the table says."""

import json
import math
import re

import pytest

from scripts.provenance.inline import inline
from tests.docs.pages import ROOT

SLIDES = json.loads((ROOT / "docs" / "assets" / "run" / "slides.json").read_text(encoding="utf-8"))
SCRIPT = (ROOT / "docs" / "assets" / "run.js").read_text(encoding="utf-8")
LISTED = dict(re.findall(r'^  "([\w/]+)": "([\w-]*)",$', SCRIPT, re.MULTILINE))
LESSONS = {"first_kernel": "first-kernel", "masking": "masking", "grid_math": "grid-math", "block_model": "block-model"}


def filled(place: str, told: dict, values: dict) -> str:
    """A place of a program with these numbers; what counts programs follows from two of them."""
    counts = {name: math.ceil(values[n] / values[block]) for name, (n, block) in told.get("counts", {}).items()}
    return place.format(**values, **counts)


def test_the_script_offers_what_the_table_has():
    assert LISTED.keys() == SLIDES.keys()
    assert {program.partition("/")[0] for program in SLIDES} == LESSONS.keys()


@pytest.mark.parametrize("program", SLIDES)
def test_the_places_are_in_the_program(program):
    told, text = SLIDES[program], inline(program)
    values = {name: number["is"] for name, number in told["numbers"].items()}
    for place in told["places"]:
        assert filled(place, told, values) in text, place
    named = set(re.findall(r"{(\w+)}", " ".join(told["places"])))
    assert named == (told["numbers"] | told.get("counts", {})).keys() - unused(told, named)
    for name, number in told["numbers"].items():
        assert number["is"] in number.get("of", range(number.get("from", 0), number.get("to", 0) + 1)), name


def unused(told: dict, named: set[str]) -> set[str]:
    """Numbers that only count programs."""
    return {name for pair in told.get("counts", {}).values() for name in pair} - named


@pytest.mark.parametrize("program", SLIDES)
def test_every_choice_makes_a_program(program):
    """Whatever is chosen, the program parses, and differs from the published one where the choice does."""
    told, text = SLIDES[program], inline(program)
    values = {name: number["is"] for name, number in told["numbers"].items()}
    for name, number in told["numbers"].items():
        for choice in number.get("of", [number.get("from"), number.get("to")]):
            made = text
            for place in told["places"]:
                made = made.replace(filled(place, told, values), filled(place, told, values | {name: choice}))
            compile(made, program, "exec")
            assert (made == text) == (choice == number["is"]), (name, choice)


@pytest.mark.parametrize("program, picture", LISTED.items())
def test_the_lesson_shows_the_program_and_its_picture(program, picture):
    page = (ROOT / "docs" / "course" / f"{LESSONS[program.partition('/')[0]]}.md").read_text(encoding="utf-8")
    assert f'data-program="{program}"' in page
    traces = [name.replace("/", "-").replace("_", "-") for name in re.findall(r"docs/generated/traces/([\w/]+)\.html", page)]
    assert not picture or picture.removeprefix("trace-") in traces
