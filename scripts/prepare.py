"""Write what MkDocs cannot make by itself: programs, published data, figures for the text, fragments of pages.

    python scripts/prepare.py

Reads snippets, kernels, pages and docs/baked; writes docs/programs, docs/data, docs/dist and docs/generated, which
git ignores. The standard library alone, but for the library's wheels, which their build backend makes; it runs no kernel.
"""

import csv
import gc
import hashlib
import html
import io
import json
import re
import shutil
import signal
import statistics
import sys
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from functools import cache
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from scripts import lab_pages
from scripts.baking import core
from scripts.pages import cards, dist, drawn, drawn_kinds, questions, run_here
from scripts.pages import peers as results
from scripts.pages.blocks import Blocks
from scripts.provenance import programs, records, sources
from scripts.provenance.environment import measured_on, primary_machine, several_machine
from scripts.provenance.follow import Code, CodeError
from scripts.provenance.inline import inline

DOCS = records.ROOT / "docs"
CSV_COLUMNS = ["gpu", "op", "direction", "shape", "dtype", "implementation", "timing", "ms_p20", "ms_p50", "ms_p80"]
CSV_COLUMNS += ["bytes", "flops", "commit", "measured_at"]
HOME_SHOWS = ["traces/first_kernel/add.html", "charts/softmax_passes.html"]
KINDS_OF_CHANGE = {"mask": "a mask left out", "choice": "tl.where with its sides exchanged", "stride": "a stride, by one"}
KINDS_OF_CHANGE |= {"arithmetic": "a sign or an operator", "function": "a function, as sum to max", "comparison": "a comparison"}
KINDS_OF_CHANGE |= {"number": "a number, by one", "other": "a filler, other=", "conversion": "a conversion dropped"}
TO_DOWNLOAD = ["profiling/report"]  # outputs that are read as files, too long for a page
TO_ROOT = "../../"  # every page that shows a chart or a trace lies two folders deep


def machines() -> list[str]:
    return sorted(path.name for path in records.BAKED.iterdir() if path.is_dir()) if records.BAKED.exists() else []


@cache
def records_of(machine: str) -> list[dict[str, Any]]:
    """Every record of a machine, each read once: most of what follows looks through all of them."""
    return [record for _, record in records.all_records(machine)]


@cache
def older(machine: str) -> tuple[str, ...]:
    """The records of a machine that are older than their code, each by what it is of."""
    code = Code()
    return tuple(record["name"] for record in records_of(machine) if not sources.is_fresh(record, code))


def write_programs() -> None:
    listed = []
    code, runs = Code(), set(run_here.programs())
    for name in programs.snippet_names():
        write_text(DOCS / "programs" / f"{name}.py", inline(name, code))
        page, _ = programs.shown_on().get(name, ("", ""))
        told = {"path": f"programs/{name}.py", "page": page, "needs": programs.needs_of(name)}
        listed.append(told | ({"runs": True} if name in runs else {}))
    write_json(DOCS / "data" / "programs.json", listed)
    blocks = Blocks(code)
    for address, text in programs.pages().items():
        if found := blocks.of(address, text):
            write_json(DOCS / "data" / "blocks" / f"{address.strip('/') or 'index'}.json", found)


