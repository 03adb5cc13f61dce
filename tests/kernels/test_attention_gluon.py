"""The kernels of attention in Gluon: what the compiler makes of them anywhere, and what they compute on a Hopper GPU.

Triton's interpreter does not run Gluon, so the kernels are compiled here in a process of its own, and run on a GPU only.
"""

import json
import os
import subprocess
import sys
from dataclasses import replace

import pytest
import torch

from kernels import attention
from kernels.attention.configs import GLUON_BACKWARD_NAMES, GLUON_BACKWARD_TILES, GLUON_FORWARD_TILES, GLUON_NAMES
from kernels.attention.plan import AttentionPlan, attention_plan, choose_attention_plan
from scripts.provenance.records import ROOT
from tests.kernels.numerics import random
from tests.kernels.test_attention import check, given
from tests.needs import needs

COMPILE = """
import importlib, json, re, sys
import torch
from triton.runtime import driver
from kernels.tools.compile_only import NoGPU
from kernels.attention.launch import AttentionMask, strides_of

driver.set_active(NoGPU())
dtype = {"fp16": torch.float16, "bf16": torch.bfloat16}
found = []


class Compiled:
    def __init__(self, kernel):
        self.kernel = kernel

    def __getitem__(self, grid):
        return lambda *arguments, **options: made.append(self.kernel.warmup(*arguments, grid=grid, **options))


forward = importlib.import_module("kernels.attention.gluon")
backward = importlib.import_module("kernels.attention.gluon_backward")
forward.attention_gluon_kernel = Compiled(forward.attention_gluon_kernel)
backward.attention_gluon_backward_kernel = Compiled(backward.attention_gluon_backward_kernel)
for kind, head, tile, window, name in json.loads(sys.argv[1]):
    made, mask = [], AttentionMask(*window, lower_right=True)
    q, k = (torch.empty(2, heads, 512, head, dtype=dtype[name]) for heads in (4, 2))
    lse = torch.empty(2, 4, 512)
    if kind == "forward":
        forward.launch_gluon_forward(q, k, k, q, lse, window, mask, 0.1, tile, strides_of)
    else:
        backward.launch_gluon_keys(q, k, k, q, lse, lse, q.float(), k, k, window, mask, 0.1, tile, strides_of)
    ptx = made[0].asm["ptx"]
    products = sorted(set(re.findall(r"wgmma\\.mma_async\\S+?m64n(\\d+)k16", ptx)), key=int)
    local = len(re.findall(r"\\.local\\s", ptx))
    found.append([made[0].metadata.shared, products, ptx.count("setmaxnreg"), local, ptx.count("cp.reduce.async.bulk.tensor")])
print(json.dumps(found))
"""


def forward_tile(head: int, programs: int = 132) -> dict:
    return dict(zip(GLUON_NAMES, GLUON_FORWARD_TILES[head], strict=True)) | {"programs": programs}


def backward_tile(head: int) -> dict:
    return dict(zip(GLUON_BACKWARD_NAMES, GLUON_BACKWARD_TILES[head], strict=True))


WINDOWS = ((-1, -1), (-1, 0), (100, 30))


def test_every_way_of_them_compiles_for_hopper():
    ways = [["forward", head, forward_tile(head), window, "bf16"] for head in GLUON_FORWARD_TILES for window in WINDOWS]
    ways += [["backward", head, backward_tile(head), window, "bf16"] for head in GLUON_BACKWARD_TILES for window in WINDOWS]
    ways += [["forward", 128, forward_tile(128), (-1, 0), "fp16"], ["backward", 128, backward_tile(128), (-1, 0), "fp16"]]
    variables = {key: value for key, value in os.environ.items() if key != "TRITON_INTERPRET"} | {"PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-c", COMPILE, json.dumps(ways)]
    result = subprocess.run(command, env=variables, cwd=ROOT, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr[-2000:]
    found = json.loads(result.stdout.splitlines()[-1])
    assert len(found) == len(ways)
    for (kind, head, tile, _, _), (shared, products, registers, local, added) in zip(ways, found, strict=True):
        # The widths of scores and of the output; backward also that of a group's half of dq.
        widths = {tile["BLOCK_N"], head} if kind == "forward" else {tile["BLOCK_M"], head, head // 2}
        assert shared <= 232_448 and {int(n) for n in products} == widths and local == 0
        assert registers >= 3  # the groups take the registers that the loading warp gives up
        assert (added > 0) == (kind == "backward")  # dq is added up by the copy engine


def test_they_are_taken_where_they_serve():
    def plan(family="sm_90", kind="half", head=128, q_length=4096, k_length=4096, packed=False) -> AttentionPlan:
        return choose_attention_plan(family, 132, kind, head, 16, q_length, q_length, k_length, packed)

    assert plan().gluon_forward == forward_tile(128) and plan().gluon_backward == backward_tile(128)
    assert plan(head=64).gluon_forward == forward_tile(64) and plan(head=64).gluon_backward == backward_tile(64)
    assert plan(head=256).gluon_forward == forward_tile(256) and plan(head=256).gluon_backward is None
    others = [plan("sm_80"), plan("sm_100"), plan(kind="ieee"), plan(head=96), plan(packed=True)]
    others += [plan(q_length=1, k_length=65536)]
    others += [plan(q_length=512, k_length=512), plan(head=64, q_length=2048)]
    assert all(one.gluon_forward is None and one.gluon_backward is None for one in others)


def test_the_interpreter_gets_the_kernels_in_triton(monkeypatch):
    monkeypatch.setattr("kernels.attention.plan.matmul_family", lambda device: ("sm_90", 132))
    q = torch.empty(1, 1, 2048, 128, dtype=torch.float16)
    for interpreted in (True, False):
        monkeypatch.setattr("kernels.attention.plan.INTERPRETED", interpreted)
        assert (attention_plan(q, q, False).gluon_forward is None) == interpreted


def use_gluon(monkeypatch, programs: int = 132) -> None:
    """The kernels in Gluon at any length."""

    def plan(q, k, packed):
        head = q.shape[3]
        found = choose_attention_plan("sm_90", 132, "half", head, 1, 4096, 4096, 4096, False)
        backward = backward_tile(head) if head in GLUON_BACKWARD_TILES else None
        return replace(found, gluon_forward=forward_tile(head, programs), gluon_backward=backward)

    monkeypatch.setattr("kernels.attention.launch.attention_plan", plan)


SHAPES = [(1, 2, 2, 512, 512), (2, 4, 2, 300, 301), (1, 4, 1, 77, 333), (3, 2, 2, 129, 40), (1, 1, 1, 1, 1), (1, 2, 1, 1000, 64)]


@needs("sm_90")
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16], ids=str)
@pytest.mark.parametrize("is_causal", [False, True])
@pytest.mark.parametrize("head", [64, 128, 256])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_any_length(shape, head, is_causal, dtype, monkeypatch):
    use_gluon(monkeypatch, programs=3 if shape[0] == 2 else 132)
    check(*given((*shape, head), dtype, "cuda"), is_causal=is_causal)


