"""Matrix products: the tiles that ship, in every arithmetic and with every way out, and those of the Hopper kernel.

Warps that specialize and 8-bit floats, which not every one of the GPUs here has, are compiled in the tests of the kernels.
"""

from math import gcd
from typing import Any

from scripts.launches import Specimen

TILED, SPLIT, HOPPER, NARROW = (
    f"kernels/matmul/{name}.py:matmul_{name}_kernel" for name in ("tiled", "split", "hopper", "narrow")
)
COPY = "kernels/matmul/aligned.py:aligned_copy_kernel"
PARTS = "kernels/matmul/narrow.py:matmul_parts_kernel"
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
    "N_STEP": 16,
    "A_T": False,
    "B_T": False,
    "A_STEP": 16,
    "B_STEP": 16,
}
BY_COLUMNS: dict[str, Any] = {"b_row_stride": 1, "b_column_stride": 4096, "B_T": True}
ODD: dict[str, Any] = {"N": 4095, "K": 4095, "b_row_stride": 4095, "WHOLE_K": False, "N_STEP": 1, "A_STEP": 1, "B_STEP": 1}
# Every row has four numbers more than a multiple of 8.
FOURS: dict[str, Any] = {name: 4100 for name in ("N", "K", "a_row_stride", "b_row_stride", "c_stride")}
FOURS |= {name: 4 for name in ("N_STEP", "A_STEP", "B_STEP")} | {"WHOLE_K": False}
EVEN: dict[str, Any] = {"z_ptr": "*bf16", "bias_ptr": "*bf16", "ACTIVATION": "gelu"}
FOUR_COLUMNS: dict[str, Any] = {"N": 4100, "c_stride": 4100, "N_STEP": 4}


def tile(block_m: int, block_n: int, block_k: int, num_warps: int, num_stages: int) -> tuple[dict, dict]:
    """The constants of a tile, and the options of its launch."""
    blocks = {"BLOCK_M": block_m, "BLOCK_N": block_n, "BLOCK_K": block_k, "GROUP_M": 8}
    return blocks, {"num_warps": num_warps, "num_stages": num_stages}


# On sm_80, where no product takes these kernels, descriptors are emulated by pointers, and registers spill.
EMULATED = 8192


def of(dtype: str, rows: int, columns: int) -> str:
    """The type of a descriptor of tiles, as Triton spells it."""
    return f"tensordesc<{dtype}[{rows}, {columns}]>"


def narrow(label: str, dtype: str, shape: tuple[int, ...], registers: int, parts: int = 1, **other: Any) -> Specimen:
    """A launch for one wide matrix, each of whose rows is side by side, and a narrow one."""
    wide, few, block_k, num_warps, num_stages = shape
    arguments: dict[str, Any] = {"c_ptr": "*bf16"} | SIZES | FINISH | {"c_stride": 4096, "part_blocks": 8}
    arguments |= {"wide_desc": of(dtype, wide, block_k), "narrow_desc": of(dtype, few, block_k), "N_STEP": 16}
    arguments |= {"partial_ptr": "*fp32" if parts > 1 else None, "arrived_ptr": "*i32" if parts > 1 else None}
    arguments |= {"WIDE": wide, "NARROW": few, "BLOCK_K": block_k, "PARTS": parts}
    arguments |= {"WIDE_T": False, "NARROW_T": True, "TRANSPOSED": True, "UPCAST": False} | other
    label = f"{label}-{wide}x{few}x{block_k}-{dtype}"
    options = {"num_warps": num_warps, "num_stages": num_stages}
    return Specimen(NARROW, label, registers, 232_448, EMULATED, arguments=arguments, options=options)


def parts(block: tuple[int, int], rows: int, count: int, num_warps: int, registers: int, **other: Any) -> Specimen:
    """A launch that adds up the partial sums of the products above."""
    arguments: dict[str, Any] = {"partial_ptr": "*fp32", "c_ptr": "*bf16"} | SIZES | FINISH | {"c_stride": 4096, "n_parts": count}
    arguments |= {"WIDE": block[0], "NARROW": block[1], "ROWS": rows, "PARTS": count, "N_STEP": 16}
    arguments |= {"TRANSPOSED": False} | other
    label, options = f"{count}-{block[0]}x{block[1]}", {"num_warps": num_warps}
    return Specimen(PARTS, label, registers, 40_000, arguments=arguments, options=options)


