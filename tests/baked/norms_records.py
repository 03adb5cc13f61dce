"""Synthetic records for the charts of *LayerNorm and RMSNorm*."""

from collections.abc import Callable
from typing import Any

PEERS = {"eager": 1.6, "compile": 1.3, "liger": 0.95, "flash_triton": 1.01}
STEPS = {"atomic": 4.2, "locks": 3.3, "two_kernels": 1.9, "blockwise": 1.0, "eager": 2.0}


def records_of_norms(synthetic: Callable[..., dict[str, Any]], measured: Callable[..., Any]) -> list[dict[str, Any]]:
    found = []
    for program, op, more in (("benchmark", "layernorm", {}), ("benchmark_rms", "rmsnorm", {"eager_hf": 9.0})):
        rows: list[dict[str, Any]] = []
        for shape, moved in (("512x1024", 2**21), ("8192x4096", 2**27), ("2048x65536", 2**29)):
            rows.extend(measured(op, "fwd", shape, "bf16", moved, {"blockwise": 1.0, **PEERS, **more}))
            backward = {name: factor for name, factor in PEERS.items() if name != "flash_triton"}
            rows.extend(measured(op, "bwd", shape, "bf16", moved * 3 // 2, {"blockwise": 1.0, **backward}))
        # What takes long is not replayed from a graph.
        rows = [row for row in rows if row["timing"] == "call" or row["shape"] != "2048x65536"]
        found.append(synthetic(f"norms/{program}", measurements=rows))
    steps = [row for shape in ("8192x4096", "32768x1024") for row in measured("norm_step", "bwd", shape, "bf16", 2**27, STEPS)]
    called = [row for row in steps if row["timing"] == "call"]
    return [*found, synthetic("norms/benchmark_steps", measurements=called)]
