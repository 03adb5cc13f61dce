"""Claims about how a program runs: threads, memory, masks, blocks."""

import re

from scripts.claims.evidence import Evidence, Verdict
from scripts.claims.verdicts import FALSE, TRUE, TRUE_IF, of_each, shares, spread


def threads_are_elements(e: Evidence) -> Verdict:
    """False where the compiled kernel has another number of threads than its block has elements, for any recorded block and
    number of warps."""
    rows = e.numbers("block_model/threads", r"^ *(\d+) +(\d+) +(\d+) +\d+ ")
    other = [threads != block for block, _, threads in rows]
    of_64 = [row[2] for row in rows if row[0] == 64]
    figures = {"cases": len(rows), "other": sum(other), "least": min(of_64), "most": max(of_64)}
    return Verdict(FALSE if any(other) else TRUE, figures)


def tile_in_shared(e: Evidence) -> Verdict:
    """True where every recorded kernel that loads a block asks for shared memory, true if the block takes part in a product
    or changes its layout where only such kernels do."""
    rows = dict(re.findall(r"^(add|softmax, one row|transpose|matmul, \d stages?) +([\d,]+) ", e.output("memory/places"), re.M))
    asked = {name: int(bytes.replace(",", "")) for name, bytes in rows.items()}
    verdict = TRUE if all(asked.values()) else TRUE_IF if any(asked.values()) else FALSE
    return Verdict(verdict, {"add": asked["add"], "softmax": asked["softmax, one row"], "matmul": asked["matmul, 3 stages"]})


def one_thread_block(e: Evidence) -> Verdict:
    """True where a program is one thread block with every recorded value of num_ctas, true if it is one only for
    num_ctas=1."""
    found = e.numbers("claims/clusters", r"^num_ctas=(\d+): .*?(\d+) thread blocks? a program")
    blocks = {ctas: blocks for ctas, blocks in found}
    verdict = TRUE if set(blocks.values()) == {1} else TRUE_IF if blocks[1] == 1 else FALSE
    return Verdict(verdict, {"most": max(blocks), "blocks": blocks[max(blocks)]})


def no_synchronization(e: Evidence) -> Verdict:
    """True where no program is wrong that stores a block and loads it again in another order, without a barrier of its own,
    over all recorded warps and rounds; true if nothing is stored and loaded again where some are."""
    rows = e.numbers("block_model/race", r"(\d+) of (\d+) programs wrong without barriers, (\d+) with them")
    wrong, programs, mended = (max(column) for column in zip(*rows, strict=True))
    verdict = TRUE_IF if wrong and not mended else TRUE if not wrong else FALSE
    return Verdict(verdict, {"wrong": wrong, "programs": programs, "mended": mended})


def programs_cannot_talk(e: Evidence) -> Verdict:
    """False where all programs that fit at once meet at a barrier in memory and none gives up."""
    kept, output = e.figures("hard/barrier"), e.output("hard/barrier")
    met = "right: True" in output and "gave up: 0" in output
    most = max(kept["barrier_us"], key=int)
    figures = {"asked": kept["asked"], "stuck": kept["gave_up"], "timed": int(most), "us": kept["barrier_us"][most]}
    return Verdict(FALSE if met else TRUE, {"fit": kept["fit"]} | figures)


def reductions_take_several(e: Evidence) -> Verdict:
    """False where the sum of each row by one program alone reaches 90 % of a copy's rate."""
    cell = e.cells("row_sum", "patterns/benchmark_reductions", having=("blockwise",))[0]
    part = cell.gbps("blockwise") / e.copy_gbps("patterns/benchmark_reductions")
    return Verdict(FALSE if part >= 0.9 else TRUE, {"part": part})


def coalescing_for_all(e: Evidence) -> Verdict:
    """False where reading every second, third, ... element of memory falls below half of the rate of reading neighbors."""
    cells = {cell.sides[1]: cell.gbps("blockwise") for cell in e.cells("strided_copy", "memory/strides", having=("blockwise",))}
    part = {stride: rate / cells[1] for stride, rate in cells.items() if stride > 1}
    stride = max(part)
    counted = zip(sorted(cells), e.counted("memory/strides", "all")["each"], strict=True)
    reads = {step: one["dram_read_bytes"] for step, one in counted}
    whole = max(step for step, read in reads.items() if read > 0.95 * step * reads[1])
    figures = {"second": part[2], "stride": stride, "part": part[stride], "whole": whole, "more": reads[stride] / reads[whole]}
    return Verdict(FALSE if min(part.values()) < 0.5 else TRUE, figures)


