"""The core set: what somebody with another card bakes in one go, one benchmark for each operation of the library.

`gib` is the GPU memory that a program holds at its largest case, in whole gibibytes: the tensors, whose bytes its record tells,
and what the check in float64 makes of them, which is most of it and is read off the program. All of them fit a card that is sold
with 24 GB. What a card has no room for is not started, and is absent from its archive with that reason.
"""

from collections.abc import Iterable
from typing import Any, NamedTuple

from scripts.baking.work import Work

NAME = "core"
ROOM = 22  # gibibytes that a card sold with 24 GB has left for programs


class Part(NamedTuple):
    """A program of the set, what of the library it times, the memory that it holds, and why this one."""

    program: str
    operations: tuple[str, ...]
    gib: int
    why: str


PARTS = (
    Part("hardware/sheet", ("hardware",), 4, "what the card is; no rate of the archive may pass the peak that follows from it"),
    Part("memory/levels", ("hardware",), 3, "the sizes of its memories and the rate of its bus, the bound of every bandwidth"),
    Part("first_kernel/benchmark", ("add",), 12, "the bandwidth of an addition over four orders of size"),
    Part("fused_softmax/benchmark_rows", ("softmax",), 4, "every kernel that softmax chooses; the other benchmark takes longer"),
    Part("norms/benchmark", ("layer_norm",), 10, "both directions, and rows that no power of two divides"),
    Part("norms/benchmark_rms", ("rms_norm",), 10, "as for layer_norm"),
    Part("inductor/benchmark", ("cross_entropy",), 16, "the loss; cross_entropy/benchmark checks a gradient of over 24 GB"),
    Part("rope/benchmark", ("rotary_embedding",), 10, "its one benchmark"),
    Part("gated_activations/benchmark", ("swiglu", "geglu"), 19, "its one benchmark, and the largest here"),
    Part("gated_activations/benchmark_gelu", ("gelu",), 16, "its one benchmark"),
    Part("dropout/benchmark", ("dropout",), 14, "its one benchmark"),
    Part("reductions/benchmark", ("sum",), 9, "whole tensors, rows and columns"),
    Part("reductions/benchmark_max", ("max",), 4, "its one benchmark"),
    Part("reductions/benchmark_histogram", ("histogram",), 4, "its one benchmark"),
    Part("matmul_ladder/benchmark", ("matmul",), 6, "each step of the ladder; what a card refuses, its record says"),
    Part("landscape/search", ("matmul",), 2, "which of over a hundred configurations wins on the card, at five shapes"),
    Part("hopper/benchmark_skinny", ("matmul",), 3, "the library's own; hopper/benchmark checks a product of over 24 GB"),
    Part("attention_peers/forward", ("attention",), 8, "forward, beside every peer that the card has"),
    Part("attention_peers/backward", ("attention",), 8, "backward, beside the same"),
    Part("attention_peers/decode", ("attention",), 12, "one query a sequence, over up to 64 thousand keys"),
)  # fmt: skip
NEVER_ABSENT = ("hardware/sheet", "memory/levels")  # nothing can be judged without them


def chosen(work: Iterable[Work]) -> list[Work]:
    """What of some work is of the set."""
    wanted = {part.program for part in PARTS}
    return [item for item in work if item.kind == "program" and item.short in wanted]


def no_room(gib: float) -> dict[str, str]:
    """The programs that a card of so many gibibytes is not asked to run, each with the reason."""
    return {part.program: f"it holds up to {part.gib} GiB, and the card has {gib:.1f}" for part in PARTS if part.gib > gib}


def lacking(programs: Iterable[str], absent: dict[str, Any]) -> list[str]:
    """The programs of the set that are neither among these nor said to be absent, with a reason."""
    there = set(programs)
    excused = {name for name, reason in absent.items() if isinstance(reason, str) and reason.strip() and name not in NEVER_ABSENT}
    return [part.program for part in PARTS if part.program not in there | excused]
