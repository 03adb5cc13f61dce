"""The library beside its peers, measurement by measurement: won, level or lost. The standard library alone.

A row is one operation, direction, shape and dtype, with the times of one run. Level is within two percent.
"""

import statistics
from typing import Any

# The operations of the library, in the order of the table, and what their rows are called.
OPERATIONS = {
    "add": "add",
    "gelu": "gelu by tanh",
    "gelu_erf": "gelu",
    "bias_gelu": "gelu with a bias",
    "swiglu": "swiglu",
    "swiglu_halves": "swiglu of two halves",
    "geglu": "geglu",
    "dropout": "dropout",
    "dropout_add": "dropout with a residual",
    "softmax": "softmax",
    "layernorm": "layer_norm",
    "rmsnorm": "rms_norm",
    "cross_entropy": "cross_entropy",
    "rope": "rotary_embedding",
    "sum": "sum",
    "sum_dim-1": "sum along rows",
    "sum_dim0": "sum along columns",
    "max": "max",
    "max_dim-1": "max along rows",
    "max_dim0": "max along columns",
    "histc": "histogram",
    "histc_one_bin": "histogram, all in one bin",
}
PEERS = {"eager": "eager", "compile": "torch.compile", "compile_max": "torch.compile, max-autotune", "liger": "Liger-Kernel"}
PEERS |= {"flash_triton": "flash-attn's Triton kernel", "flash_triton_ip": "flash-attn's Triton kernel, in place"}
# Those of attention. Its cases stand on a page of their own, as those of products do: tensor cores set their limit, not a copy.
PEERS |= {"cudnn": "cuDNN", "flash": "PyTorch's flash attention", "flex": "compiled FlexAttention"}
PEERS |= {"tutorial": "the tutorial's method"}
LEVEL = 0.02
# Below this a call is mostly the launch.
FLOOR_US = 20.0
VERDICTS = ("won", "level", "lost")
PEERS |= {"sdpa": "PyTorch's scaled_dot_product_attention"}

Row = dict[str, Any]


def rows(measurements: list[Row], copy_bytes_a_second: float) -> list[Row]:
    """One row a case, with our time, the best peer's, and their ratio, as called and as a replayed graph."""
    cases: dict[tuple[str, str, str, str], dict[str, dict[str, Row]]] = {}
    for entry in measurements:
        key = (entry["op"], entry["direction"], entry["shape"], entry["dtype"])
        cases.setdefault(key, {}).setdefault(entry["timing"], {})[entry["implementation"]] = entry
    found = []
    for op in OPERATIONS:
        for key, timings in cases.items():
            calls = timings.get("call", {})
            if key[0] == op and "blockwise" in calls and calls.keys() & PEERS.keys():
                moved = calls["blockwise"]["bytes"]
                row: Row = {"op": op, "direction": key[1], "shape": key[2], "dtype": key[3], "bytes": moved}
                row["floor_us"] = moved / copy_bytes_a_second * 1e6
                for timing in ("call", "graph"):
                    row[timing] = compared(timings.get(timing, {}))
                found.append(row)
    return found


def compared(entries: dict[str, Row]) -> Row | None:
    """Our median, the best peer's name and median, and how many times as fast we are; None where one of us is lacking."""
    peers = {name: entry["ms"][1] for name, entry in entries.items() if name in PEERS}
    if "blockwise" not in entries or not peers:
        return None
    best = min(peers, key=lambda name: peers[name])
    ours = entries["blockwise"]["ms"][1]
    return {"us": ours * 1e3, "peer": best, "peer_us": peers[best] * 1e3, "ratio": peers[best] / ours}


def verdict(ratio: float) -> str:
    return "level" if abs(ratio - 1) <= LEVEL else "won" if ratio > 1 else "lost"


def large(row: Row) -> bool:
    return row["floor_us"] >= FLOOR_US


