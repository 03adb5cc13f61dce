"""A run begins as if Python had just been started, says what went wrong and where, and records what was asked for."""

import pytest

from tests.runtime.page_python import ask, run

ADD = """import torch
import triton
import triton.language as tl


@triton.jit
def add_kernel(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask)
    y = tl.load(y_ptr + offsets, mask=mask)
    tl.store(out_ptr + offsets, x + y, mask=mask)


x, y = torch.rand(1000), torch.rand(1000)
out = torch.empty(1000)
add_kernel[(4,)](x, y, out, 1000, BLOCK=256)
print(torch.equal(out, x + y))
"""


def error_of(source, **asked):
    return run(source, **asked)["done"]["error"]


def test_a_program_prints_and_ends_well():
    answer = run(ADD)
    assert answer["out"] == ["True"] and answer["done"]["error"] is None and answer["done"]["recording"] is None
    launch = {"number": 0, "kernel": "add_kernel", "grid": [4], "line": 17, "recorded": False, "why_not": None}
    assert answer["done"]["launches"] == [launch]


# Errors


def test_a_missing_mask_names_tensor_line_program_and_lanes():
    error = error_of(ADD.replace("x = tl.load(x_ptr + offsets, mask=mask)", "x = tl.load(x_ptr + offsets)"))
    assert error["line"] == 10 and error["text"] == "x = tl.load(x_ptr + offsets)"
    assert error["access"] == {"tensor": "x_ptr", "program": [3, 0, 0], "lanes": [232, 233, 234, 235], "count": 24, "line": 10}
    for word in (
        "load",
        "line 10",
        "program 3",
        "lanes 232, 233, 234, 235, ...",
        "24 of the 256",
        "x_ptr",
        "the first would be element 1000, where the last one is 999",
    ):
        assert word in error["message"]
    assert "some lanes own no element" in error["hint"] and error["hint"].endswith(" More: errors/numbers/#missing-mask")
    assert [line for line, _ in error["frames"]] == [17, 10]


def test_a_store_below_the_first_element_and_a_tile_are_told():
    below = ADD.replace("tl.store(out_ptr + offsets,", "tl.store(out_ptr + offsets - 2,")
    error = error_of(below)
    access = error["access"]
    assert "the first would be element -2, where the first one is 0" in error["message"]
    assert error["hint"].startswith("the index or the mask is wrong")
    assert (access["tensor"], access["program"], access["lanes"], access["count"]) == ("out_ptr", [0, 0, 0], [0, 1], 2)
    tile = ADD.replace(
        "offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)",
        "offsets = tl.arange(0, BLOCK)[:, None] + tl.arange(0, 4)[None, :] * 300",
    )
    assert error_of(tile.replace(", mask=mask", ""))["access"]["lanes"][0] == [100, 3]


@pytest.mark.parametrize(
    ("source", "kind", "line", "says"),
    [
        ("x = 1\ny = x +\n", "SyntaxError", 2, "invalid syntax"),
        ("def f():\n    return g()\n\n\nprint(f())\n", "NameError", 2, "name 'g' is not defined"),
        ("import sys\nsys.exit(3)\n", "SystemExit", 2, "status 3"),
        ("import sys\nsys.exit('no GPU')\n", "SystemExit", 2, "no GPU"),
        ("def f():\n    f()\nf()\n", "RecursionError", 2, "without end"),
        ("import os\nos._exit(1)\n", "PermissionError", 2, "cannot do this"),
        ("input()\n", "EOFError", 1, ""),
        ("import js\n", "ModuleNotFoundError", 1, "js"),
        ("import torch\ntorch.randm(3)\n", "AttributeError", 2, "randn"),
        ("import torch\ntorch.compile(print)(1)\n", "RuntimeError", 2, "compiles code"),
        ("import torch\ntorch.ones(3).sumx()\n", "AttributeError", 2, "There is sum"),
        ("import torch\ntorch.ones(3, device='cuda')\n", "RuntimeError", 2, "No CUDA device"),
        ("try:\n    1 / 0\nexcept ZeroDivisionError as e:\n    raise ValueError('mine') from e\n", "ValueError", 4, "mine"),
        ("import torch\ntorch.empty(2**45)\n", "MemoryError", 2, "allocate"),
    ],
)
def test_an_error_names_the_line(source, kind, line, says):
    error = error_of(source)
    assert (error["type"], error["line"]) == (kind, line) and says in error["message"], error


