"""*Matmul, step by step*: every step's kernel at the launch that the page times, and the benchmark's copies of them."""

from typing import Any

from scripts.launches import SHARED_BYTES, Specimen

FOLDER = "snippets/matmul_ladder"
SIZES: dict[str, Any] = {"M": 8192, "N": 8192, "K": 8192}
PARTIAL: dict[str, Any] = {"partial_ptr": "*fp32", "arrived_ptr": "*i32", "part_length": 8192}
SQUARE, WIDE, LINE = (128, 128, 64, 8), (128, 256, 64, 8), (16, 64, 128)


def step(
    kernel: str, label: str, sides: tuple[int, ...], options: tuple[int, int], bounds: tuple[int, ...], dtype="bf16", **more: Any
) -> Specimen:
    """A launch on large matrices: the sides of its tiles and its group, warps and stages; registers, shared bytes, spills."""
    arguments = dict.fromkeys(("a_ptr", "b_ptr", "c_ptr"), f"*{dtype}") | SIZES | more
    arguments |= dict(zip(("BLOCK_M", "BLOCK_N", "BLOCK_K", "GROUP_M"), sides, strict=False))
    num_warps, num_stages = options
    launch = {"num_warps": num_warps, "num_stages": num_stages}
    registers, shared, spills = (*bounds, 0)[:3]
    return Specimen(f"{FOLDER}/{kernel}", label, registers, shared, spills, arguments=arguments, options=launch)


def naive(kernel: str) -> Specimen:
    arguments: dict[str, Any] = {"a_ptr": "*fp32", "b_ptr": "*fp32", "c_ptr": "*fp32", "N": 2048, "K": 2048, "BLOCK": 256}
    return Specimen(f"{FOLDER}/{kernel}", "call", 64, SHARED_BYTES, arguments=arguments, options={"num_warps": 4})


def both(step_kernel: str, timed: str, label: str, *rest: Any, **more: Any) -> list[Specimen]:
    return [step(name, label, *rest, **more) for name in (step_kernel, f"benchmark.py:{timed}")]


# Warps that specialize are not for every one of the GPUs here: their program says what they take. Here they do not.
PLAIN: dict[str, Any] = {"SPECIALIZE": False}
TEACHING: dict[str, Any] = {"M": 150, "N": 200, "K": 100, "BLOCK_M": 64, "BLOCK_N": 64, "BLOCK_K": 32}
SPECIMENS = [
    *(
        Specimen(f"{FOLDER}/{kernel}", "call", 200, 16_500, arguments={**dict.fromkeys(pointers, "*fp16"), **TEACHING})
        for kernel, pointers in (
            ("product.py:walking_matmul_kernel", ("a_ptr", "b_ptr", "c_ptr")),
            ("weight.py:weight_product_kernel", ("a_ptr", "w_ptr", "c_ptr")),
        )
    ),
    Specimen(
        f"{FOLDER}/half_masked.py:half_masked_kernel",
        "call",
        64,
        1100,
        arguments={"a_ptr": "*fp16", "b_ptr": "*fp16", "c_ptr": "*fp32", "K": 10, "MASK_B": True, "SIDE": 16},
    ),
    naive("naive.py:naive_matmul_kernel"),
    naive("benchmark.py:timed_naive_kernel"),
    step("tiles.py:tiles_matmul_kernel", "16", (16, 16, 16), (1, 1), (80, 2048), dtype="fp32"),
    *both("tiles.py:tiles_matmul_kernel", "timed_tiles_kernel", "64", (64, 64, 16), (4, 1), (120, 8192), dtype="fp32"),
    *both("tensor_cores.py:cores_matmul_kernel", "timed_cores_kernel", "square", SQUARE[:3], (8, 1), (184, 33_000)),
    *both("grouped.py:grouped_matmul_kernel", "timed_grouped_kernel", "square", SQUARE, (8, 1), (184, 33_000)),
    *(step("stages.py:staged_matmul_kernel", f"stages_{n}", SQUARE, (8, n), (209, 33_000 * n)) for n in range(1, 6)),
    # One warp cannot hold the sums of such a tile in its registers.
    *(
        step("stages.py:staged_matmul_kernel", f"warps_{n}", SQUARE, (n, 3), (255, 99_000, spills))
        for n, spills in ((1, 6000), (4, 0), (16, 0))
    ),
    step("transposed.py:transposed_matmul_kernel", "square", SQUARE, (8, 3), (255, 99_000)),
    # On sm_80 some registers of the wide tile are spilled.
    *(step("stages.py:staged_matmul_kernel", f"wide_{n}", WIDE, (8, n), (255, 49_500 * n, 16)) for n in (3, 4)),
    *both("descriptors.py:descriptor_matmul_kernel", "timed_descriptor_kernel", "wide", WIDE, (8, 3), (255, 150_000)),
    *both("persistent.py:persistent_matmul_kernel", "timed_persistent_kernel", "wide", WIDE, (8, 3), (255, 232_448)),
    *both(
        "specialized.py:specialized_matmul_kernel", "timed_specialized_kernel", "wide", WIDE, (8, 3), (255, 232_448, 112), **PLAIN
    ),
    step("pointer_store.py:pointer_store_kernel", "wide", WIDE, (8, 3), (255, 232_448, 112), **PLAIN),
    *both("split_k.py:split_matmul_kernel", "timed_split_kernel", "square", SQUARE[:3], (8, 4), (209, 132_000), **PARTIAL),
    *both("split_k.py:split_matmul_kernel", "timed_split_kernel", "line", LINE, (4, 4), (96, 62_000), **PARTIAL),
]
