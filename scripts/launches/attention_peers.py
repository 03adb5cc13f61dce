"""*Attention, measured*: the peer that is written anew."""

from typing import Any

from scripts.launches import Specimen


def two_stages(head: int, causal: bool, tile: tuple[int, ...], registers: int, shared: int, spills: int) -> Specimen:
    block_m, block_n, num_warps, num_stages = tile
    rows = {"q": block_m, "k": block_n, "v": block_n, "out": block_m}
    given: dict[str, Any] = {name: f"tensordesc<bf16[{count}, {head}]>" for name, count in rows.items()}
    given |= {"length": 4096, "scale": head**-0.5 * 1.4426950408889634, "CAUSAL": causal, "HEAD": head}
    given |= {"BLOCK_M": block_m, "BLOCK_N": block_n}
    label = f"{head}-{block_m}x{block_n}{'-causal' if causal else ''}"
    options = {"num_warps": num_warps, "num_stages": num_stages}
    kernel = "snippets/attention_peers/two_stages.py:two_stage_attention_kernel"
    return Specimen(kernel, label, registers, shared, spills, arguments=given, options=options)


# Ampere loads a tile of a descriptor by pointers, and has too few registers for that.
SPECIMENS = [
    two_stages(128, True, (128, 64, 8, 3), 255, 147_000, 560),
    two_stages(64, False, (64, 64, 4, 3), 255, 74_000, 24),
    two_stages(256, True, (64, 32, 4, 3), 255, 148_000, 910),
]
