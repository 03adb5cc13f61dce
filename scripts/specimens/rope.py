"""The rotary embedding: heads of common widths, tables of either width, both ways."""

from kernels.rotary_embedding_turn import rotary_embedding_plan
from scripts.specimens import Specimen, called

FILE = "kernels/rotary_embedding_turn.py:rotary_embedding_kernel"
POINTERS = ("q_ptr", "k_ptr", "cos_ptr", "sin_ptr", "q_out_ptr", "k_out_ptr")
NUMBERS = [f"{name}_{axis}_stride" for name in ("q", "k", "q_out", "k_out") for axis in ("batch", "head", "token")]
NUMBERS += ["cos_batch_stride", "cos_token_stride", "sin_batch_stride", "sin_token_stride"]
NUMBERS += ["n_batches", "n_tokens", "n_q_heads", "n_k_heads"]
# A table's values move to the lanes of their heads through shared memory.
TABLE_BYTES = 4096


def turned(dtype: str, width: int, wide: bool, inverse: bool) -> Specimen:
    """As `rotary_embedding_launch` launches it for tokens of 32 heads that lie side by side, and of 8 of the keys."""
    stride = {n: (4096 * n * width, width, n * width, 1) for n in (32, 8)}
    table = (4096, width if wide else width // 2)
    _, numbers, meta = rotary_embedding_plan(
        (2, 32, 4096, width), 8, *(stride[n] for n in (32, 8, 32, 8)), table, (table[1], 1), (table[1], 1),
        4 if dtype == "fp32" else 2,
    )
    num_warps = meta["num_warps"]
    arguments = dict.fromkeys(POINTERS, f"*{dtype}") | dict(zip(NUMBERS, numbers, strict=True)) | {"INVERSE": inverse}
    arguments |= {name: value for name, value in meta.items() if name != "num_warps"}
    label = f"{width}-{'wide-' if wide else ''}{'back-' if inverse else ''}{dtype}"
    registers = 152 if meta["BLOCK"] == meta["HALF"] or width == 6 else 200 if wide else 96  # Triton 3.8 takes most
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
