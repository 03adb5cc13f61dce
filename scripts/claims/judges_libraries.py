"""Claims about matrix products and attention beside the vendor's libraries, and beside CUDA written by hand."""

import contextlib
import statistics
from typing import Any

from scripts.claims.evidence import Cell, Evidence, NotMeasured, Verdict
from scripts.claims.verdicts import FALSE, MOST, TRUE, TRUE_IF, of_each, of_most, shares, size, spread

OURS, TEXTBOOK = "blockwise_nn", "stages"  # the library's product, and the one that the ladder reaches with pointers alone
# Where the library's plan takes its kernel in Gluon; a test holds this to the plan, for every product that was measured.
BY_GLUON = {"1536x1536x1536", "3072x3072x3072", "8192x8192x8192", "8192x8192x28672", "8192x8192x512"}
# Where kernels in Triton alone were timed beside cuBLAS at shapes of those; what else stands in these records is no such kernel.
IN_TRITON = [("tail", "hopper/tail"), ("wide_tile", "hopper/wide_tile"), ("matmul_ladder", "matmul_ladder/benchmark")]
IN_TRITON += [("hopper_features", "hopper/features")]
OTHERS = {"eager", "gluon", OURS}
STEADY = 1.25  # times that scatter more, from their 20th to their 80th percentile, tell nothing of a tenth
H100 = "nvidia-h100-80gb-hbm3"
PEAK_TFLOPS = 989.4  # bfloat16, without sparsity, as the data sheet of the H100 and the H200 says
BESIDE = [
    ("beside_add", "cuda/add"),
    ("beside_naive", "cuda/naive"),
    ("beside_row_sum", "cuda/row_sum"),
    ("beside_softmax", "cuda/softmax"),
    ("beside_product", "cuda/tensor_cores"),
    ("beside_tiled", "cuda/tiled"),
    ("tool_bags", "tools/bags"),
    ("tool_chain", "tools/chain"),
    ("tool_epilogue", "tools/epilogue"),
]
BESIDE_BACKWARD = [("tool_norm", "tools/norm")]


def products(e: Evidence) -> list[Cell]:
    """The library's products beside cuBLAS, each shape once: by the benchmarks of its kernels, and where only they have a shape,
    by the trials of other tiles and of one wave."""
    found = e.cells("mm", "hopper/benchmark", "hopper/benchmark_skinny", having=(OURS, "eager"))
    for op, program, ours in (("wide_tile", "hopper/wide_tile", OURS), ("one_wave", "hopper/one_wave", "blockwise")):
        with contextlib.suppress(NotMeasured):  # a GPU that these trials are not for
            known = {(cell.shape, cell.dtype) for cell in found}
            more = [cell for cell in e.cells(op, program, having=(ours, "eager")) if (cell.shape, cell.dtype) not in known]
            found += [cell._replace(us=cell.us | {OURS: cell.us[ours]}) for cell in more]
    return found


def in_triton(e: Evidence) -> dict[tuple[str, str], float]:
    """The ratio to cuBLAS of Triton alone, by shape and dtype: the library's kernel, or where that is in Gluon, the fastest of
    those in Triton that were timed there, if any was."""
    found = {(cell.shape, cell.dtype): cell.ratio(OURS, "eager") for cell in products(e) if cell.shape not in BY_GLUON}
    for op, program in IN_TRITON:
        for cell in e.cells(op, program, having=("eager",)):
            ways = [cell.ratio(name, "eager") for name in cell.us if name not in OTHERS]
            if cell.shape in BY_GLUON:
                found[cell.shape, cell.dtype] = max(ways + [found.get((cell.shape, cell.dtype), 0.0)])
    return found


def by_gluon(e: Evidence, least: int = 1) -> dict[str, Any]:
    """What sentences say of the two languages: how many products run in Gluon, and the least of those in Triton alone, over all
    with sides of at least `least`."""
    cells = [cell for cell in products(e) if min(cell.sides) >= least]
    alone = {key: ratio for key, ratio in in_triton(e).items() if key in {(cell.shape, cell.dtype) for cell in cells}}
    worst = min(alone, key=alone.__getitem__)
    figures = {"gluon": sum(cell.shape in BY_GLUON for cell in cells), "alone": len(alone)}
    return figures | {"alone_least": alone[worst], "alone_at": size(worst[0]), "untimed": len(cells) - len(alone)}


def ratios(cells: list[Cell], name: str = OURS) -> list[float]:
    return [cell.ratio(name, "eager") for cell in cells]


def textbook(e: Evidence) -> list[float]:
    return ratios(e.cells("matmul_ladder", "matmul_ladder/benchmark", having=(TEXTBOOK, "eager")), TEXTBOOK)


