"""Claims about fusing, softmax and norms."""

import contextlib
import re
import statistics

from scripts.claims.evidence import Cell, Evidence, NotMeasured, Verdict
from scripts.claims.verdicts import FALSE, TRUE, TRUE_IF, of_each, of_most, shares, size, spread

FUSED = [
    ("mlp_tail", "why_kernels/fused"),
    ("wave", "why_kernels/exercise"),
    ("clipped_norm", "why_kernels/novel"),
    ("swiglu", "gated_activations/benchmark"),
    ("geglu", "gated_activations/benchmark"),
    ("bias_gelu", "gated_activations/benchmark_gelu"),
    ("dropout_add", "dropout/benchmark"),
]
CALLED = {"mlp_tail": "the end of an MLP", "wave": "a wave", "clipped_norm": "a clipped norm", "swiglu": "SwiGLU"}
CALLED |= {"geglu": "GEGLU", "bias_gelu": "a GELU with its bias", "dropout_add": "dropout with a residual"}


def fusion_2_5(e: Evidence) -> Verdict:
    """True where every recorded chain of operations becomes two to five times as fast in one kernel, true if for some of
    them."""
    gains = {op: [c.ratio("blockwise", "eager") for c in e.cells(op, name, having=("blockwise", "eager"))] for op, name in FUSED}
    found = [gain for each in gains.values() for gain in each]
    holds = [2 <= value <= 5 for value in found]
    inside = [CALLED[op] for op, each in gains.items() if all(2 <= value <= 5 for value in each)]
    figures = {"below": sum(value < 2 for value in found), "above": sum(value > 5 for value in found)}
    return Verdict(of_each(holds), spread(found) | shares(holds) | figures | {"names": ", ".join(inside)})


def softmax_passes(e: Evidence) -> float:
    """How often the chain of five operations reads or writes a whole tensor: its counted bytes, in units of what one pass
    moves."""
    chain, fused = (e.counted("fused_softmax/traffic", name)["bytes"] for name in ("unfused", "blockwise"))
    return float(2 * chain / fused)


def softmax_four_passes(e: Evidence) -> Verdict:
    """True where the bytes that the chain moves, as the GPU counts them, are within 10 % of four passes over the tensor; a
    kernel that reads it once and writes it once makes two."""
    passes = softmax_passes(e)
    return Verdict(TRUE if abs(passes / 4 - 1) <= 0.1 else FALSE, {"passes": passes})


def softmax_six_passes(e: Evidence) -> Verdict:
    """True where the bytes that the chain moves, as the GPU counts them, are within 10 % of six passes over the tensor; a
    kernel that reads it once and writes it once makes two."""
    passes = softmax_passes(e)
    return Verdict(TRUE if abs(passes / 6 - 1) <= 0.1 else FALSE, {"passes": passes})


def softmax_3_4(e: Evidence) -> Verdict:
    """True where the fused kernel is three to four times as fast as the chain of five operations at every recorded shape,
    true if at some."""
    cells = e.cells("softmax_ladder", "softmax_ladder/one_row", having=("row", "unfused"))
    found = [cell.ratio("row", "unfused") for cell in cells]
    with contextlib.suppress(NotMeasured):  # more lengths, as soon as they are recorded
        more = e.cells("softmax_ladder", "claims/softmax_lengths", having=("blockwise", "unfused"))
        found += [cell.ratio("blockwise", "unfused") for cell in more]
    counted = [e.counted("fused_softmax/traffic", name)["ms"] for name in ("unfused", "blockwise")]
    found.append(counted[0] / counted[1])
    holds = [3 <= value <= 4 for value in found]
    return Verdict(of_each(holds), spread(found) | shares(holds) | {"rows": at_length(e)})


def at_length(e: Evidence) -> str:
    """The lengths of rows at which the claim holds, as a sentence has them."""
    with contextlib.suppress(NotMeasured):
        cells = e.cells("softmax_ladder", "claims/softmax_lengths", having=("blockwise", "unfused"))
        return " or ".join(f"{cell.sides[-1]:,}" for cell in cells if 3 <= cell.ratio("blockwise", "unfused") <= 4) or "no"
    return "no"


def softmax_cells(e: Evidence) -> list[Cell]:
    return e.cells("softmax", "fused_softmax/benchmark", "fused_softmax/benchmark_rows", having=("blockwise", "eager"))


