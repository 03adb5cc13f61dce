"""The error index: every program still provokes the words that its page shows, and every entry has its program."""

import sys

import pytest

from scripts import errors
from scripts.pages import messages
from scripts.provenance import records


def changed(way: str, version: str, python: str, names: list[str], kept: dict[str, dict]) -> list[str]:
    """The programs that say something else than their records, and the command that renews those."""
    found = []
    for name, answer in errors.ask(python, way, names):
        if answer["said"] != kept[name]["said"][way][version]:
            said = "\n".join(answer["said"])
            found.append(f"{name}, {way}: renew it with python scripts/errors.py {name}; today it says\n{said}")
        if why := errors.failed(way, answer):
            found.append(f"{name}, {way}: {why}")
    return found


@pytest.fixture(scope="module")
def kept() -> dict[str, dict]:
    return {name: records.read(records.record_path("cpu", "messages", name)) for name in errors.names()}


@pytest.mark.parametrize("way", errors.WAYS)
def test_every_program_provokes_the_words_of_its_page(way, kept):
    import triton

    assert changed(way, triton.__version__, sys.executable, errors.names(), kept) == []


def test_other_words_are_found(kept):
    import triton

    planted = {"arange_power": {"said": {"interpreter": {triton.__version__: ["ValueError: other words"]}}}}
    (found,) = changed("interpreter", triton.__version__, sys.executable, ["arange_power"], planted)
    assert "python scripts/errors.py arange_power" in found and "power of 2" in found


def test_every_version_was_asked_in_both_ways_and_somebody_says_something(kept):
    silent = {entry.program for entry in messages.entries()["Wrong numbers without an error"]}
    for name, record in kept.items():
        assert {way: list(said) for way, said in record["said"].items()} == dict.fromkeys(errors.WAYS, errors.matrix.versions())
        said = [text for by_version in record["said"].values() for texts in by_version.values() for text in texts]
        assert name in silent or any(text != messages.SILENT for text in said), name


def test_a_refused_mend_is_found():
    wrong = {"said": ["no error"], "ended": "triton.compiler.errors.CompilationError: at 1:0:"}
    assert errors.failed("compiler", wrong) and errors.failed("interpreter", wrong)
    assert not errors.failed("compiler", wrong | {"ended": "AssertionError"})
    assert errors.failed("compiler", {"said": [], "ended": ""})


def test_every_program_has_its_entry():
    shown = {entry.program: entry.page for here in messages.entries().values() for entry in here}
    assert sum(len(here) for here in messages.entries().values()) >= 60
    programs = {path.stem for path in errors.PROGRAMS.glob("*.py")}
    elsewhere = programs - set(shown)
    assert elsewhere & set(errors.names()) == set()
    for name in programs - elsewhere:
        text = (records.ROOT / "docs" / "errors" / f"{shown[name]}.md").read_text(encoding="utf-8")
        section = text.partition(f"{{ #{name.replace('_', '-')} }}")[2].partition("\n## ")[0]
        assert f"errors/{name}.py:" in section, name
        assert (f'"docs/generated/errors/{name}.md"' in section) == (name in [*errors.names(), *messages.on_gpu()]), name


def test_what_a_gpu_says_stops_where_the_mend_s_result_begins(monkeypatch, tmp_path):
    made = {"environment": {"gpu": "NVIDIA H200", "triton": "3.6.0"}, "output": ["ValueError: Pointer", "(cpu tensor?)", "True"]}
    path = tmp_path / "record.json"
    path.write_text("{}", encoding="utf-8")
    monkeypatch.setattr(records, "record_path", lambda *_: path)
    monkeypatch.setattr(records, "read", lambda _: made)
    assert messages.heard_on_gpu("cpu_tensor") == ("NVIDIA H200", "3.6.0", "ValueError: Pointer\n(cpu tensor?)")
    assert "True" not in messages.gpu_fragment("cpu_tensor") and "{.text .said}" in messages.gpu_fragment("cpu_tensor")
    assert messages.heard_on_gpu("arange_power") == ("", "", "")
