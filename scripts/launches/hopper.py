"""*Matmul on Hopper*: the kernels of its programs at the launches that the page times.

Warps with trades are compiled by their program alone, which says on which GPU they are known to be right.
"""

from typing import Any

from scripts.launches import Specimen
from scripts.launches.matmul import EMULATED, of

SIZES: dict[str, Any] = {"M": 8192, "N": 8192, "K": 8192}
TILE: dict[str, Any] = {"BLOCK_M": 128, "BLOCK_N": 256, "BLOCK_K": 64, "GROUP_M": 8}
OPTIONS: dict[str, Any] = {"num_warps": 8, "num_stages": 3}
POINTERS: dict[str, Any] = dict.fromkeys(("a", "b", "c"), "*bf16")
GIVEN: dict[str, Any] = {"a": of("bf16", 128, 64), "b": of("bf16", 64, 256), "c": of("bf16", 128, 256)}


def feature(label: str, given: dict[str, Any], **switches: bool) -> Specimen:
    arguments = given | SIZES | TILE | {"MADE_HERE": False, "FLATTEN": False, "SPECIALIZE": False} | switches
    kernel = "snippets/hopper/features.py:feature_kernel"
    return Specimen(kernel, label, 255, 232_448, EMULATED, arguments=arguments, options=OPTIONS)


def wide_tile(num_stages: int) -> Specimen:
    arguments: dict[str, Any] = {"a_desc": of("bf16", 128, 64), "c_ptr": "*bf16", "M": 3072, "N": 3072, "K": 3072}
    arguments |= {"b_first_desc": of("bf16", 64, 128), "b_last_desc": of("bf16", 64, 64), "UPCAST": False}
    arguments |= {"c_first_desc": of("bf16", 128, 128), "c_last_desc": of("bf16", 128, 64)}
    arguments |= {"BLOCK_M": 128, "FIRST": 128, "LAST": 64, "BLOCK_K": 64, "GROUP_M": 8}
    kernel, options = "snippets/hopper/wide_tile.py:wide_tile_kernel", {"num_warps": 8, "num_stages": num_stages}
    return Specimen(kernel, f"stages_{num_stages}", 255, 232_448, EMULATED, arguments=arguments, options=options)


def few_rows(turned: bool) -> Specimen:
    arguments: dict[str, Any] = {"a_desc": of("bf16", 16, 256), "b_desc": of("bf16", 256, 64), "c_ptr": "*bf16", "M": 16}
    arguments |= {"N": 8192, "K": 8192, "TRANSPOSED": turned, "ROWS": 16, "COLUMNS": 64, "BLOCK_K": 256}
    kernel, options = "snippets/hopper/narrow.py:few_rows_kernel", {"num_warps": 4, "num_stages": 4}
    return Specimen(kernel, "turned" if turned else "straight", 255, 232_448, EMULATED, arguments=arguments, options=options)


def tail(finish: str, block_n: int, num_stages: int, parts: int = 7) -> Specimen:
    arguments: dict[str, Any] = {"a_desc": of("bf16", 128, 64), "b_desc": of("bf16", 64, block_n)}
    arguments |= {"c_desc": of("bf16", 128, block_n), "c_ptr": "*bf16", "partial_ptr": "*fp32", "arrived_ptr": "*i32"}
    arguments |= {"M": 3072, "N": 3072, "K": 3072, "n_whole": 264, "sharers": 132, "FINISH": finish, "PARTS": parts}
    arguments |= {"UPCAST": False, "BLOCK_M": 128, "BLOCK_N": block_n, "BLOCK_K": 64, "GROUP_M": 8, "ROWS": 16}
    options = {"num_warps": 8, "num_stages": num_stages, "launch_cooperative_grid": finish == "all"}
    label = f"{finish}-128x{block_n}"
    return Specimen("snippets/hopper/tail.py:tail_kernel", label, 255, 232_448, EMULATED, arguments=arguments, options=options)


def pieces(block_n: int, piece: int, num_stages: int) -> Specimen:
    arguments: dict[str, Any] = {"a_desc": of("bf16", 128, 64), "b_desc": of("bf16", 64, block_n), "c_ptr": "*bf16"}
    arguments |= {"c_desc": of("bf16", 128, block_n), "b_piece_desc": of("bf16", 64, piece)}
    arguments |= {"c_piece_desc": of("bf16", 128, piece), "M": 3072, "N": 3072, "K": 3072, "n_whole": 264, "UPCAST": False}
    arguments |= {"BLOCK_M": 128, "BLOCK_N": block_n, "PIECE": piece, "BLOCK_K": 64, "GROUP_M": 8}
    kernel, options = "snippets/hopper/tail_pieces.py:tail_pieces_kernel", {"num_warps": 8, "num_stages": num_stages}
    label = f"{block_n}-in-{piece}"
    return Specimen(kernel, label, 255, 232_448, EMULATED, arguments=arguments, options=options)


SPECIMENS = [
    Specimen(
        "snippets/hopper/features.py:pointer_feature_kernel",
        "call",
        255,
        150_000,
        64,
        arguments={"a_ptr": "*bf16", "b_ptr": "*bf16", "c_ptr": "*bf16"} | SIZES | TILE,
        options=OPTIONS,
    ),
    feature("host", GIVEN),
    feature("flattened", GIVEN, FLATTEN=True),
    feature("made_here", POINTERS, MADE_HERE=True, FLATTEN=True),
    wide_tile(3),
    wide_tile(4),
    few_rows(False),
    few_rows(True),
    tail("all", 256, 3),
    tail("last", 256, 3),
    tail("later", 256, 3),
    tail("all", 128, 4, 13),
    pieces(256, 128, 3),
    pieces(256, 64, 3),
    pieces(128, 32, 4),
    pieces(128, 16, 4),
    Specimen(
        "snippets/hopper/tail.py:tail_add_kernel",
        "call",
        255,
        100_000,
        arguments={"c_ptr": "*bf16", "partial_ptr": "*fp32", "M": 3072, "N": 3072, "n_whole": 264, "n_blocks": 48}
        | {"n_split": 24, "sharers": 132, "PARTS": 7, "BLOCK_M": 128, "BLOCK_N": 256, "GROUP_M": 8, "ROWS": 16},
        options={"num_warps": 8},
    ),
]