def softmax_beats_torch(e: Evidence) -> Verdict:
    """True where the fused kernel is faster than torch.softmax, itself one kernel, at four fifths of the recorded shapes."""
    found = [cell.ratio("blockwise", "eager") for cell in softmax_cells(e)]
    holds = [value > 1 for value in found]
    return Verdict(of_most(holds), spread(found) | shares(holds))


def rows_to_2048(e: Evidence) -> Verdict:
    """True where a program that holds a whole row first falls below 80 % of the best rate at a row longer than 1,024 and no
    longer than 4,096; false where it keeps up longer."""
    cells = e.cells("softmax", "fused_softmax/benchmark_rows", having=("row",))
    rates = {cell.sides[-1]: cell.gbps("row") for cell in cells}
    long = {columns: rate for columns, rate in rates.items() if columns >= 1024}
    slow = [columns for columns, rate in sorted(long.items()) if rate < 0.8 * max(rates.values())]
    spilled = [columns for columns, _, bytes in register_rows(e) if bytes]
    first = slow[0] if slow else 0
    last = max(columns for columns in long if not first or columns < first)
    return Verdict(TRUE if 1024 < first <= 4096 else FALSE, {"first": first, "last": last, "spills": min(spilled)})


def register_rows(e: Evidence) -> list[list[int]]:
    """Columns, registers a thread and bytes spilled a thread, of rows held whole."""
    return e.numbers("fused_softmax/registers", r"^ *([\d,]+) +(\d+) +(\d+)$")


def rows_of_57k(e: Evidence) -> Verdict:
    """False where a row of at least 12,000 float32 numbers is held whole without a byte spilled, true where none is."""
    fits = [row for row in register_rows(e) if row[0] >= 12_000 and not row[2]]
    longest = max(fits, default=[0, 0, 0])
    return Verdict(FALSE if fits else TRUE, {"columns": longest[0], "registers": longest[1]})


def norm_and_linear(e: Evidence) -> Verdict:
    """True where the better of two ways of fusing LayerNorm into the linear layer beats PyTorch's two kernels by more than 10
    % at every recorded shape, true if at some."""
    cells = e.cells("ln_linear_fold", "fusing/folded", having=("eager", "folded", "blockwise"))
    gains = [max(cell.ratio("folded", "eager"), cell.ratio("blockwise", "eager")) for cell in cells]
    holds = [gain > 1.1 for gain in gains]
    best = cells[gains.index(max(gains))]
    return Verdict(of_each(holds), spread(gains) | shares(holds) | {"shape": size(best.shape)})


def compile_one_kernel(e: Evidence) -> Verdict:
    """True where the compiled function launches one kernel in every recorded setting, true if in some."""
    widths = e.figures("inductor/one_kernel").values()
    counts = [way["kernels"] for width in widths for name, way in width.items() if name != "eager"]
    said = " or ".join(str(count) for count in sorted(set(counts)))
    return Verdict(of_each([count == 1 for count in counts]), {"cases": len(counts), "kernels": said})


def inductor_70(e: Evidence) -> Verdict:
    """True where the geometric mean of its shares of a hand-written kernel's speed, over six operations, lies between 65 %
    and 75 %."""
    found = e.figures("inductor/benchmark")["compile"]
    verdict = TRUE if 0.65 <= found["mean"] <= 0.75 else FALSE
    cases = sum(len(shapes) for shapes in found["shares"].values())
    return Verdict(verdict, {"mean": found["mean"], "least": found["least"], "most": found["most"], "cases": cases})


def layer_norm_beats_torch(e: Evidence) -> Verdict:
    """True where Blockwise's LayerNorm is faster than PyTorch's at every recorded shape, forward and backward, true if at
    some."""
    both = ("blockwise", "eager")
    forward, backward = (e.cells("layernorm", "norms/benchmark", direction=d, having=both) for d in ("fwd", "bwd"))
    found = [cell.ratio(*both) for cell in forward + backward]
    holds = [value > 1 for value in found]
    figures = {"backward_median": statistics.median(cell.ratio(*both) for cell in backward)}
    return Verdict(of_each(holds), spread(found) | shares(holds) | figures)


