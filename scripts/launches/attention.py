"""Attention: the tiles that ship for each width of a head, with what they load by, and masked as a causal model asks.

What a family of GPUs has tiles for is compiled for the others too. So the bounds of a tile for Hopper are those of Ampere, which
spills where it has no descriptors, or of Blackwell, which would need more shared memory than it has. Documents in one row take
`made` descriptors where a tile's are `given`, and what is not aligned takes pointers.
A test compares the arguments with what is launched. Nothing here imports a kernel: specimens are listed without Triton, too.
"""

from typing import Any

from scripts.launches import Specimen

FILES = {"forward": "forward.py", "keys": "backward.py", "queries": "backward.py", "split": "split.py"}
HEADS, K_HEADS, LENGTH = 32, 8, 4096
NAMES = {
    "forward": ("q", "k", "v", "out"),
    "keys": ("q", "k", "v", "dout", "dk", "dv"),
    "queries": ("q", "k", "v", "dout", "dq"),
    "split": ("q", "k", "v"),
}


def sizes(kernel: str, dtype: str, head: int, length: int = LENGTH) -> dict[str, Any]:
    """The arguments that say how long things are and where they lie, for two sequences of causal self-attention."""
    given: dict[str, Any] = {}
    for name in NAMES[kernel]:
        heads = K_HEADS if name in ("k", "v", "dk", "dv") else HEADS
        given |= {f"{name}_batch_stride": heads * LENGTH * head, f"{name}_head_stride": LENGTH * head, f"{name}_row_stride": head}
    given |= {"n_heads": HEADS, "group": HEADS // K_HEADS, "q_length": length, "k_length": LENGTH, "left": -1, "right": 0}
    given |= {"scale": head**-0.5 * 1.4426950408889634, "HAS_LEFT": False, "HAS_RIGHT": True, "LOWER_RIGHT": False}
    width = max(16, 1 << (head - 1).bit_length())
    return given | {"HEAD": head, "WIDTH": width, "UPCAST": False, "PRECISION": "ieee"}


def walked(
    kernel: str,
    dtype: str,
    head: int,
    tile: tuple[Any, ...],
    registers: int,
    shared: int,
    spills: int,
    label: str = "",
    **other: Any,
) -> Specimen:
    """A launch of the kernel that walks over keys, or over queries."""
    block_m, block_n, num_warps, num_stages, loads = tile
    given = sizes(kernel, dtype, head) | {"n_documents": 0, "q_starts_ptr": None, "k_starts_ptr": None}
    given |= {"BLOCK_M": block_m, "BLOCK_N": block_n, "LOADS": loads}
    loaded = {"q": block_m, "k": block_n, "v": block_n} | ({} if kernel == "forward" else {"dout": block_m})
    described = loads == "given"
    given |= {
        name: f"tensordesc<{dtype}[1, 1, {rows}, {given['WIDTH']}]>" if described else f"*{dtype}"
        for name, rows in loaded.items()
    }
    if kernel == "forward":
        given |= {"out_ptr": f"*{dtype}", "lse_ptr": "*fp32"}
    else:
        given |= {"limit_ptr": "*fp32", "delta_ptr": "*fp32", f"d{'k' if kernel == 'keys' else 'q'}_scale": head**-0.5}
        made = ("dq_ptr",) if kernel == "queries" else ("dk_ptr", "dv_ptr")
        given |= dict.fromkeys(made, f"*{dtype}")
    name = f"{label}{head}-{block_m}x{block_n}-{num_warps}-{num_stages}-{loads}-{dtype}"
    options = {"num_warps": num_warps, "num_stages": num_stages}
    function = f"kernels/attention/{FILES[kernel]}:attention_{kernel}_kernel"
    return Specimen(function, name, registers, shared, spills, arguments=given | other, options=options)


def split(dtype: str, head: int, tile: tuple[int, ...], registers: int = 200, shared: int = 128_000) -> Specimen:
    """A launch for one query of each sequence."""
    block_m, block_n, num_warps, num_stages = tile
    given = sizes("split", dtype, head, 1) | {"n_parts": 16, "part_tiles": 4, "BLOCK_M": block_m, "BLOCK_N": block_n}
    given |= {"q_ptr": f"*{dtype}", "k_ptr": f"*{dtype}", "v_ptr": f"*{dtype}", "part_ptr": "*fp32", "part_lse_ptr": "*fp32"}
    function = "kernels/attention/split.py:attention_split_kernel"
    label, options = f"{head}-{block_m}x{block_n}-{num_stages}-{dtype}", {"num_warps": num_warps, "num_stages": num_stages}
    return Specimen(function, label, registers, shared, 16, arguments=given, options=options)


def delta(dtype: str, head: int, dlse: bool) -> Specimen:
    given: dict[str, Any] = {"out_ptr": f"*{dtype}", "dout_ptr": f"*{dtype}"}
    given |= dict.fromkeys(("lse_ptr", "delta_ptr", "limit_ptr"), "*fp32") | {"dlse_ptr": "*fp32" if dlse else None}
    for name in ("out", "dout"):
        given |= {f"{name}_batch_stride": HEADS * LENGTH * head, f"{name}_head_stride": LENGTH * head, f"{name}_row_stride": head}
    width = max(16, 1 << (head - 1).bit_length())
    given |= {"n_heads": HEADS, "length": LENGTH, "HEAD": head, "WIDTH": width, "BLOCK": max(16, 4096 // width)}
    label, options = f"{head}-{'lse-' if dlse else ''}{dtype}", {"num_warps": 4}
    return Specimen("kernels/attention/backward.py:attention_delta_kernel", label, 128, 4096, arguments=given, options=options)


def join(head: int) -> Specimen:
    given: dict[str, Any] = {"part_ptr": "*fp32", "part_lse_ptr": "*fp32", "out_ptr": "*bf16", "lse_ptr": "*fp32"}
    given |= {"out_batch_stride": HEADS * head, "out_head_stride": head, "out_row_stride": 256}
    given |= {"n_heads": HEADS, "q_length": 1, "n_parts": 16, "HEAD": head, "WIDTH": max(16, 1 << (head - 1).bit_length())}
    function, options = "kernels/attention/split.py:attention_join_kernel", {"num_warps": 4}
    return Specimen(function, f"{head}", 96, 8192, arguments=given | {"PARTS": 16}, options=options)


PACKED: dict[str, Any] = {"q_starts_ptr": "*i32", "k_starts_ptr": "*i32", "n_documents": 9}
WINDOW: dict[str, Any] = {"HAS_LEFT": True, "left": 1024, "LOWER_RIGHT": True}
SPECIMENS = [
    walked("forward", "bf16", 64, (128, 64, 4, 3, "pointers"), 255, 74_000, 0),
    walked("forward", "bf16", 64, (128, 64, 4, 3, "made"), 255, 74_000, 0),
    walked("forward", "bf16", 64, (64, 64, 4, 2, "pointers"), 184, 47_000, 0),
    walked("forward", "bf16", 64, (64, 128, 4, 2, "given"), 255, 83_000, 448),
    walked("forward", "bf16", 64, (64, 128, 4, 2, "made"), 255, 83_000, 0, "packed-", **PACKED),
    walked("forward", "bf16", 80, (128, 64, 8, 3, "pointers"), 255, 146_000, 48),
    walked("forward", "bf16", 128, (128, 64, 8, 3, "pointers"), 255, 146_000, 0),
    walked("forward", "bf16", 128, (128, 64, 8, 3, "made"), 240, 146_000, 0),
    walked("forward", "bf16", 128, (64, 32, 4, 2, "pointers"), 240, 55_000, 0),
    walked("forward", "bf16", 128, (64, 64, 4, 3, "given"), 255, 128_000, 112),
    walked("forward", "bf16", 128, (64, 64, 4, 3, "given"), 255, 128_000, 192, "window-", **WINDOW),
    walked("forward", "bf16", 128, (64, 64, 4, 3, "made"), 255, 128_000, 0, "packed-", **PACKED),
    walked("forward", "bf16", 256, (64, 32, 4, 2, "pointers"), 255, 109_000, 80),
    walked("forward", "bf16", 256, (32, 32, 4, 1, "pointers"), 232, 39_000, 16),
    walked("forward", "bf16", 256, (128, 64, 8, 2, "made"), 255, 217_000, 72),
    walked("forward", "bf16", 256, (128, 64, 8, 2, "given"), 255, 217_000, 488),
    walked("forward", "bf16", 256, (128, 64, 8, 2, "made"), 255, 217_000, 72, "packed-", **PACKED),
    walked("forward", "fp32", 64, (64, 32, 4, 1, "pointers"), 255, 37_000, 280),
    walked("forward", "fp32", 128, (32, 16, 4, 1, "pointers"), 255, 37_000, 200),
    walked("forward", "fp32", 256, (32, 16, 4, 1, "pointers"), 232, 73_000, 0),
    walked("keys", "bf16", 64, (32, 64, 4, 2, "pointers"), 255, 47_000, 72),
    walked("keys", "bf16", 64, (64, 64, 4, 2, "given"), 255, 74_000, 656),
    walked("keys", "bf16", 64, (64, 64, 4, 2, "made"), 255, 74_000, 584, "packed-", **PACKED),
    walked("keys", "bf16", 64, (64, 128, 8, 2, "made"), 255, 92_000, 584),
    walked("keys", "bf16", 128, (32, 32, 4, 2, "pointers"), 255, 39_000, 0),
    walked("keys", "bf16", 128, (64, 128, 8, 1, "made"), 255, 109_000, 7888),
    walked("keys", "bf16", 128, (64, 64, 4, 2, "given"), 255, 146_000, 1016),
    walked("keys", "bf16", 128, (64, 64, 4, 2, "made"), 255, 146_000, 728, "packed-", **PACKED),
    walked("keys", "bf16", 256, (32, 32, 4, 1, "pointers"), 255, 91_000, 80),
    walked("keys", "bf16", 256, (64, 64, 8, 1, "made"), 255, 145_000, 424),
    walked("keys", "bf16", 256, (64, 64, 8, 2, "given"), 255, 290_000, 992),
    walked("keys", "bf16", 256, (64, 64, 8, 2, "made"), 255, 290_000, 864, "packed-", **PACKED),
    walked("keys", "bf16", 256, (64, 64, 8, 2, "pointers"), 255, 290_000, 1720),
    walked("keys", "fp32", 64, (16, 32, 4, 1, "pointers"), 168, 30_000, 32),
    walked("keys", "fp32", 256, (16, 16, 4, 1, "pointers"), 192, 74_000, 48),
    walked("queries", "bf16", 64, (64, 64, 4, 2, "pointers"), 255, 65_000, 0),
    walked("queries", "bf16", 64, (64, 32, 4, 2, "pointers"), 200, 42_000, 0),
    walked("queries", "bf16", 64, (128, 64, 8, 2, "made"), 255, 83_000, 0),
    walked("queries", "bf16", 64, (64, 64, 4, 3, "given"), 255, 83_000, 648),
    walked("queries", "bf16", 64, (64, 64, 4, 3, "made"), 200, 83_000, 0, "packed-", **PACKED),
    walked("queries", "bf16", 128, (64, 32, 4, 2, "pointers"), 248, 83_000, 0),
    walked("queries", "bf16", 128, (32, 32, 4, 2, "pointers"), 184, 39_000, 0),
    walked("queries", "bf16", 128, (128, 64, 8, 1, "made"), 255, 109_000, 504),
    walked("queries", "bf16", 128, (128, 64, 8, 3, "given"), 208, 200_000, 5424),
    walked("queries", "bf16", 128, (128, 64, 8, 3, "made"), 255, 200_000, 16, "packed-", **PACKED),
    walked("queries", "bf16", 256, (32, 32, 4, 1, "pointers"), 240, 73_000, 0),
    walked("queries", "bf16", 256, (64, 64, 8, 1, "made"), 255, 145_000, 448),
    walked("queries", "bf16", 256, (128, 64, 8, 1, "given"), 255, 217_000, 2272),
    walked("queries", "bf16", 256, (128, 64, 8, 1, "made"), 255, 217_000, 232, "packed-", **PACKED),
    walked("queries", "fp32", 64, (32, 16, 4, 1, "pointers"), 104, 28_000, 0),
    walked("queries", "fp32", 256, (16, 16, 4, 1, "pointers"), 160, 73_000, 0),
    split("bf16", 64, (16, 128, 4, 3)),
    split("bf16", 128, (16, 64, 4, 3)),
    split("bf16", 128, (64, 64, 4, 3)),
    split("bf16", 256, (16, 32, 4, 2)),
    split("fp32", 64, (16, 32, 4, 1)),
    split("fp32", 256, (16, 16, 4, 1)),
    delta("bf16", 128, False),
    delta("bf16", 80, True),
    delta("fp32", 256, False),
    join(128),
    join(80),
]
