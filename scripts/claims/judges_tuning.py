"""Claims about compiling, tuning and writing."""

import re

from scripts.claims.evidence import Evidence, Record, Verdict
from scripts.claims.verdicts import FALSE, TRUE, TRUE_IF, of_each, shares, size, spread

TILE = ("block_m", "block_n", "block_k", "group_m")


def tuned_on_disk(e: Evidence) -> Verdict:
    """True where a second process times nothing in any recorded setting; true if asked for where it does so only in settings
    that ask."""
    found = e.figures("autotune/disk")
    again = {name: processes[1]["timed"] for name, processes in found.items()}
    verdict = TRUE if not any(again.values()) else TRUE_IF if again["default"] and not again["cache_results"] else FALSE
    return Verdict(verdict, {"default": again["default"], "hook": again["hook"], "binaries": found["default"][1]["binaries"]})


def compiled_per_shape(e: Evidence) -> Verdict:
    """False where lengths that differ share one compiled variant in the record, true where each has its own."""
    rows = re.findall(r"^n_elements = (\d+) +(variant|same as) (\d+)", e.output("block_model/variants"), re.M)
    own = [kind == "variant" for _, kind, _ in rows]
    constant = "a variant of its own" if re.search(r"^BLOCK = \d+ +variant", e.output("block_model/variants"), re.M) else "none"
    return Verdict(FALSE if not all(own) else TRUE, {"lengths": len(rows), "variants": sum(own), "constant": constant})


def landscape(e: Evidence) -> list[Record]:
    """Every configuration that was compiled and timed, over all shapes."""
    shapes = e.figures("landscape/search")["shapes"]
    rows: list[Record] = [row for shape in shapes.values() for row in shape["rows"]]
    return [row for row in rows if not row["failure"]]


def pairs(rows: list[Record], step: str, kept: tuple[str, ...]) -> list[tuple[Record, Record]]:
    """Rows that differ in one thing alone, the smaller first, each beside the next larger; one of each configuration."""
    groups: dict[tuple[int, ...], dict[int, Record]] = {}
    for row in rows:
        groups.setdefault(tuple(row[key] for key in kept), {}).setdefault(row[step], row)
    ordered = [[group[key] for key in sorted(group)] for group in groups.values()]
    return [pair for group in ordered for pair in zip(group, group[1:], strict=False)]


def stages_cost_registers(e: Evidence) -> Verdict:
    """True where more stages of the same tile mean more registers a thread in four fifths of all recorded pairs, false where
    in fewer than half of them; what grows instead is read from the same rows."""
    found = pairs(landscape(e), "num_stages", (*TILE, "num_warps"))
    more = [after["registers"] > before["registers"] for before, after in found]
    shared = [after["shared"] > before["shared"] for before, after in found]
    part = sum(more) / len(more)
    return Verdict(TRUE if part >= 0.8 else TRUE_IF if part >= 0.5 else FALSE, shares(more) | {"shared": sum(shared)})


def warps_share_memory(e: Evidence) -> Verdict:
    """True where the shared memory of a program falls when the same tile gets more warps, in any recorded pair."""
    found = pairs(landscape(e), "num_warps", (*TILE, "num_stages"))
    less = [after["shared"] < before["shared"] for before, after in found]
    registers = [after["registers"] < before["registers"] for before, after in found]
    return Verdict(of_each(less), shares(less) | {"registers": sum(registers)})


def depth_fills_registers(e: Evidence) -> Verdict:
    """True where a deeper BLOCK_K of the same tile takes more registers a thread in four fifths of all recorded pairs, true
    if in at least half."""
    found = pairs(landscape(e), "block_k", ("block_m", "block_n", "group_m", "num_warps", "num_stages"))
    more = [after["registers"] > before["registers"] for before, after in found]
    shared = [after["shared"] > before["shared"] for before, after in found]
    part = sum(more) / len(more)
    verdict = TRUE if part >= 0.8 else TRUE_IF if part >= 0.5 else FALSE
    full = [before["registers"] == 255 for (before, _), one in zip(found, more, strict=True) if not one]
    return Verdict(verdict, shares(more) | {"shared": sum(shared), "others": len(full), "full": sum(full)})


def tuner_finds_fastest(e: Evidence) -> Verdict:
    """True where none of the winners of repeated searches is more than 2 % slower than the best configuration, each measured
    again in turns."""
    size, rows = (e.figures("autotune/repeat")[key] for key in ("size", "rows"))
    winners = [row for row in rows if row["wins"]]
    regret = max(row["us"] for row in winners) / min(row["us"] for row in rows) - 1
    searches = sum(row["wins"] for row in rows)
    figures = {"regret": regret, "winners": len(winners), "searches": searches, "rows": len(rows), "size": size}
    return Verdict(TRUE if regret <= 0.02 else FALSE, figures)


