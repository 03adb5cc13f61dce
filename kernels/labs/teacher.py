"""What a finding means: which lanes of which program, and what usually causes it."""

import torch

from kernels.labs.findings import Finding
from kernels.labs.regions import Region
from kernels.labs.source import masks_joined_by_words
from kernels.labs.watch import Watch
from kernels.labs.words import index_of, lanes_of, program_of, span

OVERFLOW = 2**28


def joined(watch: Watch) -> str:
    """A remark on masks joined by `and`, `or`, `not` or a chain, which a block does not understand."""
    found = next((text for text in map(masks_joined_by_words, watch.sources) if text), "")
    words = (
        "is no mask of both. On blocks, use `&` for `and`, `|` for `or` and `~` for `not`, with parentheses around each "
        "comparison."
    )
    return f"`{found}` {words}" if found else ""


def unfilled(watch: Watch, held: str) -> str:
    """What it means that a lane of undefined contents reached the result, with the loads it may have come from."""
    loads = list(dict.fromkeys(watch.fillers))
    one = "a load switches" if len(loads) == 1 else "one of these loads switches"
    return (
        f"{one} lanes off and gives no `other`, in\n  " + "\n  ".join(loads) + "\nWhat such lanes hold is undefined on a "
        f"GPU (here it is {held}), and it reached the result. Give `other=` a value that changes nothing: 0 for a sum, -inf for "
        "a maximum."
    )


def last_offset(region: Region) -> int:
    """The offset of the last element in memory; -1 of a tensor without any."""
    return int(region.offsets(region.addresses)[-1]) if len(region.addresses) else -1


def why_wild(finding: Finding, watch: Watch) -> str:
    region, offsets = finding.region, finding.offsets
    last = last_offset(region)
    if abs(int(offsets[0])) > OVERFLOW or abs(int(offsets[-1])) > OVERFLOW:
        return (
            "the offset was computed in int32 and wrapped around: a program's number times a stride passed 2^31. "
            "Widen it first: `tl.program_id(0).to(tl.int64)`."
        )
    if joined(watch):
        return joined(watch)
    if "mask" not in finding.statement:
        return (
            "this access has no mask. The last block reaches past the end wherever the size is no multiple of the block. "
            "Pass `mask=offsets < n`, for loads and for stores."
        )
    if 0 <= offsets[0] < last:
        rows = f"x[i, j] lies at i * {region.strides[0]} + j * {region.strides[1]}" if len(region.strides) == 2 else ""
        rows = rows.replace("x[", f"{region.name}[")
        return (
            f"a wrong stride: the kernel takes {region.name}'s elements to lie side by side. Its strides are "
            f"{region.strides}{': ' + rows if rows else ''}. Pass `{region.name}.stride(0)` and so on, and multiply with them."
        )
    if int(offsets[0]) < 0:
        return (
            f"the offset is below 0, before the first element of {region.name}. The mask must rule out what lies before the "
            "start too: `(offsets >= 0) & (offsets < n)`."
        )
    if len(finding.lanes) == 1 and int(offsets[0]) == last + 1:
        return "off by one: the last index is n - 1, so the mask is `offsets < n`, not `offsets <= n`."
    if finding.whole and finding.program[0] == finding.grid[0] - 1 and finding.grid[0] > 1:
        return (
            "every lane of the last program is out: the grid has more programs than there is work. One program for each row is "
            "`(x.shape[0],)`, one for each block `(triton.cdiv(n, BLOCK),)`."
        )
    if len(finding.shape) > 1:
        return (
            "the mask does not cover every dimension, or compares one with the other's size. A tile needs both: "
            "`(rows[:, None] < M) & (columns[None, :] < N)`, and in a product's loop what is left of K."
        )
    return (
        f"the mask lets too many lanes through. Does it compare the offset with the size of {region.name}, and not the "
        "position within the block?"
    )


def wild(finding: Finding, watch: Watch) -> str:
    region = finding.region
    does = "reads" if finding.kind == "wild load" else "writes"
    count = len(region.addresses)
    within = count and 0 <= finding.offsets[0] < last_offset(region)
    far_away = "between the elements of" if within else "outside of"
    what = f"{region.name} has {count} element{'' if count == 1 else 's'}"
    what += f", of shape {region.shape} and strides {region.strides}" if len(region.shape) > 1 else ""
    return (
        f"{program_of(finding.program, finding.grid)} {does} {far_away} `{region.name}`, in\n"
        f"  {finding.statement}\n"
        f"  {lanes_of(finding.lanes, finding.shape)}: offset {span(finding.offsets)}. {what}.\n\n"
        f"Usually: {why_wild(finding, watch)}"
    )


def race(finding: Finding, watch: Watch) -> str:
    region = finding.region
    element = index_of(region.indices(finding.lanes)[0]) if finding.lanes.size and region.role != "scratch" else ""
    one = program_of(finding.program, finding.grid)
    two = program_of(finding.other_program, finding.grid)
    both = finding.statement == finding.other_statement
    same = f"in\n  {finding.statement}" if both else f"in\n  {finding.statement}\n  {finding.other_statement}"
    if "store" in finding.other_statement:
        cause = (
            "two programs own the same elements. Are the offsets multiplied by the block's size, and does every axis of the "
            "grid have its own `tl.program_id`? Where many programs add to one element, use `tl.atomic_add`."
        )
        ragged = [text for text in (finding.statement,) if "mask" not in text]
        if len(region.shape) > 1 and ragged:
            cause = "this store has no mask, and a row's surplus lanes land in the next row, which another program owns. " + cause
    else:
        cause = (
            "one program reads what another one writes, and nothing says who is first. Read from the input, write to the "
            "output, and leave to a second launch what needs the first one's results."
        )
    return (
        f"A race: {one[0].lower()}{one[1:]} writes {region.name}{element}, and {two[0].lower()}{two[1:]} touches it too, "
        f"{same}\n\n"
        f"Programs run in no order, so the result is chance. Usually: {joined(watch) or cause}"
    )


def told(finding: Finding, watch: Watch) -> str:
    """A finding as a paragraph."""
    region, who = finding.region, program_of(finding.program, finding.grid)
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
        "Usually: the offsets of two lanes are equal. Which of the values stays is chance."
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
    if joined(watch):
        cause = joined(watch)
    elif region.skipped[gaps].any() and len(region.shape) == 1:
        cause = (
            "the mask is too narrow: a lane pointed at this element and was switched off. The last index is n - 1, and "
            "`offsets < n` includes it."
        )
    elif region.skipped[gaps].any():
        cause = "the mask is too narrow, or compares one dimension with the other's size: a lane pointed here, switched off."
    elif diagonal:
        cause = "rows and columns were added lane by lane. `rows[:, None]` and `columns[None, :]` make a tile of them."
    elif len(gaps) == len(region.addresses):
        cause = "the store is missing, or goes somewhere else, or the grid is empty: `n // BLOCK` is 0 for a short input."
    else:
        cause = (
            "the grid is too short. `n // BLOCK` leaves the rest without a program: round up with `triton.cdiv(n, BLOCK)`. If "
            "the grid is right, a loop ends early in the same way, or the offsets leave elements out: is the program's number "
            "multiplied by the block's size?"
        )
    return f"{many}. {first}\n  The launch had {watch.programs} program{'' if watch.programs == 1 else 's'}.\n\nUsually: {cause}"
