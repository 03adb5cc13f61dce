"""Part 9: each step of the log has an expectation, counters before and after, and a reason."""

import re
from pathlib import Path

import pytest

TEXT = (Path(__file__).parent.parent / "KERNEL_LOG.md").read_text(encoding="utf-8")
STEPS = {title.strip(): body for title, body in re.findall(r"^## (.+)\n((?:(?!## ).*\n?)*)", TEXT, re.MULTILINE)}


def test_there_are_three_steps_or_more():
    assert len(STEPS) >= 3, "KERNEL_LOG.md: expected a heading of the form '## What changed' for each of three steps"


def sentence(word, text):
    """Whether a sentence stands after the word and its colon, plain or bold, in the same line or below. A table is none."""
    return re.search(rf"^[*_]*{word}[*_]*:[*_ \t]*\n{{0,2}}[ \t]*[^\s|].{{20,}}", text, re.MULTILINE)


@pytest.mark.parametrize("title", STEPS)
def test_a_step_is_filled_in(title):
    lacks = [word for word in ("Expected", "Because") if not sentence(word, STEPS[title])]
    assert not lacks, f"KERNEL_LOG.md, {title}: write a sentence after {' and after '.join(lacks)}, in the same line or below"
    rows = re.findall(r"^\| ([^|]+) \|([^|]*)\|([^|]*)\|[ \t]*$", STEPS[title], re.MULTILINE)[1:]
    counted = [name for name, before, after in rows if re.search(r"\d", before) and re.search(r"\d", after)]
    assert len(counted) >= 3, f"KERNEL_LOG.md, {title}: fill in three counters or more, before and after"