def whole_tiles(e: Evidence) -> list[float]:
    """The same kernel as the ladder's where it was also given shapes that it is not made for."""
    return ratios(e.cells("matmul_ladder", "matmul_ladder/benchmark", having=("whole", "eager")), "whole")


def cublas_80_90(e: Evidence) -> Verdict:
    """True where four fifths of all recorded shapes reach the lower end in Triton alone, with kernels chosen for each shape and
    with one kernel for all; true if the kernel is chosen for the shape where only those do. What lies above the upper end is
    counted apart."""
    chosen, alone, one = ratios(products(e)), list(in_triton(e).values()), textbook(e) + whole_tiles(e)
    passed = [[value >= 0.8 for value in values] for values in (alone, one)]
    enough = [sum(holds) >= MOST * len(holds) for holds in passed]
    verdict = TRUE if all(enough) else TRUE_IF if any(enough) else FALSE
    figures = {"above": sum(value > 0.9 for value in alone), "all": len(chosen), "one_least": min(one)}
    return Verdict(verdict, spread(chosen) | shares(passed[0]) | figures | by_gluon(e))


def cublas_85(e: Evidence) -> Verdict:
    """True where the median of all recorded ratios to cuBLAS, of kernels chosen for the shape, lies between 80 % and 90 %;
    true if for some shapes where at least one lies there."""
    cells = products(e)
    near = [0.8 <= value <= 0.9 for value in ratios(cells)]
    median = statistics.median(ratios(cells))
    verdict = TRUE if 0.8 <= median <= 0.9 else TRUE_IF if any(near) else FALSE
    where = " and ".join(size(cell.shape) for cell, holds in zip(cells, near, strict=True) if holds)
    alone = [0.8 <= value <= 0.9 for value in in_triton(e).values()]
    figures = {"where": where, "alone_near": sum(alone), "alone": len(alone)}
    return Verdict(verdict, spread(ratios(cells)) | shares(near) | figures)


def cublas_5_15(e: Evidence) -> Verdict:
    """True where every recorded product with all sides from 2,048 takes at most 15 % longer than cuBLAS, on the H100 that the
    claim names and on the H200, and on the H200 also in Triton alone; true if some kernels are in Gluon where the library's do so
    for four products of five on each."""
    cells, named = ([cell for cell in products(card) if min(cell.sides) >= 2048] for card in (e, e.on(H100)))
    alone = [value for (shape, dtype), value in in_triton(e).items() if (shape, dtype) in {(c.shape, c.dtype) for c in cells}]
    of_all, of_named = ratios(cells), ratios(named)
    kept, kept_alone, kept_there = ([1 / value <= 1.15 for value in values] for values in (of_all, alone, of_named))
    within = [sum(each) >= MOST * len(each) for each in (kept, kept_there)]
    verdict = TRUE if all(kept + kept_alone + kept_there) else TRUE_IF if all(within) else FALSE
    figures = {"ahead": sum(value > 1 for value in of_all), "kept": sum(kept_alone)} | by_gluon(e, 2048)
    worst = named[of_named.index(min(of_named))]
    figures |= {"there": sum(kept_there), "cases_there": len(named), "where": size(worst.shape), "least_there": min(of_named)}
    tails = e.cells("tail", "hopper/tail", having=("whole", "eager"))
    whole = {size(cell.shape): cell.ratio("whole", "eager") for cell in tails}  # the library's kernel in Triton
    return Verdict(verdict, spread(of_all) | shares(kept) | figures | {"whole": whole[figures["alone_at"]]})


def cublas_on_par(e: Evidence) -> Verdict:
    """True where every recorded square of 16 bits reaches 95 % of cuBLAS with kernels chosen for the shape and with one
    kernel for all; true if the kernel is chosen for it where only those do."""
    square = [cell for cell in products(e) if len(set(cell.sides)) == 1]
    chosen, one = ratios(square), textbook(e)
    passed = [min(values) >= 0.95 for values in (chosen, one)]
    verdict = TRUE if all(passed) else TRUE_IF if any(passed) else FALSE
    worst = square[chosen.index(min(chosen))]
    alone = [value for (shape, _), value in in_triton(e).items() if len(set(shape.split("x"))) == 1]
    figures: dict[str, Any] = {"alone": len(alone), "alone_holding": sum(value >= 0.95 for value in alone)}
    figures |= {"alone_least": min(alone), "where": size(worst.shape), "one_least": min(one)}
    return Verdict(verdict, spread(chosen) | shares([value >= 0.95 for value in chosen]) | figures)


