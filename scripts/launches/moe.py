"""A mixture of experts: routing, sorting, every tile that ships for its products, the sum; and the programs of snippets/moe."""

from typing import Any

from scripts.launches import Specimen

ROUTE, SORT, PRODUCT, COMBINE = (
    f"kernels/moe/{place}_kernel"
    for place in ("route.py:moe_route", "route.py:moe_sort", "product.py:moe_product", "moe.py:moe_combine")
)
# On sm_80, where no product takes them, descriptors are emulated by pointers, and registers spill.
EMULATED = 8192


def routed(label: str, dtype: str, k: int, tokens: int, experts: int, registers: int) -> Specimen:
    """A launch that chooses k of so many experts, for so many tokens at a time."""
    arguments: dict[str, Any] = {"logits_ptr": f"*{dtype}", "expert_ptr": "*i32", "weight_ptr": "*fp32", "counts_ptr": "*i32"}
    arguments |= {"n_tokens": 4096, "n_experts": experts, "row_stride": experts, "column_stride": 1, "steps": 4}
    blocks = {"K": k, "RENORMALIZE": True, "TOKENS": tokens, "EXPERTS": experts, "SLOTS": 1 << (k - 1).bit_length()}
    return Specimen(ROUTE, f"{label}-{dtype}", registers, 4096, arguments=arguments | blocks, options={"num_warps": 4})


def sorted_pairs(label: str, k: int, tokens: int, experts: int, registers: int) -> Specimen:
    """A launch that sorts the pairs of so many tokens at a time."""
    pointers: dict[str, Any] = dict.fromkeys(("expert_ptr", "counts_ptr", "pair_ptr", "start_ptr", "tile_ptr"), "*i32")
    sizes = {"n_tokens": 4096, "n_experts": experts, "steps": 4, "n_listed": 300}
    at_once = 2048 // experts
    blocks = {"K": k, "BLOCK_M": 64, "TOKENS": tokens, "EXPERTS": experts, "COUNTS": at_once, "TILES": at_once}
    return Specimen(SORT, label, registers, 40_000, 16, arguments=pointers | sizes | blocks, options={"num_warps": 4})


def product(
    label: str, dtype: str, block_m: int, tile: tuple[int, ...], registers: int, shared: int, spills: int = 0, **other: Any
) -> Specimen:
    """A launch of the second product, or with `up_ptr` of the first."""
    block_n, block_k, group, num_warps, num_stages = tile
    first = "up_ptr" in other
    arguments: dict[str, Any] = dict.fromkeys(("a_ptr", "b_ptr", "c_ptr"), f"*{dtype}") | {"up_ptr": None}
    arguments |= {"a_desc": None, "b_desc": None, "up_desc": None, "weight_ptr": None if first else "*fp32"}
    arguments |= dict.fromkeys(("pair_ptr", "start_ptr", "tile_ptr"), "*i32")
    arguments |= {"n_experts": 128, "N": 2048, "K": 2048, "a_row_stride": 2048, "a_column_stride": 1}
    for name in ("b", "up"):
        arguments |= {f"{name}_expert_stride": 2**22, f"{name}_row_stride": 1, f"{name}_column_stride": 2048}
    arguments |= {"expert_rows": 2048, "PAIRS": 8, "GATHER": first, "SCATTER": not first, "WHOLE_K": True, "UPCAST": False}
    arguments |= {"PRECISION": "tf32", "BLOCK_M": block_m, "BLOCK_N": block_n, "BLOCK_K": block_k, "GROUP_M": group}
    label = f"{label}-{block_m}x{block_n}x{block_k}-{dtype}"
    options = {"num_warps": num_warps, "num_stages": num_stages}
    return Specimen(PRODUCT, label, registers, shared, spills, arguments=arguments | other, options=options)


def tall(block_n: int, block_k: int, block_m: int = 0) -> dict[str, Any]:
    """Descriptors of the weights, and of the rows of the second product, which is the one that is given their number."""
    spelled = f"tensordesc<bf16[{block_n}, {block_k}]>"
    if block_m:
        return {"a_desc": f"tensordesc<bf16[{block_m}, {block_k}]>", "b_desc": spelled}
    return {"b_desc": spelled, "up_desc": spelled, "up_ptr": "*bf16"}


