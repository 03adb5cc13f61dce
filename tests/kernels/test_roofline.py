"""The roofline of a reader's kernel: its arithmetic and its text anywhere, the whole of it on a GPU."""

import re
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch
import triton
from triton.runtime import JITFunction

from kernels.tools.roofline import __main__ as command
from kernels.tools.roofline import counted, measured, watched
from kernels.tools.roofline.limits import LEAVES, Figures, limiter, occupancy, touched, verdict, waves
from kernels.tools.roofline.measured import examined
from kernels.tools.roofline.report import report
from tests.needs import needs

ROOT = Path(__file__).resolve().parents[2]
# A kernel that is far from both limits, and of which nothing else is wrong.
FAR = Figures(
    us=100, host_us=20, idle=0.1, memory_us=40, product_us=0, programs=4000, multiprocessors=100, waves=20, spilled=0,
    dots=False, tensor_cores=False,
)  # fmt: skip
CHANGES = {
    "launch-bound": {"host_us": 120},
    "host-bound": {"idle": 0.7},
    "not all touched": {"memory_us": 130},
    "at the copy's rate": {"memory_us": 90},
    "at the product's rate": {"product_us": 90},
    "too few programs": {"programs": 64, "waves": 0.3},
    "tail": {"waves": 1.1},
    "spills": {"spilled": 64},
    "tensor cores idle": {"dots": True},
    "uncoalesced": {"cache_again": 8.0, "memory_again": 2.0},
    "order": {"memory_again": 1.8, "cache_again": 1.8},
    "too little under way": {},
}


@pytest.mark.parametrize("name", CHANGES)
def test_one_thing_at_a_time_leads_to_its_end_of_the_tree(name):
    assert limiter(FAR._replace(**CHANGES[name])) == name
    assert verdict(FAR._replace(**CHANGES[name]))[0].startswith(f"limited: {name}. ")


def test_every_end_is_reached_and_every_address_is_a_heading():
    assert CHANGES.keys() == LEAVES.keys()
    for _, address in LEAVES.values():
        page, _, anchor = address.partition("/")
        text = (ROOT / "docs" / "deeper" / f"{page}.md").read_text(encoding="utf-8")
        assert not anchor or f"{{ {anchor} }}" in text, address


@pytest.mark.parametrize(
    "change, name",
    [
        ({"dots": True, "tensor_cores": True}, "too little under way"),
        ({"waves": 12.1}, "too little under way"),  # the last of many waves is no matter
        ({"waves": 1.0}, "too little under way"),
        ({"cache_again": 1.5}, "too little under way"),  # loads of two sectors that begin within one
        ({"cache_again": 3.0, "memory_again": 2.0}, "order"),
        ({"cache_again": 2.0}, "uncoalesced"),  # every other element is left out
        ({"memory_us": 90, "spilled": 64}, "at the copy's rate"),  # what spills and is fast may spill
        ({"memory_us": 90, "programs": 64}, "at the copy's rate"),
        ({"host_us": 120, "memory_us": 90}, "launch-bound"),
    ],
)
def test_the_first_question_that_is_answered_with_yes_counts(change, name):
    assert limiter(FAR._replace(**change)) == name


def test_bytes_that_a_tensor_holds():
    x = torch.empty(6, 4)
    assert touched(tuple(x.shape), x.stride(), 4) == 96
    assert touched((6, 4), x[:1].expand(6, 4).stride(), 4) == 16
    assert touched((), (), 2) == 2 and touched((0, 4), (4, 1), 4) == 0


def test_waves_and_occupancy():
    assert waves(330, 100, 3) == pytest.approx(1.1) and waves(50, 100, 0) == 0.5
    assert occupancy(2, 8, 2048) == 0.25


def add_one(x_ptr, y_ptr, n, BLOCK=16):
    pass


@pytest.fixture
def launched(monkeypatch):
    """Launches reach this stand-in instead of a GPU."""
    made = []

    def run(kernel, *arguments, grid, warmup, **options):
        made.append((arguments, options))
        return SimpleNamespace(hash=options.get("num_warps", 4))

    monkeypatch.setattr(JITFunction, "run", run)
    return made


