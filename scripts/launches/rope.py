"""The rotary embedding: heads of common widths, tables of either width, both ways."""

import math

from scripts.launches import Specimen, called

FILE = "kernels/rotary_embedding/rotate_pairs.py:rotary_embedding_kernel"
POINTERS = ("q_ptr", "k_ptr", "cos_ptr", "sin_ptr", "q_out_ptr", "k_out_ptr")
# A table's values move to the lanes of their heads through shared memory.
TABLE_BYTES = 4096


def turned(dtype: str, width: int, wide: bool, inverse: bool) -> Specimen:
    """As `rotary_embedding_launch` launches it for two sequences of tokens with 32 heads that lie side by side, 8 of the keys.

    A test compares the arguments with what is launched. Nothing here imports a kernel: specimens are listed without Triton, too.
    """
    half = width // 2
    if half & (half - 1):
        vector = math.gcd(4 if dtype == "fp32" else 8, half)
        most = 128 if vector == 1 else 64 * vector
        idle = {size: -32 * half % size + -8 * half % size for size in (most, most // 2, most // 4, most // 8) if size >= 16}
        block = min(idle, key=lambda size: idle[size])
        tokens, q_heads, k_heads, num_warps = most // block, 1, 1, max(1, most // 256)
    else:
        vector, block, num_warps = 1, half, 1
        tokens, q_heads, k_heads = min(16, 256 // half), 2, 1
    q_groups = -(-32 * half // block) if block != half else 32 // q_heads
    arguments = dict.fromkeys(POINTERS, f"*{dtype}") | {"n_batches": 2, "n_tokens": 4096, "n_q_heads": 32, "n_k_heads": 8}
    arguments["q_groups"] = q_groups
    for name, heads in (("q", 32), ("k", 8), ("q_out", 32), ("k_out", 8)):
        strides = {"batch": 4096 * heads * width, "head": width, "token": heads * width}
        arguments |= {f"{name}_{axis}_stride": stride // vector for axis, stride in strides.items()}
    for name in ("cos", "sin"):
        arguments |= {f"{name}_batch_stride": 0, f"{name}_token_stride": (width if wide else half) // vector}
    arguments |= {"HALF": half, "WIDE": wide, "INVERSE": inverse, "TOKENS": tokens, "Q_HEADS": q_heads, "K_HEADS": k_heads}
    arguments |= {"BLOCK": block, "VECTOR": vector}
    label = f"{width}-{'wide-' if wide else ''}{'back-' if inverse else ''}{dtype}"
    registers = 152 if block == half or width == 6 else 200 if wide else 96  # Triton 3.8 takes most
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