def test_an_error_within_a_kernel_names_its_line_with_the_labs_hint():
    error = error_of(ADD.replace("tl.arange(0, BLOCK)", "tl.arange(0, n)"))
    assert error["line"] == 8 and "tl.constexpr" in error["hint"]
    assert error["hint"].endswith(" More: errors/blocks/#arange-constexpr")


def test_the_end_of_a_view_is_that_of_its_memory_and_one_lane_is_one():
    view = ADD.replace("x, y = torch.rand(1000), torch.rand(1000)", "x, y = torch.rand(500, 2)[:, 0], torch.rand(1000)")
    error = error_of(view.replace("x_ptr + offsets, mask=mask", "x_ptr + offsets + 1, mask=mask"))
    assert "lane 231 points outside of x_ptr (1 of the 232 that are on): it would be element 1000, where the last one is 998" in (
        error["message"]
    )


def test_a_product_refused_without_words_is_explained():
    source = """import torch
import triton
import triton.language as tl


@triton.jit
def dot_kernel(x_ptr):
    i = tl.arange(0, 16)[:, None] * 16 + tl.arange(0, 16)[None, :]
    x = tl.load(x_ptr + i)
    total = tl.zeros((16, 16), tl.float16)
    total = tl.dot(x, x, total)
    tl.store(x_ptr + i, total)


dot_kernel[(1,)](torch.rand(16, 16).to(torch.float16))
"""
    error = error_of(source)
    assert (error["type"], error["line"]) == ("AssertionError", 11)
    assert "the accumulator is not float32" in error["hint"] and "errors/types/#dot-accumulator" in error["hint"]


# One run after another


def test_a_run_finds_nothing_of_the_one_before():
    changes = """import os, sys, torch, triton.language as tl
torch.mark = tl.mark = os.mark = 1
torch.add = None
torch.Tensor.sum = None
os.environ["MARK"] = "x"
open("mark", "w").close()
open("helper.py", "w").write("X = 1")
import helper
torch.manual_seed(5)
torch.set_default_dtype(torch.float64)
torch.set_grad_enabled(False)
sys.setrecursionlimit(77)
print.__self__.print = None
"""
    looks = """import os, sys, torch, triton.language as tl
print(hasattr(torch, "mark"), hasattr(tl, "mark"), hasattr(os, "mark"), "MARK" in os.environ, os.listdir(),
      "helper" in sys.modules)
print(torch.add(torch.ones(2), 1).sum(), torch.is_grad_enabled(), torch.rand(1).item())
print(sorted(name for name in globals() if name[0] != "_"), __name__)
"""
    request = [("run", {"source": text, "name": "a/b", "record": False}) for text in (changes, looks)]
    _, after = ask(*request)
    (alone,) = ask(request[1])
    assert after["out"] == alone["out"] and after["done"]["error"] is None
    assert after["out"][0].startswith("False False False False ['b.py'] False")


def test_reductions_run_again_and_again():
    """The interpreter rewrites Triton's own functions once, and looks for itself among the names of their module."""
    source = ADD.replace("offsets, x + y", "offsets, x + y + tl.max(x, 0) * 0 + tl.sum(y, 0) * 0")
    answers = ask(*[("run", {"source": source, "name": "a/b", "record": False})] * 3)
    assert [answer["done"]["error"] for answer in answers] == [None] * 3


# Recording


