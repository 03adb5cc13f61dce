"""The kernels of snippets/memory."""

from scripts.launches import X_AND_OUT, Specimen, called

SQUARE_OF = {**X_AND_OUT, "N": 8192, "TILE": 64}
WIDENED = {"x_ptr": "*bf16", "out_ptr": "*fp32", "BLOCK": 1024}
LARGE_OF = {**X_AND_OUT, "TILE": 64}
PRODUCT_OF = {"a_ptr": "*bf16", "b_ptr": "*bf16", "out_ptr": "*bf16", "N": 8192, "TILE": 64, "STEP": 64}
# Three stages of two 64 by 64 tiles in bf16, and their barriers.
TILE_BYTES = 3 * 2 * 64 * 64 * 2 + 64
SPECIMENS = [
    called("snippets/memory/same_bytes.py:flip_kernel", **X_AND_OUT, n_elements=100_000, BLOCK=1024),
    called("snippets/memory/same_bytes.py:bend_kernel", **X_AND_OUT, n_elements=100_000, BLOCK=1024),
    called("snippets/memory/working_set.py:reread_kernel", x_ptr="*fp32", sums_ptr="*fp32", n_blocks=61, n_steps=497, BLOCK=2048),
    called("snippets/memory/working_set.py:recopy_kernel", x_ptr="*fp32", y_ptr="*fp32", n_blocks=61, n_steps=497, BLOCK=2048),
    Specimen("snippets/memory/predict.py:widen_kernel", "call", 40, 2048, arguments=WIDENED),
    called("snippets/memory/strides.py:strided_kernel", **X_AND_OUT, stride=2, BLOCK=1024),
    Specimen("snippets/memory/roofline.py:product_kernel", "call", 144, TILE_BYTES, arguments=PRODUCT_OF),
    Specimen("snippets/memory/places.py:staged_kernel", "call", 144, TILE_BYTES, arguments=PRODUCT_OF),
    Specimen("snippets/memory/places.py:turning_kernel", "call", 48, 64 * 64 * 4, arguments=SQUARE_OF),
    Specimen("snippets/memory/too_large.py:large_tile_kernel", "call", 48, 64 * 64 * 4, arguments=LARGE_OF),
    Specimen(
        "snippets/memory/tiled_matmul.py:tiled_matmul_kernel",
        "call",
        255,
        2**16,
        arguments={name: "*fp16" for name in ("a_ptr", "b_ptr", "c_ptr")}
        | {"M": 100, "N": 90, "K": 80, "BLOCK_M": 64, "BLOCK_N": 64, "BLOCK_K": 64},
    ),
]
