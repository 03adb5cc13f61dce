"""An access outside of every tensor: what it did, and what usually causes it."""

import numpy as np

from kernels.labs.diagnose.block_as_condition import one_truth
from kernels.labs.diagnose.words import lanes_of, program_of, span
from kernels.labs.diagnose.wrong_strides import exchanged, lies_at, stride_of_another
from kernels.labs.watch.findings import Finding
from kernels.labs.watch.regions import Region
from kernels.labs.watch.watch import Watch

OVERFLOW = 2**28


def last_offset(region: Region) -> int:
    """The offset of the last element in memory; -1 of a tensor without any."""
    return int(region.offsets(region.addresses)[-1]) if len(region.addresses) else -1


def one_address(finding: Finding, watch: Watch) -> str:
    """What to say of a block of addresses where the tensor holds a single number."""
    region = finding.region
    most = max(len(other.addresses) for other in watch.regions)
    if region.role != "out" or len(region.addresses) != 1 or most == 1 or not np.prod(finding.shape) > 1:
        return ""
    return (
        f"`{region.name}` holds one number, and the offsets are those of a vector. Its address is the pointer alone, without "
        "offsets, and what goes there is one number too: `tl.sum` makes one of a block."
    )


def other_strides(finding: Finding, watch: Watch) -> str:
    """What to say of an access whose offsets fit the strides of another matrix, or rows taken for columns."""
    region = finding.region
    same = [f.offsets for f in watch.findings if f.kind == finding.kind and f.region is region]
    offsets = np.concatenate(same)
    if len(offsets) < 2:
        return ""
    if exchanged(region, offsets):
        return (
            f"rows and columns are exchanged in the address: {lies_at(region.name)}. Which of your blocks counts the rows of "
            f"{region.name}, and which its columns?"
        )
    other = stride_of_another(region, [r for r in watch.regions if r is not region], offsets)
    return (
        f"the stride of `{other}` is used for `{region.name}`: each tensor has its own. {lies_at(region.name)}." if other else ""
    )


def why_wild(finding: Finding, watch: Watch) -> str:
    region, offsets = finding.region, finding.offsets
    last = last_offset(region)
    if abs(int(offsets[0])) > OVERFLOW or abs(int(offsets[-1])) > OVERFLOW:
        return (
            "the offset was computed in int32 and wrapped around: a program's number times a stride passed 2^31. "
            "Widen it first: `tl.program_id(0).to(tl.int64)`. More: errors/numbers/#overflow"
        )
    if one_truth(watch):
        return one_truth(watch)
    if one_address(finding, watch):
        return one_address(finding, watch)
    if "mask" not in finding.statement:
        return (
            "this access has no mask. The last block reaches past the end wherever the size is no multiple of the block. "
            "Pass `mask=offsets < n`, for loads and for stores. More: errors/numbers/#missing-mask"
        )
    if 0 <= offsets[0] < last:
        rows = f"x[i, j] lies at i * {region.strides[0]} + j * {region.strides[1]}" if len(region.strides) == 2 else ""
        rows = rows.replace("x[", f"{region.name}[")
        return (
            f"a wrong stride: the kernel takes {region.name}'s elements to lie side by side. Its strides are "
            f"{region.strides}{': ' + rows if rows else ''}. Pass `{region.name}.stride(0)` and so on, and multiply with them. "
            "More: errors/numbers/#turned"
        )
    if other_strides(finding, watch):
        return other_strides(finding, watch)
    if int(offsets[0]) < 0:
        return (
            f"the offset is below 0, before the first element of {region.name}. The mask must rule out what lies before the "
            "start too: `(offsets >= 0) & (offsets < n)`."
        )
    if len(finding.lanes) == 1 and int(offsets[0]) == last + 1:
        return (
            "off by one: the last index is n - 1. Either the mask lets n through (`offsets <= n` for `offsets < n`), or the "
            "index is one too high."
        )
    if finding.whole and finding.program[0] == finding.grid[0] - 1 and finding.grid[0] > 1:
        return (
            "every lane of the last program is out: the grid has more programs than there is work. One program for each row is "
            "`(x.shape[0],)`, one for each block `(triton.cdiv(n, BLOCK),)`."
        )
    if len(finding.shape) > 1:
        return (
            "the mask does not cover every dimension, or compares one with the other's size, or the index is wrong. A tile's "
            "mask needs both: "
            "`(rows[:, None] < M) & (columns[None, :] < N)`, and in a product's loop what is left of K."
        )
    return (
        f"the index or the mask is wrong. Does the index lead to the element of {region.name} that is meant, and does the mask "
        f"compare the same index with the size of {region.name}, not the position within the block?"
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
