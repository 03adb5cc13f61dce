"""Matrix products: the tiles that ship, in every arithmetic and with every way out, and those of the Hopper kernel.

Warps that specialize and 8-bit floats, which not every one of the GPUs here has, are compiled in the tests of the kernels.
"""

from typing import Any

from scripts.specimens import Specimen

TILED, SPLIT, HOPPER = (f"kernels/matmul_{name}.py:matmul_{name}_kernel" for name in ("tiled", "split", "hopper"))
FINISH: dict[str, Any] = dict.fromkeys(("z_ptr", "bias_ptr", "scale_a_ptr", "scale_b_ptr")) | {
    "ROW_SCALES": False,
    "ACTIVATION": None,
}
SIZES = {"M": 4096, "N": 4096, "K": 4096}
BY_ROWS: dict[str, Any] = {
    "a_row_stride": 4096,
    "a_column_stride": 1,
    "b_row_stride": 4096,
    "b_column_stride": 1,
    "c_stride": 4096,
}
BY_COLUMNS: dict[str, Any] = {"b_row_stride": 1, "b_column_stride": 4096}
FULL: dict[str, Any] = {"z_ptr": "*bf16", "bias_ptr": "*bf16", "ACTIVATION": "gelu"}


def tile(block_m: int, block_n: int, block_k: int, num_warps: int, num_stages: int) -> tuple[dict, dict]:
    """The constants of a tile, and the options of its launch."""
    blocks = {"BLOCK_M": block_m, "BLOCK_N": block_n, "BLOCK_K": block_k, "GROUP_M": 8}
    return blocks, {"num_warps": num_warps, "num_stages": num_stages}


def product(
    kernel: str, label: str, dtype: str, shape: tuple[int, ...], registers: int, shared: int, spills: int = 0, **other: Any
) -> Specimen:
    """A launch for large matrices of rows that begin at multiples of 16 bytes."""
    blocks, options = tile(*shape)
    arguments: dict[str, Any] = dict.fromkeys(("a_ptr", "b_ptr", "c_ptr"), f"*{dtype}") | SIZES | FINISH
    if kernel == HOPPER:
        arguments |= {"a_stride": 4096, "b_stride": 4096, "c_stride": 4096, "A_T": False, "B_T": False, "WIDEN": False}
        arguments |= {"SPECIALIZE": False, "DESCRIPTOR_STORE": False}
    else:
        arguments |= BY_ROWS | {"WHOLE_K": True, "WIDEN": False, "PRECISION": "tf32"}
    if kernel == SPLIT:
        arguments |= {"partial_ptr": "*fp32", "arrived_ptr": "*i32", "part_blocks": 8}
    label = f"{label}-{'x'.join(map(str, shape[:3]))}-{dtype}"
    return Specimen(kernel, label, registers, shared, spills, arguments=arguments | blocks | other, options=options)


# On sm_80, where no product takes the Hopper kernel, a few of its registers are spilled.
SPECIMENS = [
    product(TILED, "rows", "bf16", (128, 256, 64, 8, 3), 255, 160_000),
    product(TILED, "rows", "bf16", (128, 256, 32, 8, 3), 240, 81_000),
    product(TILED, "rows", "bf16", (128, 128, 64, 8, 4), 200, 140_000),
    product(TILED, "rows", "bf16", (128, 128, 32, 4, 4), 255, 72_000),
    product(TILED, "rows", "fp16", (64, 128, 32, 4, 3), 160, 41_000),
    product(TILED, "rows", "bf16", (64, 128, 64, 4, 4), 200, 108_000),
    product(TILED, "rows", "bf16", (64, 64, 128, 4, 3), 128, 108_000),
    product(TILED, "rows", "bf16", (64, 64, 64, 4, 4), 144, 72_000),
    product(TILED, "rows", "bf16", (64, 64, 32, 4, 3), 112, 27_000),
    product(TILED, "columns", "bf16", (128, 128, 64, 8, 4), 200, 140_000, **BY_COLUMNS),
    product(TILED, "odd", "bf16", (64, 64, 64, 4, 4), 200, 36_000, N=4095, K=4095, b_row_stride=4095, WHOLE_K=False),
    product(TILED, "gelu", "bf16", (128, 128, 64, 8, 4), 232, 140_000, **FULL),
    product(TILED, "tf32", "fp32", (128, 128, 32, 8, 4), 144, 140_000),
    product(TILED, "tf32", "fp32", (64, 64, 32, 4, 3), 112, 54_000),
    product(TILED, "ieee", "fp32", (128, 128, 16, 8, 3), 255, 36_000, PRECISION="ieee"),
    product(TILED, "ieee", "fp32", (64, 64, 16, 4, 3), 120, 20_000, PRECISION="ieee"),
    product(SPLIT, "rows", "bf16", (16, 64, 128, 4, 4), 80, 68_000),
    product(SPLIT, "rows", "bf16", (64, 128, 64, 4, 4), 184, 108_000),
    product(SPLIT, "rows", "bf16", (128, 128, 64, 8, 4), 200, 140_000),
    product(SPLIT, "odd", "bf16", (16, 64, 128, 4, 4), 255, 24_000, N=4095, K=4095, b_row_stride=4095, WHOLE_K=False),
    product(SPLIT, "tf32", "fp32", (128, 128, 32, 8, 4), 208, 144_000),
    product(HOPPER, "nn", "bf16", (128, 256, 64, 8, 4), 255, 232_448, 64),
    product(HOPPER, "nt", "bf16", (128, 256, 64, 8, 4), 255, 232_448, 64, B_T=True),
    product(HOPPER, "tn", "bf16", (128, 128, 64, 8, 4), 255, 144_000, 64, A_T=True),
]
