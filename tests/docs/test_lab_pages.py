"""What readers get of a lab: its notebooks, and a page that is a notebook as well."""

import importlib.util
import json
import re
import subprocess
import sys

import pytest

from scripts import lab_pages
from scripts.pages import dist
from scripts.provenance import labs, records
from scripts.provenance.labs import Cell
from tests.docs import pages

LABS = labs.names()
REPOSITORY = "https://github.com/example-owner/example-repository"


def books(name: str) -> tuple[dict, dict]:
    """The learner's notebook and the solved one, as the site has them."""
    return json.loads(lab_pages.published(name, False)), json.loads(lab_pages.published(name, True))


def code(book: dict) -> list[str]:
    return ["".join(cell["source"]) for cell in book["cells"] if cell["cell_type"] == "code"]


@pytest.mark.parametrize("name", LABS)
def test_the_notebooks_have_the_right_cells(name):
    learner, full = books(name)
    assert not any("solution]" in text for text in code(learner))
    for cell in learner["cells"]:
        if "exercise" in cell["metadata"].get("tags", []):
            assert "# YOUR TURN: " in "".join(cell["source"])
    assert not any("YOUR TURN" in text for text in code(full))
    assert (learner["nbformat"], learner["nbformat_minor"]) == (4, 5)
    for book in (learner, full):
        ids = [cell["id"] for cell in book["cells"]]
        assert len(set(ids)) == len(ids)
        assert all(re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", each) for each in ids)
        assert all(("outputs" in cell) == (cell["cell_type"] == "code") for cell in book["cells"])
        assert not any("../" in "".join(cell["source"]) for cell in book["cells"] if cell["cell_type"] == "markdown")
        json.dumps(book)
    folds = ["".join(cell["source"]) for cell in learner["cells"] if cell["metadata"].get("tags") == ["solution"]]
    exercises = [cell for cell in labs.cells_of(name) if cell.tag == "exercise"]
    for fold, exercise in zip(folds, exercises, strict=True):
        assert labs.solved(exercise.text) in fold


@pytest.mark.parametrize("name", LABS)
def test_the_committed_notebook_is_today_s(name):
    """Cloud notebooks open it where it lies in the repository. `python scripts/lab_pages.py` renews it."""
    assert (labs.SOURCES / f"{name}.ipynb").read_text(encoding="utf-8") == lab_pages.learners(name)


@pytest.mark.parametrize("name", LABS)
def test_the_solved_notebook_has_every_output_and_the_learner_s_none(name):
    learner, full = books(name)
    record = lab_pages.record_of(name)
    printed = ["".join(output["text"]).splitlines() for cell in full["cells"] for output in cell.get("outputs", [])]
    assert printed == [cell["output"] for cell in record["cells"] if cell["output"]]
    assert sum(line.startswith("✓") for lines in printed for line in lines) == sum("check(" in text for text in code(full)[1:])
    assert not any(cell.get("outputs") for cell in learner["cells"])


@pytest.mark.parametrize("name", LABS)
def test_the_page_names_where_its_outputs_come_from(name):
    page, record = lab_pages.page(name), lab_pages.record_of(name)
    where = f"an {record['environment']['gpu']}" if record["environment"]["gpu"] else "a CPU, under the interpreter"
    checks = sum(cell.tag == "check" for cell in labs.cells_of(name))
    assert page.count(f"The check then says, on {where}:") == checks == page.count("✓")
    assert f"Solved, this lab ran on {where}, with Triton {record['environment']['triton']}" in page


@pytest.mark.parametrize("name", LABS)
def test_the_page_is_a_notebook_with_the_learner_s_code(name):
    """As mkdocs-jupyter reads it."""
    import jupytext

    read = jupytext.reads(lab_pages.page(name), fmt="md")
    assert read.metadata["kernelspec"]["language"] == "python"
    assert [cell.source for cell in read.cells if cell.cell_type == "code"] == code(books(name)[0])


def test_links_lead_to_pages_of_the_site():
    text = "[a](../course/masking.md), [b](softmax.md#step-1), [c](https://example.org/a.md)"
    expected = "[a](../../course/masking/), [b](../../labs/softmax/#step-1), [c](https://example.org/a.md)"
    assert lab_pages.with_links(text, "../../") == expected
    for name in LABS:
        for path in re.findall(r"\]\(([\w./-]+\.md)", "\n".join(cell.text for cell in labs.cells_of(name))):
            target = (labs.SOURCES / path).resolve()
            assert target.exists() or target.with_suffix(".py").exists(), f"{name}: {path}"


def test_what_is_printed_becomes_an_output():
    book = lab_pages.notebook("a", [Cell(True, "", "# A"), Cell(False, "check", "print(1)")], "", [], ["1\n2"])
    assert book["cells"][1]["outputs"] == [{"output_type": "stream", "name": "stdout", "text": ["1\n", "2\n"]}]


def test_what_is_printed_is_shown_as_it_is():
    shown = lab_pages.output("a < b\n\n  c & d")
    assert "a &lt; b\n&nbsp;\n  c &amp; d" in shown and "\n\n" not in shown


def test_a_record_of_other_cells_is_refused(monkeypatch, tmp_path):
    record = lab_pages.record_of("softmax")
    record["cells"] = record["cells"][1:]
    records.write(tmp_path / "softmax.json", record)
    monkeypatch.setattr(records, "record_path", lambda *_: tmp_path / "softmax.json")
    with pytest.raises(records.RecordError, match="other cells.*bake.py --only labs/softmax"):
        lab_pages.record_of("softmax")


# The library, in a notebook of the reader's


def installs(text: str) -> list[str]:
    return re.findall(r"^\W*((?:git\+)?https?:[^\s\"]+)\",", text, re.MULTILINE)


def wheels(home: str) -> list[str]:
    return [f"{home}dist/{dist.wheel_name(part=part)}" for part in (dist.LIBRARY, dist.TOOLS)]


def test_the_library_comes_from_the_site_that_the_notebook_comes_from(monkeypatch):
    for given, home in (
        ("https://example.org/book/", "https://example.org/book/"),
        ("https://example.org", "https://example.org/"),
    ):
        monkeypatch.setenv("SITE_URL", given)
        for text in (lab_pages.page("softmax"), lab_pages.published("softmax", True), lab_pages.published("softmax", False)):
            assert installs(text.replace("\\", "")) == wheels(home)
        assert f"]({home}course/fused-softmax/)" in lab_pages.published("softmax", False)
    monkeypatch.delenv("SITE_URL")
    assert installs(lab_pages.page("softmax")) == wheels(lab_pages.default_url())


def test_the_notebook_of_the_repository_takes_the_library_from_there(monkeypatch):
    monkeypatch.setenv("SITE_URL", "https://example.org/book/")
    assert installs(lab_pages.learners("softmax").replace("\\", "")) == wheels(lab_pages.default_url())
    monkeypatch.setattr(lab_pages, "repository", lambda: REPOSITORY)
    source = f"git+{REPOSITORY}"
    assert installs(lab_pages.learners("softmax").replace("\\", "")) == [source, f"{source}#subdirectory={dist.TOOLS}"]


@pytest.fixture
def setup() -> str:
    """A setup cell's first lines."""
    return code(books("softmax")[0])[0].partition("import torch")[0]


def test_an_installed_library_is_left_as_it_is(setup, monkeypatch):
    monkeypatch.setattr(subprocess, "run", lambda *_, **__: pytest.fail("installs what is there"))
    exec(setup, {})


@pytest.mark.parametrize("other", [False, True])
def test_a_missing_library_is_fetched_into_a_folder_of_its_own(setup, monkeypatch, tmp_path, other):
    """Also where another distribution has the import name."""
    spec = importlib.util.spec_from_file_location("kernels", tmp_path / "kernels" / "__init__.py") if other else None
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: spec)
    monkeypatch.setattr(sys, "path", list(sys.path))
    commands = []
    monkeypatch.setattr(subprocess, "run", lambda command, check: commands.append(command))
    exec(setup, {})
    (command,) = commands
    assert command[0] == sys.executable and command[-2:] == wheels(lab_pages.site_url())
    assert "--no-deps" in command and command[command.index("--target") + 1] == sys.path[0]


def test_every_lab_is_in_the_navigation():
    settings = (pages.ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    assert sorted(re.findall(r": labs/(\w+)\.md$", settings, re.MULTILINE)) == LABS
