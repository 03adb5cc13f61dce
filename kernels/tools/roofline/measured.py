"""Times of launches, of the host and of whole calls, and the rates of this GPU, beside what the compiler says."""

import ctypes
import re
import time
from collections.abc import Callable
from functools import cache
from typing import Any

import torch

from kernels.tools.benchmark import Benchmark, alternate, capture, quantiles
from kernels.tools.hardware import least_us, programs_that_fit
from kernels.tools.roofline.limits import Figures, occupancy, verdict, waves
from kernels.tools.roofline.watched import WatchedLaunch, watching

# What the driver knows of a multiprocessor, by the numbers of its attributes.
KNOWN = {"registers": 82, "shared": 81, "reserved": 111, "threads": 39, "programs": 106}
MULTIPLY = re.compile(r"\b(?:mma\.sync|wgmma\.mma_async|tcgen05\.mma)")


@cache
def limits_of(device: int) -> dict[str, int]:
    """What a multiprocessor holds at most, asked of the driver."""
    driver, found = ctypes.CDLL("libcuda.so.1"), {}
    for name, number in KNOWN.items():
        answer = ctypes.c_int()
        if driver.cuDeviceGetAttribute(ctypes.byref(answer), number, device):
            raise RuntimeError(f"the driver does not tell attribute {number}")
        found[name] = answer.value
    return found


def resident_of(compiled: Any, limits: dict[str, int]) -> tuple[int, str]:
    """How many programs of a compiled kernel a multiprocessor holds at once, and which limit decides."""
    fit = programs_that_fit(compiled.n_regs, compiled.metadata.num_warps, compiled.metadata.shared, limits)
    decides = min(fit, key=fit.__getitem__)
    return fit[decides], decides


def replayed_us(call: Callable[[], Any]) -> float:
    """Microseconds on the GPU, with a cold cache: replayed from a graph where it can be captured."""
    call()
    torch.cuda.synchronize()
    return quantiles(alternate([capture(call) or call])[0])[1] * 1e3


def on_the_host_us(call: Callable[[], Any], rounds: int = 20) -> float:
    """The host's microseconds for a call, while the GPU follows behind."""
    found = []
    for _ in range(7):
        torch.cuda.synchronize()
        began = time.perf_counter()
        for _ in range(rounds):
            call()
        found.append((time.perf_counter() - began) / rounds * 1e6)
    torch.cuda.synchronize()
    return sorted(found)[3]


def whole_call(call: Callable[[], Any], rounds: int = 20) -> dict[str, float]:
    """Microseconds of a call by the clock, and of these the GPU's, whoever wrote the kernels."""
    for _ in range(3):
        call()
    torch.cuda.synchronize()
    began = time.perf_counter()
    for _ in range(rounds):
        call()
    torch.cuda.synchronize()
    wall = (time.perf_counter() - began) / rounds * 1e6
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CUDA]) as profile:
        for _ in range(rounds):
            call()
        torch.cuda.synchronize()
    busy = sum(row.self_device_time_total for row in profile.key_averages()) / rounds
    return {"wall_us": wall, "gpu_us": busy, "idle": max(0.0, 1 - busy / wall)}


def machine() -> dict[str, float]:
    """The rates of this GPU, measured now: bytes and operations a second."""
    copy, product = Benchmark.copy_ceiling(), Benchmark.matmul_ceiling()
    return {"copy": Benchmark.rate(copy, "bytes"), "product": Benchmark.rate(product, "flops")}


def told(launch: WatchedLaunch, rates: dict[str, float], idle: float, flops: float, counted: dict[str, float]) -> dict[str, Any]:
    """All that is known of one launch, with what limits it."""
    device = torch.cuda.current_device()
    limits, multiprocessors = limits_of(device), torch.cuda.get_device_properties(device).multi_processor_count
    compiled, metadata = launch.compiled, launch.compiled.metadata
    resident, decides = resident_of(compiled, limits)
    us, host = replayed_us(launch.again), on_the_host_us(launch.again)
    row: dict[str, Any] = {"kernel": launch.name, "us": us, "host_us": host, "bytes": launch.moved, "flops": flops}
    row |= {"registers": compiled.n_regs, "spilled": 4 * compiled.n_spills}
    row |= {"shared": metadata.shared, "warps": metadata.num_warps}
    row |= {"programs": launch.programs, "resident": resident, "held_by": decides, "multiprocessors": multiprocessors}
    row |= {"waves": waves(launch.programs, multiprocessors, resident)}
    row |= {"occupancy": occupancy(resident, metadata.num_warps, limits["threads"])}
    row |= {"memory_us": least_us(launch.moved, rates["copy"]), "product_us": flops / rates["product"] * 1e6, **counted}
    comparable = counted and launch.moved
    figures = Figures(
        us=us,
        host_us=host,
        idle=idle,
        memory_us=row["memory_us"],
        product_us=row["product_us"],
        programs=launch.programs,
        multiprocessors=multiprocessors,
        waves=row["waves"],
        spilled=row["spilled"],
        dots="tt.dot" in compiled.asm.get("ttir", ""),
        tensor_cores=bool(MULTIPLY.search(compiled.asm["ptx"])),
        memory_again=counted["memory_bytes"] / launch.moved if comparable else 1,
        cache_again=counted["cache_bytes"] / launch.moved if comparable else 1,
    )
    return row | {"verdict": verdict(figures)}


def examined(function: Callable[[], Any], flops: float = 0, counted: dict[str, dict[str, float]] | None = None) -> dict[str, Any]:
    """Measure the launches that a function makes. Where it returns a function, that one is measured."""
    made = function()
    call = made if callable(made) else function
    call()  # compiles, and lets the autotuner choose
    with watching() as launches:
        call()
    return of_launches(launches, flops, counted, whole_call(call))


def of_launches(
    launches: list[WatchedLaunch], flops: float, counted: dict[str, dict[str, float]] | None, whole: dict[str, float] | None
) -> dict[str, Any]:
    """Each kind of launch measured, the one that takes most of the time first."""
    torch.cuda.set_stream(torch.cuda.Stream())  # graphs are not captured on the default one
    torch.cuda.synchronize()
    rates, kinds = machine(), {launch.key: launch for launch in launches}
    idle, rows = whole["idle"] if whole else 0.0, []
    for key, each in kinds.items():
        row = told(each, rates, idle, flops, (counted or {}).get(each.name, {}))
        rows.append(row | {"launches": sum(launch.key == key for launch in launches)})
    rows.sort(key=lambda row: -row["us"] * row["launches"])
    return {"gpu": torch.cuda.get_device_name(), **rates, "whole": whole, "kernels": rows}