def unmasked_is_noticed(e: Evidence) -> Verdict:
    """False where a kernel without its mask ends without a fault and has changed another tensor's numbers."""
    changed = e.numbers("masking/neighbor", r"^doubled numbers of the neighbor: ([\d,]+)")[0][0]
    return Verdict(FALSE if changed else TRUE, {"changed": changed})


def masked_lanes_are_zero(e: Evidence) -> Verdict:
    """True in general where the language promises it; true if compiled as recorded where the instructions set a masked lane
    to zero before the load; false where they do not."""
    text = e.output("masking/lanes")
    alone = text.split("other=-inf")[0]
    set_to_zero = re.search(r"mov\.\w+ (%r\d+), 0x0;\n@%p\d+ ld\.global\.b32 \{ \1 \}", alone)
    return Verdict(TRUE_IF if set_to_zero else FALSE, {"triton": e.program("masking/lanes")["environment"]["triton"]})


def always_mask(e: Evidence) -> Verdict:
    """True where a mask that is needed nowhere costs less than 1 % at every recorded length, true if at some, each beside the
    same kernel with its mask in the last program alone."""
    cells = e.cells("negate", "masking/benchmark", having=("masked", "split"))
    cost = {(cell.sides[0], cell.dtype): cell.us["masked"] / cell.us["split"] - 1 for cell in cells}
    even = [value for (length, _), value in cost.items() if length % 16 == 0]
    odd = [value for (length, _), value in cost.items() if length % 16]
    free = [value < 0.01 for value in cost.values()]
    return Verdict(of_each(free), {"even": max(even), "odd_least": 1 + min(odd), "odd_most": 1 + max(odd)} | shares(free))


def masks_not_branches(e: Evidence) -> Verdict:
    """True if the condition is a block where the compiler refuses a branch on a block and takes one on a number; true where
    it refuses both."""
    text = e.output("patterns/block_if")
    on_block = "on_a_block: Boolean value of Tensor" in text
    on_number = re.search(r"^on_a_number: (\d+) elements written", text, re.M)
    verdict = TRUE_IF if on_block and on_number else TRUE if on_block else FALSE
    return Verdict(verdict, {"written": int(on_number[1]) if on_number else 0})


def minus_infinity(e: Evidence) -> Verdict:
    """True where filling masked lanes with minus infinity gives PyTorch's maximum, sum and product; true if the operation is
    a maximum where only that is right."""
    lines = {line.split()[0]: line.split()[1:] for line in e.output("masking/fillers").splitlines()}
    right = [ours == theirs for ours, theirs in zip(lines["other=-inf"], lines["PyTorch"], strict=True)]
    verdict = TRUE if all(right) else TRUE_IF if right[0] else FALSE
    return Verdict(verdict, shares(right) | {"sum": lines["other=-inf"][1], "wanted": lines["PyTorch"][1]})


def dot_is_tensor_cores(e: Evidence) -> Verdict:
    """True where the compiled product has instructions of the tensor cores in bfloat16 and in exact float32, true if in one
    of them."""
    found = [e.figures(f"matmul_ladder/{name}") for name in ("tensor_cores", "tiles")]
    used = [bool(each["wgmma_mma_async"] or each["mma_sync"]) for each in found]
    return Verdict(of_each(used), {"wgmma": found[0]["wgmma_mma_async"], "fma": found[1]["fma_rn_f32"]})


def dot_sides_16(e: Evidence) -> Verdict:
    """True where every recorded version refuses rows and columns below 16, false where one takes fewer and asks it of the
    depth alone."""
    said = e.said("dot_shapes")
    rules = {v: re.search(r"M >= (\d+), N >= (\d+) and K >= (\d+)", text) for v, text in said.items()}
    least = [int(rule[1]) for rule in rules.values() if rule]
    depth = [int(rule[3]) for rule in rules.values() if rule]
    return Verdict(FALSE if least and min(least) < 16 else TRUE, {"rows": min(least), "depth": max(depth), "versions": len(said)})


def powers_of_two_are_best(e: Evidence) -> Verdict:
    """False as advice on speed where every recorded version refuses any other length, true where one takes it."""
    said = e.said("arange_power")
    refused = ["must be a power of 2" in text for text in said.values()]
    return Verdict(FALSE if all(refused) else TRUE, shares(refused))


def add_by_block(e: Evidence) -> dict[int, float]:
    cell = e.cells("blocked_add", "memory/block_sizes")[0]
    return {int(name.removeprefix("block")): time for name, time in cell.us.items()}


def start_with_64(e: Evidence) -> Verdict:
    """True where an addition with a block of 128 comes within 5 % of the best block's time."""
    times = add_by_block(e)
    best = min(times, key=times.__getitem__)
    near = [block for block, time in times.items() if time <= 1.05 * times[best]]
    slower = times[128] / times[best]
    return Verdict(TRUE if slower <= 1.05 else FALSE, {"slower": slower, "best": best, "first": min(near), "last": max(near)})


