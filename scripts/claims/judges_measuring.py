"""Claims about the host, launches and measuring."""

import statistics

from scripts.claims.evidence import Evidence, Verdict
from scripts.claims.verdicts import FALSE, TRUE, TRUE_IF, of_each, shares, spread


def launch_costs_10us(e: Evidence) -> Verdict:
    """True where the bare launches of a function take the host between 5 and 20 microseconds for every recorded function, which
    is ten within a factor of two; true if for some."""
    each = {name: kernel["bare"] for name, kernel in e.figures("operators/library").items() if isinstance(kernel, dict)}
    found = list(each.values())
    holds = [5 <= value <= 20 for value in found]
    return Verdict(of_each(holds), spread(found) | shares(holds) | {"slowest": f"`{max(each, key=each.__getitem__)}`"})


def do_bench_median(e: Evidence) -> Verdict:
    """True where the default of `do_bench` lies nearer to the median of the single times than to their mean."""
    found = e.figures("profiling/averages")
    nearer_mean = "nearer to the mean" in e.output("profiling/averages")
    return Verdict(FALSE if nearer_mean else TRUE, {"mean": found["mean"], "median": found["median"]})


def beyond_the_copy(e: Evidence) -> Verdict:
    """True where copying a tensor again and again passes the rate of one long copy by more than 5 % at every recorded size;
    true if the L2 cache answers where it does at every size of which both tensors fit there, and not at the largest."""
    copy = e.copy_gbps("memory/working_set")
    cells = sorted(e.cells("working_set_copy", "memory/working_set", having=("blockwise",)), key=lambda cell: cell.sides)
    rates = [cell.gbps("blockwise") for cell in cells]
    above = [rate > 1.05 * copy for rate in rates]
    cache = e.figures("hardware/sheet")["l2_bytes"]
    fits = [cell.sides[0] * 1e6 <= cache for cell in cells]
    inside = [one for one, fit in zip(above, fits, strict=True) if fit]
    verdict = TRUE if all(above) else TRUE_IF if all(inside) and not above[-1] else FALSE
    size, rate = [(cell.sides[0], rate) for cell, rate, one in zip(cells, rates, above, strict=True) if one][-1]
    figures = {"size": size, "over": rate / copy, "longest": cells[-1].sides[0], "last": rates[-1] / copy}
    return Verdict(verdict, {"most": max(rates) / copy, "cache": round(cache / 2**20)} | figures)


def graphs_165(e: Evidence) -> Verdict:
    """True where twenty launches replayed from a CUDA graph are at least 1.65 times as fast as launched from Python at every
    recorded length, true if at some."""
    found = {int(length.removeprefix("n")): row["launches"] / row["graph"] for length, row in launches(e).items()}
    holds = [gain >= 1.65 for gain in found.values()]
    last = max((length for length, gain in found.items() if gain >= 1.65), default=0)
    return Verdict(of_each(holds), spread(list(found.values())) | shares(holds) | {"last": last})


def launches(e: Evidence) -> dict[str, dict[str, float]]:
    found = e.figures("profiling/launch_bound")
    return {length: row for length, row in found.items() if length.startswith("n")}


def slow_memory_means_uncoalesced(e: Evidence) -> Verdict:
    """False where a kernel that reads neighbors, and so is coalesced, stays below half of a copy's rate, and mending its grid
    alone brings it above."""
    found = e.figures("profiling/few_programs")
    slow, mended = found["slow"]["share"], found["mended"]["share"]
    return Verdict(FALSE if slow < 0.5 < mended else TRUE, {"slow": slow, "mended": mended})


def idle_cores_mean_memory(e: Evidence) -> Verdict:
    """False where the GPU needs less than a fifth of the time of twenty launches, so that it waits for the host and not for
    memory."""
    row = min(launches(e).items(), key=lambda item: int(item[0].removeprefix("n")))
    busy = 20 * row[1]["step"] / row[1]["launches"]
    return Verdict(FALSE if busy < 0.2 else TRUE, {"busy": busy, "length": int(row[0].removeprefix("n"))})


def flex_is_triton(e: Evidence) -> Verdict:
    """True where FlexAttention launches one kernel forward with and without torch.compile, true if compiled where it does
    only so."""
    found = e.figures("flex_attention/compiled").values()
    eager, compiled = ([case[way] for case in found] for way in ("eager", "forward"))
    verdict = TRUE if max(eager) == 1 else TRUE_IF if max(compiled) == 1 else FALSE
    return Verdict(verdict, {"eager": statistics.median(eager), "compiled": max(compiled), "cases": len(compiled)})