def write_text(path: Path, text: str) -> None:
    """Not as a record is written: these files are made anew each time, so none waits until it is safe on the disk."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode("utf-8"))


def write_json(path: Path, value: Any) -> None:
    write_text(path, json.dumps(value, indent=1, ensure_ascii=False) + "\n")


@cache
def measured(machine: str) -> list[tuple[dict[str, Any], dict[str, Any]]]:
    """Every measurement of a machine with the environment it was made in, fresh records only."""
    with_rows = [record for record in records_of(machine) if record.get("measurements")]  # few, and age is dear to tell
    code = Code()
    fresh = [record for record in with_rows if machine == primary_machine() or sources.is_fresh(record, code)]
    return [(row, record["environment"]) for record in fresh for row in record["measurements"]]


def write_benchmarks() -> None:
    text = io.StringIO()
    table = csv.writer(text, lineterminator="\n")
    table.writerow(CSV_COLUMNS)
    for machine in machines():
        for row, environment in measured(machine):
            flops = "" if row["flops"] is None else row["flops"]
            key = [
                environment["gpu"],
                row["op"],
                row["direction"],
                row["shape"],
                row["dtype"],
                row["implementation"],
                row["timing"],
            ]
            table.writerow([*key, *row["ms"], row["bytes"], flops, environment["commit"], environment["measured_at"]])
    write_text(DOCS / "data" / "benchmarks.csv", text.getvalue())


def program_lines() -> dict[str, Any]:
    """How long each published program is."""
    texts = {name: (DOCS / "programs" / f"{name}.py").read_text(encoding="utf-8") for name in programs.snippet_names()}
    return {name.replace("/", "_"): {"lines": len(text.splitlines())} for name, text in texts.items()}


def kept_by_cards(*names: str) -> dict[str, dict[str, Any]]:
    """What programs kept on each card that has records of all of them, by the card's name: the pages' card first, and of others
    what is fresh."""
    code, primary, found = Code(), primary_machine(), dict[str, dict[str, Any]]()
    for machine in sorted(machines(), key=lambda name: (name != primary, name)):
        kept = {record["name"]: record for record in records_of(machine) if record["name"] in names and "figures" in record}
        if kept.keys() == set(names) and all(machine == primary or sources.is_fresh(record, code) for record in kept.values()):
            found[kept[names[0]]["environment"]["gpu"]] = {name: record["figures"] for name, record in kept.items()}
    return found


def other_cards(gpu: str) -> dict[str, list[dict[str, Any]]]:
    """The measurements of every other card than this one, by its name."""
    found: dict[str, list[dict[str, Any]]] = {}
    for machine in machines():
        for row, environment in measured(machine):
            if environment["gpu"] != gpu:
                found.setdefault(environment["gpu"], []).append(row)
    return found


def figures() -> dict[str, Any]:
    """Every number that a page may show, under the name the page uses for it; `programs` holds what program_lines finds."""
    machine = primary_machine()
    from scripts.pages import across_cards, gallery, landscape_cards, messages, versions

    found: dict[str, Any] = {"m": {}, "ceiling": {}, "counted": {}, "compiled": {}, "kept": {}, "programs": {}, "baked": {}}
    found["drawn"] = {}
    found["messages"] = messages.counts()
    found["gallery"] = gallery.counts()
    counted = versions.counts(versions.read_all())
    del counted["steps"]  # a table has them
    is_old = versions.TIMED in older(machine) if machine in machines() else False
    found["versions"] = counted | {"timed": len(versions.timed(machine)) > 1, "timed_is_old": is_old}
    # What a program kept on the GPU stands before what it kept without one.
    for which in ("cpu", machine, several_machine()):
        for record in records_of(which) if which in machines() else []:
            if "figures" in record:
                found["kept"][record["name"].replace("/", "_")] = record["figures"]
    if machine not in machines():
        return found
    if {"landscape_search", "hardware_sheet"} <= found["kept"].keys():
        found["cards"] = {"landscape": landscape_cards.compared(kept_by_cards(landscape_cards.SEARCH, landscape_cards.SHEET))}
    own = measured(machine)
    if others := other_cards(own[0][1]["gpu"] if own else ""):
        across = across_cards.compared([row for row, _ in own], others)
        shown = {path.stem for path in (DOCS / "charts" / machine).glob("*.json")}
        offered = {card.gpu: len(card.charts.keys() & shown) for card in cards.others(DOCS / "charts", DOCS / "baked")}
        across = [card | {"charts": offered.get(card["gpu"], 0)} for card in across]
        found.setdefault("cards", {}).update(across=across, charts=len(shown))
    for row, _ in own:
        tree = found["m"]
        for key in ("op", "direction", "shape", "dtype"):
            tree = tree.setdefault(row[key], {})
        tree.setdefault(row["timing"], {})[row["implementation"]] = {
            "us": row["ms"][1] * 1e3, "gbps": row["bytes"] / row["ms"][1] / 1e6, "bytes": row["bytes"],
        }  # fmt: skip
    ceilings = []
    for record in records_of(machine):
        if "ceilings" in record:
            copy, matmul = record["ceilings"]["copy"], record["ceilings"]["matmul"]
            rates = {"copy_gbps": copy["bytes"] / copy["ms"][1] / 1e6, "matmul_tflops": matmul["flops"] / matmul["ms"][1] / 1e9}
            found["ceiling"][record["name"].replace("/", "_")] = rates
            ceilings.append(rates)
        if record["kind"] == "compiled":
            found["compiled"][record["name"]] = {specimen["specimen"].split("/")[1]: specimen for specimen in record["specimens"]}
        for entry in record.get("counters", []):
            part = found["counted"].setdefault(record["name"].replace("/", "_"), {}).setdefault(entry["implementation"], [])
            part.append(entry)
        found["baked"] = max(found["baked"] or record["environment"], record["environment"], key=lambda made: made["measured_at"])
    for parts in found["counted"].values():
        for part, entries in parts.items():
            totals = {key: sum(entry[key] for entry in entries) for key in ("dram_read_bytes", "dram_write_bytes", "ms")}
            parts[part] = totals | {
                "kernels": len(entries),
                "bytes": totals["dram_read_bytes"] + totals["dram_write_bytes"],
                "each": entries,
            }
    if ceilings:
        found["ceiling"] |= {key: statistics.median(rates[key] for rates in ceilings) for key in ("copy_gbps", "matmul_tflops")}
        found["drawn"] = {
            name: {"seed": record["drawn"]["seed"]}
            | {direction: drawn.summary(some) for direction, some in drawn.directions(drawn.cases(record)).items()}
            for name, record in drawn_records(machine).items()
        }
        found["results"] = results.summary(library_rows(machine)) | {"floor_us": results.FLOOR_US}
    return found


def write_outputs() -> None:
    """What each program printed, as text that a page can include: docs/generated/outputs/<gpu or cpu>/<program>.txt.

    What Compute Sanitizer found in it stands beside that, as <program>.sanitizer.txt.
    """
    for machine, folder in {primary_machine(): "gpu", several_machine(): "gpu", "cpu": "cpu"}.items():
        for record in records_of(machine):
            if record["kind"] == "program":
                text = "\n".join(record["output"]) + "\n"
                path = DOCS / "generated" / "outputs" / folder / f"{record['name']}.txt"
                write_text(path, text)
                if record["name"] in TO_DOWNLOAD:
                    write_text(DOCS / "data" / "outputs" / f"{record['name']}.txt", text)
                if "sanitizer" in record:
                    found = "\n".join(record["sanitizer"]["output"]) + "\n"
                    write_text(path.with_suffix(".sanitizer.txt"), found)


def write_charts() -> None:
    """The charts of the machine whose numbers the text gives, and of each other card what a reader may choose in their place."""
    others = cards.others(DOCS / "charts", DOCS / "baked")
    shown = sorted((DOCS / "charts" / primary_machine()).glob("*.json"))
    old = older(primary_machine())
    for path in shown:
        chart = json.loads(path.read_text(encoding="utf-8"))
        write_chart_data(chart, DOCS / "data" / "charts")
        choice = cards.element(chart["name"], chart["environment"]["gpu"], others, f"{TO_ROOT}data/charts/")
        text = chart_figure(chart, *drawings_of(path), choice, any(source in old for source in chart["sources"]))
        write_text(DOCS / "generated" / "charts" / f"{chart['name']}.html", text)
    for card in others:
        for name in card.charts.keys() & {path.stem for path in shown}:
            folder = DOCS / "data" / "charts" / card.machine
            write_chart_data(card.charts[name], folder)
            # Its addresses are those of the files beside it.
            parts = chart_parts(card.charts[name], *drawings_of(DOCS / "charts" / card.machine / f"{name}.json"), name)
            write_text(folder / f"{name}.html", "\n".join(parts) + "\n")


def drawings_of(path: Path) -> tuple[str, str]:
    """Both drawings of a chart, which lie beside its data."""
    wide, narrow = (path.with_name(f"{path.stem}.{variant}.svg").read_text(encoding="utf-8") for variant in ("wide", "narrow"))
    return wide.strip(), narrow.strip()


def write_chart_data(chart: dict[str, Any], folder: Path) -> None:
    text = io.StringIO()
    table = csv.writer(text, lineterminator="\n")
    table.writerows([chart["columns"], *chart["rows"]])
    write_text(folder / f"{chart['name']}.csv", text.getvalue())
    write_json(folder / f"{chart['name']}.json", chart)


def chart_figure(chart: dict[str, Any], wide: str, narrow: str, choice: str = "", is_old: bool = False) -> str:
    """A chart as the page shows it, with the choice of a card where there is one; `is_old`: its code has changed since."""
    parts = [f'<figure class="chart" id="chart-{chart["name"]}">', choice]
    parts += [*chart_parts(chart, wide, narrow, f"{TO_ROOT}data/charts/{chart['name']}", is_old), "</figure>"]
    return "\n".join(filter(None, parts)) + "\n"


def chart_parts(chart: dict[str, Any], wide: str, narrow: str, data: str, is_old: bool = False) -> list[str]:
    """Both drawings, a caption from the record, the numbers as a table and as files, at `data` with their endings."""
    made = measured_on(chart["environment"], *chart.get("dates", []))
    if is_old:
        made += " The code has changed since, and waits for its next run."
    drawings = f'<div class="wide">{wide}</div>\n<div class="narrow">{narrow}</div>'
    parts = [
        f'<chart-values data-src="{data}.json">{drawings}</chart-values>' if chart["spots"] else drawings,
        f"<figcaption>{html.escape(chart['title'])} {html.escape(made)}</figcaption>",
        '<details class="data"><summary>The numbers</summary>',
        html_table([chart["columns"], *chart["rows"]], "The numbers of this chart").strip(),
        "</details>",
        f'<p class="files">Data: <a href="{data}.csv" download>CSV</a> · <a href="{data}.json" download>JSON</a></p>',
    ]
    return [re.sub(r"\n\s*\n", "\n", part) for part in parts]


def write_pictures() -> None:
    """The pictures that explain, each with what it shows as a table."""
    for path in sorted((DOCS / "charts" / "cpu").glob("*.json")):
        picture = json.loads(path.read_text(encoding="utf-8"))
        drawings = {
            variant: path.with_name(f"{picture['name']}.{variant}.svg").read_text(encoding="utf-8").strip()
            for variant in ("wide", "narrow")
        }
        parts = [
            f'<figure class="chart picture" id="picture-{picture["name"]}">',
            *(f'<div class="{variant}">{drawing}</div>' for variant, drawing in drawings.items()),
            f"<figcaption>{html.escape(picture['caption'], quote=False)}</figcaption>",
        ]
        if picture["rows"]:
            table = html_table([picture["columns"], *picture["rows"]], "What this picture shows").strip()
            parts += ['<details class="data"><summary>As a table</summary>', table, "</details>"]
        write_text(DOCS / "generated" / "pictures" / f"{picture['name']}.html", "\n".join([*parts, "</figure>"]) + "\n")


def cell_text(cell: Any) -> str:
    return (
        ""
        if cell is None
        else f"{cell:,.4g}"
        if isinstance(cell, float) and abs(cell) < 1000
        else f"{cell:,.0f}"
        if isinstance(cell, float)
        else str(cell)
    )


def write_checked() -> None:
    """The line at a chapter's end that says with what it was checked; of pages about several GPUs it is a different one."""
    newest: dict[str, dict[str, Any]] = {}
    for machine in machines():
        ran = [record["environment"] for record in records_of(machine) if record["kind"] == "program"]
        if ran:
            newest[machine] = max(ran, key=lambda environment: environment["measured_at"])
    of_cpu = ""
    if cpu := newest.get("cpu"):
        versions = f"Triton {cpu['triton']} and torch {cpu['torch']} ({cpu['measured_at'][:10]})"
        of_cpu = f" Those that need no GPU also ran on a CPU, under the interpreter of {versions}."
    several = several_machine()
    for name, machine, count in (("checked", primary_machine(), "an"), ("checked_several", several, several.rpartition("-x")[2])):
        line = ""
        if gpu := newest.get(machine):
            versions = f"Triton {gpu['triton']}, torch {gpu['torch']} and Python {gpu['python']}"
            ran_on = f"{count} {gpu['gpu']} with {versions} ({gpu['measured_at'][:10]})"
            line = f"The programs of this page that need a GPU ran on {ran_on}, except where it says that a run is to come."
        write_text(DOCS / "generated" / f"{name}.html", f'<p class="checked">{line}{of_cpu}</p>\n')


