"""The recorded runs of the dance between memory and chip: one kernel, one input, blocks of several sizes."""

from collections.abc import Callable
from typing import Any

import torch

from kernels.add import add_kernel
from scripts.recording.cases import quarters
from snippets.memory.tiled_matmul import tiled_matmul_kernel

Run = Callable[[], dict[str, Any]]


def add(block: int) -> Run:
    def run() -> dict[str, Any]:
        x, y = quarters(2, 4000).unbind()
        out = torch.full_like(x, float("nan"))
        return {
            "kernel": add_kernel,
            "launch": lambda: add_kernel[(-(-4000 // block),)](x, y, out, 4000, BLOCK=block),
            "tensors": {"x": x, "y": y, "out": out},
            "most_values": 0,
            "numbers": False,
        }

    return run


def matmul(block: int) -> Run:
    def run() -> dict[str, Any]:
        a, b = quarters(2, 128, 128).half().unbind()
        c = torch.full_like(a, float("nan"))
        sides = {"BLOCK_M": block, "BLOCK_N": block, "BLOCK_K": block}
        return {
            "kernel": tiled_matmul_kernel,
            "launch": lambda: tiled_matmul_kernel[(128 // block, 128 // block)](a, b, c, 128, 128, 128, **sides),
            "tensors": {"a": a, "b": b, "c": c},
            "most_values": 0,
            "numbers": False,
        }

    return run


def product() -> dict[str, Any]:
    """The same product for the stepper, where tiles do not fit."""
    a, b = quarters(24, 40).half(), quarters(40, 20).half()
    c = torch.full((24, 20), float("nan"), dtype=torch.float16)
    return {
        "kernel": tiled_matmul_kernel,
        "launch": lambda: tiled_matmul_kernel[(2, 2)](a, b, c, 24, 20, 40, BLOCK_M=16, BLOCK_N=16, BLOCK_K=16),
        "tensors": {"a": a, "b": b, "c": c},
        "most_values": 0,
    }


RUNS = {
    "product": product,
    "add_128": add(128),
    "add_256": add(256),
    "add_512": add(512),
    "add_1024": add(1024),
    "add_2048": add(2048),
    "add_4096": add(4096),
    "matmul_16": matmul(16),
    "matmul_32": matmul(32),
    "matmul_64": matmul(64),
    "matmul_128": matmul(128),
}