def test_a_launch_is_recorded_and_the_program_prints_the_same():
    plain, watched = run(ADD), run(ADD, record=True)
    recording = watched["done"]["recording"]
    assert watched["out"] == plain["out"] and not watched["done"]["recording_is_partial"]
    assert recording["kernel"] == "add_kernel" and recording["grid"] == [4] and len(recording["programs"]) == 4
    assert set(recording["tensors"]) == {"x", "y", "out"} and recording["source"][0] == "@triton.jit"
    assert [event["op"] for event in recording["programs"][3]["events"]] == ["set", "set", "load", "load", "store"]


def test_a_recording_goes_up_to_the_error():
    done = run(ADD.replace("y = tl.load(y_ptr + offsets, mask=mask)", "y = tl.load(y_ptr + offsets)"), record=True)["done"]
    assert done["recording_is_partial"] and done["error"]["access"]["tensor"] == "y_ptr"
    last = done["recording"]["programs"][-1]["events"][-1]
    assert (last["op"], last["tensor"]) == ("load", "y") and any(run[0] == "outside" for run in last["lanes"])


TWICE = ADD + "add_kernel[(8,)](out, y, x, 1000, BLOCK=128)\nadd_kernel[(1000,)](out, y, x, 1000, BLOCK=1)\n"


def test_one_of_several_launches_is_chosen():
    done = run(TWICE, record=True, launch=1)["done"]
    assert [launch["recorded"] for launch in done["launches"]] == [False, True, False] and done["recording"]["grid"] == [8]


def test_a_large_grid_is_declined_with_a_word():
    done = run(TWICE, record=True, launch=2)["done"]
    assert done["recording"] is None and "1,000 programs" in done["launches"][2]["why_not"]


def test_a_recording_stops_at_its_most_events():
    done = run(ADD, record=True, most_events=7)["done"]
    assert done["recording_is_partial"] and done["error"] is None
    assert sum(len(program["events"]) for program in done["recording"]["programs"]) == 7


HELPER = ADD.replace(
    "@triton.jit\ndef add_kernel", "@triton.jit\ndef sum_of(x, y):\n    return x + y\n\n\n@triton.jit\ndef add_kernel"
).replace("out_ptr + offsets, x + y", "out_ptr + offsets, sum_of(x, y)")
AUTOTUNED = ADD.replace(
    "@triton.jit", "@triton.autotune([triton.Config({'BLOCK': b}) for b in (256, 128)], key=['n'])\n@triton.jit"
).replace(
    "add_kernel[(4,)](x, y, out, 1000, BLOCK=256)",
    "add_kernel[lambda meta: (triton.cdiv(1000, meta['BLOCK']),)](x, y, out, 1000)",
)
DESCRIPTOR = """import torch, triton
import triton.language as tl
from triton.tools.tensor_descriptor import TensorDescriptor


@triton.jit
def double_kernel(x_desc, out_desc, M: tl.constexpr, N: tl.constexpr):
    row = tl.program_id(0) * M
    x = x_desc.load([row, 0])
    out_desc.store([row, 0], x * 2)


x = torch.rand(30, 16)
out = torch.zeros(30, 16)
double_kernel[(4,)](TensorDescriptor.from_tensor(x, [8, 16]), TensorDescriptor.from_tensor(out, [8, 16]), M=8, N=16)
print(torch.equal(out, x * 2))
"""


@pytest.mark.parametrize("source", [HELPER, AUTOTUNED, DESCRIPTOR], ids=["a helper", "autotuned", "descriptors"])
def test_other_kinds_of_kernels_are_recorded(source):
    answer = run(source, record=True)
    assert answer["done"]["error"] is None and answer["out"] == ["True"]
    (launch,) = answer["done"]["launches"]
    assert launch["recorded"], launch["why_not"]
    operations = {event["op"] for program in answer["done"]["recording"]["programs"] for event in program["events"]}
    assert {"load", "store"} <= operations and len(answer["done"]["recording"]["programs"]) == 4
