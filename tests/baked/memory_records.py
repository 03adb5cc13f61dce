"""Synthetic records for the charts of *SRAM and HBM*."""

from collections.abc import Callable
from typing import Any

Record = dict[str, Any]


def row(op: str, shape: str, ms: float, moved: int, flops: int | None = None, name: str = "blockwise") -> Record:
    where = {"op": op, "direction": "fwd", "shape": shape, "dtype": "fp32", "implementation": name, "timing": "call"}
    times = [round(ms * part, 6) for part in (0.97, 1, 1.04)]
    return where | {"ms": times, "bytes": moved, "flops": flops, "configuration": None}


def counted(read: float, written: float, ms: float) -> Record:
    bytes_ = {"dram_read_bytes": int(read), "dram_write_bytes": int(written)}
    return {"implementation": "all", "kernel": "kernel", "registers": 40, "ms": ms} | bytes_


def records_of_memory(synthetic: Callable[..., Record]) -> list[Record]:
    ceilings = {
        "copy": {"bytes": 2 * 10**9, "ms": [0.499, 0.5, 0.502]},
        "matmul": {"flops": 2 * 8192**3, "ms": [1.4, 1.5, 1.6]},
    }
    sizes = [2**power for power in range(13)]
    speeds = [(4.1 + 4 / (1 + (size / 40) ** 3)) * 1e9 for size in sizes]
    sweep = [
        row(op, f"{size}", 8e9 / speed / factor, 8 * 10**9)
        for op, factor in (("working_set_read", 1.0), ("working_set_copy", 0.83))
        for size, speed in zip(sizes, speeds, strict=True)
    ]
    blocks = [32, 128, 1024, 16384]
    additions = [row("blocked_add", "1000", 0.8 + 9 / block, 10**9, 1, f"block{block}") for block in blocks]
    shape, flops, tiles = "8192x8192x8192", 2 * 8192**3, [16, 32, 64, 128, 256]
    kernels = [row("roofline_add", "1000", 0.75, 3 * 2**30, 2**28), row("roofline_softmax", "32768x8192", 0.26, 2**30, 5 * 2**28)]
    kernels += [row("product", shape, 700 / tile, 3 * 2**27, flops, f"tile{tile}") for tile in tiles]
    kernels += [row("product", shape, 1.5, 3 * 2**27, flops, "library")]
    moved = [3.2e9, 1.07e9, *(2.6e11 / tile for tile in tiles), 8e8]
    steps = [1, 2, 4, 8, 16, 32]
    strided = [row("strided_copy", f"1000x{step}", 0.13 * min(step, 8), 2**29) for step in steps]
    return [
        synthetic("memory/levels", figures={"bus_gbps": 4300, "l2_bytes": 40 * 10**6}),
        synthetic("memory/working_set", measurements=sweep, ceilings=ceilings),
        synthetic("memory/block_sizes", measurements=additions, counters=[counted(2e9, 1e9, 1) for _ in blocks]),
        synthetic(
            "memory/roofline", measurements=kernels, ceilings=ceilings, counters=[counted(0.8 * m, 0.2 * m, 1) for m in moved]
        ),
        synthetic("memory/strides", measurements=strided, counters=[counted(2.7e8 * min(s, 8), 2.5e8, 1) for s in steps]),
    ]
