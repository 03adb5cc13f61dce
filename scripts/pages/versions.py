"""What the pages about versions of Triton show: what programs print under each, what kernels take, which messages changed.

    printed(record)   ->  what a program prints, each text once, under the versions that print it, as Markdown
    changed(records)  ->  rows: the launches that one version compiles into something else than another, the largest change first
    times(), flips()  ->  rows: the library's times under two versions, and which configuration of a product wins with each
    words()           ->  which entries of the error index say something else from one version to the next, as HTML

Made from records by the standard library alone.
"""

import csv
import html
import io
from typing import Any

from scripts.pages import messages
from scripts.provenance import records

FIGURES = ("registers", "spill_bytes", "shared_bytes", "ptx", "sass", "fused")
HEAD = ["kernel", "launch", "registers", "bytes spilled", "shared bytes", "instructions"]
COLUMNS = ["kernel", "launch", "target", "triton", "fusion", *FIGURES, "error"]
UNFUSED = " unfused"
TIMED = "versions/timed"
TIME_COLUMNS = ["gpu", "triton", "op", "shape", "dtype", "implementation", "configuration", "timing", "ms_p20", "ms_p50"]
TIME_COLUMNS += ["ms_p80", "failure", "commit", "measured_at"]


def printed(record: dict[str, Any]) -> str:
    """Each text once, under the versions that print it."""
    said: dict[tuple[str, ...], list[str]] = {}
    for version, lines in record["printed"].items():
        said.setdefault(tuple(lines), []).append(version)
    every = list(record["printed"])
    parts = []
    for text, to in said.items():
        parts.append(f"With Triton {messages.span(to, every)}:\n\n```{{.text .said}}\n" + "\n".join(text) + "\n```")
    return "\n\n".join(parts) + "\n"


def read_all() -> list[dict[str, Any]]:
    """The record of every kernel that was compiled by each version."""
    return [records.read(path) for path in sorted((records.BAKED / "cpu" / "by_version").glob("*.json"))]


def launches(found: list[dict[str, Any]]) -> list[tuple[str, str, dict[str, dict[str, Any]]]]:
    """A kernel's name, a launch's, and what each version makes of it; those that fuse apart from the one that does not."""
    return [(record["name"], entry["specimen"].split("/")[1], entry["by"]) for record in found for entry in record["launches"]]


def fused(by: dict[str, dict[str, Any]]) -> dict[str, dict[str, Any]]:
    return {version: taken for version, taken in by.items() if not version.endswith(UNFUSED)}


def steps(taken: list[dict[str, Any]], figure: str) -> str:
    """A figure through the versions, in one number where it stays: "33 → 33 → 30 → 30" becomes that, "33" stays alone."""
    values = [f"{each[figure]:,}" if figure in each else "refused" for each in taken]
    return values[0] if len(set(values)) == 1 else " → ".join(values)


def spread(taken: list[dict[str, Any]], figure: str) -> float:
    """How far a figure's largest value is from its smallest, as a share of the smallest."""
    values = [each[figure] for each in taken if figure in each]
    return (max(values) - min(values)) / max(min(values), 1) if values else 0.0


def changed(found: list[dict[str, Any]]) -> list[list[Any]]:
    """What differs between the versions: a refusal first, then spilled registers, then the largest change of anything else."""
    rows = []
    for kernel, launch, by in launches(found):
        taken = list(fused(by).values())
        refused = any("error" in each for each in taken)
        if refused or any(spread(taken, figure) for figure in ("registers", "spill_bytes", "shared_bytes")):
            rank = (refused, spread(taken, "spill_bytes"), max(spread(taken, figure) for figure in ("registers", "shared_bytes")))
            figures = [steps(taken, figure) for figure in ("registers", "spill_bytes", "shared_bytes", "sass")]
            rows.append((rank, [kernel, launch, *figures]))
    return [HEAD, *(row for _, row in sorted(rows, key=lambda each: each[0], reverse=True))]


def unfused(found: list[dict[str, Any]]) -> list[list[Any]]:
    """What the newest version makes of the launches when it may not fuse, where that is anything else."""
    rows = []
    for kernel, launch, by in launches(found):
        (name,) = [version for version in by if version.endswith(UNFUSED)]
        pair = [by[name.removesuffix(UNFUSED)], by[name]]
        if all("sass" in each for each in pair) and pair[0] != pair[1]:
            figures = [steps(pair, figure) for figure in ("registers", "spill_bytes", "sass", "fused")]
            rows.append((pair[1]["sass"] / pair[0]["sass"], [kernel, launch, *figures]))
    head = ["kernel", "launch", "registers", "bytes spilled", "instructions", "of them fused"]
    return [head, *(row for _, row in sorted(rows, key=lambda each: each[0], reverse=True))]


def counts(found: list[dict[str, Any]]) -> dict[str, Any]:
    """How many launches there are, in how many something changed, and the same by version: for the sentences of the pages."""
    every = launches(found)
    result: dict[str, Any] = {"kernels": len(found), "launches": len(every), "changed": len(changed(found)) - 1}
    result |= {"unfused": len(unfused(found)) - 1, "steps": {}}
    names = list(fused(every[0][2])) if every else []
    for before, after in zip(names, names[1:], strict=False):
        pairs = [(by[before], by[after]) for *_, by in every if "sass" in by[before] and "sass" in by[after]]
        fewer = sum(new["registers"] < old["registers"] for old, new in pairs)
        more = sum(new["registers"] > old["registers"] for old, new in pairs)
        other = sum(any(new[figure] != old[figure] for figure in FIGURES) for old, new in pairs)
        result["steps"][after] = {"before": before, "fewer": fewer, "more": more, "same": len(pairs) - other}
    return result


