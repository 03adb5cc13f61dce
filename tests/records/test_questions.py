"""Every lesson asks at least three questions, and what its program printed says which choice is right."""

import copy
import tomllib

import pytest

from scripts.pages import questions
from scripts.provenance import records
from scripts.provenance.environment import primary_machine

LESSONS = sorted(path.stem for path in (records.ROOT / "docs" / "course").glob("*.md"))


@pytest.mark.parametrize("lesson", LESSONS)
def test_a_lesson_s_questions_have_one_answer_each(lesson):
    chapter = lesson.replace("-", "_")
    page = (records.ROOT / "docs" / "course" / f"{lesson}.md").read_text(encoding="utf-8")
    assert f'--8<-- "docs/generated/questions/{chapter}.html"' in page and f"](../programs/{chapter}/questions.py)" in page
    found = questions.of_chapter(chapter)
    assert len({question.name for question in found}) == len(found) >= 3
    for question in found:
        assert len(question.choices) >= 3 and len({choice.value for choice in question.choices}) == len(question.choices)
        assert all(len(choice.why.split()) >= 3 and choice.text.strip() for choice in question.choices), question.name


def test_a_gpu_answers_as_the_cpu_does():
    for chapter in questions.chapters():
        if records.record_path(primary_machine(), "program", f"{chapter}/questions").exists():  # else another test asks for it
            assert questions.of_chapter(chapter, primary_machine()) == questions.of_chapter(chapter), chapter


def test_the_right_choice_stands_in_no_place_of_its_own():
    places = [question.right for chapter in questions.chapters() for question in questions.of_chapter(chapter)]
    assert all(places.count(place) >= len(places) / 5 for place in range(3))


ASKED = tomllib.loads("""
[[question]]
name = "owner"
ask = "Whose is element 700 of `x < y * 2`, by *rows*?"
choices = [{ value = "2", text = "`2`", why = "It is." }, { value = "3", why = "It is not." }]
""")["question"]


def test_a_question_is_marked_up():
    (question,) = questions.answered(ASKED, ["some line", "owner: 2"], "here")
    text = questions.question_html(question)
    assert "<p>Whose is element 700 of <code>x &lt; y * 2</code>, by <em>rows</em>?</p>" in text
    assert text.count("<strong>Right.</strong> It is.") == 1 and f'data-right="{question.right}"' in text


OTHER = [["owner: 4"], [], ["owner: 2", "owner: 2"], ["owner: 2", "owner: 3"], ["other: 2"], ["owner: 2 "]]


@pytest.mark.parametrize("output", OTHER, ids=str)
def test_another_answer_of_the_program_is_reported(output):
    with pytest.raises(questions.QuestionError, match="here: owner has 0 right choices"):
        questions.answered(ASKED, output, "here")


def test_two_right_choices_are_reported():
    asked = copy.deepcopy(ASKED)
    asked[0]["choices"][1]["value"] = "2"
    with pytest.raises(questions.QuestionError, match="2 right choices"):
        questions.answered(asked, ["owner: 2"], "here")
