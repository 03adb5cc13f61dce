"""The sheet of one GPU: what it is, what it reaches, and where the library's kernels land on it.

    python -m kernels.tools.hardware           print the sheet
    python -m kernels.tools.hardware --json    print the same as JSON

What the GPU is comes from PyTorch and, where PyTorch does not say, from Triton's driver; what neither says is
`unknown`. What it reaches is measured when you ask. A kernel's bytes divided by the copy's rate are the least time
that the memory allows it.
"""

import argparse
import json
import sys
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import torch
import triton

from kernels.add import add
from kernels.softmax.softmax import softmax, softmax_backward
from kernels.tools.benchmark import DTYPES, TOLERANCE, Benchmark, alternate, quantiles

# Key, title, unit, PyTorch's name, Triton's name. Both give clocks in kHz and memory in bytes.
FACTS = [
    ("multiprocessors", "multiprocessors", "", "multi_processor_count", "multiprocessor_count"),
    ("memory_bytes", "memory", "GiB", "total_memory", ""),
    ("l2_bytes", "L2 cache", "MiB", "L2_cache_size", ""),
    ("shared_bytes_program", "shared memory, a program at most", "bytes", "shared_memory_per_block_optin", "max_shared_mem"),
    ("shared_bytes_multiprocessor", "shared memory, a multiprocessor", "bytes", "shared_memory_per_multiprocessor", ""),
    ("registers_program", "registers, a program at most", "", "", "max_num_regs"),
    ("registers_multiprocessor", "registers, a multiprocessor", "", "regs_per_multiprocessor", ""),
    ("threads_multiprocessor", "threads, a multiprocessor at most", "", "max_threads_per_multi_processor", ""),
    ("warp_size", "threads a warp", "", "warp_size", "warpSize"),
    ("clock_khz", "clock, at most", "MHz", "clock_rate", "sm_clock_rate"),
]
SCALES = {"GiB": 2**30, "MiB": 2**20, "MHz": 1e3}
# The instruction that Triton makes of a product of tiles, by the first number of the compute capability.
TENSOR_CORES = {8: "mma.sync", 9: "wgmma", 10: "tcgen05", 12: "mma.sync"}


def tier(major: int, minor: int) -> dict[str, str]:
    """The compiler's name for a compute capability, and the tensor-core instruction that Triton uses there."""
    return {"target": f"sm_{major}{minor}", "tensor_cores": TENSOR_CORES.get(major, "unknown")}


def ridge(matmul_flops: float, copy_bytes: float) -> float:
    """The operations a byte at which arithmetic and memory take equally long, from two rates a second."""
    return matmul_flops / copy_bytes


def least_us(moved: int, copy_bytes: float) -> float:
    """The microseconds that `moved` bytes take at a rate of `copy_bytes` a second."""
    return moved / copy_bytes * 1e6


