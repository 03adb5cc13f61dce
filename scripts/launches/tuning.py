"""*Autotune* and *The whole tuning landscape*."""

from typing import Any

from scripts.launches import X_AND_Y, Specimen, called

MATRICES: dict[str, Any] = dict.fromkeys(("a_ptr", "b_ptr", "c_ptr"), "*bf16") | {"M": 4096, "N": 4096, "K": 4096}


def tiled(kernel: str, tile: tuple[int, ...], registers: int, shared: int, **more: int) -> Specimen:
    """A kernel of the two chapters with one of its tiles."""
    sizes = dict(zip(("BLOCK_M", "BLOCK_N", "BLOCK_K"), tile, strict=False))
    options = {"num_warps": tile[3], "num_stages": tile[4]}
    label = "x".join(str(size) for size in tile[:3])
    arguments = MATRICES | sizes | more
    return Specimen(f"snippets/{kernel}", label, registers, shared, arguments=arguments, options=options)


COUNTERS: dict[str, Any] = {"launches_ptr": "*i32", "lanes_ptr": "*i32"}
SPECIMENS = [
    called("snippets/autotune/first_call.py:double_kernel", **X_AND_Y, **COUNTERS, n=1000, BLOCK=1024),
    called("snippets/autotune/in_place.py:double_in_place_kernel", x_ptr="*fp32", BLOCK=64),
    called("snippets/autotune/in_place.py:add_up_kernel", x_ptr="*fp32", total_ptr="*fp32", BLOCK=64),
    called("snippets/autotune/doubled.py:redouble_kernel", x_ptr="*fp32", BLOCK=64),
    called("snippets/autotune/interrupted.py:halve_kernel", **X_AND_Y, BLOCK=512),
    called("snippets/autotune/lengths.py:shift_kernel", **X_AND_Y, n=1000, bucket=1024, BLOCK=1024),
    called("snippets/autotune/survives.py:faulty_kernel", **X_AND_Y, FAULT="a wrong result", BLOCK=512),
    tiled("autotune/prune.py:pruned_product_kernel", (64, 64, 32, 8, 2), 100, 20_000),
    tiled("autotune/stale.py:stale_product_kernel", (64, 64, 128, 4, 4), 200, 140_000),
    tiled("autotune/cost.py:costly_product_kernel", (128, 128, 64, 8, 4), 200, 140_000),
    tiled("autotune/repeat.py:repeated_product_kernel", (64, 128, 64, 4, 4), 200, 108_000),
    tiled("landscape/search.py:landscape_kernel", (128, 128, 64, 8, 4), 200, 140_000, GROUP_M=8),
    tiled("landscape/search.py:landscape_kernel", (64, 64, 64, 4, 5), 200, 90_000, GROUP_M=8),
    tiled("landscape/dtypes.py:typed_landscape_kernel", (128, 128, 64, 8, 4), 200, 140_000, GROUP_M=8),
]
