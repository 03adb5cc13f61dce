"""Kernels of several GPUs, run by processes of the CPU that share memory; and what starts and ends such processes."""

import os
import subprocess
import sys
import time

import pytest
import torch

from kernels.tools.forked import in_processes, places, shared
from scripts.provenance import programs
from snippets.several.gather_product import gather_product
from snippets.several.neighbor import neighbor
from snippets.several.one_shot import one_shot
from snippets.several.two_shot import two_shot
from tests.docs.pages import ROOT

TOGETHER = [name for name in programs.snippet_names() if programs.needs_of(name) == programs.SEVERAL]
TORCHRUN = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--local-addr=127.0.0.1", "--nproc-per-node=2"]


class Ranks:
    """A tensor and flags of each rank, with NaN behind the tensor's end, and room for an output and for who was missing."""

    def __init__(self, world: int, length: int, grid: int, dtype: torch.dtype = torch.float32):
        self.world, self.length = world, length
        whole, outs = (shared(world, length + 16, dtype=dtype).fill_(float("nan")) for _ in range(2))
        self.whole, self.x, self.out = (whole, outs), whole[:, :length], outs[:, :length]
        for rank in range(world):
            self.x[rank] = torch.randn(length, generator=torch.Generator().manual_seed(rank))
        self.flags = shared(world, grid * world, dtype=torch.int32)
        self.missing = shared(world, world, dtype=torch.int32)
        self.given = self.x.clone()

    def call(self, function, rank: int, **options) -> None:
        mine = (self.x if function is two_shot else self.out)[rank]
        function(places(self.whole[0]), places(self.flags), self.missing[rank], mine, rank, self.world, **options)

    def is_clean(self) -> bool:
        """Whether all flags are down, nobody was missing, and nothing was written behind an end."""
        behind = all(bool(tensor[:, self.length :].isnan().all()) for tensor in self.whole)
        return behind and not self.flags.any() and not self.missing.any()


@pytest.mark.parametrize(("world", "length", "grid"), [(1, 5, 1), (2, 1000, 1), (3, 257, 2), (4, 64, 3)])
def test_a_neighbor_s_values(world, length, grid):
    ranks = Ranks(world, length, grid)
    in_processes(world, lambda rank: ranks.call(neighbor, rank, programs=grid, block=64))
    assert torch.equal(ranks.out, ranks.given.roll(-1, 0)) and ranks.is_clean()


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize(("world", "length", "grid"), [(1, 5, 1), (2, 1000, 1), (3, 257, 2), (4, 64, 3), (4, 1, 1)])
@pytest.mark.parametrize("function", [one_shot, two_shot])
def test_sums_are_right_and_the_same_bits_everywhere(function, world, length, grid, dtype):
    ranks = Ranks(world, length, grid, dtype)
    in_processes(world, lambda rank: ranks.call(function, rank, programs=grid, block=64))
    out = ranks.x if function is two_shot else ranks.out
    expected = ranks.given.double().sum(0)
    torch.testing.assert_close(out[0].double(), expected, rtol=2**-7 if dtype == torch.bfloat16 else 1e-5, atol=1e-5)
    assert all(torch.equal(out[0], row) for row in out) and ranks.is_clean()


def test_again_and_again_with_ranks_that_come_late():
    """Each round gives everyone new numbers, so a rank that read too early or wrote too early shows."""
    ranks = Ranks(3, 100, 1)
    sums = shared(3, 4)

    def run(rank):
        for turn in range(4):
            time.sleep(0.05 * ((rank + turn) % 3))
            ranks.x[rank] = 10.0 ** turn * (rank + 1)
            ranks.call(one_shot, rank, block=128)
            sums[rank, turn] = ranks.out[rank].unique().item()

    in_processes(3, run)
    assert sums.tolist() == [[6.0, 60.0, 600.0, 6000.0]] * 3 and ranks.is_clean()


@pytest.mark.parametrize("function", [neighbor, one_shot, two_shot])
def test_a_rank_that_does_not_come_is_named_and_the_others_end(function):
    ranks = Ranks(3, 50, 1)
    in_processes(3, lambda rank: ranks.call(function, rank, limit=5000) if rank != 1 else None)
    assert [row.nonzero().flatten().tolist() for row in ranks.missing] == [[1], [], [1]]


def arriving(world: int, rows: int, k: int, n: int, grid: int, absent: int = -1):
    """A product on every rank while a second process of each brings it the others' rows, all but an absent one's."""
    a, c = shared(world, world * rows, k), shared(world, world * rows, n)
    arrived, missing = (shared(world, world, dtype=torch.int32) for _ in range(2))
    parts, b = torch.randn(world, rows, k), torch.randn(k, n)

    def run(process):
        rank = process % world
        if process < world:
            limit = 500 if absent >= 0 else 10_000_000
            gather_product(a[rank], b, c[rank], arrived[rank], missing[rank], rank, world, grid, (16, 16, 16), limit)
            return
        for peer in reversed(range(world)):
            if peer != absent or peer == rank:
                time.sleep(0.05)
                a[rank].view(world, rows, k)[peer] = parts[peer]
                arrived[rank, peer] = 1

    for rank in range(world if absent >= 0 else 0):
        a[rank].view(world, rows, k)[rank] = parts[rank]
        arrived[rank] = torch.tensor([peer != absent or peer == rank for peer in range(world)])
    in_processes(2 * world, run)
    return c, parts.flatten(0, 1) @ b, missing