def rms_norm_11(e: Evidence) -> Verdict:
    """True where PyTorch's own RMSNorm stays below 15 % of a copy's rate at every recorded shape; true if written as separate
    operations where only such a chain does."""
    copy = e.copy_gbps("norms/benchmark_rms")
    own = [cell.gbps("eager") / copy for cell in e.cells("rmsnorm", "norms/benchmark_rms", having=("eager",))]
    chained = e.cells("rmsnorm", "norms/benchmark_rms", having=("eager_hf", "blockwise"))
    chain = [cell.gbps("eager_hf") / copy for cell in chained]
    gain = statistics.median(cell.ratio("blockwise", "eager_hf") for cell in chained)
    verdict = TRUE if max(own) < 0.15 else TRUE_IF if max(chain) < 0.15 else FALSE
    return Verdict(verdict, {"own": statistics.median(own), "chain": statistics.median(chain), "gain": gain})


def dropout_moves_less(e: Evidence) -> Verdict:
    """True where the GPU counts fewer bytes for dropout with a seed than for PyTorch's, which stores its mask."""
    theirs, ours = (e.counted("dropout/traffic", name)["bytes"] for name in ("eager", "blockwise"))
    return Verdict(TRUE if ours < theirs else FALSE, {"saved": 1 - ours / theirs})


def dropout_is_faster(e: Evidence) -> Verdict:
    """True where dropout with a seed beats PyTorch's at every recorded shape with one random draw for each element; true if
    four elements share a draw where only that does."""
    cells = e.cells("dropout", "dropout/benchmark", having=("blockwise", "eager", "one_each"))
    each, shared = ([cell.ratio(name, "eager") for cell in cells] for name in ("one_each", "blockwise"))
    verdict = TRUE if min(each) > 1 else TRUE_IF if min(shared) > 1 else FALSE
    return Verdict(verdict, {"each": min(each), "shared": min(shared), "cases": len(cells)})


def add_reaches_bandwidth(e: Evidence) -> Verdict:
    """True where the addition of two vectors reaches 95 % of a copy's rate at every recorded length, true if from a length
    on."""
    copy = e.copy_gbps("first_kernel/benchmark")
    cells = sorted(e.cells("add", "first_kernel/benchmark", having=("blockwise",)), key=lambda cell: cell.sides)
    part = {cell.sides[0]: cell.gbps("blockwise") / copy for cell in cells if cell.dtype == "fp32"}
    holds = [value >= 0.95 for value in part.values()]
    first = next((length for length, value in part.items() if value >= 0.95), 0)
    shortest = min(part)
    return Verdict(of_each(holds), spread(list(part.values())) | {"first": first, "shortest": shortest, "at": part[shortest]})


def one_operation_is_bad(e: Evidence) -> Verdict:
    """False where an addition, one operation between two loads and a store, reaches 95 % of a copy's rate on the longest
    recorded vectors."""
    copy = e.copy_gbps("first_kernel/benchmark")
    cells = e.cells("add", "first_kernel/benchmark", having=("blockwise",))
    part = max(cells, key=lambda cell: cell.sides).gbps("blockwise") / copy
    return Verdict(FALSE if part >= 0.95 else TRUE, {"part": part})


def epilogue_ahead(e: Evidence) -> Verdict:
    """True where the library's product with its activation fused beats cuBLAS and a kernel for the activation at every recorded
    shape, true if at some."""
    both = ("fused", "eager")
    cells = [cell for op in ("epilogue_gelu", "epilogue_silu") for cell in e.cells(op, "fusing/epilogue", having=both)]
    gains = [cell.ratio(*both) for cell in cells]
    holds = [gain > 1 for gain in gains]
    own = e.cells("epilogue_gelu", "fusing/epilogue", having=("fused", "cublas"))
    ahead = sum(cell.ratio("fused", "cublas") > 1 for cell in own)
    plain = e.cells("tool_epilogue", "tools/epilogue", having=("triton", "eager"))[0].ratio("eager", "triton")
    lines = e.figures("tools/epilogue")["lines"]["triton"]
    figures = {"own_ahead": ahead, "own": len(own), "plain": plain, "lines": lines}
    return Verdict(of_each(holds), spread(gains) | shares(holds) | figures)


def extra_passes(e: Evidence) -> Verdict:
    """True where eight more passes than one fused kernel needs are counted for the four operations of the chain, as PyTorch's
    dispatcher sees them: of each, the tensor it reads and the one it writes."""
    lines = re.findall(r"^(\w+) +reads +\d+ MB, writes +\d+ MB$", e.output("why_kernels/passes"), re.M)
    passes, kept = 2 * len(lines), 2
    return Verdict(TRUE if passes - kept == 8 else FALSE, {"operations": len(lines), "passes": passes, "saved": passes - kept})