def sums(found: list[dict[str, Any]]) -> list[list[Any]]:
    """From each version to the next, how many launches take fewer registers, more, or are the same in every figure."""
    rows: list[list[Any]] = [["from", "to", "fewer registers", "more registers", "nothing changed"]]
    for after, step in counts(found)["steps"].items():
        rows.append([step["before"], after, step["fewer"], step["more"], step["same"]])
    return rows


def table_text(found: list[dict[str, Any]]) -> str:
    """Everything, as CSV."""
    text = io.StringIO()
    table = csv.writer(text, lineterminator="\n")
    table.writerow(COLUMNS)
    for record in found:
        for kernel, launch, by in launches([record]):
            for version, taken in by.items():
                head = [kernel, launch, record["target"], version.removesuffix(UNFUSED), int(not version.endswith(UNFUSED))]
                table.writerow([*head, *(taken.get(figure, "") for figure in FIGURES), taken.get("error", "")])
    return text.getvalue()


def timed(gpu: str) -> list[dict[str, Any]]:
    """The records of the times on a GPU, that of the Triton which its other records have first."""
    folders = [records.BAKED / gpu, *sorted(records.BAKED.glob(f"{gpu}-triton-*"))]
    paths = [folder / f"{TIMED}.json" for folder in folders]
    return [records.read(path) for path in paths if path.exists()]


def times(found: list[dict[str, Any]]) -> list[list[Any]]:
    """The library's median times under each version, in microseconds, and as a control PyTorch's, which no Triton compiled."""
    versions = [record["environment"]["triton"] for record in found]
    cases: dict[tuple[str, ...], dict[tuple[str, str], float]] = {}
    for record in found:
        for row in record["timed"]:
            key = tuple(row[column] for column in ("op", "shape", "dtype", "timing"))
            cases.setdefault(key, {})[row["implementation"], record["environment"]["triton"]] = row["ms"][1] * 1e3
    names = [(who, version) for who in ("blockwise", "eager") for version in versions]
    head = ["operation", "shape", "dtype", "timing", *(f"{who}, {version}" for who, version in names)]
    rows = []
    for key, by in cases.items():
        rows.append((change([by.get(name) for name in names[: len(versions)]]), [*key, *(by.get(name) for name in names)]))
    return [head, *(row for _, row in sorted(rows, key=lambda each: each[0], reverse=True))]


def change(values: list[float | None]) -> float:
    there = [value for value in values if value]
    return max(there) / min(there) if there else 0.0


def setting(one: dict[str, Any]) -> str:
    return f"{one['kernel']} " + " ".join(f"{name}={value}" for name, value in one["configuration"].items())


def flips(found: list[dict[str, Any]]) -> list[list[Any]]:
    """Which configuration of a product is the fastest under each version, and what the first's choice costs under the others."""
    head = ["product", "Triton", "fastest", "its time in µs", "the first version's choice there, in µs"]
    rows = []
    for shape in found[0]["tried"]:
        first = fastest(found[0]["tried"][shape])
        for record in found:
            best = fastest(record["tried"][shape])
            same = [one["ms"] for one in record["tried"][shape] if setting(one) == setting(first)]
            kept = same[0] * 1e3 if same and same[0] else "no time"
            rows.append([shape, record["environment"]["triton"], setting(best), best["ms"] * 1e3, kept])
    return [head, *rows]


def fastest(tried: list[dict[str, Any]]) -> dict[str, Any]:
    return min((one for one in tried if one["ms"]), key=lambda one: one["ms"])


def times_text(found: list[dict[str, Any]]) -> str:
    """Every time, as CSV."""
    text = io.StringIO()
    table = csv.writer(text, lineterminator="\n")
    table.writerow(TIME_COLUMNS)
    for record in found:
        made = record["environment"]
        head, tail = [made["gpu"], made["triton"]], [made["commit"], made["measured_at"]]
        for row in record["timed"]:
            named = [row["op"], row["shape"], row["dtype"], row["implementation"], "", row["timing"]]
            table.writerow([*head, *named, *row["ms"], "", *tail])
        for shape, tried in record["tried"].items():
            for one in tried:
                named = ["matmul", shape, "bf16", "blockwise", setting(one), "call"]
                table.writerow([*head, *named, "", one["ms"] or "", "", one.get("failure", ""), *tail])
    return text.getvalue()


def words() -> dict[str, str]:
    """By version, the entries of the error index whose words are others than with the version before, as lists."""
    entries = [entry for here in messages.entries().values() for entry in here if entry.said]
    versions = list(entries[0].said["compiler"]) if entries else []
    found = {}
    for before, after in zip(versions, versions[1:], strict=False):
        lines = []
        for entry in entries:
            ways = [way for way, said in entry.said.items() if last(said[before]) != last(said[after])]
            if ways:
                who = " and ".join(messages.SPEAKERS[way] for way in ways)
                silent = [way for way in ways if not messages.is_loud(entry.said[way][after])]
                new = [way for way in ways if not messages.is_loud(entry.said[way][before])]
                change = "no message any more" if silent == ways else "a new message" if new == ways else "another message"
                link = f'<a href="../../errors/{entry.page}/#{entry.anchor}">{messages.inline_html(entry.title)}</a>'
                lines.append(f"<li>{link} <small>{html.escape(who)}: {change}</small></li>")
        found[after] = f'<ul class="bw-errors">{"".join(lines)}</ul>\n' if lines else "<p>None.</p>\n"
    return found


def last(texts: list[str]) -> list[str]:
    return [messages.last_line(text) for text in texts]