def write_compatibility() -> None:
    """What each version of Triton passed and compiled, which GPUs ran the library, and what another one is asked to run."""
    found = [record for record in records_of("cpu") if record["kind"] == "matrix"] if "cpu" in machines() else []
    rows = [["Triton", "torch", "NumPy", "tests passed", "failed", *(found[0]["targets"] if found else [])]]
    by_version: dict[tuple[str, str, str], list[dict[str, Any]]] = {}
    for record in found:
        installed = (record["environment"]["triton"], record["environment"]["torch"], record["versions"]["numpy"])
        by_version.setdefault(installed, []).append(record)
    for installed, parts in by_version.items():
        tests = [sum(record["tests"][key] for record in parts) for key in ("passed", "failed")]
        targets = [[record["targets"][name] for record in parts] for name in parts[0]["targets"]]
        sums = [[sum(target[key] for target in same) for key in ("compiled", "specimens")] for same in targets]
        rows.append([*installed, *tests, *(f"{done} of {all_of}" for done, all_of in sums)])
    write_text(DOCS / "generated" / "compatibility.html", html_table(rows, "What each version of Triton passed"))
    write_text(DOCS / "generated" / "compatibility_missing.html", not_run(found))
    rows = [["GPU", "driver", "Triton", "torch", "last bake", "records", "state"]]
    for machine in machines():
        baked = records_of(machine)
        if baked and baked[0]["environment"]["gpu"]:
            newest = max((record["environment"] for record in baked), key=lambda environment: environment["measured_at"])
            stale = len(older(machine))
            state = f"{stale} older than their code: renew with python scripts/bake.py on it" if stale else "all of this code"
            together = re.search(r"-x(\d+)$", machine)
            gpu = f"{together[1]} × {newest['gpu']}" if together else newest["gpu"]
            versions = [newest[key] for key in ("driver", "triton", "torch")]
            rows.append([gpu, *versions, newest["measured_at"][:10], len(baked), state])
    names = [html.escape(name) for name in sorted(older(primary_machine()))]
    told = f"<p>Numbers of these programs are of code that has changed since: {', '.join(names)}.</p>\n" if names else ""
    write_text(DOCS / "generated" / "ran_on.html", html_table(rows, "GPUs that ran the library") + told)
    rows = [["of the library", "script", "memory, GiB", "why this one"]]
    rows += [[", ".join(part.operations), part.program, part.gib, part.why] for part in core.PARTS]
    write_text(DOCS / "generated" / "core_set.html", html_table(rows, "The core set", "scroll words"))


