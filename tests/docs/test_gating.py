"""Skips are for hardware, or for what npm and pip fetch, by the helpers of tests/needs.py, and listed in tests/skips.txt."""

import ast
import re
from pathlib import Path

from tests.docs.pages import ROOT, name_of

HELPERS = {"needs", "needs_package", "needs_type", "need_free_memory", "need_runtime"}
ALLOWED = ("needs: cuda", "needs: sm_90", "needs: fp8", "needs: npm and pip", "needs: package transformers")
OTHER_MEANS = re.compile(
    r"\b(skipif|xfail|importorskip|skipTest|SkipTest|expectedFailure|pytest\.skip|(mark|unittest)\.skip\w*)\b"
)
# Left out where torch is not installed; tests/conftest.py refuses that when CI is set.
MAY_IGNORE = {"tests/kernels/conftest.py", "tests/labs/conftest.py"}


def skips(path: Path) -> set[str]:
    """`file::test  needs: hardware` for each test or class that a helper may skip; `file` alone for a whole file."""
    found = set()
    for statement in ast.parse(path.read_text(encoding="utf-8")).body:
        place = f"::{statement.name}" if isinstance(statement, ast.FunctionDef | ast.ClassDef) else ""
        for call in [node for node in ast.walk(statement) if isinstance(node, ast.Call)]:
            if ast.unparse(call.func).rpartition(".")[2] in HELPERS:
                named = [node.value for node in call.args if isinstance(node, ast.Constant) and isinstance(node.value, str)]
                found.add(f"{name_of(path)}{place}  needs: {named[0] if named else 'cuda'}")
    return found


def test_skips_are_listed():
    lines = (ROOT / "tests" / "skips.txt").read_text(encoding="utf-8").splitlines()
    found = {skip for path in (ROOT / "tests").rglob("test_*.py") for skip in skips(path)}
    assert found == set(lines) and all(line.endswith(ALLOWED) for line in lines)


def test_nothing_skips_by_other_means():
    texts = {name_of(path): path.read_text(encoding="utf-8") for path in (ROOT / "tests").rglob("*.py")}
    own = {"tests/needs.py", name_of(Path(__file__))}
    assert [name for name, text in texts.items() if name not in own and OTHER_MEANS.search(text)] == []
    assert {name for name, text in texts.items() if re.search(r"^\s*collect_ignore", text, re.MULTILINE)} == MAY_IGNORE


def test_a_skip_is_found_wherever_it_stands(tmp_path, monkeypatch):
    monkeypatch.setattr(f"{__name__}.name_of", lambda path: path.name)
    path = tmp_path / "test_a.py"
    path.write_text('pytestmark = needs("sm_90")\n@needs("cuda")\nclass A: ...\ndef test_b():\n    need_free_memory(1)\n')
    assert skips(path) == {"test_a.py  needs: sm_90", "test_a.py::A  needs: cuda", "test_a.py::test_b  needs: cuda"}