def product(
    kernel: str, label: str, dtype: str, shape: tuple[int, ...], registers: int, shared: int, spills: int = 0, **other: Any
) -> Specimen:
    """A launch for large matrices of rows that begin at multiples of 16 bytes."""
    blocks, options = tile(*shape)
    arguments: dict[str, Any] = dict.fromkeys(("a_ptr", "b_ptr", "c_ptr"), f"*{dtype}") | SIZES | FINISH
    if kernel == HOPPER:
        block_m, block_n, block_k = shape[:3]
        arguments |= {"a_desc": of(dtype, block_m, block_k), "b_desc": of(dtype, block_k, block_n)}
        arguments |= {"c_desc": of(dtype, block_m, block_n), "c_stride": 4096, "N_STEP": 16}
        arguments |= {"A_T": False, "B_T": False, "UPCAST": False}
    else:
        arguments |= BY_ROWS | {"WHOLE_K": True, "UPCAST": False, "PRECISION": "tf32"}
    if kernel == SPLIT:
        arguments |= {"partial_ptr": "*fp32", "arrived_ptr": "*i32", "part_blocks": 8}
    label = f"{label}-{'x'.join(map(str, shape[:3]))}-{dtype}"
    return Specimen(kernel, label, registers, shared, spills, arguments=arguments | blocks | other, options=options)