def write_errors() -> None:
    """What each version of Triton says to the programs of the error index, and the list of its entries."""
    from scripts.pages import messages

    for record in records_of("cpu") if "cpu" in machines() else []:
        if record["kind"] == "messages":
            write_text(DOCS / "generated" / "errors" / f"{record['name']}.md", messages.fragment(record))
    for name in messages.on_gpu():
        write_text(DOCS / "generated" / "errors" / f"{name}.md", messages.gpu_fragment(name))
    write_text(DOCS / "generated" / "errors" / "index.html", messages.index())


def write_versions() -> None:
    """What programs print under each version of Triton, what kernels take there, and which messages changed."""
    from scripts.pages import versions

    for record in records_of("cpu") if "cpu" in machines() else []:
        if record["kind"] == "printed":
            write_text(DOCS / "generated" / f"{record['name']}.md", versions.printed(record))
    found = versions.read_all()
    folder = DOCS / "generated" / "versions"
    write_text(DOCS / "data" / "versions_compiled.csv", versions.table_text(found))
    write_text(folder / "changed.html", folded_table(versions.changed(found), "Launches that one version compiles otherwise"))
    write_text(folder / "steps.html", html_table(versions.sums(found), "From each version to the next"))
    write_text(folder / "unfused.html", folded_table(versions.unfused(found), "Launches without fused operations"))
    timed = versions.timed(primary_machine())
    write_text(DOCS / "data" / "versions.csv", versions.times_text(timed))
    if len(timed) > 1:
        write_text(folder / "times.html", html_table(versions.times(timed), "The library's times under each version"))
        write_text(folder / "flips.html", html_table(versions.flips(timed), "The fastest configurations under each version"))
    for version, text in versions.words().items():
        write_text(folder / f"words-{version}.html", text)


