"""*Attention, backward*, its ladder, and a decode step."""

from typing import Any

from scripts.launches import Specimen

BACKWARD, DECODE = "snippets/attention_backward", "snippets/attention_decode"
TIMED = f"{BACKWARD}/benchmark.py"
GIVEN: dict[str, Any] = dict.fromkeys(("q_ptr", "k_ptr", "v_ptr", "dout_ptr", "dk_ptr", "dv_ptr"), "*fp16")
GIVEN |= dict.fromkeys(("lse_ptr", "limit_ptr", "delta_ptr"), "*fp32")
TEACHING = GIVEN | {"dq_ptr": "*fp16", "length": 100, "scale": 0.125, "D": 64, "BLOCK": 32}
LADDER = {name: "*bf16" if value == "*fp16" else value for name, value in GIVEN.items()}
LADDER |= {"dq_ptr": "*bf16", "length": 4096, "scale": 0.1, "out_scale": 0.1, "D": 128}
STEPS = ("SKIP", "EXP2", "EDGES", "TURNED")


def taught(kernel: str, registers: int, shared: int, **other: Any) -> Specimen:
    return Specimen(f"{BACKWARD}/{kernel}", "call", registers, shared, arguments=TEACHING | other)


def step(kernel: str, label: str, taken: int, tile: tuple[int, ...], bounds: tuple[int, ...], **other: Any) -> Specimen:
    """A kernel with the first so many steps of the ladder taken; sides, warps and stages; registers, shared bytes, spills."""
    arguments = LADDER | {name: place < taken for place, name in enumerate(STEPS)} | {"ATOMIC": False} | other
    if kernel == "queries":
        arguments = {name: value for name, value in arguments.items() if name not in ("TURNED", "ATOMIC", "dk_ptr", "dv_ptr")}
    rows, columns, num_warps, num_stages = tile
    registers, shared, spills = (*bounds, 0)[:3]
    return Specimen(
        f"{TIMED}:timed_{kernel}_kernel",
        label,
        registers,
        shared,
        spills,
        arguments=arguments | {"BLOCK_M": rows, "BLOCK_N": columns},
        options={"num_warps": num_warps, "num_stages": num_stages},
    )


def decode(kernel: str, registers: int, shared: int) -> Specimen:
    """The same kernel in the program and in the benchmark has the same arguments."""
    given: dict[str, Any] = dict.fromkeys(("q_ptr", "k_ptr", "v_ptr", "out_ptr"), "*bf16")
    given |= {"part_ptr": "*fp32", "lse_ptr": "*fp32"}
    given |= {"length": 32768, "part_length": 1984, "group": 4, "scale": 0.1, "n_parts": 17, "D": 128}
    given |= {"PARTS": 32} if "join" in kernel else {"BLOCK": 64}
    named = {
        "part": ("q_ptr", "k_ptr", "v_ptr", "part_ptr", "lse_ptr", "length", "part_length", "group", "scale", "D", "BLOCK"),
        "join": ("part_ptr", "lse_ptr", "out_ptr", "n_parts", "D", "PARTS"),
    }["join" if "join" in kernel else "part"]
    return Specimen(f"{DECODE}/{kernel}", "call", registers, shared, arguments={name: given[name] for name in named})


DELTA: dict[str, Any] = {"out_ptr": "*bf16", "dout_ptr": "*bf16", "delta_ptr": "*fp32", "D": 128, "BLOCK": 32}
PAST: dict[str, Any] = {"q_ptr": "*fp16", "k_ptr": "*fp16", "lse_ptr": "*fp32", "dq_ptr": "*fp32"}
PAST |= {"length": 10, "MASK": True, "SIDE": 16}
SQUARE = (64, 64, 4, 1)
SPECIMENS = [
    taught("two_kernels.py:keys_gradient_kernel", 128, 30_000),
    taught("two_kernels.py:queries_gradient_kernel", 128, 30_000),
    taught("causal.py:causal_keys_kernel", 144, 30_000),
    taught("causal.py:causal_queries_kernel", 128, 30_000),
    taught("atomics.py:one_kernel_backward_kernel", 160, 37_000, dq_ptr="*fp32"),
    Specimen(f"{BACKWARD}/past_the_end.py:past_the_end_kernel", "call", 64, 3000, arguments=PAST),
    Specimen(f"{TIMED}:timed_delta_kernel", "call", 64, 1024, arguments=DELTA),
    step("keys", "everything", 0, SQUARE, (255, 82_000, 200)),
    step("keys", "edges", 3, SQUARE, (255, 82_000, 200)),
    step("keys", "turned", 4, SQUARE, (255, 82_000, 200)),
    step("keys", "stages", 4, (64, 64, 4, 2), (255, 146_000, 200)),
    step("keys", "tiles", 4, (64, 128, 8, 1), (255, 113_000, 1000)),
    step("keys", "upright", 3, (64, 128, 8, 1), (255, 127_000, 1000)),
    step("keys", "atomics", 4, (64, 128, 8, 2), (255, 200_000, 1000), ATOMIC=True, dq_ptr="*fp32"),
    step("queries", "everything", 0, SQUARE, (255, 73_000)),
    step("queries", "edges", 3, SQUARE, (255, 73_000)),
    step("queries", "stages", 4, (64, 64, 4, 2), (255, 128_000)),
    step("queries", "tiles", 4, (128, 64, 8, 3), (255, 200_000)),
    decode("split.py:decode_part_kernel", 112, 3000),
    decode("split.py:decode_join_kernel", 64, 3000),
    decode("benchmark.py:timed_part_kernel", 112, 3000),
    decode("benchmark.py:timed_join_kernel", 64, 3000),
]
