"""Records are carried over a change that moves and renames, and over no other."""

import json
import signal
import subprocess
import time
from pathlib import Path

import pytest

from scripts.provenance import records, sources
from scripts.provenance.follow import Code
from tests.scripts import trees

GIT = ("git", "-c", "user.name=a", "-c", "user.email=a@b")
NAMES = "# Planted.\nmove\tkernels/checks.py\tkernels/common/limits.py\nname\tcheck\tis_small\tkernels/*\n"
PLUS = "from kernels.common.limits import is_small\n\n\ndef plus(x, y):\n    return x + y if is_small(x) else None\n"
RENAMED = {"kernels/common/limits.py": "LIMIT = 3\n\n\ndef is_small(x):\n    return x < LIMIT\n", "kernels/plus.py": PLUS}


@pytest.fixture
def tree(tmp_path) -> Path:
    """A checkout whose one commit has a record of each program, and whose files were moved and renamed since."""
    tree = trees.checkout(tmp_path / "tree")
    (tree / ".gitignore").write_text("__pycache__/\nbuild/\n")
    for name in trees.PROGRAMS:
        trees.lay(tree, f"tiny/{name}", output=["check", "1.50"])
    commit(tree)
    (tree / "kernels/checks.py").unlink()
    trees.put(tree, RENAMED | {"names.tsv": NAMES})
    return tree


def commit(tree: Path) -> None:
    for arguments in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "all"]):
        subprocess.run([*GIT, "-C", str(tree), *arguments], check=True)


def migrate(tree: Path, *more: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(**trees.command(tree, "HEAD", "names.tsv", *more, script="migrate.py"), capture_output=True, timeout=60)


def test_records_are_carried_over_and_say_what_they_said(tree):
    before = {path: records.read(path) for path, _ in records.all_records("cpu", trees.baked(tree))}
    assert not sources.is_fresh(before[trees.baked(tree) / "cpu/tiny/plus.json"], Code(tree))
    done = migrate(tree)
    assert done.returncode == 0 and "3 records of HEAD carried over, 1 of them written anew" in done.stdout, done.stderr
    for path, old in before.items():
        new = records.read(path)
        assert sources.is_fresh(new, Code(tree)) and new | {"hash": ""} == old | {"hash": ""}
    assert migrate(tree, "--check").returncode == 0


CHANGES = {
    "an operator": ({"kernels/common/limits.py": RENAMED["kernels/common/limits.py"].replace("<", "<=")}, "tiny/plus"),
    "a number": ({"kernels/common/limits.py": RENAMED["kernels/common/limits.py"].replace("3", "4")}, "tiny/plus"),
    "a name that the list lacks": ({"names.tsv": NAMES.rpartition("name")[0]}, "tiny/plus"),
    "a program": ({"snippets/tiny/alone.py": "print('not alone')\n"}, "tiny/alone"),
}


@pytest.mark.parametrize("files, named", CHANGES.values(), ids=CHANGES)
def test_a_change_of_more_than_names_is_refused_and_nothing_is_written(tree, files, named):
    trees.put(tree, files)
    before = trees.snapshot(trees.baked(tree))
    done = migrate(tree)
    assert done.returncode == 1 and done.stderr.startswith("nothing was written: ") and named in done.stderr
    assert trees.snapshot(trees.baked(tree)) == before


def test_a_record_that_was_stale_already_stops_it(tmp_path):
    tree = trees.checkout(tmp_path / "tree")
    trees.lay(tree, "tiny/plus", hash="of other code")
    commit(tree)
    trees.put(tree, {"names.tsv": ""})
    before = trees.snapshot(trees.baked(tree))
    done = migrate(tree)
    assert done.returncode == 1 and "cpu/tiny/plus.json is older than its code already in that commit" in done.stderr
    assert trees.snapshot(trees.baked(tree)) == before


def test_a_list_that_cannot_be_read_is_named_with_its_line(tree):
    trees.put(tree, {"names.tsv": "move\tone\n"})
    done = migrate(tree)
    assert done.returncode == 1 and "names.tsv:1: expected `move OLD NEW` or `name OLD NEW FILES`" in done.stderr


def test_a_record_that_differs_in_a_number_is_found(tree):
    assert migrate(tree).returncode == 0
    path = trees.baked(tree) / "cpu/tiny/times.json"
    records.write(path, records.read(path) | {"output": ["check", "1.51"]})
    done = migrate(tree, "--check")
    assert done.returncode == 1 and "1 differ here" in done.stdout and "tiny/times.json" in done.stdout


def test_killed_at_any_moment_it_leaves_every_record_readable(tree):
    for wait in (0.1, 0.3, 0.6, 1.0):
        started = subprocess.Popen(**trees.command(tree, "HEAD", "names.tsv", script="migrate.py"), stdout=subprocess.DEVNULL)
        time.sleep(wait)
        started.send_signal(signal.SIGKILL)
        started.wait()
        for path in (trees.baked(tree) / "cpu/tiny").glob("*.json"):
            assert json.loads(path.read_text(encoding="utf-8"))["output"] == ["check", "1.50"]
    assert migrate(tree).returncode == 0
