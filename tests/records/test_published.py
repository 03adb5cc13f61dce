"""The published data: its form, and every number worked out again from the records. (The list of programs: tests/docs.)"""

import collections
import csv
import hashlib
import html
import json
import math
import re
import shutil
import statistics
import subprocess
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from scripts.pages import measurements
from scripts.pages.gallery import TOOLS
from scripts.provenance import byte_laws, records, sources
from scripts.provenance.environment import primary_machine, several_machine
from scripts.provenance.follow import Code
from tests.docs import pages
from tests.records.freshness import awaited
from tests.scripts import trees

COLUMNS = "gpu,op,direction,shape,dtype,implementation,timing,ms_p20,ms_p50,ms_p80,bytes,flops,commit,measured_at"
KEY = COLUMNS.split(",")[:7]
DIRECTIONS = {"fwd", "bwd", "fwdbwd"}
PRIMARY = primary_machine()


@pytest.fixture(scope="module", autouse=True)
def prepared() -> None:
    pages.prepare()


@pytest.fixture(scope="module")
def raw() -> list[dict[str, Any]]:
    """The primary machine's records, as they lie there."""
    paths = sorted((records.ROOT / "docs/baked" / PRIMARY).rglob("*.json"))
    return [json.loads(path.read_text(encoding="utf-8")) for path in paths if path.parent.name != "charts"]


def table(root: Path = records.ROOT) -> tuple[str, list[dict[str, str]]]:
    text = (root / "docs/data/benchmarks.csv").read_text(encoding="utf-8")
    return text.splitlines()[0], list(csv.DictReader(text.splitlines(), strict=True))


# data/benchmarks.csv


def faults(row: dict[str, str]) -> list[str]:
    """The fields of a row that are not as the format has them."""
    times = [float(row[f"ms_p{quantile}"]) for quantile in (20, 50, 80)]
    right = {
        "gpu": re.fullmatch(r"NVIDIA \S.*|AMD \S.*", row["gpu"]),
        "op": row["op"] in byte_laws.OPERATIONS,
        "shape": byte_laws.SHAPE.fullmatch(row["shape"]) and has_the_sides(row),
        "direction": row["direction"] in DIRECTIONS,
        "dtype": row["dtype"] in byte_laws.WIDTHS,
        "implementation": re.fullmatch(r"[a-z][a-z0-9_]*", row["implementation"]),
        "timing": row["timing"] in ("call", "graph"),
        "quantiles": 0 < times[0] <= times[1] <= times[2] < math.inf,
        "bytes": re.fullmatch(r"[1-9]\d*", row["bytes"]),
        "flops": re.fullmatch(r"([1-9]\d*)?", row["flops"]),
        "commit": re.fullmatch(r"([0-9a-f]{40})?", row["commit"]),
        "measured_at": re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", row["measured_at"]),
    }
    return [f"{field} of {','.join(row.values())}" for field, fine in right.items() if not fine]


def has_the_sides(row: dict[str, str]) -> bool:
    """Whether a shape has as many sides as the operation's law asks for; words stand where sides are drawn at random."""
    try:
        return row["op"] not in byte_laws.LAWS or bool(byte_laws.LAWS[row["op"]].forward(*byte_laws.sides_of(row["shape"])))
    except TypeError:
        return False


def test_the_columns_are_those_of_the_format():
    header, rows = table()
    assert header == COLUMNS
    assert rows and all(None not in row and None not in row.values() for row in rows)


def test_every_row_is_spelled_as_the_format_says():
    assert [fault for row in table()[1] for fault in faults(row)] == []


def test_the_first_seven_columns_are_a_key():
    keys = [tuple(row[column] for column in KEY) for row in table()[1]]
    assert sorted(keys) == sorted(set(keys))


def test_every_row_is_a_measurement_of_the_records_and_every_measurement_a_row(raw):
    expected = []
    for record in raw:
        environment = record["environment"]
        for row in record.get("measurements", []):
            flops = "" if row["flops"] is None else str(row["flops"])
            fields = [environment["gpu"], *(row[field] for field in KEY[1:]), *map(str, row["ms"]), str(row["bytes"]), flops]
            expected.append([*fields, environment["commit"], environment["measured_at"]])
    found = [list(row.values()) for row in table()[1] if row["gpu"] == raw[0]["environment"]["gpu"]]
    assert sorted(found) == sorted(expected)


