"""The programs that time the templates time the same text that the templates' own programs hold."""

import ast
import os
import re
import subprocess
import sys

import pytest

from tests.docs.pages import ROOT

FOLDER = ROOT / "snippets" / "patterns"
TIMED = {
    "benchmark_maps": ("square", "tile", "transpose"),
    "benchmark_reductions": ("row_sum", "total", "largest", "histogram"),
}
PAIRS = [(benchmark, template) for benchmark, templates in TIMED.items() for template in templates]


def functions(text: str) -> dict[str, str]:
    """Each function of a program with its decorators, as code alone."""
    return {node.name: ast.unparse(node) for node in ast.parse(text).body if isinstance(node, ast.FunctionDef)}


def under_own_names(text: str) -> str:
    return re.sub(r"\btimed_(\w+_kernel)\b", r"\1", text)


@pytest.mark.parametrize(("benchmark", "template"), PAIRS)
def test_what_is_timed_is_what_the_page_shows(benchmark, template):
    timed = functions(under_own_names((FOLDER / f"{benchmark}.py").read_text(encoding="utf-8")))
    shown = functions((FOLDER / f"{template}.py").read_text(encoding="utf-8"))
    assert shown and {name: timed.get(name) for name in shown} == shown


@pytest.mark.parametrize("benchmark", TIMED)
def test_nothing_else_is_timed(benchmark):
    timed = functions(under_own_names((FOLDER / f"{benchmark}.py").read_text(encoding="utf-8")))
    templates = [functions((FOLDER / f"{name}.py").read_text(encoding="utf-8")) for name in TIMED[benchmark]]
    assert set(timed) == {name for template in templates for name in template}


BRANCH = """
import torch, triton, triton.language as tl

@triton.jit
def branch(x_ptr, out_ptr):
    offsets = tl.arange(0, 16)
    x = tl.load(x_ptr + offsets)
    if x > 0:
        tl.store(out_ptr + offsets, x)

x, out = torch.arange(-8.0, 8.0), torch.full((16,), float("nan"))
branch[(1,)](x, out)
print(16 - int(out.isnan().sum()))
"""


def test_the_interpreter_takes_a_branch_on_a_block_for_all_lanes(tmp_path):
    program = tmp_path / "branch.py"
    program.write_text(BRANCH, encoding="utf-8")
    environment = os.environ | {"TRITON_INTERPRET": "1", "CUDA_VISIBLE_DEVICES": ""}
    done = subprocess.run([sys.executable, program], env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "16"
