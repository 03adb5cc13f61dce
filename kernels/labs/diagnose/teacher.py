"""What a finding means: which lanes of which program, and what usually causes it."""

import re

import torch

from kernels.labs.diagnose.block_as_condition import one_truth
from kernels.labs.diagnose.out_of_bounds import wild
from kernels.labs.diagnose.words import index_of, lanes_of, program_of, span
from kernels.labs.diagnose.wrong_strides import lies_at
from kernels.labs.watch.findings import Finding
from kernels.labs.watch.watch import Watch

# What the second program of a race does.
DOES = {"load": "reads it", "store": "writes it too", "atomic": "updates it by an atomic operation"}


def unfilled(watch: Watch, held: str) -> str:
    """What it means that a lane of undefined contents reached the result, with the loads it may have come from."""
    loads = list(dict.fromkeys(watch.fillers))
    one = "a load switches" if len(loads) == 1 else "one of these loads switches"
    return (
        f"{one} lanes off and gives no `other`, in\n  " + "\n  ".join(loads) + "\nWhat such lanes hold is undefined on a "
        f"GPU (here it is {held}), and it reached the result. Give `other=` a value that changes nothing: 0 for a sum, -inf for "
        "a maximum."
    )


def race(finding: Finding, watch: Watch) -> str:
    region = finding.region
    element = index_of(region.indices(finding.lanes)[0]) if finding.lanes.size and region.role != "scratch" else ""
    one = program_of(finding.program, finding.grid)
    two = program_of(finding.other_program, finding.grid)
    both = finding.statement == finding.other_statement
    same = f"in\n  {finding.statement}" if both else f"in\n  {finding.statement}\n  {finding.other_statement}"
    if finding.other_kind == "store" or "store" in finding.other_statement:
        cause = (
            "two programs own the same elements. Are the offsets multiplied by the block's size, and does every axis of the "
            "grid have its own `tl.program_id`? Where many programs add to one element, use `tl.atomic_add`."
        )
        if len(region.shape) > 1:
            cause += f" Does each block in the address have its own stride? {lies_at(region.name)}."
        ragged = [text for text in (finding.statement,) if "mask" not in text]
        if len(region.shape) > 1 and ragged:
            cause = "this store has no mask, and a row's surplus lanes land in the next row, which another program owns. " + cause
    else:
        cause = (
            "one program reads what another one writes, and nothing says who is first. Read from the input, write to the "
            "output, and leave to a second launch what needs the first one's results."
        )
    does = DOES[finding.other_kind]
    return (
        f"A race: {one[0].lower()}{one[1:]} writes {region.name}{element}, and {two[0].lower()}{two[1:]} {does}, {same}\n\n"
        f"Programs run in no order, so the result is chance. Usually: {one_truth(watch) or cause}"
    )


def told(finding: Finding, watch: Watch) -> str:
    """A finding as a paragraph."""
    region, who = finding.region, program_of(finding.program, finding.grid)
    address = f": a stride is missing, or another tensor's. {lies_at(region.name)}" if len(region.shape) == 2 else ""
    if finding.kind.startswith("wild"):
        return wild(finding, watch)
    if finding.kind == "race":
        return race(finding, watch)
    if finding.kind == "input":
        return (
            f"{who} writes into the input `{region.name}`, in\n  {finding.statement}\n\n"
            "Usually: the store got the input's pointer where the output's belongs. Inputs must stay as they are."
        )
    if finding.kind == "unset":
        return (
            f"{who} reads `{region.name}` before anything was written there, in\n  {finding.statement}\n\n"
            "Usually: the kernel loads from the output's pointer where it means an input's, or adds to an output that nobody "
            "set to zero. An output holds whatever was in its memory before: keep sums in a variable, and call "
            "`out.zero_()` before a launch that adds to it by atomics."
        )
    return (
        f"{who} writes two different values to one element, in\n  {finding.statement}\n"
        f"  {lanes_of(finding.lanes, ())}, offset {span(finding.offsets[:1])} of {region.name}\n\n"
        f"Usually: the offsets of two lanes are equal{address}. Which of the values stays is chance."
    )


def missing(watch: Watch, out: torch.Tensor) -> str:
    """What it means that some elements of the output were never written; nothing if all were."""
    region = next(region for region in watch.regions if region.role == "out")
    gaps = (~region.written & region.untouched()).nonzero()[0]
    if not len(gaps):
        return ""
    indices = region.indices(gaps)
    many = (
        f"{len(indices)} of {len(region.addresses)} elements of the output {'was' if len(indices) == 1 else 'were'} never written"
    )
    first = f"The first is {region.name}{index_of(indices[0])}, the last {region.name}{index_of(indices[-1])}."
    first = f"It is {region.name}{index_of(indices[0])}." if len(indices) == 1 else first
    square = len(region.shape) == 2 and len(region.addresses) > len(gaps) > len(region.addresses) / 2
    diagonal = square and all(i != j for i, j in indices) and min(region.shape) > 1
    if one_truth(watch):
        cause = one_truth(watch)
    elif region.skipped[gaps].any() and len(region.shape) == 1:
        cause = (
            "the mask is too narrow: a lane pointed at this element and was switched off. The last index is n - 1, and "
            "`offsets < n` includes it."
        )
    elif region.skipped[gaps].any():
        cause = "the mask is too narrow, or compares one dimension with the other's size: a lane pointed here, switched off."
    elif diagonal:
        cause = "rows and columns were added lane by lane. `rows[:, None]` and `columns[None, :]` make a tile of them."
    elif not any(re.search(r"store\(|atomic_", text) for text in watch.sources):
        cause = (
            "the kernel has no `tl.store`. Assigning to a name, or returning a block, writes nothing to memory: "
            "`tl.store(out_ptr + offsets, value, mask=mask)` does."
        )
    elif len(gaps) == len(region.addresses):
        cause = "the store is missing, or goes somewhere else, or the grid is empty: `n // BLOCK` is 0 for a short input."
    else:
        cause = (
            "the grid is too short. `n // BLOCK` leaves the rest without a program: round up with `triton.cdiv(n, BLOCK)`. If "
            "the grid is right, a loop ends early in the same way, or the offsets leave elements out: is the program's number "
            "multiplied by the block's size?"
        )
    return f"{many}. {first}\n  The launch had {watch.programs} program{'' if watch.programs == 1 else 's'}.\n\nUsually: {cause}"