@needs("sm_90")
@pytest.mark.parametrize("align", ["upper_left", "lower_right"])
@pytest.mark.parametrize("lengths", [(333, 333), (170, 400), (400, 170)], ids=str)
@pytest.mark.parametrize("window", [(3, 0), (200, 50), (None, 170), (180, None), (1000, 1000), (0, 0)], ids=str)
def test_windows(window, lengths, align, monkeypatch):
    use_gluon(monkeypatch)
    for head in (64, 128):
        check(*given((1, 2, 1, *lengths, head), torch.float16, "cuda"), window=window, align=align)


@needs("sm_90")
@pytest.mark.parametrize("k_length", [100, 200, 255])
@pytest.mark.parametrize("head", [64, 128])
def test_keys_that_are_none_weigh_nothing_where_all_scores_are_low(head, k_length, monkeypatch):
    """Behind the last key lie zeros, and a score of zero would weigh infinitely much beside scores near -200."""
    use_gluon(monkeypatch)
    q, k, v = given((1, 2, 1, 150, k_length, head), torch.float16, "cuda")
    check(torch.full_like(q, 5.0), torch.full_like(k, -5.0), v)


@needs("sm_90")
def test_heads_that_lie_between_others(monkeypatch):
    use_gluon(monkeypatch)
    q, k, v = (x.transpose(1, 2).contiguous().transpose(1, 2) for x in given((2, 4, 2, 200, 260, 128), torch.bfloat16, "cuda"))
    check(q, k, v, is_causal=True)


@needs("sm_90")
def test_the_same_bits_where_they_are_asked_for():
    q, k, v = (random(1, 2, 1100, 128, dtype=torch.bfloat16, device="cuda", seed=n).requires_grad_() for n in range(3))
    for asked in ("argument", "setting"):
        torch.use_deterministic_algorithms(asked == "setting")
        try:
            found = [
                torch.autograd.grad(attention(q, k, v, True, deterministic=asked == "argument").float().pow(2).sum(), (q, k, v))
                for _ in range(3)
            ]
        finally:
            torch.use_deterministic_algorithms(False)
        for again in found[1:]:
            assert all(torch.equal(a, b) for a, b in zip(found[0], again, strict=True))


@needs("sm_90")
def test_nothing_is_written_past_the_end(monkeypatch):
    use_gluon(monkeypatch)
    q, k, v = given((1, 1, 1, 100, 100, 128), torch.bfloat16, "cuda")
    line = torch.full((3, 164, 128), torch.nan, dtype=q.dtype, device="cuda")
    for row, x in zip(line, (q, k, v), strict=True):
        row[:100] = x[0, 0]
    q, k, v = (row[:100].view(1, 1, 100, 128).requires_grad_() for row in line.detach())
    behind = []

    def with_rows_behind(x):
        made = torch.full((164, 128), torch.nan, dtype=x.dtype, device=x.device)
        behind.append(made[100:])
        return made[:100].view(1, 1, 100, 128)

    monkeypatch.setattr("kernels.attention.launch.empty_rows_like", with_rows_behind)
    out = attention(q, k, v)
    assert out.isfinite().all() and all(dx.isfinite().all() for dx in torch.autograd.grad(out.sum(), (q, k, v)))
    assert line[:, 100:].isnan().all()
    assert len(behind) == 4 and all(rows.isnan().all() for rows in behind)
