"""Synthetic records for the charts of *Autotune* and *The whole tuning landscape*."""

from collections.abc import Callable
from typing import Any

Record = dict[str, Any]
SHAPES = ((4096, 4096, 4096), (512, 512, 16384))
TILES = ((128, 256, 64), (128, 128, 64), (64, 64, 32), (256, 256, 64), (128, 256, 128))


def configuration(number: int, tile: tuple[int, int, int], shape: tuple[int, int, int]) -> Record:
    m, n, k = shape
    sizes = dict(zip(("block_m", "block_n", "block_k"), tile, strict=True)) | {"group_m": 8, "num_warps": 8, "num_stages": 3}
    taken = {"registers": 100 + number, "spills": 64 * (number == 3), "shared": 40_000 + number, "programs": 2, "occupancy": 0.25}
    # The order of the second shape is another.
    us = round(2 * m * n * k / 1e6 / (601.7 - 97.3 * (number if k < 9000 else (number + 2) % 4)), 2)
    times = {"us": us, "us_p20": round(0.98 * us, 2), "us_p80": round(1.03 * us, 2), "tflops": round(2 * m * n * k / us / 1e6, 1)}
    more = {"limit": "registers", "compile_s": 1.5 + number, "failure": None}
    if tile[2] == 128:
        taken |= dict.fromkeys(("registers", "spills", "programs", "occupancy"))
        times, more = dict.fromkeys(times), more | {"limit": None, "failure": "OutOfResources: shared memory"}
    return sizes | taken | times | more


def records_of_tuning(synthetic: Callable[..., Record]) -> list[Record]:
    shapes = {}
    for shape in SHAPES:
        rows = [configuration(number, tile, shape) for number, tile in enumerate(TILES)]
        flops = 2 * shape[0] * shape[1] * shape[2]
        shapes["x".join(map(str, shape))] = {"rows": rows, "library_us": flops / 650e6, "flops": flops}
    figures = {"shapes": shapes, "configurations": len(TILES), "compile_seconds": 20.0, "seconds": 40.0, "threads": 12}
    names = ("block_m", "block_n", "block_k", "num_warps", "num_stages")
    repeated = [
        dict(zip(names, (*tile, 8, 3), strict=True))
        | {"wins": wins, "us": 20.3 + number, "said_low_us": 19.1 + number, "said_high_us": 22.7 + number}
        for number, (tile, wins) in enumerate(zip(TILES, (11, 9, 0, 0, 0), strict=True))
    ]
    repeat = {"rows": repeated, "searches": 20, "winners": 2, "regret": 0.049, "size": 1024}
    return [synthetic("landscape/search", figures=figures), synthetic("autotune/repeat", figures=repeat)]