def larger_is_better(e: Evidence) -> Verdict:
    """True where every larger block is faster than the one before it, by more than 1 %; true if small where it is so up to some
    size."""
    times = sorted(add_by_block(e).items())
    gains = [after < before / 1.01 for (_, before), (_, after) in zip(times, times[1:], strict=False)]
    first = times[gains.index(False)][0] if False in gains else times[-1][0]
    best = min(time for _, time in times)
    level = {block: time for block, time in times if block >= first and time <= 1.05 * best}
    figures = {"first": first, "last": max(level, default=first), "apart": max(level.values(), default=best) / best - 1}
    verdict = TRUE if all(gains) else TRUE_IF if gains[0] else FALSE
    return Verdict(verdict, figures | {"longest": times[-1][0], "slower": times[-1][1] / best})


def larger_moves_less(e: Evidence) -> Verdict:
    """True where the GPU counts fewer bytes for an addition the larger its block is, by more than 1 % in all."""
    each = e.counted("memory/block_sizes", "all")["each"]
    moved = [one["dram_read_bytes"] + one["dram_write_bytes"] for one in each]
    *others, longest = moved
    figures = {"more": longest / min(others) - 1, "registers": each[-1]["registers"]}
    figures |= {"apart": 100 * (max(others) / min(others) - 1), "blocks": len(others)}
    return Verdict(TRUE if moved[0] / moved[-1] > 1.01 else FALSE, figures)


def two_aranges(e: Evidence) -> Verdict:
    """True where a kernel that adds two ranges is refused, false where it runs and touches part of the tile."""
    written, tile = e.numbers("grid_math/diagonal", r"^(\d+) of (\d+) elements were written")[0]
    return Verdict(FALSE if written else TRUE, {"written": written, "tile": tile})


def row_plus_column_stride(e: Evidence) -> Verdict:
    """False where a kernel with the row plus the column times the stride gives the transposed of a contiguous tensor."""
    lines = e.output("grid_math/column_major").splitlines()
    turned = "x: False, x transposed: True" in lines
    return Verdict(FALSE if turned else TRUE, {"ways": len(lines)})


def relaxed_doubles(e: Evidence) -> Verdict:
    """True where relaxed atomic additions are more than 1.5 times as fast as those with acquire and release for every
    recorded number of addresses, true if for some."""
    cells = e.cells("contend", "reductions/benchmark_atomics", having=("relaxed", "ordered"))
    gains = {cell.sides[0]: cell.ratio("relaxed", "ordered") for cell in cells}
    holds = [gain > 1.5 for gain in gains.values()]
    some = [addresses for addresses, gain in gains.items() if gain > 1.5]
    figures = {"first": min(some, default=0), "last": max(some, default=0), "one": gains[min(gains)]}
    figures |= {"longest": max(gains), "at_longest": gains[max(gains)]}
    return Verdict(of_each(holds), spread(list(gains.values())) | shares(holds) | figures)


def wide_offsets_slow(e: Evidence) -> Verdict:
    """True where a copy of a matrix takes more than 3 % longer with offsets of 64 bits than with offsets of 32, at every recorded
    size, true if at some."""
    cells = e.cells("tile_copy", "grid_math/benchmark", having=("blockwise", "int32"))
    longer = [cell.us["blockwise"] / cell.us["int32"] for cell in cells]
    return Verdict(of_each([value > 1.03 for value in longer]), spread(longer) | {"cases": len(longer)})


def bank_conflicts(e: Evidence) -> Verdict:
    """True where no access to shared memory takes more passes over the banks than its bytes need, in the kernels of the lens as
    they are compiled for a Hopper; true if nearly always will do where 95 % take no more."""
    found = []
    for name in e.names("lens"):
        launches = [launch for launch in e.record("lens", name, "cpu")["launches"] if launch["target"] == "sm_90"]
        found += [(name, access["taken"], access["needed"]) for launch in launches for access in launch.get("shared", [])]
    free = [taken <= needed for _, taken, needed in found]
    left = sorted({name for name, taken, needed in found if taken > needed})
    verdict = TRUE if all(free) else TRUE_IF if sum(free) >= 0.95 * len(free) else FALSE
    most = max((taken // needed for _, taken, needed in found if taken > needed), default=1)
    figures = {"kernels": len({name for name, _, _ in found}), "names": " and ".join(f"`{name}`" for name in left), "most": most}
    return Verdict(verdict, shares(free) | figures)
