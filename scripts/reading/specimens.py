"""Which launches the compiler lens shows: one typical launch of every kernel, and others where a choice is compared."""

from dataclasses import replace
from typing import NamedTuple

from scripts.launches import SPECIMENS, Specimen

TARGETS = ("sm_90", "sm_80", "sm_100", "gfx942")
# Of these kernels other launches than the first that is listed; those after the first are compiled for sm_90 alone.
SHOWN = {
    "softmax_kernel": ["4096-bf16", "4096-fp32"],
    "staged_matmul_kernel": ["stages_3", "stages_1", "warps_4"],
    "matmul_tiled_kernel": ["rows-128x128x64-bf16"],
    "attention_forward_kernel": ["64-64x64-4-2-pointers-bf16"],
    "negate_kernel": ["call", "no-mask"],
}
# Of these, the first launch by other versions of Triton too, for sm_90.
BY_VERSION = {"softmax_kernel": ("3.6.0", "3.9.0"), "staged_matmul_kernel": ("3.6.0", "3.9.0")}


class Shown(NamedTuple):
    """One launch, compiled for one GPU by one version of Triton; an empty version is that of the environment."""

    label: str
    target: str
    version: str = ""


def kernels() -> list[str]:
    return list(dict.fromkeys(specimen.function for specimen in SPECIMENS))


def shown(kernel: str) -> list[Shown]:
    """What a kernel's lens shows, the first first."""
    labels = SHOWN.get(kernel) or [next(one.label for one in SPECIMENS if one.function == kernel)]
    found = [Shown(labels[0], target) for target in TARGETS] + [Shown(label, "sm_90") for label in labels[1:]]
    return found + [Shown(labels[0], "sm_90", version) for version in BY_VERSION.get(kernel, ())]


def specimen(kernel: str, label: str) -> Specimen:
    """A listed launch; or one that only the lens compiles, beside a listed one."""
    listed = {one.label: one for one in SPECIMENS if one.function == kernel}
    if (kernel, label) == ("negate_kernel", "no-mask"):
        return replace(listed["call"], label=label, arguments=listed["call"].arguments | {"MASK": False})
    return listed[label]
