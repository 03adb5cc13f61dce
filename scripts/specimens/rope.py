"""The rotary embedding: heads of common widths, tables of either width, both ways."""

from scripts.specimens import Specimen, called

FILE = "kernels/rotary_embedding_turn.py:rotary_embedding_kernel"
POINTERS = ("q_ptr", "k_ptr", "cos_ptr", "sin_ptr", "q_out_ptr", "k_out_ptr")
STRIDES = [f"{name}_{axis}_stride" for name in ("q", "k", "q_out", "k_out") for axis in ("batch", "head", "token")]
# A table's values move to the lanes of their heads through shared memory.
TABLE_BYTES = 4096


def turned(dtype: str, width: int, wide: bool, inverse: bool) -> Specimen:
    """As `rotary_embedding_launch` launches it."""
    block = max(1, 1 << (width // 2 - 1).bit_length())
    heads, tokens, num_warps = (8, 2, 4) if block <= 32 else (4, 4, 1) if block <= 64 else (4, 2, 1)
    arguments = dict.fromkeys(POINTERS, f"*{dtype}") | dict.fromkeys(STRIDES, 32 * width)
    arguments |= {"cos_batch_stride": 0, "sin_batch_stride": 0, "cos_token_stride": width, "sin_token_stride": width}
    arguments |= {"n_batches": 2, "n_tokens": 4096, "n_q_heads": 32, "n_k_heads": 8, "HALF": width // 2, "WIDE": wide}
    arguments |= {"INVERSE": inverse, "TOKENS": tokens, "HEADS": heads, "BLOCK": block}
    label = f"{width}-{'wide-' if wide else ''}{'back-' if inverse else ''}{dtype}"
    return Specimen(FILE, label, 255, TABLE_BYTES, arguments=arguments, options={"num_warps": num_warps})


HEAD = {"x_ptr": "*fp32", "cos_ptr": "*fp32", "sin_ptr": "*fp32", "out_ptr": "*fp32"}
SPECIMENS = [
    *(turned(dtype, width, False, False) for width in (2, 64, 80, 128) for dtype in ("fp32", "bf16")),
    *(turned("bf16", 128, wide, True) for wide in (False, True)),
    turned("fp16", 256, True, False),
    called("snippets/rope/launch.py:turn_kernel", **HEAD, HALF=8, BACK=True),
    called("snippets/rope/interleaved.py:turn_neighbors_kernel", **HEAD, HALF=8),
]
