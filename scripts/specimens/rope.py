"""The rotary embedding: heads of common widths, tables of either width, both ways."""

import math

from scripts.specimens import Specimen, called

FILE = "kernels/rotary_embedding_turn.py:rotary_embedding_kernel"
POINTERS = ("q_ptr", "k_ptr", "cos_ptr", "sin_ptr", "q_out_ptr", "k_out_ptr")
STRIDES = [f"{name}_{axis}_stride" for name in ("q", "k", "q_out", "k_out") for axis in ("batch", "token")]
HEAD_STRIDES = [f"{name}_head_stride" for name in ("q", "k", "q_out", "k_out")]
# A table's values move to the lanes of their heads through shared memory.
TABLE_BYTES = 4096


def turned(dtype: str, width: int, wide: bool, inverse: bool) -> Specimen:
    """As `rotary_embedding_launch` launches it for tokens of 32 heads that lie side by side."""
    half, vector = width // 2, 1
    heads, tokens, block, num_warps = (8, 2, half, 4) if half <= 32 else (4, 4, half, 1) if half <= 64 else (4, 2, half, 1)
    if half & (half - 1):
        vector = math.gcd(4 if dtype == "fp32" else 8, half)
        heads, tokens, block, num_warps = 1, 1, max(128, 64 * vector), 1
    arguments = dict.fromkeys(POINTERS, f"*{dtype}") | dict.fromkeys(STRIDES, 32 * width // vector)
    arguments |= dict.fromkeys(HEAD_STRIDES, width // vector)
    arguments |= {"cos_batch_stride": 0, "sin_batch_stride": 0}
    arguments |= dict.fromkeys(("cos_token_stride", "sin_token_stride"), (width if wide else half) // vector)
    arguments |= {"n_batches": 2, "n_tokens": 4096, "n_q_heads": 32, "n_k_heads": 8, "q_groups": -(-32 * half // (heads * block))}
    arguments |= {"HALF": half, "WIDE": wide, "INVERSE": inverse}
    arguments |= {"TOKENS": tokens, "HEADS": heads, "BLOCK": block, "VECTOR": vector}
    label = f"{width}-{'wide-' if wide else ''}{'back-' if inverse else ''}{dtype}"
    registers = 255 if block == half else 128 if wide else 96
    return Specimen(FILE, label, registers, TABLE_BYTES, arguments=arguments, options={"num_warps": num_warps})


HEAD = {"x_ptr": "*fp32", "cos_ptr": "*fp32", "sin_ptr": "*fp32", "out_ptr": "*fp32"}
SPECIMENS = [
    *(turned(dtype, width, False, False) for width in (2, 64, 80, 128) for dtype in ("fp32", "bf16")),
    *(turned("bf16", width, wide, True) for width in (80, 128) for wide in (False, True)),
    *(turned("bf16", width, False, False) for width in (6, 72, 96)),
    turned("fp16", 256, True, False),
    called("snippets/rope/launch.py:turn_kernel", **HEAD, HALF=8, BACK=True),
    called("snippets/rope/interleaved.py:turn_neighbors_kernel", **HEAD, HALF=8),
]