def write_gallery() -> None:
    """The gallery of broken kernels: the table of tools, and what machines say of each kernel."""
    from scripts.pages import gallery

    write_text(DOCS / "generated" / "gallery" / "table.html", gallery.table())
    for kernel in gallery.kernels():
        write_text(DOCS / "generated" / "gallery" / f"{kernel.name}.md", gallery.fragment(kernel.name))


def write_runs_here() -> None:
    """What of the programs runs in a page, and what not, for the compatibility page."""
    write_text(DOCS / "generated" / "runs_here.html", run_here.summary())
    write_text(DOCS / "generated" / "runs_here_not.html", run_here.exceptions())


def not_run(found: list[dict[str, Any]]) -> str:
    """The functions that some version has not been tried with, in a sentence."""
    ran: dict[str, set[str]] = {}
    for record in found:
        version, module = record["name"].split("/")
        ran.setdefault(module, set()).add(version)
    versions = sorted(path.stem.removeprefix("triton-") for path in (records.ROOT / "pins").glob("triton-*.txt"))
    lacking = []
    for module in sources.public_functions():
        if missing := [version for version in versions if version not in ran.get(module, set())]:
            lacking.append(f"<code>{module}</code> ({', '.join(missing)})")
    return (
        f"<p>Of today's code there is no green run yet of {'; '.join(lacking)}.</p>\n"
        if lacking
        else "<p>Today's code of every function ran without a fault on every version.</p>\n"
    )


def library_rows(machine: str) -> list[dict[str, Any]]:
    """The library beside its peers, on one machine: each record's rows against the copy of its own run."""
    found = []
    for record in records_of(machine):
        if record.get("measurements") and "ceilings" in record:
            copy = record["ceilings"]["copy"]
            found += results.rows(record["measurements"], copy["bytes"] / (copy["ms"][1] * 1e-3))
    return sorted(found, key=lambda row: list(results.OPERATIONS).index(row["op"]))


def drawn_records(machine: str) -> dict[str, dict[str, Any]]:
    """The records of shapes that nobody chose, by their programs' short names."""
    found = [record for record in records_of(machine) if "drawn" in record] if machine in machines() else []
    return {record["name"].partition("/")[2]: record for record in found}


def write_drawn() -> None:
    """Every time at a drawn shape as one file, and the charts of all operations, one after another, as one fragment."""
    text = io.StringIO()
    table = csv.writer(text, lineterminator="\n")
    table.writerow(drawn.COLUMNS)
    for machine in machines():
        for record in drawn_records(machine).values():
            for row in record["drawn"]["cases"]:
                known = [record["environment"]["gpu"], record["drawn"]["seed"]]
                known += [row[key] for key in ("op", "direction", "shape", "dtype")]
                flops = "" if row["flops"] is None else row["flops"]
                for name, ms in row["ms"].items():
                    table.writerow([*known, name, *ms, row["bytes"], flops])
    write_text(DOCS / "data" / "drawn.csv", text.getvalue())
    found = drawn_records(primary_machine())
    parts = [html_table(drawn.table(found), "The library at shapes that nobody chose")] if found else []
    charts = [DOCS / "generated" / "charts" / f"drawn_{name}.html" for name in found]
    parts += [path.read_text(encoding="utf-8") for path in charts if path.exists()]
    nothing = "<p>Nobody has drawn yet. The next bake draws first, and its table and charts will stand here.</p>\n"
    write_text(DOCS / "generated" / "drawn.html", "\n".join(parts) or nothing)
    lines, count = drawn.met(found)
    many = len(lines) - 1
    told = f"<p>Of these {many} lines, {count} meet both figures, and {many - count} miss one or both.</p>\n"
    told += html_table(lines, "What was asked and what was reached")
    write_text(DOCS / "generated" / "drawn_asked.html", told if found else nothing)
    many, count = drawn_kinds.lost(found)
    kinds = f"<p>Of the {many} cases that are lost, {count} are of a kind in this table.</p>\n"
    kinds += html_table(drawn_kinds.table(found), "Kinds of drawn shapes that are lost")
    write_text(DOCS / "generated" / "drawn_kinds.html", kinds if found else nothing)