# --8<-- [start:fit]
def programs_that_fit(
    registers: int, num_warps: int, shared: int, limits: dict[str, int]
) -> dict[str, int]:
    """How many programs a multiprocessor can hold at once, by each of its limits.

    The least of them is the answer. Registers are handed out to whole warps, eight a
    thread at a time, from four equal parts of the register file.
    """
    registers_a_warp = (registers + 7) // 8 * 8 * 32
    warps = 4 * (limits["registers"] // 4 // registers_a_warp)
    return {
        "registers": warps // num_warps,
        "shared memory": limits["shared"] // (shared + limits["reserved"]),
        "threads": limits["threads"] // (32 * num_warps),
        "programs": limits["programs"],
    }
# --8<-- [end:fit]


def describe(torch_properties: Any, triton_properties: dict[str, int]) -> dict[str, Any]:
    """What a GPU is, from what PyTorch and Triton say of it; None stands for what neither says."""
    major, minor = getattr(torch_properties, "major", 0), getattr(torch_properties, "minor", 0)
    found = {"name": getattr(torch_properties, "name", "unknown"), "capability": f"{major}.{minor}", **tier(major, minor)}
    for key, _, _, torch_name, triton_name in FACTS:
        found[key] = getattr(torch_properties, torch_name or " ", None) or triton_properties.get(triton_name)
    return found


def driver_properties(device: int) -> dict[str, int]:
    """What Triton's driver says of a GPU; nothing where this version of Triton does not say."""
    try:
        return dict(triton.runtime.driver.active.utils.get_device_properties(device))
    except (AttributeError, RuntimeError, TypeError):
        return {}


def hardware_cases() -> Iterator[tuple[str, str, torch.Tensor, int, int, Callable, torch.Tensor]]:
    """Operation, direction, input, fewest bytes, operations, call and expected result of each kernel."""
    for n in (2**16, 2**26):
        x, y = (torch.randn(n, device="cuda") for _ in range(2))
        yield "add", "fwd", x, 3 * x.nbytes, n, partial(add, x, y), x + y
    for rows, columns in ((65536, 512), (16384, 4096), (512, 131072)):
        x, dy = (torch.randn(rows, columns, device="cuda").bfloat16() for _ in range(2))
        n, y = x.numel(), torch.softmax(x, dim=-1)
        yield "softmax", "fwd", x, 2 * x.nbytes, 5 * n, partial(softmax, x), y
        dx = y.float() * (dy.float() - (y.float() * dy.float()).sum(-1, keepdim=True))
        yield "softmax", "bwd", x, 3 * x.nbytes, 4 * n, partial(softmax_backward, y, dy, 1), dx


def landing(case: tuple, copy_bytes: float) -> dict[str, Any]:
    """Check one kernel and time it, with a cold cache, against the least time."""
    op, direction, x, moved, flops, call, expected = case
    error = ((call().float() - expected.float()).norm() / expected.float().norm()).item()
    if not error < TOLERANCE[x.dtype]:
        raise AssertionError(f"{op} {direction} {tuple(x.shape)}: wrong, relative error {error:.2e}")
    found = {"op": op, "direction": direction, "shape": "x".join(map(str, x.shape)), "dtype": DTYPES[x.dtype], "bytes": moved}
    found |= {"flops_a_byte": flops / moved, "least_us": least_us(moved, copy_bytes)}
    found["us"] = quantiles(alternate([call])[0])[1] * 1e3
    return found | {"ratio": found["us"] / found["least_us"]}


def hardware_sheet() -> dict[str, Any]:
    """Describe and measure the current CUDA device. Takes a few seconds and up to 3 GiB of its memory."""
    device = torch.cuda.current_device()
    torch.manual_seed(0)
    found = describe(torch.cuda.get_device_properties(device), driver_properties(device))
    copy = Benchmark.rate(Benchmark.copy_ceiling(), "bytes")
    matmul = Benchmark.rate(Benchmark.matmul_ceiling(), "flops")
    found |= {"copy_gbps": copy / 1e9, "matmul_tflops": matmul / 1e12, "ridge": ridge(matmul, copy)}
    return found | {"kernels": [landing(case, copy) for case in hardware_cases()]}


def shown(value: float | None, unit: str) -> str:
    """A quantity as the sheet prints it: `50.0 MiB`, `65,536`, `unknown`."""
    if value is None:
        return "unknown"
    return f"{value / SCALES[unit]:,.1f} {unit}" if unit in SCALES else f"{value:,} {unit}".strip()


def sheet_text(found: dict[str, Any]) -> str:
    """The sheet as a page of text."""
    lines = [found["name"], f"  {'compute capability':36}{found['capability']} ({found['target']})"]
    lines += [f"  {'tensor cores, through Triton':36}{found['tensor_cores']}"]
    lines += [f"  {title:36}{shown(found[key], unit)}" for key, title, unit, _, _ in FACTS]
    lines += ["measured now", f"  {'copy of one gibibyte':36}{found['copy_gbps']:,.0f} GB/s"]
    lines += [f"  {'bfloat16 product of 8192 by 8192':36}{found['matmul_tflops']:,.0f} TFLOP/s"]
    lines += [f"  {'ridge':36}{found['ridge']:,.0f} flops a byte", ""]
    lines += [f"{'kernel':12}{'shape':>12}{'dtype':>6}{'MB':>8}{'flops/byte':>12}{'least us':>10}{'us':>9}{'ratio':>8}"]
    for row in found["kernels"]:
        case = f"{row['op'] + ' ' + row['direction']:12}{row['shape']:>12}{row['dtype']:>6}{row['bytes'] / 1e6:8.1f}"
        lines += [f"{case}{row['flops_a_byte']:12.2f}{row['least_us']:10.1f}{row['us']:9.1f}{row['ratio']:8.2f}"]
    return "\n".join(lines)


def main(arguments: list[str] | None = None) -> int:
    """Print the sheet of the current CUDA device; status 2 where there is none."""
    description = "Print the sheet of this machine's GPU."
    parser = argparse.ArgumentParser(prog="python -m kernels.tools.hardware", description=description)
    parser.add_argument("--json", action="store_true", help="print JSON")
    wanted = parser.parse_args(arguments)
    if not torch.cuda.is_available():
        print("needs: cuda (an NVIDIA GPU that PyTorch can use)")
        return 2
    found = hardware_sheet()
    print(json.dumps(found, indent=1) if wanted.json else sheet_text(found))
    return 0


if __name__ == "__main__":
    sys.exit(main())
