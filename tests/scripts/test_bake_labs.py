"""The bake of labs: what each cell printed is kept, a check that fails keeps nothing, and cells that moved are noticed."""

from pathlib import Path

import pytest

from scripts.baking import archive
from scripts.provenance import records, sources
from scripts.provenance.follow import Code
from tests.scripts import trees
from tests.scripts.trees import bake, baked, checkout

CHECK = "def check(fn, task):\n    print(task, 'right' if fn() else 'wrong')\n    return fn()\n"
LAB = """# %% [markdown]
# # Lab

# %% tags=["setup"]
from kernels.labs import check

print("set up")
print("twice")

# %% tags=["exercise"]
def mine():
    # YOUR TURN: return what is true.
    # [solution]
    return True
    # [/solution]

# %% [markdown] tags=["hint"]
# It is not False.

# %% tags=["check"]
check(mine, "truth")
"""
ONLY = ("--cpu", "--only", "labs/*")


@pytest.fixture
def tree(tmp_path) -> Path:
    folder = checkout(tmp_path / "tree")
    trees.put(folder, {"docs/labs/tiny.py": LAB, "kernels/labs/__init__.py": CHECK})
    return folder


def place(tree: Path, machine: str = "cpu") -> Path:
    return records.record_path(machine, "lab", "tiny", baked(tree))


@pytest.mark.parametrize("on_gpu", [False, True])
def test_what_each_cell_printed_is_kept(tree, on_gpu):
    done = bake(tree, *ONLY[1:], A_GPU="GPU 1", CUDA_VISIBLE_DEVICES="0") if on_gpu else bake(tree, *ONLY)
    assert done.returncode == 0, done.stdout + done.stderr
    record = records.read(place(tree, "gpu-1" if on_gpu else "cpu"))
    assert (record["kind"], record["name"]) == ("lab", "tiny")
    assert [cell["output"] for cell in record["cells"]] == [["set up", "twice"], [], ["truth right"]]
    assert record["environment"]["gpu"] == ("GPU 1" if on_gpu else None)
    assert sources.is_fresh(record, Code(tree))


def test_labs_wait_for_no_gate(tree):
    trees.put(tree, {"tests/kernels/test_plus.py": "def test_it():\n    assert False\n"})
    assert "gate" not in bake(tree, *ONLY).stdout
    assert place(tree).exists()


@pytest.mark.parametrize(
    "old, new, says",
    [
        ("return True", "return False", "truth wrong"),
        ("return True", "return 1 / 0", "ZeroDivisionError"),
        ('check(mine, "truth")', "pass", "status 1"),
    ],
)
def test_a_lab_whose_check_fails_leaves_no_record(tree, old, new, says):
    assert bake(tree, *ONLY).returncode == 0
    before = place(tree).read_bytes()
    trees.put(tree, {"docs/labs/tiny.py": LAB.replace(old, new)})
    done = bake(tree, *ONLY)
    assert done.returncode == 1 and "labs/tiny: ended with status 1" in done.stdout and says in done.stdout
    assert place(tree).read_bytes() == before
    assert not sources.is_fresh(records.read(place(tree)), Code(tree))


def test_only_a_stale_lab_is_run_again(tree):
    def asked() -> str:
        return bake(tree, *ONLY, "--stale").stdout

    assert "done: 1 records" in asked()
    assert "done: 0 records" in asked()
    trees.put(tree, {"docs/labs/tiny.py": LAB.replace("# It is not False.", "# It is true.")})
    assert "done: 0 records" in asked()
    trees.put(tree, {"docs/labs/tiny.py": LAB.replace('print("twice")', '# %%\nprint("twice")')})
    assert "done: 1 records" in asked()
    trees.put(tree, {"kernels/labs/__init__.py": CHECK.replace("'right'", "'quite right'")})
    assert "done: 1 records" in asked()


def test_a_lab_is_carried_as_any_record(tree, tmp_path):
    assert bake(tree, *ONLY, "--pack", str(tmp_path / "bake.tgz")).returncode == 0
    other = tmp_path / "other"
    assert archive.unpack(tmp_path / "bake.tgz", baked(other), tree) == [place(other)]
    trees.put(tree, {"docs/labs/tiny.py": LAB.replace("True", "not False")})
    with pytest.raises(records.RecordError, match="come from other code"):
        archive.unpack(tmp_path / "bake.tgz", baked(other), tree)
