"""The kernels of snippets/tile_order."""

from scripts.launches import Specimen, called

PRODUCT: dict = dict.fromkeys(("a_ptr", "b_ptr", "c_ptr"), "*bf16") | {"M": 8192, "N": 8192, "K": 8192}
SIDES = {"BLOCK_M": 128, "BLOCK_N": 256}
# Three stages of a 128 by 64 and a 64 by 256 tile in bf16, and some barriers.
TILE_BYTES = 3 * 2 * 64 * (128 + 256) + 64
SPECIMENS = [
    called("snippets/tile_order/order.py:tile_order_kernel", turn_ptr="*i32", M=8192, N=8192, **SIDES, GROUP_M=8),
    called("snippets/tile_order/ragged.py:ragged_order_kernel", owners_ptr="*i32", n_rows=6, n_columns=5, GROUP_M=4, CUT=True),
    Specimen(
        "snippets/tile_order/count.py:places_kernel",
        "call",
        128,
        0,
        arguments={"out_ptr": "*i32", "M": 8192, "N": 8192, **SIDES, "GROUP_M": 8, "PROGRAMS": 2048},
    ),
    *(
        Specimen(
            "snippets/tile_order/groups.py:ordered_matmul_kernel",
            label,
            255,
            TILE_BYTES,
            arguments=PRODUCT | SIDES | {"times_ptr": times, "BLOCK_K": 64, "GROUP_M": 8},
            options={"num_warps": 8, "num_stages": 3},
        )
        for label, times in (("call", None), ("watched", "*i64"))
    ),
]
