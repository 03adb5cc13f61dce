"""The error index: every program still provokes the words that its page shows, and every entry has its program."""

import re
import sys

import pytest

from kernels.labs.diagnose.errors import usual_cause
from scripts import errors
from scripts.pages import messages
from scripts.provenance import records
from tests import turns


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

    shared = ["scripts/errors.py", *turns.files("scripts/recording/*.py")]
    names = turns.few(24, errors.names(), lambda name: [f"snippets/errors/{name}.py"], *shared)
    assert changed(way, triton.__version__, sys.executable, names, kept) == []


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


# What the checker says to the messages of a program, and where it sends their reader.
EXPLAINED = {
    "block_pointers": ("tl.make_tensor_descriptor", "memory/#block-pointers"),
    "break_statement": ("condition of a `while`", "python/#break-statement"),
    "chained_comparison": ("(0 <= offsets) & (offsets < n)", "python/#chained-comparison"),
    "conflicting_meta": ("Leave it out of the launch", "launch/#conflicting-meta"),
    "descriptor_bytes": ("16 bytes are 4 numbers", "memory/#descriptor-bytes"),
    "descriptor_last_stride": ("last stride must be 1", "memory/#descriptor-last-stride"),
    "descriptor_on_host": ("multiples of 16 bytes", "memory/#descriptor-on-host"),
    "global_variable": ("tl.constexpr(3)", "python/#global-variable"),
    "list_append": ("lists are tuples and do not grow", "python/#list-append"),
    "loop_bounds": ("tl.cdiv", "python/#loop-bounds"),
    "loop_type": ("`total` begins with", "types/#loop-type"),
    "no_driver_tuned": ("do_bench", "setup/#no-driver"),
    "no_tanh": ("tl.sigmoid", "setup/#no-tanh"),
    "not_defined": ("in an `if` or a loop", "python/#not-defined"),
    "num_warps_power": ("a power of two", "launch/#num-warps-power"),
    "other_without_mask": ("give a mask too", "memory/#other-without-mask"),
    "pointer_shape": ("another shape than the pointers", "memory/#pointer-shape"),
    "pointer_type": ("load first", "memory/#pointer-type"),
    "unknown_keyword": ("no such option", "launch/#unknown-keyword"),
}
# Messages that several mistakes share lead to the entry of one of them.
SHARED = {
    ("constexpr_tensor", "blocks/#arange-constexpr"),
    ("interpreter_too_late", "launch/#no-grid"),
    ("interpreter_too_late", "setup/#no-driver"),
    ("mask_not_boolean", "types/#ternary-types"),
    ("mask_precedence", "python/#chained-comparison"),
    ("nested_function", "python/#not-defined"),
    ("no_driver_tuned", "setup/#no-driver"),
    ("tensor_methods", "blocks/#tensor-index"),
    ("value_block", "types/#ternary-types"),
}


def explained(name: str, text: str) -> tuple[str, str]:
    """What the checker says to a message of a program, and the entry that it names."""
    lines = text.splitlines()
    shown = [before for before, line in zip(lines, lines[1:], strict=False) if re.fullmatch(r" *\^", line)]
    statement = shown[-1].split("  #")[0].strip() if shown else messages.mistake(name)
    own_words = messages.last_line(text)
    cause, _, entry = usual_cause(text if own_words.strip() == "^" else own_words, statement).partition(" More: errors/")
    return cause, entry


def loud(kept: dict[str, dict], name: str) -> list[str]:
    """Every message of a program, of all versions and both ways."""
    said = kept[name]["said"].values()
    return sorted({text for by_version in said for texts in by_version.values() for text in texts} - {messages.SILENT})


def test_every_explanation_leads_to_an_entry_that_there_is():
    there = {f"{entry.page}/#{entry.anchor}" for here in messages.entries().values() for entry in here}
    assert {entry for *_, entry in messages.meanings()} - there == {""}
    speakers = [*(records.ROOT / "kernels" / "labs" / "diagnose").glob("*.py"), records.ROOT / "runtime" / "errors.py"]
    named = {entry for path in speakers for entry in re.findall(r"errors/(\w+/#[\w-]+)", path.read_text(encoding="utf-8"))}
    assert len(named) >= 3 and named <= there


@pytest.mark.parametrize("name", EXPLAINED)
def test_the_checker_explains_each_message(name, kept):
    words, entry = EXPLAINED[name]
    for text in loud(kept, name):
        assert words in explained(name, text)[0] and explained(name, text)[1] == entry, text


def test_a_message_leads_to_the_entry_that_shows_it(kept):
    at = {entry.program: f"{entry.page}/#{entry.anchor}" for here in messages.entries().values() for entry in here}
    found = {(name, explained(name, text)[1]) for name in kept for text in loud(kept, name)}
    assert {(name, entry) for name, entry in found if entry not in ("", at[name])} == SHARED


def test_the_index_explains_as_the_entry_itself_does(kept):
    """Also where the messages of one entry have several meanings, and one of them is another entry's."""
    assert "*Usually:* a function is defined within the kernel." in messages.fragment(kept["nested_function"])
    assert "*Usually:* a descriptor's last stride must be 1." in messages.fragment(kept["descriptor_last_stride"])
    assert "*Usually:* a mask must be true or false" in messages.fragment(kept["mask_not_boolean"])
    assert "More: errors/" not in "".join(messages.fragment(record) for record in kept.values())


def test_a_general_word_of_the_compiler_names_its_causes():
    cause = usual_cause("error encountered during parsing", "")
    assert "tl.where" in cause and "mask" in cause and "atomic" in cause
    assert "move that out" in usual_cause("name 'BLOCK' is not defined", "offsets = tl.arange(0, BLOCK)")