def summary(found: list[Row]) -> Row:
    """How many cases were won, level and lost, and the mean and the median ratio over the cases that fill the machine.

    `mean_copied` is the mean without histograms, whose limit is not the memory's speed, and `limit_copied` what it would be
    if our kernels moved the fewest bytes of each case at the rate of a copy.
    """
    counts: Row = {"cases": len(found), "large": sum(large(row) for row in found)}
    for timing in ("call", "graph"):
        ratios = [(row, row[timing]["ratio"]) for row in found if row[timing]]
        for name, kept in (("all", ratios), ("large", [(row, ratio) for row, ratio in ratios if large(row)])):
            counts[f"{timing}_{name}"] = {word: sum(verdict(ratio) == word for _, ratio in kept) for word in VERDICTS}
    wide = [row for row in found if large(row)]
    copied = [row for row in wide if not row["op"].startswith("histc")]
    called = [row["call"]["ratio"] for row in wide]
    counts |= {"mean": mean(called), "median": statistics.median(called) if called else None}
    # The replay where there is one: without the host.
    counts["mean_alone"] = mean([alone(row)["ratio"] for row in wide])
    counts["mean_copied"] = mean([alone(row)["ratio"] for row in copied])
    counts["limit_copied"] = mean([alone(row)["peer_us"] / row["floor_us"] for row in copied])
    return counts


def alone(row: Row) -> Row:
    """The comparison by the replays where there are any, else by the calls."""
    return row["graph"] or row["call"]


def mean(ratios: list[float]) -> float | None:
    """The geometric mean, or None of nothing."""
    return statistics.geometric_mean(ratios) if ratios else None


def table(found: list[Row]) -> list[list[Any]]:
    """The table of the page, its head first."""
    head = ["operation", "direction", "shape", "dtype", "ours, µs", "best peer, µs", "the peer", "ratio", "result"]
    lines: list[list[Any]] = [[*head, "of the copy's rate", "graph: ours, µs", "best peer, µs", "ratio", "result"]]
    for row in found:
        call, graph = row["call"], row["graph"]
        line = [OPERATIONS[row["op"]], row["direction"], row["shape"], row["dtype"], *times(call)]
        line += [f"{row['floor_us'] / call['us']:.0%}"]
        line += [*times(graph)[:2], *times(graph)[3:]] if graph else [None] * 4
        lines.append(line)
    return lines


def lost(found: list[Row]) -> tuple[list[list[Any]], list[list[Any]]]:
    """Every case that is lost as called, replayed or both, in two tables, each with its head first.

    The first has those whose kernel is behind: by the replay, or by the call where nothing was replayed. The second has those
    that are behind as called alone, so that it was the host who lost them. The worst stand first.
    """
    behind, of_the_host = [], []
    for row in found:
        if verdict(alone(row)["ratio"]) == "lost":
            behind.append(row)
        elif verdict(row["call"]["ratio"]) == "lost":
            of_the_host.append(row)
    behind.sort(key=lambda row: alone(row)["ratio"])
    of_the_host.sort(key=lambda row: row["call"]["ratio"])
    head: list[Any] = ["operation", "direction", "shape", "dtype", "ratio as called", "ratio replayed", "the peer"]
    return [head, *map(of_lost, behind)], [head, *map(of_lost, of_the_host)]


def of_lost(row: Row) -> list[Any]:
    """A line of `lost`. The peer is that of the timing that was lost, the replay's if both were."""
    call, graph = row["call"], row["graph"]
    judge = graph if graph and verdict(graph["ratio"]) == "lost" else call
    ratios = [f"{timing['ratio']:.2f}" if timing else None for timing in (call, graph)]
    return [OPERATIONS[row["op"]], row["direction"], row["shape"], row["dtype"], *ratios, PEERS[judge["peer"]]]


def times(entry: Row) -> list[Any]:
    return [entry["us"], entry["peer_us"], PEERS[entry["peer"]], f"{entry['ratio']:.2f}", verdict(entry["ratio"])]