@pytest.mark.parametrize(("world", "rows", "k", "n", "grid"), [(1, 32, 32, 32, 2), (2, 32, 48, 80, 3), (3, 160, 16, 16, 4)])
def test_a_product_waits_for_its_rows(world, rows, k, n, grid):
    found, expected, missing = arriving(world, rows, k, n, grid)
    for each in found:
        torch.testing.assert_close(each, expected, rtol=1e-4, atol=1e-4)
    assert not missing.any()


def test_a_product_whose_rows_never_come_ends_and_says_so():
    _, _, missing = arriving(3, 16, 16, 16, 1, absent=1)
    assert [row.nonzero().flatten().tolist() for row in missing] == [[1], [], [1]]


def test_rows_that_make_no_whole_tiles_are_refused():
    with pytest.raises(ValueError, match="a: expected rows for 2 ranks in tiles of 16, got 40"):
        gather_product(*[torch.zeros(40, 16)] * 3, None, None, 0, 2, 1, (16, 16, 16))


# Processes


@pytest.mark.parametrize("name", TOGETHER)
def test_without_two_gpus_a_program_says_so_in_one_line(name):
    plain = subprocess.run([sys.executable, "-m", f"snippets.{name.replace('/', '.')}"], cwd=ROOT, capture_output=True, text=True)
    assert (plain.returncode, plain.stdout.count("\n")) == (2, 1) and plain.stdout.startswith("needs: 2 gpus")


def test_started_by_torchrun_it_still_says_so_in_one_line():
    command = [*TORCHRUN, "-m", "snippets.several.link"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120, env=environment())
    assert done.returncode != 0
    assert done.stdout == "needs: 2 gpus (NVIDIA GPUs of one machine that PyTorch can use)\n"


MEETS = """
import sys
import torch
import torch.distributed as dist
from kernels.tools.several import together

def main(rank, world):
    x = torch.full((4,), rank + 1.0)
    if rank == 1 and "dies" in sys.argv:
        raise ValueError("no luck")
    dist.all_reduce(x)
    if rank == 0:
        print(world, x.tolist(), flush=True)

together(main, backend="gloo")
"""


@pytest.mark.parametrize("dies", [False, True])
def test_processes_meet_and_one_that_dies_ends_them_all_soon(tmp_path, dies):
    (tmp_path / "meets.py").write_text(MEETS, encoding="utf-8")
    command = [*TORCHRUN, str(tmp_path / "meets.py"), *(["dies"] if dies else [])]
    began = time.monotonic()
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120, env=environment())
    assert time.monotonic() - began < 60
    if dies:
        assert done.returncode == 1 and "ValueError: no luck" in done.stderr and not done.stdout
    else:
        assert (done.returncode, done.stdout) == (0, "2 [3.0, 3.0, 3.0, 3.0]\n"), done.stderr


WAITS = """
import os, sys, time
from kernels.tools.several import together

def main(rank, world):
    with open(os.path.join(sys.argv[1], str(rank)), "w") as file:
        file.write(str(os.getpid()))
    time.sleep(100)

together(main, backend="gloo")
"""


def test_processes_end_when_torchrun_is_killed(tmp_path):
    (tmp_path / "waits.py").write_text(WAITS, encoding="utf-8")
    started = subprocess.Popen([*TORCHRUN, str(tmp_path / "waits.py"), str(tmp_path)], cwd=ROOT, env=environment())
    try:
        wait_until(lambda: all((tmp_path / rank).exists() and (tmp_path / rank).read_text() for rank in "01"))
    finally:
        started.kill()
        started.wait()
    numbers = [int((tmp_path / rank).read_text()) for rank in "01"]
    wait_until(lambda: not any(is_alive(number) for number in numbers))


def wait_until(condition, seconds: float = 60) -> None:
    began = time.monotonic()
    while not condition():
        assert time.monotonic() - began < seconds, "it took too long"
        time.sleep(0.1)


def is_alive(number: int) -> bool:
    """Whether a process runs; one that has ended may wait for somebody to ask how."""
    try:
        with open(f"/proc/{number}/stat") as file:
            return file.read().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def environment() -> dict[str, str]:
    return os.environ | {"PYTHONPATH": str(ROOT), "CUDA_VISIBLE_DEVICES": "", "OMP_NUM_THREADS": "1"}
