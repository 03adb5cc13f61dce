"""The checks that every operation shares: each error names the argument, what was expected, and what came."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from kernels.common.arguments import (
    check_approximate,
    check_dim,
    check_float_tensor,
    check_like,
    check_probability,
    check_row,
    check_same_device,
    check_seed,
)
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


def test_a_tensor_like_another_passes(device):
    x = torch.ones(2, 3, device=device)
    assert check_like("up", x.mT.contiguous().mT, "gate", x) is None
    assert check_row("bias", x[0], "x", x) is None


@pytest.mark.parametrize("check", [check_like, check_row], ids=lambda check: check.__name__)
def test_another_type_dtype_or_device_is_named(check, device):
    x = torch.ones(3, device=device)
    with pytest.raises(TypeError, match=r"^up: expected a torch.Tensor, got int$"):
        check("up", 1, "gate", x)
    with pytest.raises(TypeError, match=r"^up: expected dtype float32, the dtype of gate, got bfloat16$"):
        check("up", x.bfloat16(), "gate", x)
    with pytest.raises(ValueError, match=rf"^up: expected device {x.device}, the device of gate, got meta$"):
        check("up", x.to("meta"), "gate", x)


@pytest.mark.parametrize("shape", [(), (1,), (2,), (1, 3), (2, 3, 1)])
def test_another_shape_is_named(shape, device):
    x, bad = torch.ones(2, 3, device=device), torch.ones(shape, device=device)
    found = re.escape(str(tuple(shape)))
    with pytest.raises(ValueError, match=rf"^up: expected shape \(2, 3\), the shape of gate, got {found}$"):
        check_like("up", bad, "gate", x)
    text = rf"^bias: expected a vector as long as the last dimension of x, of shape \(2, 3\), got shape {found}$"
    with pytest.raises(ValueError, match=text):
        check_row("bias", bad, "x", x)


@pytest.mark.parametrize("value", [0, 1, 0.0, 0.5, 1.0])
def test_a_probability_passes(value):
    assert check_probability("p", value) is None


@pytest.mark.parametrize("value", [-1e-9, 1.0000001, float("nan"), float("inf")])
def test_no_probability_is_named(value):
    with pytest.raises(ValueError, match=rf"^p: expected a number from 0 to 1, got {value}$"):
        check_probability("p", value)
    with pytest.raises(TypeError, match=r"^p: expected a float, got bool$"):
        check_probability("p", False)


def test_seeds_have_64_bits():
    assert check_seed("seed", 0) is check_seed("seed", 2**64 - 1) is None
    for value in (-1, 2**64):
        with pytest.raises(ValueError, match=rf"^seed: expected an int from 0 to 2\*\*64 - 1, got {value}$"):
            check_seed("seed", value)
    with pytest.raises(TypeError, match=r"^seed: expected an int, got float$"):
        check_seed("seed", 1.0)


def test_gelu_has_two_forms():
    assert check_approximate("approximate", "none") is check_approximate("approximate", "tanh") is None
    with pytest.raises(ValueError, match=r"^approximate: expected 'none' or 'tanh', got 'erf'$"):
        check_approximate("approximate", "erf")
    with pytest.raises(TypeError, match=r"^approximate: expected a str, got NoneType$"):
        check_approximate("approximate", None)
