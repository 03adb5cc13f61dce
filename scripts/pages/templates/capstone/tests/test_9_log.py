"""Part 9: each step of the log has an expectation, counters before and after, and a reason."""

import re
from pathlib import Path

import pytest

TEXT = (Path(__file__).parent.parent / "KERNEL_LOG.md").read_text(encoding="utf-8")
STEPS = {title.strip(): body for title, body in re.findall(r"^## (.+)\n((?:(?!## ).*\n?)*)", TEXT, re.MULTILINE)}


def test_there_are_three_steps_or_more():
    enough = len(STEPS) >= 3
    assert enough, "KERNEL_LOG.md: expected a heading of the form '## What changed' for each of three steps"


def test_the_device_is_named():
    said = "KERNEL_LOG.md: write after Device, in the same line, which GPU counted, and with which versions"
    named = bool(re.search(r"^[-*_# ]*Device[*_]*:[*_ \t]*\w", TEXT, re.MULTILINE))
    assert named, said


def sentence(word, text):
    """Whether a sentence stands after the word, which has a colon or is a heading, in its line or below. A table is none."""
    begins = rf"^(?:#+ |[-*] )?[*_]*{word}[*_]*(?::|[ \t]*$)[*_ \t]*"
    return re.search(begins + r"\n{0,2}[ \t]*[^\s|#].{20,}", text, re.MULTILINE)


def number(cell):
    """Whether a number stands in the cell. The digits of a name are none."""
    return re.search(r"(?<!\S)[^\sA-Za-z]*\d", cell)


@pytest.mark.parametrize("title", STEPS)
def test_a_step_is_filled_in(title):
    lacks = [word for word in ("Expected", "Because") if not sentence(word, STEPS[title])]
    asked = f"write a sentence after {' and after '.join(lacks)}, in the same line or below, of more than 20 letters"
    has_both = not lacks
    assert has_both, f"KERNEL_LOG.md, {title}: {asked}"
    rows = re.findall(r"^[ \t]*\|([^|\n]+)\|([^|\n]*)\|([^|\n]*)\|[ \t]*$", STEPS[title], re.MULTILINE)[1:]
    enough = sum(bool(number(before) and number(after)) for _, before, after in rows) >= 3
    assert enough, f"KERNEL_LOG.md, {title}: fill in three counters or more, before and after, with a number each"
