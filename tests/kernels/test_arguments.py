"""The checks that every operation shares: each error names the argument, what was expected, and what came."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from kernels.arguments import check_dim, check_float_tensor, check_same_device
from tests.kernels.numerics import DTYPES

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_the_three_float_dtypes_pass(dtype, device):
    assert check_float_tensor("x", torch.ones(2, dtype=dtype, device=device)) is None


@pytest.mark.parametrize(("dtype", "name"), [(torch.int32, "int32"), (torch.float64, "float64"), (torch.bool, "bool")])
def test_another_dtype_is_named(dtype, name, device):
    with pytest.raises(TypeError, match=rf"^weight: expected dtype float32, float16 or bfloat16, got {name}$"):
        check_float_tensor("weight", torch.ones(2, device=device).to(dtype))


@pytest.mark.parametrize("value", [None, 1, 2.0, [1.0], "x"])
def test_what_is_no_tensor_is_named(value):
    with pytest.raises(TypeError, match=rf"^x: expected a torch.Tensor, got {type(value).__name__}$"):
        check_float_tensor("x", value)


def test_two_devices_are_named(device):
    here, there = torch.ones(2, device=device), torch.ones(2, device="meta")
    assert check_same_device("y", here, "x", here) is None
    with pytest.raises(ValueError, match=rf"^y: expected device {here.device}, the device of x, got meta$"):
        check_same_device("y", there, "x", here)


DIMS = [((2, 3), 0, 0), ((2, 3), 1, 1), ((2, 3), -1, 1), ((2, 3), -2, 0), ((), 0, 0), ((), -1, 0)]


@pytest.mark.parametrize(("shape", "dim", "expected"), DIMS)
def test_a_dim_is_counted_from_the_front(shape, dim, expected):
    assert check_dim("dim", dim, torch.ones(shape)) == expected


@pytest.mark.parametrize(("shape", "dim"), [((2, 3), 2), ((2, 3), -3), ((), 1), ((), -2), ((4,), 1)])
def test_a_dim_out_of_range_is_named(shape, dim):
    rank = max(len(shape), 1)
    text = rf"^axis: expected a dimension from {-rank} to {rank - 1} for shape \({', '.join(map(str, shape))},?\), got {dim}$"
    with pytest.raises(ValueError, match=text):
        check_dim("axis", dim, torch.ones(shape))


@pytest.mark.parametrize("dim", [1.0, "0", None, True, torch.tensor(0)])
def test_a_dim_that_is_no_int_is_named(dim):
    with pytest.raises(TypeError, match=rf"^dim: expected an int, got {type(dim).__name__}$"):
        check_dim("dim", dim, torch.ones(2, 3))


def run(program: str) -> str:
    """What a program prints in a process that starts with the interpreter off."""
    environment = {name: value for name, value in os.environ.items() if name != "TRITON_INTERPRET"}
    environment |= {"CUDA_VISIBLE_DEVICES": "", "PYTHONPATH": str(ROOT)}
    result = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True)
    return result.stdout


PROGRAM = """
{first}
import kernels, torch
{then}
for call in (lambda x: kernels.add(x, x), kernels.softmax, lambda x: kernels.softmax(x.requires_grad_())):
    try:
        print(call(torch.ones(2)).tolist())
    except ValueError as error:
        print(error)
"""
PLAIN = PROGRAM.format(first="", then="")
LATE = "import os; os.environ['TRITON_INTERPRET'] = '1'"
REFUSED = "x: expected a CUDA tensor, got one on cpu; "


def test_a_cpu_tensor_without_the_interpreter_is_told_how_to_turn_it_on():
    lines = run(PLAIN).splitlines()
    assert len(lines) == 3
    for line in lines:
        assert line.startswith(REFUSED)
        assert "TRITON_INTERPRET=1" in line and "before triton is first imported" in line


@pytest.mark.parametrize(("first", "then"), [("", LATE), (f"import triton; {LATE}", "")], ids=["after kernels", "after triton"])
def test_turning_the_interpreter_on_too_late_is_explained(first, then):
    lines = run(PROGRAM.format(first=first, then=then)).splitlines()
    assert len(lines) == 3
    for line in lines:
        assert line.startswith(REFUSED)