def write_results() -> None:
    rows = library_rows(primary_machine()) if primary_machine() in machines() else []
    write_text(DOCS / "generated" / "results.html", html_table(results.table(rows), "The library beside its peers"))
    behind, of_the_host = results.lost(rows)
    text = html_table(behind, "Cases whose kernel is behind") if behind[1:] else "<p>No kernel is behind.</p>\n"
    text += folded_rows(of_the_host, f"Behind as called only: {len(of_the_host) - 1} cases")
    write_text(DOCS / "generated" / "results_lost.html", text)


def write_measurements() -> None:
    """The tables of docs/measurements: what was lost, seen at once, and every case of each operation, folded."""
    from scripts.pages import measurements

    rows = [row for row, _ in measured(primary_machine())] if primary_machine() in machines() else []
    for name, ops in measurements.PAGES.items():
        behind = measurements.lost(rows, ops)
        text = html_table(behind, "Cases in which a peer was faster") if behind[1:] else "<p>None of these cases.</p>\n"
        called = measurements.lost(rows, ops, with_the_host=True)
        text += folded_rows(called, f"The same as called, with the host's time: {len(called) - 1} that are slower than a peer")
        write_text(DOCS / "generated" / "measured" / f"{name}_lost.html", text)
        parts = []
        for op in ops:
            found = measurements.table(rows, op)
            summary = f"<code>{op}</code>, {len(found) - 1} rows"
            parts.append(f'<details class="data"><summary>{summary}</summary>{html_table(found, op).strip()}</details>\n')
        write_text(DOCS / "generated" / "measured" / f"{name}.html", "".join(parts))


def write_trust() -> None:
    """What Compute Sanitizer found in each program that asks for several of its tools, and the mutants' scores, in tables."""
    from scripts import mutate

    tools = ("memcheck", "racecheck", "initcheck", "synccheck")
    lines: list[list[Any]] = [["script", *tools]]
    for record in records_of(primary_machine()) if primary_machine() in machines() else []:
        if "sanitizers" in record:
            errors = {entry["tool"]: entry["errors"] for entry in record["sanitizers"]}
            lines.append([record["name"], *(errors.get(tool) for tool in tools)])
    write_text(DOCS / "generated" / "sanitized.html", html_table(lines, "Errors that Compute Sanitizer reported"))
    outcomes = ("caught", "same", "equivalent", "gap")
    head = ["changes", "noticed", "the same machine code", "no test can notice", "missed"]
    lines = [["operation", *head]]
    for record in records_of("cpu") if "cpu" in machines() else []:
        if record["kind"] == "mutants":
            counts = [record["total"].get(outcome, 0) for outcome in outcomes]
            lines.append([record["name"], sum(counts), *counts])
    lines += [[module, len(mutate.of_module(module))] + [None] * 4 for module in mutate.unscored()]
    write_text(DOCS / "generated" / "mutants.html", html_table(lines, "Changes of the kernels that the tests noticed"))
    by_kind = mutate.together()
    lines = [["what is changed", *head]]
    for kind, counted in sorted(by_kind.items(), key=lambda item: item[1]["gap"] / item[1].total()):
        lines.append([KINDS_OF_CHANGE[kind], counted.total(), *(counted[outcome] for outcome in outcomes)])
    whole = sum(by_kind.values(), Counter())
    lines += [["together", whole.total(), *(whole[outcome] for outcome in outcomes)]] if whole else []
    write_text(DOCS / "generated" / "mutants_by_kind.html", html_table(lines, "Changes by their kind, each counted once"))
    lines = [["kernels in Gluon", "changes", "tried", "noticed", "no test can notice", "missed"]]
    for record in records_of(primary_machine()) if primary_machine() in machines() else []:
        if record["kind"] == "mutants":
            caught, equivalent, gap = (record["total"].get(outcome, 0) for outcome in ("caught", "equivalent", "gap"))
            lines.append([record["name"], record["all"], caught + equivalent + gap, caught, equivalent, gap])
    label = "Changes of the kernels in Gluon that the tests noticed on a GPU"
    text = html_table(lines, label) if lines[1:] else "<p>The next run on a Hopper GPU brings their score.</p>\n"
    write_text(DOCS / "generated" / "mutants_gluon.html", text)


def html_table(rows: list[list[Any]], label: str, names: str = "scroll") -> str:
    head, *body = [[html.escape(cell_text(cell)) for cell in row] for row in rows]
    heading = "".join(f"<th scope=col>{cell}</th>" for cell in head)
    lines = [f"<tr>{''.join(f'<td>{cell}</td>' for cell in row)}</tr>" for row in body]
    table = f"<thead><tr>{heading}</tr></thead><tbody>{''.join(lines)}</tbody>"
    return f'<div class="{names}" tabindex="0" role="region" aria-label="{label}"><table>{table}</table></div>\n'