def later_calls_are_free(e: Evidence) -> Verdict:
    """True where a later call through the tuner costs the host at most 5 % more than the same call without it."""
    found = e.figures("autotune/cost")
    cost = found["looked_up_us"] / found["direct_us"] - 1
    return Verdict(TRUE if cost <= 0.05 else FALSE, {"cost": cost, "launches": found["first_launches"]})


def tuned_on_real_inputs(e: Evidence) -> Verdict:
    """True where a tuned kernel that works in place has changed its tensor more than once after one call, because the search
    ran it on the caller's own."""
    text = e.output("autotune/doubled")
    return Verdict(TRUE if "{}: one, doubled, is two: False" in text else FALSE, {"settings": len(text.splitlines())})


def no_guesswork(e: Evidence) -> Verdict:
    """True where a choice made for a small size is within 5 % of the best at a large one even when the size is missing from
    `key`; true if all that matters stands in `key` where only then."""
    found = e.figures("autotune/stale")
    slower = found["without_8192"]["us"] / found["with_M_8192"]["us"]
    return Verdict(TRUE if slower <= 1.05 else TRUE_IF, {"slower": slower})


def constants_unroll(e: Evidence) -> Verdict:
    """True where a loop over a constexpr is gone from Triton's own representation; true if LLVM's later stage counts where it is
    gone from the PTX alone; false where it stands there too."""
    found = e.numbers("block_model/compile_time", r"^TTGIR: loops (\d+), products (\d+); PTX: jumps (\d+), fma (\d+)")
    (loops, _, jumps, fma), (unrolled, products, _, _) = found
    figures = {"loops": loops, "unrolled": unrolled, "products": products, "jumps": jumps, "fma": fma}
    return Verdict(TRUE if not loops else FALSE if jumps else TRUE_IF, figures)


def static_range_is_faster(e: Evidence) -> Verdict:
    """True where a short loop over a constant leaves fewer jumps in the PTX by `tl.static_range` than by `range`; false where it
    does not, so that there is no time to gain."""
    found = e.numbers("block_model/compile_time", r"^TTGIR: loops \d+, products \d+; PTX: jumps (\d+), fma (\d+)")
    (jumps, fma), (static, _) = found
    return Verdict(TRUE if static < jumps else FALSE, {"jumps": jumps, "fma": fma})


def first_call_is_slow(e: Evidence) -> Verdict:
    """True where the first call of a kernel that nobody has compiled takes at least a hundred times as long as the second and as
    the hundredth."""
    calls, tuned = e.figures("profiling/first_call"), e.figures("autotune/cost")
    first, second, hundredth = (1e3 * calls[f"{name}_ms"] for name in ("first", "second", "hundredth"))
    figures = {"first": first, "second": second, "hundredth": hundredth}
    figures |= {"tuned": 1e6 * tuned["first_seconds"], "configurations": tuned["configurations"]}
    return Verdict(TRUE if first >= 100 * max(second, hundredth) else FALSE, figures)


def another_version(e: Evidence) -> Verdict:
    """True where the registers of a thread, the bytes spilled or the shared memory differ between recorded versions in every
    launch of the library's kernels; true if in some."""
    every = [launch for name in e.names("by_version") for launch in e.record("versions", name, "cpu")["launches"]]
    fused = [{name: each for name, each in launch["by"].items() if "unfused" not in name} for launch in every]
    change = {
        key: [len({each.get(key) for each in by.values()}) > 1 for by in fused]
        for key in ("registers", "spill_bytes", "shared_bytes")
    }
    any_of = [any(one) for one in zip(*change.values(), strict=True)]
    figures = {"registers": sum(change["registers"]), "spills": sum(change["spill_bytes"]), "shared": sum(change["shared_bytes"])}
    return Verdict(of_each(any_of), shares(any_of) | figures | {"versions": len({name for by in fused for name in by})})


def occupancy_first(e: Evidence) -> Verdict:
    """True where a cap on registers, which lets more programs fit, makes a kernel at least 1 % faster in every recorded pair,
    true if in some."""
    cell = e.cells("capped_softmax", "hardware/occupancy_time")[0]
    capped = [name for name in cell.us if "_cap" in name]
    gains = [cell.us[name.split("_cap")[0]] / cell.us[name] for name in capped]
    return Verdict(of_each([gain > 1.01 for gain in gains]), spread(gains) | {"slower": 1 / min(gains), "cases": len(gains)})


