"""The programs beside CUDA measured what their pages say: nothing failed, CUDA and Triton in one run, lines as counted today."""

import ast

import pytest

from scripts.provenance import records
from scripts.provenance.environment import primary_machine
from snippets.cuda.compare import code_lines
from tests.docs.pages import ROOT
from tests.snippets.test_cuda import cuda_of

PROGRAMS = {
    "cuda/add": {"eager", "compile", "triton", "cuda"},
    "cuda/row_sum": {"eager", "compile", "triton", "cuda"},
    "cuda/softmax": {"eager", "compile", "triton", "cuda"},
    "cuda/naive": {"eager", "triton", "cuda"},
    "cuda/tiled": {"eager", "triton", "cuda"},
    "cuda/tensor_cores": {"eager", "compile", "triton", "cuda"},
    "tools/chain": {"eager", "compile", "triton", "cuda"},
    "tools/epilogue": {"eager", "library", "compile", "triton", "cuda"},
    "tools/norm": {"eager", "compile", "triton", "cuda"},
    "tools/bags": {"eager", "compile", "triton", "cuda"},
    "hard/buffers": {"eager", "loads", "stages_2", "stages_4", "stages_8", "gluon_4"}
    | {"cuda_plain", "cuda_unrolled", "cuda_ring_4", "cuda_ring_8"},
    "hard/work_queue": {"row_each", "share", "queue", "eager"},
}
PATHS = {name: records.record_path(primary_machine(), "program", name) for name in PROGRAMS}
RECORDED = {name: path for name, path in PATHS.items() if path.exists()}


def function_text(name: str, wanted: str) -> str:
    text = (ROOT / "snippets" / f"{name}.py").read_text(encoding="utf-8")
    node = next(node for node in ast.parse(text).body if isinstance(node, ast.FunctionDef) and node.name == wanted)
    first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
    return "\n".join(text.splitlines()[first - 1 : node.end_lineno])


def test_every_way_was_right_and_timed_in_one_run():
    for name, path in RECORDED.items():
        record = records.read(path)
        assert record["figures"]["failed"] == {}, name
        cases: dict[tuple[str, str], set[str]] = {}
        for row in record["measurements"]:
            if row["timing"] == "call":
                cases.setdefault((row["op"], row["shape"]), set()).add(row["implementation"])
        assert cases and all(found == PROGRAMS[name] for found in cases.values()), name


def test_both_compilers_were_timed_and_spill_nothing_to_speak_of():
    for name, path in RECORDED.items():
        for side in ("triton", "cuda") if name.startswith(("cuda/", "tools/")) else ():
            found = records.read(path)["figures"][side]
            assert 0 < found["build_seconds"] < 60, (name, side)
            assert found["spill_bytes"] <= 16, (name, side)


@pytest.mark.parametrize(
    "name, kernels",
    {
        "cuda/add": ("beside_add_kernel", "triton_add"),
        "cuda/row_sum": ("beside_row_sum_kernel", "triton_row_sum"),
        "cuda/softmax": ("beside_softmax_kernel", "triton_softmax"),
        "cuda/naive": ("beside_naive_kernel", "triton_naive"),
        "tools/chain": ("chain_kernel", "triton_chain"),
        "tools/bags": ("bag_kernel", "triton_bags"),
    }.items(),
)
def test_recorded_lines_are_those_of_the_texts(name, kernels):
    counted = {"triton": sum(code_lines(function_text(name, kernel)) for kernel in kernels), "cuda": code_lines(cuda_of(name))}
    assert counted["triton"] < 40 and counted["cuda"] < 70
    if name in RECORDED:
        lines = records.read(RECORDED[name])["figures"]["lines"]
        assert {tool: lines[tool] for tool in counted} == counted


def test_lines_are_counted_without_blanks_comments_and_docstrings():
    python = '@jit\ndef f(x):\n    """Two\n    lines."""\n    # why\n\n    return x  # this counts\n#> out\n'
    assert code_lines(python) == 3
    assert code_lines("#include <a>\n\n// --8<-- [start:x]\n  // no\nint f() {  // yes\n}\n#pragma unroll\n") == 4


def test_the_barrier_s_figures_hold_together():
    path = records.record_path(primary_machine(), "program", "hard/barrier")
    if path.exists():
        figures = records.read(path)["figures"]
        assert figures["asked"] == 2 * figures["fit"] and 0 < figures["gave_up"] < figures["asked"]
        assert figures["refused"] and figures["launch_us"] > 0
        assert all(us > 0 for us in figures["barrier_us"].values())