def folded_table(rows: list[list[Any]], label: str, most: int = 5) -> str:
    """A long table: its first rows, and the others folded under a line that says how many they are."""
    head, *body = rows
    rest = body[most:]
    return html_table([head, *body[:most]], label) + folded_rows([head, *rest], f"The other {len(rest)}", f"{label}, the others")


def folded_rows(rows: list[list[Any]], summary: str, label: str = "") -> str:
    """A table under a line that opens it; nothing, where there are no rows behind the head."""
    if not rows[1:]:
        return ""
    return f'<details class="data"><summary>{summary}</summary>{html_table(rows, label or summary).strip()}</details>\n'


def write_traces() -> None:
    from scripts.pages import stepper

    for path in sorted((records.BAKED / "cpu" / "traces").rglob("*.json")):
        record = records.read(path)
        source = f"{TO_ROOT}baked/cpu/traces/{record['name']}.json"
        write_text(DOCS / "generated" / "traces" / f"{record['name']}.html", stepper.element_html(record["name"], record, source))


def write_dances() -> None:
    """The dance between memory and chip: recorded runs, with the times of the machine whose numbers the text gives."""
    from scripts.pages import memory_traffic as dance

    rows = measured(primary_machine()) if primary_machine() in machines() else []
    for name, picture in dance.DANCES.items():
        places = [records.record_path("cpu", "trace", dance.trace_name(picture, block)) for block in picture.blocks]
        if not all(place.exists() for place in places):
            continue  # before the first bake there is nothing to replay
        write_text(DOCS / "generated" / "dances" / f"{name}.html", dance.element_html(name, rows, TO_ROOT))


def write_tile_order() -> None:
    """The order of tiles: the kernel's own map, with what the machine measured of it whose numbers the text gives."""
    from scripts.pages import tile_order

    order, groups = tile_order.read("cpu", tile_order.ORDER), tile_order.read(primary_machine(), tile_order.GROUPS)
    if order:  # before the first bake there is nothing to picture
        data = tile_order.picture(order, groups)
        write_json(DOCS / "data" / "tile_order.json", data)
        html_text = tile_order.element_html(data, groups and groups["environment"], f"{TO_ROOT}data/tile_order.json")
        write_text(DOCS / "generated" / "tile_order.html", html_text)


def write_picker() -> None:
    """The configuration picker: its data, and its element, of the machine whose numbers the text gives."""
    from scripts.pages import picker

    path = records.record_path(primary_machine(), "program", picker.NAME)
    if not path.exists():
        return  # before the first bake there is nothing to choose from
    given = picker.data(records.read(path))
    if given["shapes"]:
        write_text(DOCS / "data" / "picker.json", json.dumps(given, ensure_ascii=False, separators=(",", ":")) + "\n")
        element = picker.element_html(given, f"{TO_ROOT}data/picker.json")
        write_text(DOCS / "generated" / "picker.html", element)


def write_chooser() -> None:
    """The chooser of a stack: its data and its element. What has no record of this machine says so."""
    from scripts.pages import chooser, chooser_element

    given = chooser.data(primary_machine())
    write_text(DOCS / "data" / "chooser.json", json.dumps(given, ensure_ascii=False, separators=(",", ":")) + "\n")
    write_text(DOCS / "generated" / "chooser.html", chooser_element.element_html(given, TO_ROOT))


def write_lens() -> dict[str, str]:
    """The compiler lens: a text a kernel, the table of all, the element, and what the pages about it show; its figures."""
    from scripts.pages import lens, lens_excerpts

    found = lens.read_all()
    for record in found:
        path = DOCS / "data" / "lens" / f"{record['name']}.txt.gz"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(lens.packed(record))
    write_text(DOCS / "generated" / "lens" / "kernels.html", lens.table_html(found, "../data/lens/"))
    for name, text in lens_excerpts.files(found).items():
        write_text(DOCS / "generated" / "lens" / name, text)
    write_text(DOCS / "generated" / "lens" / "element.html", lens.element_html(found, "../data/lens/"))
    return {"triton": found[0]["launches"][0]["triton"]} if found else {}


def write_machine_map(found: dict[str, Any]) -> None:
    """The map of the machine whose numbers the text gives, and a strip of it for each page that lights up a part."""
    from scripts.pages import machine_map, machine_strip

    if {"memory_levels", "hardware_sheet"} <= found["kept"].keys() and "copy_gbps" in found["ceiling"]:
        write_text(DOCS / "generated" / "machine.html", machine_map.figure_html(found))
        for page in machine_strip.MAPS:
            write_text(DOCS / "generated" / "machine" / f"{page}.html", machine_strip.figure_html(page, found))


