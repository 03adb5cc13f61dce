"""Claims about matrix products and attention beside the vendor's libraries, and beside CUDA written by hand."""

import statistics

from scripts.claims.evidence import Cell, Evidence, Verdict
from scripts.claims.verdicts import FALSE, MOST, TRUE, TRUE_IF, of_each, of_most, shares, size, spread

OURS, TEXTBOOK = "blockwise_nn", "stages"  # the library's product, and the one that the ladder reaches with pointers alone
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
]
BESIDE_BACKWARD = [("tool_norm", "tools/norm")]


def products(e: Evidence) -> list[Cell]:
    """The library's products beside cuBLAS."""
    return e.cells("mm", "hopper/benchmark", "hopper/benchmark_skinny", having=(OURS, "eager"))


def ratios(cells: list[Cell], name: str = OURS) -> list[float]:
    return [cell.ratio(name, "eager") for cell in cells]


def textbook(e: Evidence) -> list[float]:
    return ratios(e.cells("matmul_ladder", "matmul_ladder/benchmark", having=(TEXTBOOK, "eager")), TEXTBOOK)


def whole_tiles(e: Evidence) -> list[float]:
    """The same kernel as the ladder's where it was also given shapes that it is not made for."""
    return ratios(e.cells("matmul_ladder", "matmul_ladder/benchmark", having=("whole", "eager")), "whole")


def cublas_80_90(e: Evidence) -> Verdict:
    """True where four fifths of all recorded shapes reach the lower end, with kernels chosen for each shape and with one
    kernel for all; true if the kernel is chosen for the shape where only those do. What lies above the upper end is counted
    apart."""
    chosen, one = ratios(products(e)), textbook(e) + whole_tiles(e)
    passed = [[value >= 0.8 for value in values] for values in (chosen, one)]
    enough = [sum(holds) >= MOST * len(holds) for holds in passed]
    verdict = TRUE if all(enough) else TRUE_IF if any(enough) else FALSE
    within = sum(0.8 <= value <= 0.9 for value in chosen)
    above = sum(value > 0.9 for value in chosen)
    return Verdict(verdict, spread(chosen) | shares(passed[0]) | {"within": within, "above": above, "one_least": min(one)})


def cublas_85(e: Evidence) -> Verdict:
    """True where the middle of all recorded ratios to cuBLAS, of kernels chosen for the shape, lies between 80 % and 90 %;
    true if for some shapes where at least one lies there."""
    chosen = ratios(products(e))
    near = [0.8 <= value <= 0.9 for value in chosen]
    middle = statistics.median(chosen)
    verdict = TRUE if 0.8 <= middle <= 0.9 else TRUE_IF if any(near) else FALSE
    return Verdict(verdict, spread(chosen) | shares(near))


def cublas_5_15(e: Evidence) -> Verdict:
    """True where every recorded product with all sides from 2,048 takes at most 15 % longer than cuBLAS, true if some do."""
    chosen = ratios([cell for cell in products(e) if min(cell.sides) >= 2048])
    holds = [1 / value <= 1.15 for value in chosen]
    return Verdict(of_each(holds), spread(chosen) | shares(holds) | {"ahead": sum(value > 1 for value in chosen)})


def cublas_on_par(e: Evidence) -> Verdict:
    """True where every recorded square of 16 bits reaches 95 % of cuBLAS with kernels chosen for the shape and with one
    kernel for all; true if the kernel is chosen for it where only those do."""
    square = [cell for cell in products(e) if len(set(cell.sides)) == 1]
    chosen, one = ratios(square), textbook(e)
    passed = [min(values) >= 0.95 for values in (chosen, one)]
    verdict = TRUE if all(passed) else TRUE_IF if any(passed) else FALSE
    return Verdict(verdict, spread(chosen) | {"cases": len(chosen), "one_least": min(one)})


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
    bits or in 8."""
    cells = [(cell, OURS, "eager") for cell in products(e)]
    fp8 = e.cells("scaled_mm", "hopper/benchmark_fp8", having=("blockwise_tensor", "scaled_mm_tensor_fast"))
    cells += [(cell, "blockwise_tensor", "scaled_mm_tensor_fast") for cell in fp8]
    bound = [cell.ratio(ours, theirs) for cell, ours, theirs in cells if min(cell.sides) >= 1024]
    return Verdict(TRUE if min(bound) <= 0.5 else FALSE, spread(bound) | {"cases": len(bound)})


def half_at_2048(e: Evidence) -> Verdict:
    """True where the square of 2,048 in 16 bits reaches less than half of what cuBLAS does."""
    cells = [cell for cell in products(e) if cell.sides == [2048] * 3]
    slow = [cell.ratio(OURS, "eager") < 0.5 for cell in cells]
    figures = spread(ratios(cells)) | {"ours": cells[0].tflops(OURS), "theirs": cells[0].tflops("eager")}
    return Verdict(of_each(slow), figures)


def cuda_80_90(e: Evidence) -> Verdict:
    """True where four fifths of the operations that this site has in both languages take at most a quarter longer in Triton.
    What is faster in Triton counts as reaching it."""
    cells = [cell for op, program in BESIDE for cell in e.cells(op, program, having=("triton", "cuda"))]
    cells += [c for op, name in BESIDE_BACKWARD for c in e.cells(op, name, direction="bwd", having=("triton", "cuda"))]
    found = [cell.ratio("triton", "cuda") for cell in cells]
    holds = [value >= 0.8 for value in found]
    within = sum(0.8 <= value <= 0.9 for value in found)
    return Verdict(of_most(holds), spread(found) | shares(holds) | {"within": within})


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
    figures = {"forward": sum(forward), "behind": sum(value < 0 for value in lead), "most": max(lead), "where": where}
    return Verdict(of_most(holds), figures | {"within": sum(0.1 <= value <= 0.2 for value in lead)} | shares(holds))


def flex_as_flash(e: Evidence) -> Verdict:
    """True where compiled FlexAttention takes at most a tenth longer than PyTorch's flash attention in every recorded case,
    true if in some of them."""
    cells = [cell for cell in attention_cells(e) if "flex" in cell.us]
    found = [cell.ratio("flex", "flash") for cell in cells]
    holds = [value >= 0.9 for value in found]
    cudnn = [cell.ratio("flex", "cudnn") for cell in cells]
    return Verdict(of_each(holds), spread(found) | shares(holds) | {"cudnn_median": statistics.median(cudnn)})


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
