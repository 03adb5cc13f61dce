"""The Gluon kernel for matrix products: what the compiler makes of it anywhere, and its products on a Hopper GPU.

Triton's interpreter does not run Gluon, so the kernel is compiled here in a process of its own, and runs on a GPU only.
"""

import json
import os
import subprocess
import sys

import pytest
import torch

from kernels.matmul.aligned import aligned_copy
from kernels.matmul.configs import GLUON_TILE, NAMES
from kernels.matmul.epilogue import Epilogue
from kernels.matmul.gluon import matmul_gluon
from kernels.matmul.plan import choose_plan, hopper_plan, matmul_plan, waves_area
from scripts.provenance.records import ROOT
from tests.kernels.matmul_numerics import assert_matmul
from tests.kernels.numerics import random
from tests.needs import needs

CONFIGURATION = dict(zip(NAMES, GLUON_TILE, strict=True)) | {"programs": 132}
COMPILE = """
import importlib, json, re, sys
import torch
from triton.runtime import driver
from kernels.tools.compile_only import NoGPU
from kernels.matmul.epilogue import Epilogue

module = importlib.import_module("kernels.matmul.gluon")  # the package has a function of that name
driver.set_active(NoGPU())
kernel, configuration = module.matmul_gluon_kernel, json.loads(sys.argv[1])


class Compiled:
    def __getitem__(self, grid):
        return lambda *arguments, **options: made.append(kernel.warmup(*arguments, grid=grid, **options))


def matrix(turned, n=384):
    x = torch.empty(384, n, dtype=torch.bfloat16)
    return x.t() if turned else x


module.matmul_gluon_kernel, found = Compiled(), []
for a_t, b_t, n, bias, z, activation in json.loads(sys.argv[2]):
    made = []
    a, b, c = matrix(a_t), matrix(b_t)[:, :n], matrix(False, n)
    finish = Epilogue(matrix(False, n) if z else None, torch.empty(n).bfloat16() if bias else None, activation=activation)
    module.matmul_gluon(a, b, c, finish, "tf32", configuration)(a, b, c, finish)
    ptx = made[0].asm["ptx"]
    products = sorted(set(re.findall(r"wgmma\\.mma_async\\S+?(m64n\\d+k16)", ptx)))
    local = re.findall(r"\\.local\\s", ptx)
    found.append([made[0].metadata.shared, products, ptx.count("setmaxnreg"), ptx.count("cp.async.bulk.tensor"), len(local)])
print(json.dumps(found))
"""