BF16: dict[str, Any] = {"up_ptr": "*bf16"}
FP32: dict[str, Any] = {"up_ptr": "*fp32"}
SPECIMENS = [
    routed("8of128", "bf16", 8, 16, 128, 168),
    routed("2of16", "fp32", 2, 128, 16, 168),
    sorted_pairs("8of128", 8, 16, 128, 168),
    sorted_pairs("2of16", 2, 128, 16, 168),
    product("gate", "bf16", 16, (64, 128, 8, 4, 4), 160, 120_000, **BF16),
    product("gate", "bf16", 32, (64, 128, 8, 4, 4), 200, 140_000, **BF16),
    product("gate", "bf16", 16, (32, 128, 8, 4, 4), 160, 120_000, **BF16),
    product("gate", "bf16", 64, (128, 64, 8, 4, 4), 255, 200_000, 512, **BF16),
    product("gate", "bf16", 128, (128, 64, 8, 8, 4), 255, 232_448, 512, **BF16),
    product("gate-tall", "bf16", 64, (128, 64, 8, 4, 4), 255, 232_448, EMULATED, **tall(128, 64)),
    product("gate-tall", "bf16", 128, (128, 64, 8, 8, 4), 255, 232_448, EMULATED, **tall(128, 64)),
    product("gate", "bf16", 64, (64, 32, 8, 4, 4), 255, 101_376, **BF16),
    product("gate", "bf16", 128, (64, 32, 8, 8, 4), 255, 101_376, **BF16),
    product("gate", "fp32", 64, (64, 32, 8, 4, 3), 255, 101_376, **FP32),
    product("gate-ieee", "fp32", 64, (32, 16, 8, 4, 3), 255, 101_376, PRECISION="ieee", **FP32),
    product("gate-odd", "fp16", 32, (64, 64, 8, 4, 3), 255, 101_376, WHOLE_K=False, N=1407, K=2047, up_ptr="*fp16"),
    product("down", "bf16", 16, (128, 128, 8, 4, 4), 168, 120_000),
    product("down", "bf16", 32, (128, 128, 8, 4, 4), 200, 140_000),
    product("down", "bf16", 16, (32, 128, 8, 4, 4), 128, 60_000),
    product("down", "bf16", 64, (128, 64, 8, 4, 4), 255, 160_000),
    product("down", "bf16", 128, (256, 64, 8, 8, 3), 255, 232_448, 128),
    product("down-tall", "bf16", 64, (128, 64, 8, 4, 4), 255, 232_448, EMULATED, **tall(128, 64, 64)),
    product("down-tall", "bf16", 128, (256, 64, 8, 8, 3), 255, 232_448, EMULATED, **tall(256, 64, 128)),
    product("down", "bf16", 128, (128, 32, 8, 8, 4), 255, 101_376),
    product("down", "fp32", 16, (128, 64, 8, 4, 3), 255, 160_000),
    product("down-ieee", "fp32", 64, (64, 16, 8, 4, 3), 255, 101_376, 32, PRECISION="ieee"),
    Specimen(
        COMBINE,
        "8",
        64,
        0,
        arguments={"part_ptr": "*bf16", "y_ptr": "*bf16", "n_columns": 2048, "K": 8, "BLOCK": 1024},
        options={"num_warps": 4},
    ),
    Specimen(
        "snippets/moe/route.py:moe_choose_kernel",
        "call",
        64,
        128,
        arguments={"logits_ptr": "*fp32", "expert_ptr": "*i32", "weight_ptr": "*fp32", "n_experts": 10, "K": 3}
        | {"EXPERTS": 16, "SLOTS": 4},
    ),
    Specimen(
        "snippets/moe/sort.py:moe_places_kernel",
        "call",
        64,
        4096,
        arguments=dict.fromkeys(("expert_ptr", "pair_ptr", "start_ptr"), "*i32") | {"n_pairs": 4096, "BLOCK": 256},
    ),
    Specimen(
        "snippets/moe/grouped.py:moe_grouped_kernel",
        "call",
        128,
        20_000,
        arguments=dict.fromkeys(("x_ptr", "w_ptr", "y_ptr"), "*fp32")
        | {"start_ptr": "*i32", "n_experts": 5, "N": 40, "K": 48}
        | {"BLOCK_M": 16, "BLOCK_N": 32, "BLOCK_K": 32, "EXPERTS": 8},
    ),
]