def write_home() -> None:
    """What the home page shows of deeper pages: it lies at the root, so its links are shorter. And the map of the course."""
    from scripts.pages import course_map

    for name in HOME_SHOWS:
        shown = DOCS / "generated" / name
        if shown.exists():  # before the first bake there is nothing to show
            text = shown.read_text(encoding="utf-8").replace(f'"{TO_ROOT}', '"')
            write_text(DOCS / "generated" / "home" / name, text.replace("<program-stepper ", "<program-stepper plays "))
    parts = course_map.course()
    write_text(DOCS / "generated" / "home" / "course_map.html", course_map.element_html(parts, ""))
    write_text(DOCS / "generated" / "course_map.html", course_map.element_html(parts, "../"))


def write_questions() -> None:
    for chapter in questions.chapters():
        write_text(DOCS / "generated" / "questions" / f"{chapter}.html", questions.section_html(chapter))


def write_redirects() -> None:
    """What stands at addresses that readers still know."""
    from scripts.pages import redirects

    for path, text in redirects.pages(DOCS).items():
        write_text(DOCS / path, text)
    write_json(DOCS / "data" / "moved.json", redirects.sections(DOCS))


def write_others() -> dict[str, Any]:
    """Everything but the programs; and the figures, which need the same records."""
    write_benchmarks()
    write_outputs()
    write_charts()
    write_pictures()
    write_checked()
    write_compatibility()
    write_results()
    write_drawn()
    write_measurements()
    write_trust()
    write_traces()
    write_dances()
    write_tile_order()
    write_picker()
    write_chooser()
    write_questions()
    write_redirects()
    write_home()
    run_here.write(DOCS)
    write_runs_here()
    write_errors()
    write_versions()
    write_gallery()
    lab_pages.write()
    found = figures() | {"lens": write_lens(), "claims": write_claims()}
    write_machine_map(found)
    write_capstone(found)
    return found


def write_claims() -> dict[str, Any]:
    """The ledger of claims: a part for each page, the table of all, the chart of five figures, the file; and the counts."""
    from scripts.claims import ledger
    from scripts.pages import claims, claims_chart

    if not (DOCS / "claims").exists():
        return {}
    found = ledger.entries()
    for page in ledger.PAGES:
        write_text(DOCS / "generated" / "claims" / f"{page}.md", claims.sections(page, found))
    write_text(DOCS / "generated" / "claims" / "table.html", claims.table_html(found))
    write_json(DOCS / "data" / "claims.json", claims.data(found))
    primary = primary_machine()
    if chart := claims_chart.chart([primary, *(name for name in machines() if name not in (primary, "cpu"))]):
        wide, narrow = (claims_chart.drawing(chart, variant) for variant in ("wide", "narrow"))
        text = io.StringIO()
        csv.writer(text, lineterminator="\n").writerows([chart["columns"], *chart["rows"]])
        write_text(DOCS / "data" / "charts" / f"{chart['name']}.csv", text.getvalue())
        write_json(DOCS / "data" / "charts" / f"{chart['name']}.json", chart)
        shown = chart_figure(chart, wide, narrow).replace(f'"{TO_ROOT}', '"../')  # the page lies one folder deep
        write_text(DOCS / "generated" / "claims" / "chart.html", shown)
    return claims.counts(found)


def write_capstone(found: dict[str, Any]) -> None:
    """The capstone's skeleton and its finished version, and the page's log."""
    from scripts.pages import capstone

    if "matmul_ladder_tiles" in found["counted"]:  # before the first bake no log can be filled
        capstone.write(DOCS, found)


def write_dist() -> None:
    dist.write(DOCS / "dist")


def alone(write: Callable[[], Any]) -> Any:
    """Run in a process of its own."""
    gc.disable()  # a short run, which leaves little behind
    return write()


def write_all(meanwhile: Callable[[], None]) -> None:
    """The programs are half of the work, so two processes share it, and this one is free. Ctrl-C ends the two without a word."""
    with ProcessPoolExecutor(2, initializer=signal.signal, initargs=(signal.SIGINT, signal.SIG_DFL)) as beside:
        found, *written = (beside.submit(alone, write) for write in (write_others, write_programs, write_dist))
        meanwhile()
        for each in written:
            each.result()
        files: dict[str, Any] = {"wheel": dist.wheel_name(), "tools": dist.wheel_name(part=dist.TOOLS)}
        files["sources"] = dist.sources_name()
        files["requires"] = dist.project()["dependencies"]
        files["sha256"] = hashlib.sha256((DOCS / "dist" / files["wheel"]).read_bytes()).hexdigest()
        write_json(DOCS / "generated" / "figures.json", found.result() | {"programs": program_lines(), "dist": files})


def main(meanwhile: Callable[[], None] = lambda: None) -> int:
    """Write all of it, and do `meanwhile` what needs none of it."""
    for folder in ("programs", "data", "dist", "generated"):
        shutil.rmtree(DOCS / folder, ignore_errors=True)
    try:
        write_all(meanwhile)
    except (records.RecordError, CodeError, dist.BuildError) as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