def test_every_way_of_it_compiles_for_hopper():
    ways = [[a_t, b_t, n, False, False, None] for a_t in (False, True) for b_t in (False, True) for n in (384, 383)]
    ways += [[False, True, 384, True, True, activation] for activation in ("relu", "gelu", "gelu_tanh", "silu")]
    ways += [[False, True, n, True, True, "gelu"] for n in (382, 380)]
    variables = {key: value for key, value in os.environ.items() if key != "TRITON_INTERPRET"} | {"PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-c", COMPILE, json.dumps(CONFIGURATION), json.dumps(ways)]
    result = subprocess.run(command, env=variables, cwd=ROOT, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr[-2000:]
    found = json.loads(result.stdout.splitlines()[-1])
    assert len(found) == len(ways)
    for (_, _, n, *_), (shared, products, registers, copies, local) in zip(ways, found, strict=True):
        assert shared <= 232_448 and products == ["m64n128k16"] and local == 0
        assert registers >= 4  # the groups take the registers that the loading warp gives up
        assert copies >= 4 + 2 * (n == 384)  # three pieces of a and one of b are loaded, and two of c stored


def test_it_is_taken_where_it_fills_the_waves():
    """At 3072 the Hopper kernel's tiles begin a third wave with a fifth of the multiprocessors; at 4096 they fill four."""
    assert choose_plan(3072, 3072, 3072, "half", "rows", "columns", "sm_90", 132).kernel == "gluon"
    assert choose_plan(4096, 4096, 4096, "half", "rows", "rows", "sm_90", 132).kernel == "hopper"
    assert choose_plan(3072, 3072, 3067, "half", "rows", "columns", "sm_90", 132).kernel == "gluon"  # pointers store
    assert choose_plan(3072, 3072, 3072, "fp8", "rows", "columns", "sm_90", 132).kernel == "hopper"
    assert choose_plan(3072, 3072, 3072, "half", "rows", "columns", "sm_100", 148).kernel == "tiled"
    for m, n in ((1536, 1536), (3072, 3072), (2048, 2048), (4096, 4096), (8192, 8192), (8192, 28672)):
        other = hopper_plan(m, n, "half", 132).configuration
        areas = [waves_area(tile, m, n, 132) for tile in (GLUON_TILE, (other["BLOCK_M"], other["BLOCK_N"]))]
        assert (choose_plan(m, 4096, n, "half", "rows", "rows", "sm_90", 132).kernel == "gluon") == (areas[0] <= 0.99 * areas[1])


def test_the_interpreter_gets_the_kernel_in_triton(monkeypatch):
    monkeypatch.setattr("kernels.matmul.plan.matmul_family", lambda device: ("sm_90", 132))
    a, b = torch.empty(3072, 64, dtype=torch.float16), torch.empty(64, 3072, dtype=torch.float16)
    for interpreted, kernel in ((True, "hopper"), (False, "gluon")):
        monkeypatch.setattr("kernels.matmul.plan.INTERPRETED", interpreted)
        assert matmul_plan(a, b).kernel == kernel


def given(m: int, k: int, n: int, dtype: torch.dtype, layouts: str = "nn") -> tuple:
    """Two matrices, by rows (`n`) or by columns (`t`), and a bias."""
    a, b = random(m, k, dtype=dtype, device="cuda"), random(k, n, dtype=dtype, device="cuda", seed=1)
    a, b = (aligned_copy(x if layout == "n" else x.t().contiguous().t()) for x, layout in zip((a, b), layouts, strict=True))
    return a, b, random(n, dtype=dtype, device="cuda", seed=2)


NOTHING = Epilogue()


def product(a, b, finish: Epilogue = NOTHING, programs: int=132) -> torch.Tensor:
    """By this kernel, into memory that holds NaN, with a guard behind it."""
    (m, _), n = a.shape, b.shape[1]
    line = torch.full((m * n + 64,), torch.nan, dtype=a.dtype, device=a.device)
    c = line[: m * n].view(m, n)
    matmul_gluon(a, b, c, finish, "tf32", CONFIGURATION | {"programs": programs})(a, b, c, finish)
    assert line[m * n :].isnan().all()
    return c


SHAPES = [(192, 64, 128), (64, 64, 64), (8, 8, 8), (200, 72, 136), (1000, 520, 776), (384, 4096, 256), (577, 1000, 1032)]
SHAPES += [(200, 72, 133), (577, 1000, 1026), (384, 4096, 252), (1, 64, 1)]  # no descriptor stores these


@needs("sm_90")
@pytest.mark.parametrize("layouts", ["nn", "nt", "tn", "tt"])
@pytest.mark.parametrize(("m", "k", "n"), SHAPES)
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16], ids=str)
def test_products(m, k, n, layouts, dtype):
    if layouts[0] == "t" and m % 8:
        m += 8 - m % 8  # columns begin at multiples of 16 bytes
    a, b, _ = given(m, k, n, dtype, layouts)
    for programs in (132, 3):
        assert_matmul(product(a, b, programs=programs), a, b)


@needs("sm_90")
@pytest.mark.parametrize("activation", [None, "relu", "gelu", "gelu_tanh", "silu"])
@pytest.mark.parametrize("keep", [False, True])
@pytest.mark.parametrize("n", [392, 390])
def test_bias_and_activation(activation, keep, n):
    a, b, bias = given(300, 200, n, torch.bfloat16)
    z = torch.full((300, n), torch.nan, dtype=a.dtype, device="cuda") if keep else None
    assert_matmul(product(a, b, Epilogue(z, bias, activation=activation)), a, b, bias, activation)
    if z is not None:
        assert_matmul(z, a, b, bias)


@needs("sm_90")
def test_again_and_again():
    """Warps that wait for each other at the wrong barrier are right most of the time."""
    a, b, _ = given(1536, 1536, 1536, torch.bfloat16)
    expected = product(a, b)
    assert_matmul(expected, a, b)
    for _ in range(200):
        assert torch.equal(product(a, b), expected)
