"""The GPU's sheet: its arithmetic anywhere, the whole of it on a GPU."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch

from kernels.tools import hardware
from kernels.tools.hardware import FACTS, TENSOR_CORES, describe, least_us, programs_that_fit, ridge, sheet_text, shown, tier
from tests.needs import needs

ROOT = Path(__file__).resolve().parents[2]
TORCH = {
    "name": "A GPU",
    "major": 9,
    "minor": 0,
    "multi_processor_count": 132,
    "total_memory": 2**37,
    "L2_cache_size": 50 * 2**20,
}
TRITON = {
    "max_shared_mem": 232_448,
    "max_num_regs": 65_536,
    "multiprocessor_count": 1,
    "warpSize": 32,
    "sm_clock_rate": 1_980_000,
}
MEASURED = {"copy_gbps": 4000.0, "matmul_tflops": 800.0, "ridge": 200.0}
ROW = {"op": "add", "direction": "fwd", "shape": "64", "dtype": "fp32", "bytes": 768, "flops_a_byte": 1 / 12}
LIMITS = {"registers": 65_536, "shared": 233_472, "reserved": 1024, "threads": 2048, "programs": 32}


@pytest.mark.parametrize(
    "capability, target, instruction",
    [
        ((8, 0), "sm_80", "mma.sync"),
        ((8, 9), "sm_89", "mma.sync"),
        ((9, 0), "sm_90", "wgmma"),
        ((10, 0), "sm_100", "tcgen05"),
        ((12, 0), "sm_120", "mma.sync"),
        ((7, 5), "sm_75", "unknown"),
        ((99, 1), "sm_991", "unknown"),
    ],
)
def test_tiers(capability, target, instruction):
    assert tier(*capability) == {"target": target, "tensor_cores": instruction}


def test_tiers_are_what_the_compiler_does():
    program = ROOT / "snippets" / "hardware" / "tensor_cores.py"
    own = {name: value for name, value in os.environ.items() if name != "TRITON_INTERPRET"}
    done = subprocess.run([sys.executable, str(program)], capture_output=True, text=True, env=own, check=True)
    found = dict(re.findall(r"^sm_(\d+): .*?(mma\.sync|wgmma|tcgen05)", done.stdout, re.MULTILINE))
    assert found == {f"{major}0": TENSOR_CORES[major] for major in (8, 9, 10, 12)} | {"86": TENSOR_CORES[8]}


def test_ridge_and_least_time():
    assert ridge(800e12, 4e12) == 200
    assert least_us(8 * 10**9, 4e12) == pytest.approx(2000)
    assert least_us(0, 4e12) == 0


def test_pytorch_comes_first_then_triton_then_unknown():
    found = describe(SimpleNamespace(**TORCH), TRITON)
    assert (found["name"], found["capability"], found["target"]) == ("A GPU", "9.0", "sm_90")
    assert found["multiprocessors"] == 132
    assert found["shared_bytes_program"] == 232_448 and found["clock_khz"] == 1_980_000
    assert found["threads_multiprocessor"] is None
    text = sheet_text(found | MEASURED | {"kernels": [ROW | {"least_us": 2.0, "us": 3.0, "ratio": 1.5}]})
    assert re.search(r"L2 cache +50\.0 MiB\n", text) and re.search(r"threads, a multiprocessor at most +unknown\n", text)
    assert re.search(r"clock, at most +1,980\.0 MHz\n", text)
    assert text.splitlines()[-1].split() == ["add", "fwd", "64", "fp32", "0.0", "0.08", "2.0", "3.0", "1.50"]


def test_a_gpu_of_which_nothing_is_known_still_has_a_sheet():
    text = sheet_text(describe(SimpleNamespace(), {}) | MEASURED | {"kernels": []})
    assert text.count("unknown") == 2 + len(FACTS)


def test_quantities_read_well():
    assert [shown(65_536, ""), shown(2**20, "MiB"), shown(1024, "bytes"), shown(None, "GiB")] == [
        "65,536",
        "1.0 MiB",
        "1,024 bytes",
        "unknown",
    ]


@pytest.mark.parametrize(
    "registers, num_warps, shared, by, programs",
    [
        (32, 8, 0, "registers", 8),
        (33, 8, 0, "registers", 6),  # eight registers a thread more
        (255, 8, 0, "registers", 1),
        (104, 1, 0, "registers", 16),  # not 19: a warp lives in one of four parts
        (16, 4, 0, "threads", 16),
        (16, 1, 0, "programs", 32),
        (16, 4, 232_448, "shared memory", 1),
        (16, 4, 115_712, "shared memory", 2),
        (16, 4, 115_713, "shared memory", 1),
    ],
)
def test_programs_that_fit(registers, num_warps, shared, by, programs):
    fit = programs_that_fit(registers, num_warps, shared, LIMITS)
    assert fit[by] == programs == min(fit.values())


def test_no_gpu_is_said_in_one_line(monkeypatch, capsys):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    for arguments in ([], ["--json"]):
        assert hardware.main(arguments) == 2
        assert capsys.readouterr().out == "needs: cuda (an NVIDIA GPU that PyTorch can use)\n"


def test_json_is_the_whole_sheet(monkeypatch, capsys):
    sheet = describe(SimpleNamespace(**TORCH), TRITON) | MEASURED | {"kernels": [ROW]}
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(hardware, "hardware_sheet", lambda: sheet)
    assert hardware.main(["--json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert printed == sheet
    assert set(printed) == {"name", "capability", "target", "tensor_cores", *MEASURED, "kernels"} | {row[0] for row in FACTS}


@needs("cuda")
def test_the_sheet_of_this_gpu():
    found = hardware.hardware_sheet()
    assert found["name"] == torch.cuda.get_device_name() and found["multiprocessors"] > 0
    assert found["ridge"] == pytest.approx(found["matmul_tflops"] * 1e3 / found["copy_gbps"])
    assert len(found["kernels"]) == 8
    for row in found["kernels"]:
        assert row["us"] > 0 and row["ratio"] == pytest.approx(row["us"] / row["least_us"])
    assert json.loads(json.dumps(found)) == found
    assert found["name"] in sheet_text(found)
