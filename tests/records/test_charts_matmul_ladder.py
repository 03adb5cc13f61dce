"""The chart of the matmul ladder: what is worked out for it is right; and the benchmark times the kernels of the steps."""

import ast

import pytest

from scripts import charts
from scripts.drawing.chapters.matmul_ladder import STEPS, parts_of
from scripts.provenance import records
from tests.records.test_charts import RECORDS, VARIANTS, changing

SOURCE = "matmul_ladder/benchmark"
FOLDER = records.ROOT / "snippets" / "matmul_ladder"
TIMED = {
    "timed_naive_kernel": ("naive", "naive_matmul_kernel"),
    "timed_tiles_kernel": ("tiles", "tiles_matmul_kernel"),
    "timed_cores_kernel": ("tensor_cores", "cores_matmul_kernel"),
    "timed_grouped_kernel": ("grouped", "grouped_matmul_kernel"),
    "timed_descriptor_kernel": ("descriptors", "descriptor_matmul_kernel"),
    "timed_persistent_kernel": ("persistent", "persistent_matmul_kernel"),
    "timed_specialized_kernel": ("specialized", "specialized_matmul_kernel"),
    "timed_split_kernel": ("split_k", "split_matmul_kernel"),
}


def test_every_shape_has_its_steps_and_cublas_last():
    rows = charts.draw("matmul_ladder", RECORDS)["sidecar"]["rows"]
    called = [row for row in RECORDS[SOURCE]["measurements"] if row["timing"] == "call"]
    expected = {(STEPS[row["implementation"]], row["shape"], row["dtype"]) for row in called}
    assert len(rows) == len(expected) and {tuple(row[:3]) for row in rows} == expected
    assert all(part.rows[-1]["implementation"] == "eager" for part in parts_of(RECORDS[SOURCE]))


def test_the_rate_is_two_operations_a_product_over_the_time():
    changed = changing(SOURCE)
    for row in changed[SOURCE]["measurements"]:
        if (row["shape"], row["implementation"]) == ("8192x8192x8192", "cores"):
            row["ms"] = [1.4, 1.5, 1.6]
    rows = charts.draw("matmul_ladder", changed)["sidecar"]["rows"]
    (found,) = [line for line in rows if line[:3] == ["3. tensor cores", "8192x8192x8192", "bf16"]]
    assert found[-3:] == pytest.approx([687.2, 733.0, 785.4])


def test_a_step_that_failed_is_left_out():
    changed = changing(SOURCE)
    rows = changed[SOURCE]["measurements"]
    changed[SOURCE]["measurements"] = [row for row in rows if row["implementation"] != "specialized"]
    drawn = charts.draw("matmul_ladder", changed)
    assert all(STEPS["specialized"] not in str(drawn[part]) for part in (*VARIANTS, "sidecar"))


def kernel(program: str, name: str) -> str:
    """A kernel of a program without its name."""
    body = ast.parse((FOLDER / f"{program}.py").read_text(encoding="utf-8")).body
    (found,) = [node for node in body if isinstance(node, ast.FunctionDef) and node.name == name]
    found.name = "kernel"
    return ast.unparse(found)


@pytest.mark.parametrize("timed", TIMED)
def test_the_benchmark_times_the_kernel_of_the_step(timed):
    assert kernel("benchmark", timed) == kernel(*TIMED[timed])


def test_the_benchmark_has_no_kernel_of_its_own_and_the_stages_are_those_of_the_grouped_one():
    body = ast.parse((FOLDER / "benchmark.py").read_text(encoding="utf-8")).body
    assert {node.name for node in body if isinstance(node, ast.FunctionDef) and node.name.endswith("_kernel")} == set(TIMED)
    assert kernel("stages", "staged_matmul_kernel") == kernel("grouped", "grouped_matmul_kernel")
