"""*Attention* and *A tile of queries*: every step's kernel, at the sizes that the pages run and at those that they time."""

from typing import Any

from scripts.launches import Specimen

ONE, TILES = "snippets/attention", "snippets/attention_tiles"
POINTERS = ("q_ptr", "k_ptr", "v_ptr", "out_ptr")


def step(
    kernel: str,
    label: str,
    sides: tuple[int, ...],
    options: tuple[int, int],
    bounds: tuple[int, ...],
    dtype: str = "bf16",
    length: int = 4096,
    **more: Any,
) -> Specimen:
    """A launch: the sides HEAD, BLOCK_M and BLOCK_N, warps and stages; registers, shared bytes, spills."""
    arguments: dict[str, Any] = dict.fromkeys(POINTERS, f"*{dtype}") | {"length": length} | more
    arguments |= dict(zip(("HEAD", "BLOCK_M", "BLOCK_N"), sides, strict=True))
    num_warps, num_stages = options
    registers, shared, spills = (*bounds, 0)[:3]
    launch = {"num_warps": num_warps, "num_stages": num_stages}
    return Specimen(kernel, label, registers, shared, spills, arguments=arguments, options=launch)


SCALE: dict[str, Any] = {"scale": 128**-0.5}
FACTOR: dict[str, Any] = {"factor": 128**-0.5 * 1.4426950408889634}
LARGE, WIDE, SMALL, SKETCH = (128, 128, 64), (128, 128, 128), (64, 64, 32), (64, 64, 64)
# Warps that specialize are not for every one of the GPUs here: their program says what they take. Here they do not.
PLAIN: dict[str, Any] = {"SPECIALIZE": False}
WALK: dict[str, Any] = {"length": 300, "scale": 0.125, "HEAD": 64, "BLOCK": 32}
SPECIMENS = [
    Specimen(f"{ONE}/one_query.py:one_query_kernel", "call", 64, 1200, 8, arguments={**dict.fromkeys(POINTERS, "*fp32"), **WALK}),
    Specimen(
        f"{ONE}/logsumexp.py:attention_lse_kernel",
        "call",
        64,
        1200,
        arguments={**dict.fromkeys((*POINTERS, "lse_ptr"), "*fp32"), **WALK},
    ),
    step(f"{TILES}/window.py:window_attention_kernel", "call", SMALL, (4, 3), (144, 40_000), "fp16", 200, window=20, scale=0.125),
    step(f"{TILES}/tiles.py:query_tile_kernel", "call", SMALL, (4, 3), (132, 37_000), "fp16", 150, scale=0.125),
    step(f"{TILES}/tiles.py:query_tile_kernel", "large", LARGE, (8, 1), (255, 73_000, 48), **SCALE),
    step(f"{TILES}/causal.py:causal_attention_kernel", "call", SMALL, (4, 3), (140, 37_000), "fp16", 150, scale=0.125),
    step(f"{TILES}/causal.py:causal_attention_kernel", "large", LARGE, (8, 1), (255, 73_000, 48), **SCALE),
    step(f"{TILES}/tail.py:tail_attention_kernel", "call", SKETCH, (4, 3), (168, 64_000), "fp16", 150, MASK_SCORES=True),
    *(
        step(f"{ONE}/exp2.py:exp2_attention_kernel", f"stages_{n}", LARGE, (8, n), (255, shared, 64), **FACTOR)
        for n, shared in ((1, 73_000), (2, 110_000), (3, 146_000))
    ),
    step(f"{ONE}/descriptors.py:described_attention_kernel", "large", LARGE, (8, 3), (255, 146_000, 48), **FACTOR),
    step(f"{ONE}/specialized.py:specialized_attention_kernel", "plain", WIDE, (8, 2), (255, 181_000, 112), **FACTOR, **PLAIN),
    step(f"{ONE}/split_masks.py:two_loops_kernel", "plain", LARGE, (8, 3), (240, 146_000), **FACTOR, **PLAIN),
    Specimen(
        f"{ONE}/sketch.py:sketch_attention_kernel",
        "call",
        128,
        28_000,
        arguments={**dict.fromkeys(POINTERS, "*fp16"), "scale": 0.125, "HEAD": 64, "BLOCK_M": 64, "BLOCK_N": 64},
    ),
    step(f"{ONE}/mend_loop.py:mended_loop_kernel", "call", SKETCH, (4, 3), (172, 64_000), "fp16", 256, scale=0.125),
    step(f"{ONE}/mend_rescale.py:mended_rescale_kernel", "call", SKETCH, (4, 3), (174, 64_000), "fp16", 200, scale=0.125),
    step(f"{ONE}/mend_mask.py:mended_mask_kernel", "call", SKETCH, (4, 3), (168, 64_000), "fp16", 200, scale=0.125),
    step(f"{ONE}/shared_row.py:shared_row_kernel", "plain", WIDE, (8, 2), (255, 181_000, 112), **FACTOR, **PLAIN),
]
