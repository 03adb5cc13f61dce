"""The kernels of snippets/several, as they are launched on two GPUs and on four."""

from scripts.launches import Specimen

IN = "snippets/several"
TABLES = {"places_ptr": "*i64", "flags_ptr": "*i64", "missing_ptr": "*i32"}
COUNTS = {"n_elements": 2**24, "rank": 0, "limit": 10_000_000}
BLOCKS = {"BLOCK": 4096}
SUMS = {"neighbor": "out_ptr", "one_shot": "out_ptr", "two_shot": "x_ptr"}
TILED = {"a_desc": "tensordesc<bf16[128, 64]>", "b_desc": "tensordesc<bf16[64, 256]>", "c_desc": "tensordesc<bf16[128, 256]>"}
SPECIMENS = [
    *(
        Specimen(
            f"{IN}/{name}.py:{name}_kernel",
            f"{world}-bf16",
            96,
            300,
            arguments={**TABLES, own: "*bf16", **COUNTS, "WORLD": world, **BLOCKS},
            options={"num_warps": 16},
        )
        for name, own in SUMS.items()
        for world in (2, 4)
    ),
    Specimen(
        f"{IN}/gather_product.py:gather_product_kernel",
        "2-bf16",
        255,
        3 * (128 + 256) * 64 * 2 + 128 * 256 * 2 + 2048,
        arguments={**TILED, "arrived_ptr": "*u32", "missing_ptr": "*i32", "M": 8192, "N": 4096, "K": 8192, "rank": 0,
                   "limit": 10_000_000, "WORLD": 2, "BLOCK_M": 128, "BLOCK_N": 256, "BLOCK_K": 64, "GROUP": 8},
        options={"num_warps": 8, "num_stages": 3},
    ),
]  # fmt: skip