def peak_70_90(e: Evidence) -> Verdict:
    """True where every recorded square in bfloat16 lies between 70 % and 90 % of the data sheet's 989 TFLOP/s, true if the
    square is large where some do, counted from the first of them on."""
    square = sorted((cell for cell in products(e) if len(set(cell.sides)) == 1 and cell.dtype == "bf16"), key=lambda c: c.sides)
    part = {cell.sides[0]: cell.tflops(OURS) / PEAK_TFLOPS for cell in square}
    holds = [0.7 <= value <= 0.9 for value in part.values()]
    figures = spread(list(part.values())) | shares(holds)
    within = [side for side, value in part.items() if 0.7 <= value <= 0.9]
    first = min(within, default=0)
    theirs = max(cell.tflops("eager") / PEAK_TFLOPS for cell in square)
    sides = {"first": first, "beyond": sum(side >= first for side in part)}
    return Verdict(of_each(holds), figures | sides | {"cublas_most": theirs})


def behind_2_3(e: Evidence) -> Verdict:
    """True where some recorded product with a depth and sides of at least 1,024 takes at least twice as long as cuBLAS, in 16
    bits or in 8, as the library has it or in Triton alone."""
    cells = [(cell, OURS, "eager") for cell in products(e)]
    fp8 = e.cells("scaled_mm", "hopper/benchmark_fp8", having=("blockwise_tensor", "scaled_mm_tensor_fast"))
    cells += [(cell, "blockwise_tensor", "scaled_mm_tensor_fast") for cell in fp8]
    bound = [cell.ratio(ours, theirs) for cell, ours, theirs in cells if min(cell.sides) >= 1024]
    found = by_gluon(e, 1024)
    slow = min(min(bound), found["alone_least"]) <= 0.5
    return Verdict(TRUE if slow else FALSE, spread(bound) | {"cases": len(bound)} | found)


def half_at_2048(e: Evidence) -> Verdict:
    """True where the square of 2,048 in 16 bits reaches less than half of what cuBLAS does, by a kernel with pointers and tiles
    in groups of eight, as the tutorial's is built."""
    cells = e.cells("tile_order", "tile_order/groups", having=("group_8", "eager"))
    cell = next(cell for cell in cells if cell.sides == [2048] * 3)
    ratio = cell.ratio("group_8", "eager")
    figures = {"ratio": ratio, "ours": cell.tflops("group_8"), "theirs": cell.tflops("eager")}
    return Verdict(TRUE if ratio < 0.5 else FALSE, figures)


def cuda_80_90(e: Evidence) -> Verdict:
    """True where four fifths of the cases that this site has in both languages take at most a quarter longer in Triton. What is
    faster in Triton counts as reaching it; a case whose own times scatter by more than a quarter is left out."""
    cells = [cell for op, program in BESIDE for cell in e.cells(op, program, having=("triton", "cuda"))]
    cells += [c for op, name in BESIDE_BACKWARD for c in e.cells(op, name, direction="bwd", having=("triton", "cuda"))]
    sure = [cell for cell in cells if max(cell.wide[name] for name in ("triton", "cuda")) <= STEADY]
    found = [cell.ratio("triton", "cuda") for cell in sure]
    holds = [value >= 0.8 for value in found]
    figures = {"within": sum(0.8 <= value <= 0.9 for value in found), "left_out": len(cells) - len(sure)}
    return Verdict(of_most(holds), spread(found) | shares(holds) | figures)


def eighty_for_twenty(e: Evidence) -> Verdict:
    """True where each operation that this site has in both languages takes at most a fifth of the lines in Triton, and reaches
    four fifths of the speed in each of its cases; true if for some."""
    shares_of_lines, speeds = [], []
    for op, program in BESIDE:
        lines = e.figures(program)["lines"]
        shares_of_lines.append(lines["triton"] / lines["cuda"])
        speeds.append(min(cell.ratio("triton", "cuda") for cell in e.cells(op, program, having=("triton", "cuda"))))
    holds = [share <= 0.2 and speed >= 0.8 for share, speed in zip(shares_of_lines, speeds, strict=True)]
    figures = {"fewest": min(shares_of_lines), "lines_median": statistics.median(shares_of_lines), "slowest": min(speeds)}
    return Verdict(of_each(holds), figures | shares(holds))


def attention_cells(e: Evidence) -> list[Cell]:
    asked = [("forward", "fwd"), ("backward", "bwd")]
    return [
        cell
        for program, direction in asked
        for op in ("attention", "attention_causal")
        for cell in e.cells(op, f"attention_peers/{program}", direction=direction, having=("blockwise", "cudnn", "flash"))
    ]