def grouping_gains(e: Evidence) -> list[float]:
    """What grouping tiles by eight gains over walking along the rows, at each recorded size."""
    cells = e.cells("tile_order", "tile_order/groups", having=("group_1", "group_8"))
    return [cell.ratio("group_8", "group_1") - 1 for cell in cells]


def grouping_gains_10(e: Evidence) -> Verdict:
    """True where ordering the tiles in groups of eight gains more than 10 % at every recorded size, true if at some."""
    gains = grouping_gains(e)
    return Verdict(of_each([gain > 0.1 for gain in gains]), spread(gains) | {"cases": len(gains)})


def grouping_gains_nothing(e: Evidence) -> Verdict:
    """True where ordering the tiles in groups of eight gains less than 1 % at every recorded size, true if at some."""
    gains = grouping_gains(e)
    holds = [gain < 0.01 for gain in gains]
    rows, groups = (e.counted("tile_order/groups", name)["each"][0] for name in ("group_1", "group_8"))  # at 8,192
    figures = {"reads": rows["dram_read_bytes"] / groups["dram_read_bytes"], "busy": rows["tensor_percent"] / 100}
    return Verdict(of_each(holds), spread(gains) | shares(holds) | figures)


def older_choice(e: Evidence) -> Verdict:
    """True where 128 by 128 by 32 with four warps and four stages, from the usual list for an A100, is within 5 % of the best
    configuration at every recorded shape, true if at some."""
    usual = {"block_m": 128, "block_n": 128, "block_k": 32, "num_warps": 4, "num_stages": 4}
    slower = []
    for shape in e.figures("landscape/search")["shapes"].values():
        rows = [row for row in shape["rows"] if not row["failure"]]
        theirs = min(row["us"] for row in rows if all(row[key] == value for key, value in usual.items()))
        slower.append(theirs / min(row["us"] for row in rows))
    holds = [value <= 1.05 for value in slower]
    where = [size(shape) for shape, one in zip(e.figures("landscape/search")["shapes"], holds, strict=True) if one]
    return Verdict(of_each(holds), spread(slower) | shares(holds) | {"where": " or ".join(where)})


BOTH = ["cuda/add", "cuda/naive", "cuda/row_sum", "cuda/softmax", "cuda/tiled", "cuda/tensor_cores", "tools/bags", "tools/chain"]
BOTH += ["tools/epilogue", "tools/norm"]


def lines_50_and_500(e: Evidence) -> Verdict:
    """True where the kernels that this site has in both languages have 50 to 200 lines in Triton and 500 to 5,000 in CUDA,
    counted without blank lines and comments; true if for some."""
    counts = [e.figures(name)["lines"] for name in BOTH]
    holds = [50 <= lines["triton"] <= 200 and 500 <= lines["cuda"] <= 5000 for lines in counts]
    tools = ("triton", "cuda")
    figures = {f"{tool}_{end.__name__}": end(lines[tool] for lines in counts) for tool in tools for end in (min, max)}
    longer = [lines["cuda"] / lines["triton"] for lines in counts]
    return Verdict(of_each(holds), figures | spread(longer) | {"cases": len(counts)})


WRITTEN = {"tools/bags": "bags of rows", "tools/chain": "a chain of steps", "tools/epilogue": "a product with its epilogue"}
WRITTEN |= {"tools/norm": "the gradients of a norm"}


def effort_pays(e: Evidence) -> Verdict:
    """True where, for each operation that was written with several tools, every longer program is at least as fast as the
    shorter ones, within 2 %; true if for some. An operation whose times scatter by more than a quarter is left out."""
    monotone, left_out, apart = {}, 0, 0.0
    for name, words in WRITTEN.items():
        record = e.program(name)
        lines = record["figures"]["lines"]
        called = [row for row in record["measurements"] if row["timing"] == "call"]
        times = {row["implementation"]: row["ms"][1] for row in called}
        if max(row["ms"][2] / row["ms"][0] for row in called) > 1.25:
            left_out += 1
            continue
        ordered = [times[tool] for tool in sorted(lines, key=lines.__getitem__) if tool in times]
        monotone[words] = all(after <= 1.02 * before for before, after in zip(ordered, ordered[1:], strict=False))
        if monotone[words]:
            apart = max(apart, abs(times["cuda"] / times["triton"] - 1))
    names = ", ".join(words for words, holds in monotone.items() if holds)
    holds = list(monotone.values())
    figures = {"names": names, "others": len(holds) - sum(holds), "left_out": left_out, "apart": 100 * apart}
    return Verdict(of_each(holds), shares(holds) | figures)
