"""The questions at the end of a lesson: snippets/<chapter>/questions.toml, answered by what questions.py beside it printed.

    section_html(chapter)  ->  the lesson's questions for a page, which can be read without scripts

Nobody marks the right choice. A question has a name, and the recorded program prints `name: value`: right is the one choice
with that value. Where none or two have it, the page cannot be built. Choices stand in an order drawn from their names, because
who writes them has a habit of where the right one goes. The standard library alone.
"""

import html
import re
import tomllib
import zlib
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from scripts import ROOT
from scripts.provenance import records

ANSWER = re.compile(r"(\w+): (.*)")
FENCE = re.compile(r"```\w*\n(.*?)\n?```", re.DOTALL)
INLINE = ((r"`([^`]+)`", r"<code>\1</code>"), (r"\*([^*\s][^*]*)\*(?![^<]*</code>)", r"<em>\1</em>"))


class QuestionError(records.RecordError):
    """Questions that no record answers, with the file and the reason in words."""


class Choice(NamedTuple):
    value: str
    text: str
    why: str


class Question(NamedTuple):
    name: str
    ask: str
    choices: list[Choice]
    right: int


def chapters(root: Path = ROOT) -> list[str]:
    return sorted(path.parent.name for path in (root / "snippets").glob("*/questions.toml"))


def of_chapter(chapter: str, machine: str = "cpu") -> list[Question]:
    """A chapter's questions, with the answers that its program gave on one machine."""
    path = ROOT / "snippets" / chapter / "questions.toml"
    record = records.read(records.record_path(machine, "program", f"{chapter}/questions"))
    return answered(tomllib.loads(path.read_text(encoding="utf-8"))["question"], record["output"], str(path))


def answered(asked: list[dict[str, Any]], output: list[str], where: str) -> list[Question]:
    """The questions, each with the number of its right choice."""
    printed: dict[str, list[str]] = {}
    for line in output:
        if answer := ANSWER.fullmatch(line):
            printed.setdefault(answer[1], []).append(answer[2])
    questions = []
    for given in asked:
        name = given["name"]
        choices = [Choice(each["value"], each.get("text", f"`{each['value']}`"), each["why"]) for each in given["choices"]]
        choices.sort(key=partial(drawn, name))
        values = printed.get(name, [])
        right = [number for number, choice in enumerate(choices) if [choice.value] == values]
        if len(right) != 1:
            raise QuestionError(f"{where}: {name} has {len(right)} right choices; the program printed {values}")
        questions.append(Question(name, given["ask"], choices, right[0]))
    return questions


def drawn(name: str, choice: Choice) -> int:
    return zlib.crc32(f"{name} {choice.value}".encode())


def section_html(chapter: str) -> str:
    """All of a lesson's questions, for a page that includes them."""
    return f'<div class="questions">{"".join(map(question_html, of_chapter(chapter)))}</div>\n'


def question_html(question: Question) -> str:
    choices = "".join(f"<li>{inline(choice.text)}</li>" for choice in question.choices)
    whys = "".join(why_html(choice.why, number == question.right) for number, choice in enumerate(question.choices))
    return (
        f'<blockwise-question data-right="{question.right}"><div class="question-ask">{text_html(question.ask)}</div>'
        f'<ol class="question-choices">{choices}</ol>'
        f'<details class="answer"><summary>Answer</summary><ol>{whys}</ol></details></blockwise-question>'
    )


def why_html(why: str, is_right: bool) -> str:
    return f'<li class="right"><strong>Right.</strong> {inline(why)}</li>' if is_right else f"<li>{inline(why)}</li>"


def text_html(text: str) -> str:
    """A question, in which lines of code may stand."""
    parts = FENCE.split(text.strip())
    made = [f"<pre>{html.escape(part)}</pre>" if number % 2 else paragraph(part) for number, part in enumerate(parts)]
    return "".join(made)


def paragraph(text: str) -> str:
    return f"<p>{inline(' '.join(text.split()))}</p>" if text.strip() else ""


def inline(text: str) -> str:
    made = html.escape(text, quote=False)
    for pattern, replacement in INLINE:
        made = re.sub(pattern, replacement, made)
    return made