def test_bytes_and_products_operations_are_those_of_the_law():
    """Each input read once, each output written once; two operations a term of a product."""
    wrong, sweeps = [], {}
    for row in table()[1]:
        case, flops = [row[column] for column in KEY[1:5]], int(row["flops"] or 0)
        expected = byte_laws.bytes_of(*case, flops)
        if expected is None:
            sweeps.setdefault(row["op"], set()).add(int(row["bytes"]))
        elif int(row["bytes"]) != expected or byte_laws.flops_of(*case[:3]) not in (None, flops):
            wrong.append(list(row.values()))
    assert wrong == []
    assert sweeps.keys() == byte_laws.SWEEPS
    assert all(max(moved) < 1.01 * min(moved) for moved in sweeps.values())


def test_every_law_is_one_that_something_was_or_will_be_measured_by():
    measured = {row["op"] for row in table()[1]}
    assert measured <= byte_laws.OPERATIONS
    assert [op for op in byte_laws.OPERATIONS - measured if not awaited(op)] == []


GOOD = {"gpu": "NVIDIA H200", "op": "softmax", "direction": "fwd", "shape": "4x8", "dtype": "fp32", "implementation": "eager"}
GOOD |= {"timing": "call", "ms_p20": "1", "ms_p50": "2", "ms_p80": "3", "bytes": "256", "flops": "", "commit": ""}
GOOD |= {"measured_at": "2000-01-01T00:00:00Z"}
BAD = [
    ("op", "Softmax"),
    ("direction", "forward"),
    ("shape", "(4, 8)"),
    ("shape", "32"),
    ("dtype", "float32"),
    ("implementation", "torch.softmax"),
    ("timing", "cuda graph"),
    ("ms_p20", "2.5"),
    ("ms_p50", "nan"),
    ("ms_p80", "inf"),
    ("ms_p20", "0"),
    ("bytes", ""),
    ("flops", "None"),
    ("flops", "1.5"),
    ("commit", "main"),
    ("measured_at", "2000-01-01 00:00:00Z"),
    ("measured_at", "2000-01-01T00:00:00+02:00"),
    ("gpu", "nvidia-h200"),
]


@pytest.mark.parametrize("field, value", BAD)
def test_a_planted_fault_is_found(field, value):
    found = faults(GOOD | {field: value})
    assert faults(GOOD) == [] and found[0].startswith("quantiles" if field.startswith("ms_") else field)


# generated/figures.json

Leaves = dict[tuple[str, ...], Any]


