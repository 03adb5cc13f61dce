"""The kernels of snippets/several, as they are launched on two GPUs and on four."""

from scripts.launches import Specimen, called

IN = "snippets/several"
TABLES = {"places_ptr": "*i64", "flags_ptr": "*i64", "missing_ptr": "*i32"}
COUNTS = {"n_elements": 2**24, "limit": 10_000_000}
BLOCKS = {"BLOCK": 4096}
SUMS = {"neighbor": "out_ptr", "one_shot": "out_ptr", "two_shot": "x_ptr"}
TILED = {"a_desc": "tensordesc<bf16[128, 64]>", "b_desc": "tensordesc<bf16[64, 256]>", "c_desc": "tensordesc<bf16[128, 256]>"}
SPECIMENS = [
    called(
        f"{IN}/solution.py:several_reduce_scatter_kernel",
        **TABLES, out_ptr="*fp32", n_share=250, rank=0, limit=10_000_000, WORLD=4, BLOCK=64,
    ),
    *(
        Specimen(
            f"{IN}/{name}.py:several_{name}_kernel",
            f"{rank}-of-{world}",
            96,
            300,
            arguments={**TABLES, own: "*bf16", **COUNTS, "rank": rank, "WORLD": world, **BLOCKS},
            options={"num_warps": 16},
        )
        for name, own in SUMS.items()
        for world, rank in ((2, 0), (2, 1), (4, 3))
    ),
    *(
        Specimen(
            f"{IN}/gather_product.py:several_gather_product_kernel",
            f"{rank}-of-2",
            255,
            3 * (128 + 256) * 64 * 2 + 128 * 256 * 2 + 2048,
            spills=216,  # on sm_80, which has no descriptors and for which the tile is not meant
            arguments={**TILED, "arrived_ptr": "*u32", "missing_ptr": "*i32", "M": 8192, "N": 4096, "K": 8192, "rank": rank,
                       "limit": 10_000_000, "WORLD": 2, "BLOCK_M": 128, "BLOCK_N": 256, "BLOCK_K": 64, "GROUP": 8},
            options={"num_warps": 8, "num_stages": 3},
        )
        for rank in (0, 1)
    ),
]  # fmt: skip