def test_launches_are_written_down_and_can_be_made_again(launched):
    kernel, x, y = JITFunction(add_one), torch.zeros(64), torch.zeros(64, dtype=torch.bfloat16)
    with watched.watching() as launches:
        kernel[lambda bound: (bound["n"] // bound["BLOCK"], 2)](x, y, 64, num_warps=8)
        kernel[(1,)](x, x, 64, BLOCK=32)
    kernel[(1,)](x, y, 64)
    assert [(each.name, each.grid, each.programs, each.moved) for each in launches] == [
        ("add_one", (4, 2), 8, 64 * 6),
        ("add_one", (1,), 1, 64 * 4),  # one tensor, passed twice
    ]
    assert len({each.key for each in launches}) == 2
    launches[0].again()
    assert launched[-1] == launched[0] and launched[0][1] == {"num_warps": 8}


TRIED = [16, 32]


def tuned_add_one(launched: list, times: dict[int, float]) -> triton.runtime.Autotuner:
    """The kernel under an autotuner that tries each block three times; how long one takes is made up."""

    def bench(call, quantiles):
        for _ in range(3):
            call()
        return [times[launched[-1][1]["BLOCK"]]] * 3

    configs = [triton.Config({"BLOCK": block}) for block in TRIED]
    return triton.autotune(configs, key=["n"], do_bench=bench)(JITFunction(add_one))


def test_what_an_autotuner_tries_is_not_counted(launched):
    kernel, x = tuned_add_one(launched, {16: 2.0, 32: 1.0}), torch.zeros(64)
    with watched.watching() as launches:
        for _ in range(2):
            kernel[lambda bound: (bound["n"] // bound["BLOCK"],)](x, x, 64)
    assert len(launched) == 3 * len(TRIED) + 2
    assert [each.grid for each in launches] == [(2,), (2,)]
    launches[0].again()
    assert launched[-1][1]["BLOCK"] == 32


def test_a_trial_that_fails_is_not_counted_either(launched):
    kernel, x = tuned_add_one(launched, {}), torch.zeros(64)
    with watched.watching() as launches:
        JITFunction(add_one)[(4,)](x, x, 64)
        with pytest.raises(KeyError):
            kernel[(4,)](x, x, 64)
        JITFunction(add_one)[(4,)](x, x, 64)
    assert len(launched) == 5 and len(launches) == 2


FILE = """import torch
from triton.runtime import JITFunction

def scale(x_ptr, n):
    pass

scale = JITFunction(scale)

def main():
    return lambda: scale[(2,)](torch.zeros(8), 8)

if __name__ == "__main__":
    main()()
"""


def test_a_function_or_a_kernel_is_found_in_a_file(tmp_path, launched):
    (tmp_path / "own_kernels.py").write_text(FILE, encoding="utf-8")
    function, launches = watched.found_in(f"{tmp_path}/own_kernels.py:main")
    assert function is not None and function.__name__ == "main" and launches == [] == launched
    function, launches = watched.found_in(f"{tmp_path}/own_kernels.py:scale")
    assert function is None and [each.moved for each in launches] == [32]


TUNED = """import torch
import triton
from triton.runtime import JITFunction

def scale(x_ptr, n, BLOCK):
    pass

CONFIGS = [triton.Config({"BLOCK": block}) for block in (1, 2, 4)]
scale = triton.autotune(CONFIGS, key=[], do_bench=lambda call, quantiles: [call(), 1.0][1:] * 3)(JITFunction(scale))

if __name__ == "__main__":
    for _ in range(2):
        scale[(2,)](torch.zeros(8), 8)
"""


def test_of_an_autotuned_kernel_of_a_file_only_the_tuned_launches_count(tmp_path, launched):
    (tmp_path / "tuned_kernels.py").write_text(TUNED, encoding="utf-8")
    function, launches = watched.found_in(f"{tmp_path}/tuned_kernels.py:scale")
    assert function is None and len(launched) == 3 + 2 and len(launches) == 2


NOT_THERE = {"main": "give a file", "gone.py:main": "give a file", "{}:gone": "defines no gone"}


@pytest.mark.parametrize("target, message", NOT_THERE.items())
def test_what_is_not_there_is_named(tmp_path, target, message):
    (tmp_path / "own_kernels.py").write_text(FILE, encoding="utf-8")
    with pytest.raises(SystemExit, match=message):
        watched.found_in(target.format(tmp_path / "own_kernels.py"))


COUNTED = """==PROF== Connected to process 17
"ID","Kernel Name","dram__bytes_read.sum","dram__bytes_write.sum","lts__t_sectors_srcunit_tex.sum"
"","","byte","byte","sector"
"0","scale_kernel","9","9","9"
"1","scale_kernel","1,024","512","64"
"""


def test_the_last_launch_of_a_kernel_is_the_one_that_counts():
    assert counted.counted_bytes(COUNTED) == {"scale_kernel": {"memory_bytes": 1536, "cache_bytes": 2048}}


def test_no_gpu_is_said_in_one_line(monkeypatch, capsys):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    assert command.report_roofline(["own.py:main"]) == 2
    assert capsys.readouterr().out == "needs: cuda (an NVIDIA GPU that PyTorch can use)\n"


def test_a_missing_profiler_is_named(monkeypatch):
    monkeypatch.setattr(counted.shutil, "which", lambda _: None)
    with pytest.raises(SystemExit, match="needs ncu"):
        counted.counters("own.py:main")


ROW = {
    "kernel": "scale_kernel", "launches": 2, "us": 100.0, "host_us": 20.0, "bytes": 4 * 10**8, "flops": 0, "registers": 32,
    "spilled": 0, "shared": 0, "warps": 4, "programs": 4000, "resident": 16, "held_by": "threads", "multiprocessors": 132,
    "waves": 1.9, "occupancy": 1.0, "memory_us": 80.0, "product_us": 0.0, "verdict": ["limited: x. Y.", "see: deeper/z/"],
}  # fmt: skip


def test_the_report_names_what_was_found():
    found = {"gpu": "A GPU", "copy": 4e12, "product": 8e14, "whole": None, "kernels": [ROW]}
    text = report(found)
    assert text.splitlines()[:3] == ["A GPU: copy 4,000 GB/s, product 800 TFLOP/s", "", "scale_kernel: 2 launches a call"]
    assert re.search(r"reached +4,000 GB/s, the least time is 80% of its time\n", text)
    assert "operations" not in text and "counted" not in text and text.endswith("  limited: x. Y.\n  see: deeper/z/")
    found["kernels"] = [ROW | {"flops": 2e9, "product_us": 90.0, "memory_bytes": 5e8, "cache_bytes": 6e8, "launches": 1}]
    found["whole"] = {"wall_us": 250.0, "gpu_us": 200.0, "idle": 0.2}
    text = report(found)
    assert "a call: 250.0 us by the clock, 200.0 us of the GPU, 20% idle" in text and "1 launch a call" in text
    assert "the least time is 90% of its time" in text and "500.00 MB in memory, 600.00 MB in the L2 cache" in text


@needs("cuda")
def test_a_copy_of_this_gpu_is_at_the_copy_s_rate():
    from kernels.add import add

    x, y = torch.randn(2, 2**28, device="cuda").unbind()
    found = examined(lambda: add(x, y))
    assert [row["kernel"] for row in found["kernels"]] == ["add_kernel"]
    row = found["kernels"][0]
    assert row["bytes"] == 3 * x.nbytes and row["us"] > 0 and row["registers"] > 0
    assert row["verdict"][0].startswith("limited: at the copy's rate")


@pytest.fixture
def compiled(monkeypatch):
    """A compiled kernel, on a GPU that is made up."""
    for name in ("set_stream", "Stream", "synchronize", "get_device_name"):
        monkeypatch.setattr(torch.cuda, name, lambda *_: "A GPU")
    monkeypatch.setattr(torch.cuda, "current_device", lambda: 0)
    monkeypatch.setattr(torch.cuda, "get_device_properties", lambda _: SimpleNamespace(multi_processor_count=100))
    limits = {"registers": 65_536, "shared": 233_472, "reserved": 1024, "threads": 2048, "programs": 32}
    for name, value in {"machine": {"copy": 1e12, "product": 1e14}, "limits_of": limits}.items():
        monkeypatch.setattr(measured, name, lambda *_, value=value: value)
    for name, us in {"replayed_us": 100.0, "on_the_host_us": 20.0}.items():
        monkeypatch.setattr(measured, name, lambda *_, us=us: us)
    metadata, asm = SimpleNamespace(num_warps=8, shared=1000), {"ttir": "tt.dot", "ptx": "mma.sync"}
    return SimpleNamespace(hash="h", n_regs=40, n_spills=6, metadata=metadata, asm=asm)


@pytest.mark.parametrize("tensors", [[], [torch.zeros(0)]])
def test_without_bytes_in_its_arguments_a_launch_is_told_in_words(compiled, tensors):
    compiled.n_spills = 0
    launches = [watched.WatchedLaunch(lambda: None, "bare", (4000,), tensors, compiled)]
    for counted_of in ({}, {"bare": {"memory_bytes": 9e7, "cache_bytes": 9e8}}):
        found = measured.of_launches(launches, 0, counted_of, None)
        (row,), text = found["kernels"], report(found)
        assert row["bytes"] == 0 and row["verdict"][0].startswith("limited: too little under way")
        assert re.search(r"\n  bytes +unknown, for none of its arguments is a tensor", text) and "reached" not in text
        assert ("90.00 MB in memory, 900.00 MB in the L2 cache" in text) == bool(counted_of)
    assert re.search(r"\n  reached +the least time is 80% of its time\n", report(measured.of_launches(launches, 8e9, None, None)))


def test_from_launches_to_verdicts_with_a_gpu_that_is_made_up(compiled):
    kernel, x = JITFunction(add_one), torch.zeros(10**6)
    launches = [watched.WatchedLaunch(lambda: None, kernel.__name__, (4000,), [x, x[1:]], compiled)] * 2
    found = measured.of_launches(launches, 0, None, {"wall_us": 210.0, "gpu_us": 200.0, "idle": 0.05})
    (row,) = found["kernels"]
    assert row["launches"] == 2 and row["bytes"] == 8 * 10**6 - 4 and row["spilled"] == 24
    assert row["resident"] == 6 and row["held_by"] == "registers" and row["waves"] == pytest.approx(4000 / 600)
    assert row["verdict"][0].startswith("limited: spills") and "add_one: 2 launches a call" in report(found)
    counted_much = {"add_one": {"memory_bytes": 9e7, "cache_bytes": 9e7}}
    compiled.n_spills = 0
    (row,) = measured.of_launches(launches, 0, counted_much, None)["kernels"]
    assert row["verdict"][0].startswith("limited: order") and row["memory_bytes"] == 9e7