def attention_cuda_leads(e: Evidence) -> Verdict:
    """True where the faster of cuDNN and PyTorch's flash attention is at least 10 % ahead in four fifths of the recorded
    cases, forward and backward, true if in some of them."""
    cells = attention_cells(e)
    lead = [1 - min(cell.us["cudnn"], cell.us["flash"]) / cell.us["blockwise"] for cell in cells]
    holds = [value >= 0.1 for value in lead]
    forward = [holds[at] for at, cell in enumerate(cells) if cell.direction == "fwd"]
    worst = cells[lead.index(max(lead))]
    where = f"{'forward' if worst.direction == 'fwd' else 'in the gradients'} at {size(worst.shape)}"
    wide = [one for one, cell in zip(holds, cells, strict=True) if cell.direction == "bwd" and cell.sides[-1] == 256]
    figures = {"forward": sum(forward), "behind": sum(value < 0 for value in lead), "most": max(lead), "where": where}
    figures |= {"wide": sum(wide), "of_wide": len(wide), "other": sum(holds) - sum(wide), "of_other": len(holds) - len(wide)}
    return Verdict(of_most(holds), figures | {"within": sum(0.1 <= value <= 0.2 for value in lead)} | shares(holds))


def flex_as_flash(e: Evidence) -> Verdict:
    """True where compiled FlexAttention takes at most a tenth longer than PyTorch's flash attention in every recorded case; true
    if heads are narrow where it does so in every case with heads of at most 128 numbers."""
    cells = [cell for cell in attention_cells(e) if "flex" in cell.us]
    found = [cell.ratio("flex", "flash") for cell in cells]
    holds = [value >= 0.9 for value in found]
    narrow = [one for one, cell in zip(holds, cells, strict=True) if cell.sides[-1] <= 128]
    cudnn = [cell.ratio("flex", "cudnn") for cell in cells]
    figures = {"narrow": len(narrow), "wide": len(holds) - len(narrow), "wide_holding": sum(holds) - sum(narrow)}
    verdict = TRUE if all(holds) else TRUE_IF if all(narrow) else FALSE
    return Verdict(verdict, spread(found) | shares(holds) | figures | {"cudnn_median": statistics.median(cudnn)})


def fp8_doubles(e: Evidence) -> Verdict:
    """True where every recorded shape runs at least 1.8 times as fast in e4m3 as in bfloat16, both products Blockwise's; true
    if for some."""
    eight = e.cells("scaled_mm", "hopper/benchmark_fp8", having=("blockwise_tensor",))
    sixteen = {cell.shape: cell for cell in products(e) if cell.dtype == "bf16"}
    gains = {cell.shape: sixteen[cell.shape].us[OURS] / cell.us["blockwise_tensor"] for cell in eight if cell.shape in sixteen}
    holds = [gain >= 1.8 for gain in gains.values()]
    worst = min(gains, key=gains.__getitem__)
    return Verdict(of_each(holds), spread(list(gains.values())) | shares(holds) | {"worst": size(worst)})


def descriptors_faster(e: Evidence) -> Verdict:
    """True where the same product with descriptors in place of pointers is more than 3 % faster at every recorded shape, true
    if at some."""
    cells = e.cells("hopper_features", "hopper/features", having=("pointers", "host"))
    gains = [cell.ratio("host", "pointers") for cell in cells]
    return Verdict(of_each([gain > 1.03 for gain in gains]), spread(gains) | {"cases": len(cells)})


def specialization_blackwell_only(e: Evidence) -> Verdict:
    """False where a kernel that asks for it is divided among warps on a GPU of compute capability 9."""
    capability = e.figures("hardware/sheet")["capability"]
    found = e.figures("matmul_ladder/specialized")
    divided = found["divided"] and float(capability) < 10
    return Verdict(FALSE if divided else TRUE, {"warps": found["warps"], "capability": capability})


def persistent_foreign(e: Evidence) -> Verdict:
    """False where keeping the programs running, with or without a flattened loop, gains more than 3 % at some recorded
    shape."""
    cells = e.cells("hopper_features", "hopper/features", having=("host", "persistent", "flattened"))
    gains = [max(cell.ratio("persistent", "host"), cell.ratio("flattened", "host")) for cell in cells]
    best = cells[gains.index(max(gains))]
    return Verdict(FALSE if max(gains) > 1.03 else TRUE, spread(gains) | {"shape": size(best.shape)})


def irregular_10x(e: Evidence) -> Verdict:
    """True where a histogram or a sum over bags of rows takes ten times as long as the CUDA kernels beside it in every
    recorded case, true if in some."""
    cells = e.cells("histc", "reductions/benchmark_histogram", having=("blockwise", "eager"))
    found = [cell.ratio("blockwise", "eager") for cell in cells]
    found += [cell.ratio("triton", "cuda") for cell in e.cells("tool_bags", "tools/bags", having=("triton", "cuda"))]
    figures = spread(found) | {"slower": 1 / min(found), "cases": len(found), "ahead": sum(value >= 1 for value in found)}
    return Verdict(of_each([value <= 0.1 for value in found]), figures)
