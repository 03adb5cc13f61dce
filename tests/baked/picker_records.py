"""A made-up record of the configuration picker: the texts are the program's own, the numbers are not measured."""

from functools import cache
from typing import Any

from snippets.picker.cuda_source import CONFIGURATIONS, cuda_source
from snippets.picker.measure import EMPTY, SHAPES, triton_source, varying

ENVIRONMENT = {"gpu": "NVIDIA H200", "driver": "580.1", "cuda": "13.0", "torch": "2.11.0", "triton": "3.6.0"}
TOO_MUCH, CHOSEN = CONFIGURATIONS.index((256, 128, 128, 8, 3)), [11, 13, None]


def row(side: str, at: int, flops: int) -> dict[str, Any]:
    m, n, k, warps, stages = CONFIGURATIONS[at]
    longer = 8 * (side == "cuda")
    shared = stages * (m * (k + longer) + k * (n + longer)) * 2
    if at == TOO_MUCH:
        return EMPTY | {"shared": shared, "failure": f"{side}: out of resource: shared memory, {shared} bytes <of 232448>"}
    us = round(flops / 1e6 / (300 + 7.3 * at + 31 * (side == "triton")), 2)
    found = {"us": us, "us_p20": round(us * 0.97, 2), "us_p80": round(us * 1.04, 2), "tflops": round(flops / us / 1e6, 1)}
    taken = {
        "registers": 90 + 8 * at,
        "spills": 48 * (at == 10),
        "shared": shared,
        "programs": 1 + (at < 6),
        "limit": "registers",
    }
    return EMPTY | {"failure": None} | found | taken | {"occupancy": warps * taken["programs"] / 64}


@cache
def made_up() -> dict[str, Any]:
    texts = {"triton": varying([triton_source(*each) for each in CONFIGURATIONS])}
    texts["cuda"] = varying([cuda_source(*each) for each in CONFIGURATIONS])
    for side in texts.values():  # as JSON has it
        side["changes"] = [{str(at): line for at, line in changes.items()} for changes in side["changes"]]
    shapes = {}
    for (m, n, k), chosen in zip(SHAPES, CHOSEN, strict=True):
        sides = {side: [row(side, at, 2 * m * n * k) for at in range(len(CONFIGURATIONS))] for side in ("triton", "cuda")}
        eager = round(2 * m * n * k / 7e8, 2)
        shapes[f"{m}x{n}x{k}"] = {"eager_us": eager, "eager_tflops": 700.0, "chosen": chosen} | sides
    figures = {"configurations": [list(each) for each in CONFIGURATIONS], "texts": texts, "shapes": shapes, "seconds": 71.5}
    environment = ENVIRONMENT | {"measured_at": "2026-11-22T06:00:00Z", "python": "3.12", "commit": "0" * 40}
    return {"name": "picker/measure", "kind": "program", "environment": environment, "figures": figures}