def leaves(value: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Everything in a nest of mappings and lists, by its path."""
    if isinstance(value, dict | list) and value:
        for key, part in value.items() if isinstance(value, dict) else enumerate(value):
            yield from leaves(part, (*path, str(key)))
    else:
        yield path, value


def expected_versions() -> dict[str, Any]:
    """How many launches were compiled by each Triton, and for how many the answers differ, from the records' own figures."""
    made = [record for _, record in records.all_records("cpu") if record["kind"] == "versions"]
    by = [list(launch["by"].values()) for record in made for launch in record["launches"]]
    what = ("registers", "spill_bytes", "shared_bytes")
    other = sum(len({tuple(each.get(figure) for figure in what) for each in ways[:-1]}) > 1 for ways in by)
    timed = len(list(records.BAKED.glob(f"{PRIMARY}*/versions/timed.json"))) > 1
    found = {"kernels": len(made), "launches": len(by), "changed": other, "unfused": sum(ways[-1] != ways[-2] for ways in by)}
    ours = records.read(records.record_path(PRIMARY, "program", "versions/timed"))
    return found | {"timed": timed, "timed_is_old": not sources.is_fresh(ours, Code())}


def expected_gallery() -> dict[str, Any]:
    """How often each tool noticed a kernel of the gallery, and which tools together notice most, from the records' own words."""
    programs = {path.stem for path in (records.ROOT / "snippets/gallery").glob("*.py")}
    made = [record for machine in ("cpu", PRIMARY) for _, record in records.all_records(machine) if record["kind"] == "gallery"]
    said = {(record["name"], tool): cell for record in made for tool, cell in record["cells"].items()}
    loud = {key for key, cell in said.items() if cell["wrong"][0] in ("notices", "refuses", "hangs")}
    tools: dict[str, Any] = {}
    for tool in TOOLS:
        asked = [cell for (_, by), cell in said.items() if by == tool and cell["wrong"][0] != "cannot"]
        noticed = len([name for name, by in loud if by == tool])
        alarms = [cell for (_, by), cell in said.items() if by == tool and cell["right"][0] not in ("silent", "cannot")]
        words = f"notices {noticed} of {len(asked)}" if asked else "not asked yet"
        tools[tool] = {"asked": len(asked), "notices": noticed, "alarms": len(alarms), "said": words}
    steps: list[dict[str, Any]] = []
    left, telling = set(programs), {key for key in loud if said[key]["right"][0] in ("silent", "cannot")}
    while gains := {tool: sum((name, tool) in telling for name in left) for tool in TOOLS}:
        best = [tool for tool in TOOLS if gains[tool] == max(gains.values())][0]
        if not gains[best]:
            break
        left = {name for name in left if (name, best) not in telling}
        found = {"tool": best, "title": TOOLS[best], "adds": gains[best], "so_far": len(programs) - len(left)}
        steps.append(found)
    waiting = [title for tool, title in TOOLS.items() if any((name, tool) not in said for name in programs)]
    runs = [record for _, record in records.all_records(PRIMARY) if record["name"].startswith("gallery/")]
    ran = {record["name"].partition("/")[2]: record["output"] for record in runs}
    other = re.compile(r"wrong, .*: (?!agrees with PyTorch)")
    seen = len([name for name in left if any(map(other.match, ran.get(name, [])))])
    return {"kernels": len(programs), "tools": tools, "steps": steps, "left": len(left), "seen": seen, "open": waiting}


def expected_cards() -> list[dict[str, Any]]:
    """How each other card ordered the configurations of the search that the first one made, from both records' rows."""
    tile = ("block_m", "block_n", "block_k", "group_m", "num_warps", "num_stages")

    def searched(machine: str) -> dict[str, list[tuple[float, tuple[int, ...]]]]:
        shapes = records.read(records.record_path(machine, "program", "landscape/search"))["figures"]["shapes"]
        return {
            shape: sorted((row["us"], tuple(row[part] for part in tile)) for row in each["rows"] if row["us"])
            for shape, each in shapes.items()
        }

    found, own = [], searched(PRIMARY)
    for machine in sorted(path.name for path in records.BAKED.iterdir() if path.is_dir() and path.name not in ("cpu", PRIMARY)):
        paths = [records.record_path(machine, "program", name) for name in ("landscape/search", "hardware/sheet")]
        if not all(path.exists() and sources.is_fresh(records.read(path), Code()) for path in paths):
            continue
        shapes = {}
        for shape, there in searched(machine).items():
            times = [{by: us for us, by in each} for each in (own[shape], there)]
            places = [{by: at for at, by in enumerate(each)} for each in times]
            assert times[0].keys() == times[1].keys(), "work the ranks out among those that both timed"
            n = len(there)
            shapes[shape] = {
                "best": dict(zip(tile, there[0][1], strict=True)),
                "foreign": times[1][own[shape][0][1]] / there[0][0],
                "slower": there[0][0] / own[shape][0][0],
                "slow_ones": statistics.median([times[1][by] / us for us, by in own[shape]][n - (n + 3) // 4 :]),
                "order": 1 - 6 * sum((places[0][by] - places[1][by]) ** 2 for by in places[0]) / (n * (n * n - 1)),
            }
        sheet = records.read(paths[1])
        told = {key: sheet["figures"][key] for key in ("multiprocessors", "shared_bytes_program", "copy_gbps")}
        same = len([shape for shape in shapes.values() if shape["foreign"] == 1])
        found.append({"gpu": sheet["environment"]["gpu"], "shapes": shapes, "same": same} | told)
    return found


def charts_shown() -> list[str]:
    return [path.read_text(encoding="utf-8") for path in (records.ROOT / "docs/generated/charts").glob("*.html")]


def expected_across() -> list[dict[str, Any]]:
    """How the library stands beside its peers on another card, from the lines of benchmarks.csv."""
    with (records.ROOT / "docs/data/benchmarks.csv").open(encoding="utf-8") as file:
        lines = list(csv.DictReader(file))
    by: dict[tuple[str, ...], dict[str, dict[tuple[str, str], float]]] = {}
    for line in lines:
        case = by.setdefault(tuple(line[key] for key in ("op", "direction", "shape", "dtype")), {})
        case.setdefault(line["timing"], {})[line["gpu"], line["implementation"]] = float(line["ms_p50"])
    own = records.read(records.record_path(PRIMARY, "program", "hardware/sheet"))["environment"]["gpu"]
    topic_of = {op: topic for topic, ops in measurements.PAGES.items() for op in ops}
    found = []
    for gpu in sorted({line["gpu"] for line in lines} - {own}):
        pairs: dict[tuple[str, ...], tuple[float, float]] = {}
        for key, timings in by.items():
            both = {timing: ms for timing, ms in timings.items() if {card for card, _ in ms} >= {own, gpu}}
            timing = "graph" if "graph" in both else "call"
            for ours, (way, rivals) in measurements.WAYS.items() if both else ():
                ms = both[timing]
                shared = [name for name in rivals if {(own, name), (gpu, name), (own, ours), (gpu, ours)} <= ms.keys()]
                if shared:
                    here, there = (min(ms[card, name] for name in shared) / ms[card, ours] for card in (own, gpu))
                    pairs[key[0], way, *key[1:], timing] = here, there
        of = {topic: [pair for case, pair in pairs.items() if topic_of[case[0]] == topic] for topic in measurements.PAGES}
        topics = {topic: tally(some) for topic, some in of.items()}
        ends = [(case, *pair) for case, pair in pairs.items() if sign(pair[0]) * sign(pair[1]) < 0]
        turned = [{"case": list(case), "here": here, "there": there} for case, here, there in ends]
        turned.sort(key=lambda one: one["there"] / one["here"])
        known = {topic: row for topic, row in topics.items() if row["cases"]}
        offered = json.dumps({"gpu": gpu, "has": True}, separators=(",", ":"))[1:-1]
        charts = sum(offered in html.unescape(text) for text in charts_shown())
        found.append({"gpu": gpu, "topics": known, "all": tally(list(pairs.values())), "turned": turned, "charts": charts})
    return found


def sign(ratio: float) -> int:
    """Ahead, behind, or neither within two percent."""
    return (ratio > 1.02) - (ratio < 0.98)


def tally(pairs: list[tuple[float, float]]) -> dict[str, Any]:
    signs = [(sign(here), sign(there)) for here, there in pairs]
    alike, turned = sum(a == b for a, b in signs), sum(a * b < 0 for a, b in signs)
    found: dict[str, Any] = {"cases": len(pairs), "alike": alike, "turned": turned}
    for at, where in enumerate(("here", "there")):
        counts = collections.Counter(each[at] for each in signs)
        mean = math.exp(math.fsum(math.log(pair[at]) for pair in pairs) / max(len(pairs), 1))
        found[where] = {"won": counts[1], "level": counts[0], "lost": counts[-1], "mean": mean}
    return found


def expected_messages() -> dict[str, int]:
    """The counts by which the error index judges the messages."""
    said = [record["said"] for _, record in records.all_records("cpu") if record["kind"] == "messages"]
    newest, interpreted, oldest = (
        [each[way][version] for each in said]
        for way, version in (("compiler", "3.9.0"), ("interpreter", "3.9.0"), ("compiler", "3.6.0"))
    )
    ends = [[[text.split("\n")[-1] for text in texts] for texts in which] for which in (newest, oldest)]
    return {
        "programs": len(said),
        "compiler": sum(any(text != "no error" for text in texts) for texts in newest),
        "interpreter": sum(any(text != "no error" for text in texts) for texts in interpreted),
        "caret": sum(any(line.strip() == "^" for text in texts for line in text.split("\n")) for texts in newest),
        "line": sum(re.search(r"the mistake\n +\^", "\n\n".join(texts)) is not None for texts in newest),
        "changed": sum(now != before for now, before in zip(*ends, strict=True)),
    }


def expected_figures(raw: list[dict[str, Any]]) -> Leaves:
    found: Leaves = {}
    copies, products = [], []
    for record in raw:
        name = record["name"].replace("/", "_")
        for row in record.get("measurements", []):
            median = row["ms"][1] / 1000
            path = ("m", row["op"], row["direction"], row["shape"], row["dtype"], row["timing"], row["implementation"])
            found |= {(*path, "us"): median * 1e6, (*path, "gbps"): row["bytes"] / median / 1e9, (*path, "bytes"): row["bytes"]}
        for ceiling in (record["ceilings"],) if "ceilings" in record else ():
            copies.append(ceiling["copy"]["bytes"] / ceiling["copy"]["ms"][1] * 1000 / 1e9)
            products.append(ceiling["matmul"]["flops"] / ceiling["matmul"]["ms"][1] * 1000 / 1e12)
            found |= {("ceiling", name, "copy_gbps"): copies[-1], ("ceiling", name, "matmul_tflops"): products[-1]}
        for part in {entry["implementation"] for entry in record.get("counters", [])}:
            entries = [entry for entry in record["counters"] if entry["implementation"] == part]
            read, written = (sum(entry[f"dram_{way}_bytes"] for entry in entries) for way in ("read", "write"))
            sums = {"dram_read_bytes": read, "dram_write_bytes": written, "bytes": read + written, "kernels": len(entries)}
            sums |= {"ms": math.fsum(entry["ms"] for entry in entries), "each": entries}
            found |= {("counted", name, part, *path): value for path, value in leaves(sums)}
        for specimen in record.get("specimens", []):
            kernel, label = specimen["specimen"].split("/")
            found |= {("compiled", kernel, label, *path): value for path, value in leaves(specimen)}
    kept = {record["name"]: record["figures"] for _, record in records.all_records("cpu") if "figures" in record}
    kept |= {record["name"]: record["figures"] for record in raw if "figures" in record}
    kept |= {record["name"]: record["figures"] for _, record in records.all_records(several_machine()) if "figures" in record}
    kept = {name.replace("/", "_"): contents for name, contents in kept.items()}
    found |= {("kept", *path): value for path, value in leaves(kept)}
    found |= {("ceiling", "copy_gbps"): statistics.median(copies), ("ceiling", "matmul_tflops"): statistics.median(products)}
    newest = sorted(record["environment"]["measured_at"] for record in raw)[-1]
    (last,) = {json.dumps(record["environment"]) for record in raw if record["environment"]["measured_at"] == newest}
    found |= {("baked", key): value for key, value in json.loads(last).items()}
    found |= {("cards", "landscape", *path): value for path, value in leaves(expected_cards())}
    found |= {("cards", "across", *path): value for path, value in leaves(expected_across())}
    found["cards", "charts"] = len(charts_shown())
    found |= {("messages", key): value for key, value in expected_messages().items()}
    found |= {("gallery", *path): value for path, value in leaves(expected_gallery())}
    found |= {("versions", key): value for key, value in expected_versions().items()}
    found |= {("claims", key): value for key, value in expected_claims().items()}
    found |= {("drawn", *path): value for path, value in leaves(expected_drawn(raw))}
    lens = records.read(records.record_path("cpu", "lens", "add_kernel"))
    found["lens", "triton"] = lens["environment"]["triton"]
    found |= {("results", *path): value for path, value in leaves(expected_results(raw))}
    for path in (records.ROOT / "docs/programs").rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        found["programs", f"{path.parent.name}_{path.stem}", "lines"] = text.count("\n")
    (wheel,), (tools,), (archive,) = (
        list((records.ROOT / "docs/dist").glob(pattern)) for pattern in ("*_kernels-*.whl", "*_tools-*.whl", "*.tar.gz")
    )
    project = tomllib.loads((records.ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    told = {"wheel": wheel.name, "tools": tools.name, "sources": archive.name, "requires": project["dependencies"]}
    told["sha256"] = hashlib.sha256(wheel.read_bytes()).hexdigest()
    return found | {("dist", *path): value for path, value in leaves(told)}


def expected_drawn(raw: list[dict[str, Any]]) -> dict[str, Any]:
    """Of each operation at drawn shapes and each direction: how far the best peer is ahead or behind, from the record's rows."""
    found: dict[str, Any] = {}
    for record in raw:
        if "drawn" not in record:
            continue
        rate = record["ceilings"]["copy"]["bytes"] / record["ceilings"]["copy"]["ms"][1]
        told = found[record["name"].split("/")[1]] = {"seed": record["drawn"]["seed"]}
        for direction in dict.fromkeys(row["direction"] for row in record["drawn"]["cases"]):
            ratios = []
            for row in record["drawn"]["cases"]:
                peers = [(ms[1], name) for name, ms in row["ms"].items() if name != "blockwise"]
                if row["direction"] == direction and peers:
                    ours = row["ms"]["blockwise"][1]
                    near = row["bytes"] / ours >= 0.92 * rate
                    ratio = min(peers)[0] / ours
                    ratios.append((1.0 if near and ratio < 1 else ratio, row["shape"], row["dtype"], min(peers)[1]))
            ordered = sorted(ratio for ratio, *_ in ratios)
            place = (len(ordered) - 1) / 10
            low = ordered[int(place)]
            worst = next(one for one in ratios if one[0] == ordered[0])
            told[direction] = {
                "cases": len(ratios), "mean": math.exp(sum(map(math.log, ordered)) / len(ordered)),
                "tenth": low + (ordered[min(int(place) + 1, len(ordered) - 1)] - low) * (place - int(place)),
                "won": sum(ratio > 1.02 for ratio in ordered), "lost": sum(ratio < 0.98 for ratio in ordered),
                "worst": dict(zip(("ratio", "shape", "dtype", "peer"), worst, strict=True)),
            }  # fmt: skip
    return found


def expected_claims() -> dict[str, int]:
    """The verdicts that the ledger's files hold, counted line by line."""
    texts = [path.read_text(encoding="utf-8") for path in (records.ROOT / "docs/claims").glob("*.toml")]
    given = [line.split('"')[1] for text in texts for line in text.splitlines() if line.startswith("verdict = ")]
    found = {kind.replace(" ", "_"): given.count(kind) for kind in ("true", "true if", "false", "untested", "cannot be tested")}
    left = sum(found[kind] for kind in ("untested", "cannot_be_tested"))
    total = sum(text.count("[[claims]]") for text in texts)
    return found | {"not_yet_measured": total - sum(found.values()), "claims": total, "judged": total - left}


LIBRARY = {"add", "gelu", "bias_gelu", "swiglu", "geglu", "dropout", "dropout_add", "softmax", "layernorm", "rmsnorm", "rope"}
LIBRARY |= {"gelu_erf", "swiglu_halves", "cross_entropy", "sum", "sum_dim-1", "sum_dim0", "max", "max_dim-1", "max_dim0"}
COPIED = set(LIBRARY)  # what at best runs at the rate of a copy
LIBRARY |= {"histc", "histc_one_bin"}
RIVALS = {"eager", "compile", "compile_max", "liger", "flash_triton", "flash_triton_ip"}


def expected_results(raw: list[dict[str, Any]]) -> dict[str, Any]:
    """Won, level and lost, counted anew from the medians."""
    leads: dict[str, list[tuple[float, bool]]] = {"call": [], "graph": []}
    last: dict[tuple, list[tuple[bool, float, float]]] = collections.defaultdict(list)
    for record in raw:
        for ours in record.get("measurements", []):
            if ours["op"] in LIBRARY and ours["implementation"] == "blockwise":
                key = [ours[part] for part in ("op", "direction", "shape", "dtype", "timing")]
                same = [row for row in record["measurements"] if [row[part] for part in KEY[1:5]] + [row["timing"]] == key]
                rivals = [row["ms"][1] for row in same if row["implementation"] in RIVALS]
                if not rivals:
                    continue
                copy = record["ceilings"]["copy"]
                microseconds = ours["bytes"] * copy["ms"][1] / copy["bytes"] * 1000
                leads[ours["timing"]].append((min(rivals) / ours["ms"][1], microseconds >= 20))
                if microseconds >= 20:
                    last[tuple(key[:4])].append(
                        (ours["timing"] == "graph", min(rivals) / ours["ms"][1], min(rivals) * 1000 / microseconds)
                    )
    found: dict[str, Any] = {"cases": len(leads["call"]), "large": sum(big for _, big in leads["call"]), "floor_us": 20}
    for timing, all_of in leads.items():
        for name, kept in (("all", all_of), ("large", [lead for lead in all_of if lead[1]])):
            level = sum(0.98 <= ratio <= 1.02 for ratio, _ in kept)
            won = sum(ratio > 1.02 for ratio, _ in kept)
            found[f"{timing}_{name}"] = {"won": won, "level": level, "lost": len(kept) - won - level}
    ratios = sorted(ratio for ratio, big in leads["call"] if big)
    middle = (ratios[len(ratios) // 2] + ratios[(len(ratios) - 1) // 2]) / 2
    found |= {"mean": math.prod(ratios) ** (1 / len(ratios)), "median": middle}
    for name, place, ops in (("mean_alone", 1, LIBRARY), ("mean_copied", 1, COPIED), ("limit_copied", 2, COPIED)):
        logs = [math.log(max(timings)[place]) for key, timings in last.items() if key[0] in ops]  # the replay's if there is one
        found[name] = math.exp(sum(logs) / len(logs))
    return found


def test_every_figure_is_worked_out_from_the_records(raw):
    found = dict(leaves(json.loads((records.ROOT / "docs/generated/figures.json").read_text(encoding="utf-8"))))
    expected = expected_figures(raw)
    assert sorted(found.keys() ^ expected.keys(), key=str) == []  # not both, whose difference pytest would draw for minutes
    assert len(found) > 500
    differ = {path: (found[path], expected[path]) for path in found if not alike(found[path], expected[path])}
    assert differ == {}


def alike(one: Any, other: Any) -> bool:
    return math.isclose(one, other, rel_tol=1e-12) if isinstance(one, float) and isinstance(other, float) else one == other


# Several machines, in a small checkout


@pytest.fixture
def tree(tmp_path) -> Path:
    tree = trees.checkout(tmp_path)
    settings = "nav:\n  - Home: index.md\nextra:\n  primary: first-gpu\n  several: first-gpu-x2\n"
    trees.put(tree, {"docs/redirects.tsv": "", "docs/index.md": "# A page\n", "mkdocs.yml": settings})
    for name in (".gitignore", "pyproject.toml", "README.md", "LICENSE"):  # what the library's wheel is made with
        shutil.copy(records.ROOT / name, tree)
    shutil.copytree(records.ROOT / "extras", tree / "extras")
    return tree


def measured(tree: Path, machine: str, name: str, implementation: str, **fields: Any) -> None:
    row = {"op": "add", "direction": "fwd", "shape": "8", "dtype": "fp32", "implementation": implementation, "timing": "call"}
    row |= {"ms": [0.5, 1.0, 2.0], "bytes": 96, "flops": None, "configuration": None}
    environment = {"machine": machine, "gpu": machine.upper(), "measured_at": "2000-01-01T00:00:00Z", "commit": ""}
    environment |= {"driver": "1", "cuda": "2", "torch": "3", "triton": "4", "python": "5"} | fields.pop("made", {})
    trees.lay(tree, name, machine, environment=environment, measurements=[row], **fields)


def prepare_in(tree: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(**trees.command(tree, script="prepare.py"), capture_output=True)


def test_another_gpu_s_stale_records_are_left_out_and_its_fresh_ones_are_not(tree):
    measured(tree, "first-gpu", "tiny/plus", "fresh")
    measured(tree, "first-gpu", "tiny/times", "stale", hash="of other code")
    measured(tree, "second-gpu", "tiny/plus", "fresh")
    measured(tree, "second-gpu", "tiny/times", "stale", hash="of other code")
    done = prepare_in(tree)
    assert done.returncode == 0, done.stderr
    header, rows = table(tree)
    found = [(row["gpu"], row["implementation"]) for row in rows]
    assert header == COLUMNS and found == [("FIRST-GPU", "fresh"), ("FIRST-GPU", "stale"), ("SECOND-GPU", "fresh")]
    assert (rows[0]["flops"], rows[0]["commit"]) == ("", "")


def test_the_text_speaks_of_the_primary_machine_and_its_newest_measurement(tree):
    measured(tree, "first-gpu", "tiny/plus", "one", made={"measured_at": "2000-01-03T00:00:00Z"})
    measured(tree, "first-gpu", "tiny/times", "one", made={"measured_at": "2000-01-02T00:00:00Z"}, hash="of other code")
    measured(tree, "second-gpu", "tiny/plus", "one", made={"measured_at": "2000-01-04T00:00:00Z"})
    assert prepare_in(tree).returncode == 0
    figures = json.loads((tree / "docs/generated/figures.json").read_text(encoding="utf-8"))
    assert (figures["baked"]["gpu"], figures["baked"]["measured_at"]) == ("FIRST-GPU", "2000-01-03T00:00:00Z")
    assert (tree / "docs/generated/outputs/gpu/tiny/plus.txt").read_text(encoding="utf-8") == "µ\n"
    assert not (tree / "docs/generated/outputs/gpu/tiny/plus.sanitizer.txt").exists()


def test_what_the_sanitizer_found_can_be_included(tree):
    found = {"tool": "memcheck", "part": "", "errors": 1, "output": ["========= Invalid", "========= ERROR SUMMARY: 1 error"]}
    measured(tree, "first-gpu", "tiny/plus", "one", sanitizer=found)
    assert prepare_in(tree).returncode == 0
    text = (tree / "docs/generated/outputs/gpu/tiny/plus.sanitizer.txt").read_text(encoding="utf-8")
    assert text == "========= Invalid\n========= ERROR SUMMARY: 1 error\n"


def test_the_charts_are_the_primary_machine_s(tree):
    for machine, stale in (("first-gpu", {}), ("second-gpu", {"hash": "of other code"})):
        measured(tree, machine, "tiny/plus", "one", **stale)
        environment = records.read(records.record_path(machine, "program", "tiny/plus", trees.baked(tree)))["environment"]
        table = {"columns": ["a"], "rows": [[1]], "spots": []}
        sidecar = {"name": "one", "title": "One.", "alt": "", "sources": ["tiny/plus"], **table, "environment": environment}
        folder = f"docs/charts/{machine}"
        trees.put(
            tree,
            {f"{folder}/one.json": json.dumps(sidecar), f"{folder}/one.wide.svg": "<svg/>", f"{folder}/one.narrow.svg": "<svg/>"},
        )
    done = prepare_in(tree)
    assert done.returncode == 0, done.stderr
    for file in ("data/charts/one.json", "generated/charts/one.html"):
        text = (tree / "docs" / file).read_text(encoding="utf-8")
        assert "FIRST-GPU" in text and "SECOND-GPU" not in text


@pytest.mark.parametrize("machine", ["first-gpu", "second-gpu", "cpu"])
def test_a_corrupt_record_stops_it_with_one_line(tree, machine):
    trees.put(tree, {f"docs/baked/{machine}/tiny/plus.json": "{"})
    done = prepare_in(tree)
    assert (done.returncode, done.stdout) == (1, "")
    assert re.fullmatch(rf"\S+/{machine}/tiny/plus\.json: not a readable record .*\n", done.stderr)


def test_it_works_before_the_first_bake(tree):
    done = prepare_in(tree)
    assert done.returncode == 0, done.stderr
    assert table(tree) == (COLUMNS, [])