def copy(label: str, length: int, step: int, shape: tuple[int, int], registers: int, **other: Any) -> Specimen:
    """A launch that copies lines of so many numbers, which `step` divides."""
    apart = -(-length // 64) * 64 if length >= 512 else -(-length // 8) * 8
    arguments: dict[str, Any] = {"x_ptr": "*bf16", "out_ptr": "*bf16", "lines": 4096, "length": length, "line_stride": length}
    arguments |= {"stride": 1, "out_stride": apart, "X_STEP": step, "OUT_STEP": gcd(16, apart)}
    arguments |= {"LINES": shape[0], "PLACES": shape[1]} | other
    return Specimen(COPY, label, registers, 16_640, arguments=arguments)


SPECIMENS = [
    copy("odd", 4095, 1, (16, 256), 255),
    copy("fours", 4100, 4, (16, 256), 255),
    copy("short", 13, 1, (256, 16), 255),
    copy("apart", 4095, 1, (16, 256), 255, stride=3),
    product(TILED, "rows", "bf16", (128, 256, 64, 8, 3), 255, 160_000),
    product(TILED, "rows", "bf16", (128, 256, 32, 8, 3), 255, 81_000),
    product(TILED, "rows", "bf16", (128, 128, 64, 8, 4), 200, 140_000),
    product(TILED, "rows", "bf16", (128, 128, 32, 4, 4), 255, 72_000),
    product(TILED, "rows", "fp16", (64, 128, 32, 4, 3), 184, 41_000),
    product(TILED, "rows", "bf16", (64, 128, 64, 4, 4), 200, 108_000),
    product(TILED, "rows", "bf16", (64, 64, 128, 4, 3), 128, 108_000),
    product(TILED, "rows", "bf16", (64, 64, 64, 4, 4), 144, 72_000),
    product(TILED, "rows", "bf16", (64, 64, 32, 4, 3), 112, 27_000),
    product(TILED, "columns", "bf16", (128, 128, 64, 8, 4), 200, 140_000, **BY_COLUMNS),
    product(TILED, "odd", "bf16", (64, 64, 64, 4, 4), 200, 36_000, **ODD),
    product(TILED, "fours", "bf16", (64, 64, 64, 4, 4), 200, 72_000, **FOURS),
    product(TILED, "gelu", "bf16", (128, 128, 64, 8, 4), 232, 140_000, **EVEN),
    product(TILED, "tf32", "fp32", (128, 128, 32, 8, 4), 184, 140_000),
    product(TILED, "tf32", "fp32", (64, 64, 32, 4, 3), 112, 54_000),
    product(TILED, "ieee", "fp32", (128, 128, 16, 8, 3), 255, 36_000, PRECISION="ieee"),
    product(TILED, "ieee", "fp32", (64, 64, 16, 4, 3), 168, 20_000, 16, PRECISION="ieee"),
    product(SPLIT, "rows", "bf16", (16, 64, 128, 4, 4), 80, 68_000),
    product(SPLIT, "rows", "bf16", (64, 128, 64, 4, 4), 184, 108_000),
    product(SPLIT, "rows", "bf16", (128, 128, 64, 8, 4), 200, 140_000),
    product(SPLIT, "odd", "bf16", (16, 64, 128, 4, 4), 255, 24_000, **ODD),
    product(SPLIT, "fours", "bf16", (16, 64, 128, 4, 4), 255, 108_000, **FOURS),
    product(SPLIT, "tf32", "fp32", (128, 128, 32, 8, 4), 208, 144_000),
    product(HOPPER, "nn", "bf16", (128, 256, 64, 8, 3), 255, 232_448, EMULATED),
    product(HOPPER, "nt", "bf16", (128, 256, 64, 8, 3), 255, 232_448, EMULATED, B_T=True, b_desc=of("bf16", 256, 64)),
    product(HOPPER, "tn", "bf16", (128, 128, 64, 8, 4), 255, 164_000, EMULATED, A_T=True, a_desc=of("bf16", 64, 128)),
    product(HOPPER, "gelu", "bf16", (128, 256, 64, 8, 3), 255, 232_448, EMULATED, bias_ptr="*bf16", ACTIVATION="gelu"),
    product(HOPPER, "kept", "bf16", (128, 256, 64, 8, 3), 255, 232_448, EMULATED, c_desc=None, **EVEN),
    product(HOPPER, "pointers", "bf16", (128, 128, 64, 8, 4), 255, 232_448, EMULATED, c_desc=None),
    product(HOPPER, "fours", "bf16", (128, 256, 64, 8, 3), 255, 232_448, EMULATED, c_desc=None, **FOUR_COLUMNS),
    narrow("rows", "bf16", (64, 16, 256, 4, 4), 255),
    narrow("rows", "bf16", (64, 64, 128, 4, 6), 255, parts=2),
    narrow("alone", "bf16", (64, 64, 128, 4, 6), 255),
    narrow("rows", "bf16", (128, 64, 64, 4, 8), 255),
    narrow("rows", "bf16", (256, 128, 64, 8, 4), 255),
    narrow("rows", "bf16", (128, 64, 128, 4, 4), 255, parts=8),
    narrow("rows", "bf16", (64, 128, 128, 4, 4), 255, TRANSPOSED=False),
    narrow("rows", "bf16", (128, 128, 64, 8, 6), 255, TRANSPOSED=False),
    *(
        narrow("kept", "bf16", shape, 255, **EVEN)
        for shape in ((64, 64, 128, 4, 6), (64, 128, 128, 4, 4), (128, 128, 64, 8, 6), (128, 64, 64, 4, 8), (256, 128, 64, 8, 4))
    ),
    narrow("rows", "fp16", (128, 128, 64, 4, 6), 255, parts=8, TRANSPOSED=False),
    narrow("apart", "bf16", (64, 128, 128, 4, 4), 255, parts=16, arrived_ptr=None, TRANSPOSED=False),
    narrow("columns", "bf16", (64, 32, 128, 4, 6), 255, WIDE_T=True, wide_desc=of("bf16", 128, 64)),
    parts((64, 128), 1, 16, 1, 168),
    parts((64, 128), 1, 128, 4, 255),
    parts((64, 16), 8, 16, 1, 168, TRANSPOSED=True, z_ptr="*bf16", bias_ptr="*bf16", ACTIVATION="gelu"),
]
