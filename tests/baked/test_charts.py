"""The charts: a pure function of the records, fit to stand in a page. The records made here are synthetic."""

import copy
import functools
import gzip
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from matplotlib.axes import Axes

import main
from scripts import charts
from scripts.provenance import records
from tests.baked.activation_records import records_of_activations
from tests.baked.block_model_records import records_of_block_model
from tests.baked.ladder_records import records_of_ladder
from tests.baked.losses_records import records_of_losses
from tests.baked.masking_records import records_of_masking
from tests.baked.matmul_ladder_records import records_of_matmul_ladder
from tests.baked.memory_records import records_of_memory
from tests.baked.norms_records import records_of_norms
from tests.baked.products_records import records_of_products
from tests.baked.reductions_records import records_of_reductions
from tests.baked.tile_order_records import records_of_order
from tests.baked.tuning_records import records_of_tuning
from tests.baked.why_kernels_records import records_of_why_kernels

SVG = "{http://www.w3.org/2000/svg}"
XLINK = "{http://www.w3.org/1999/xlink}href"
VARIANTS = ("wide", "narrow")
PROPERTIES = {"ink", "muted", "rule", "paper", "panel", "memory", "ours", "limit", "peer-1", "peer-2", "peer-3", "peer-4"}
PEERS = {"eager": 1.5, "compile": 1.3, "compile_max": 1.25, "liger": 0.9}


def synthetic(name: str, **fields: Any) -> charts.Record:
    environment = {"machine": "synthetic", "gpu": "Synthetic GPU", "measured_at": "2000-01-01T00:00:00Z"}
    ceilings = {"copy": {"bytes": 2 * 10**9, "ms": [0.499, 0.5, 0.502]}}
    head = {"schema": records.SCHEMA, "kind": "program", "name": name, "code": [], "hash": "", "environment": environment}
    return {**head, "ceilings": ceilings, "measurements": [], **fields}


Rows = Iterator[dict[str, Any]]


def measured(op: str, direction: str, shape: str, dtype: str, moved: int, slowness: dict[str, float]) -> Rows:
    """A time for each implementation, called and replayed, no two alike."""
    for timing, latency in (("call", 0.0051), ("graph", 0.0023)):
        for place, (name, factor) in enumerate(slowness.items()):
            ms = latency * (1 + place / 97) + factor * moved / 3.7e9
            row = {"op": op, "direction": direction, "shape": shape, "dtype": dtype, "implementation": name, "timing": timing}
            row |= {"ms": [round(ms * part, 6) for part in (0.97, 1, 1.04)], "bytes": moved}
            yield row | {"flops": None, "configuration": None}


def additions() -> charts.Record:
    sizes = [2**14, 98432, 2**20, 2**24, 2**28]
    slowness = {"blockwise": 1.0, "eager": 0.98, "compile": 1.02}
    rows = [row for n in sizes for row in measured("add", "fwd", str(n), "fp32", 12 * n, slowness)]
    return synthetic("first_kernel/benchmark", measurements=rows)


def row_lengths() -> charts.Record:
    rows: list[dict[str, Any]] = []
    for power in range(6, 19):
        slowness = {"blockwise": 1.0, "row": 1 + abs(power - 12) / 3, "eager": 1.6, "compile": 1.4}
        slowness |= {"liger": 1.2} if power <= 16 else {}
        rows.extend(measured("softmax", "fwd", f"{2 ** (24 - power)}x{2**power}", "bf16", 2**26, slowness))
    return synthetic("fused_softmax/benchmark_rows", measurements=rows)


def shapes() -> charts.Record:
    rows: list[dict[str, Any]] = []
    for shape, dtype in (("4096x256", "fp32"), ("1823x781", "fp32"), ("8192x4096", "bf16"), ("1024x131072", "bf16")):
        lines, columns = map(int, shape.split("x"))
        for direction in ("fwd", "bwd"):
            slowness = {"blockwise": 1.0} | {name: factor * (1 + columns / 2e5) for name, factor in PEERS.items()}
            if columns > 65536:
                del slowness["liger"]
            rows.extend(measured("softmax", direction, shape, dtype, 8 * lines * columns, slowness))
    return synthetic("fused_softmax/benchmark", measurements=rows)


def traffic() -> charts.Record:
    matrix = 2**30
    reduce, elementwise = ("unfused", "at::native::reduce_kernel", 1, 0.001), ("unfused", "at::native::elementwise_kernel", 1, 1)
    launched = [reduce, elementwise, elementwise, reduce, elementwise]
    launched += [("eager", "forward", 1.6, 0.99), ("blockwise", "softmax_kernel", 1.01, 0.98)]
    counters = [
        {
            "implementation": name,
            "kernel": kernel,
            "dram_read_bytes": int(read * matrix) + place,
            "dram_write_bytes": int(written * matrix) + 7 * place,
            "ms": 0.3 + place / 100,
        }
        for place, (name, kernel, read, written) in enumerate(launched)
    ]
    return synthetic("fused_softmax/traffic", counters=counters, extra={"matrix_bytes": matrix})


RECORDS = {record["name"]: record for record in (additions(), row_lengths(), shapes(), traffic())}
RECORDS |= {record["name"]: record for record in records_of_block_model(synthetic)}


def templates(program: str, **slowness: dict[str, float]) -> charts.Record:
    """Large cases only, so that there is nothing replayed from a graph."""
    rows = [row for op, slow in slowness.items() for row in measured(op, "fwd", "16384x16384", "fp32", 2**30, slow)]
    return synthetic(f"patterns/{program}", measurements=[row for row in rows if row["timing"] == "call"])


SAME, BEHIND = {"blockwise": 1.0, "eager": 0.98}, {"blockwise": 1.7, "eager": 1.1}
MAPS = templates("benchmark_maps", square=SAME, add_row=SAME, add_row_strided=BEHIND, transpose=BEHIND)
COUNTED = {"blockwise": 2.1, "atomic": 9.4, "eager": 1.6}
REDUCTIONS = templates("benchmark_reductions", row_sum=SAME, total={**SAME, "atomic": 1.01}, largest=BEHIND, histogram=COUNTED)
RECORDS |= {record["name"]: record for record in (MAPS, REDUCTIONS)}
RECORDS |= {record["name"]: record for record in records_of_memory(synthetic)}
RECORDS |= {record["name"]: record for record in records_of_masking(synthetic)}
RECORDS |= {record["name"]: record for record in records_of_losses(synthetic, measured)}
RECORDS |= {record["name"]: record for record in records_of_why_kernels(synthetic)}
RECORDS |= {record["name"]: record for record in records_of_ladder(synthetic)}
RECORDS |= {record["name"]: record for record in records_of_matmul_ladder(synthetic)}
RECORDS |= {record["name"]: record for record in records_of_activations(synthetic)}
RECORDS |= {record["name"]: record for record in records_of_reductions(synthetic)}
RECORDS |= {record["name"]: record for record in records_of_norms(synthetic, measured)}
RECORDS |= {record["name"]: record for record in records_of_order(synthetic)}
RECORDS |= {record["name"]: record for record in records_of_tuning(synthetic)}
RECORDS |= {record["name"]: record for record in records_of_products(synthetic)}


@pytest.fixture(scope="module", params=charts.CHARTS)
def name(request: pytest.FixtureRequest) -> str:
    return request.param


@functools.cache
def drawing(name: str) -> dict[str, Any]:
    return charts.draw(name, RECORDS)


@pytest.fixture(scope="module")
def drawn(name: str) -> dict[str, Any]:
    return drawing(name)


def trees(drawn: dict[str, Any]) -> list[ElementTree.Element]:
    return [ElementTree.fromstring(drawn[variant]) for variant in VARIANTS]


def flat(sidecar: dict[str, Any]) -> set[Any]:
    return {cell for row in sidecar["rows"] for cell in row}


def test_the_same_records_give_the_same_bytes(name, drawn):
    assert charts.draw(name, copy.deepcopy(RECORDS)) == drawn


def test_other_settings_and_hash_seeds_give_the_same_bytes(tmp_path):
    for record in RECORDS.values():
        records.write(records.record_path("synthetic", "program", record["name"], tmp_path / "baked"), record)
    (tmp_path / "matplotlibrc").write_text("font.size: 31\nlines.linewidth: 9\naxes.facecolor: red\nsvg.fonttype: path\n")
    program = (
        "import json, sys; from pathlib import Path; from scripts import charts;"
        "texts = charts.files('synthetic', Path(sys.argv[1]));"
        "print(json.dumps({path.name: text for path, text in texts.items()}))"
    )
    variables = {**os.environ, "PYTHONPATH": str(records.ROOT), "PYTHONHASHSEED": "7"}
    variables |= {"MATPLOTLIBRC": str(tmp_path / "matplotlibrc")}
    command = [sys.executable, "-c", program, str(tmp_path / "baked")]
    done = subprocess.run(command, cwd=tmp_path, env=variables, capture_output=True, text=True, check=True)
    here = {path.name: text for path, text in charts.files("synthetic", tmp_path / "baked").items()}
    assert json.loads(done.stdout) == here
    assert len(here) == 3 * len(charts.CHARTS)


def test_committed_charts_are_what_the_committed_records_give():
    for folder in sorted(path for path in records.BAKED.glob("*") if path.is_dir()):
        expected = {path.name: text for path, text in charts.files(folder.name).items()}
        found = {path.name: path.read_text(encoding="utf-8") for path in (folder / "charts").glob("*")}
        differ = sorted(file for file in expected.keys() | found.keys() if expected.get(file) != found.get(file))
        renew = f"python scripts/charts.py --machine {folder.name}"
        assert not differ, f"{folder.name}: {', '.join(differ)} differ from what the records give; run {renew}"


def test_the_table_holds_every_number_drawn(name, monkeypatch):
    plotted: list[float] = []
    plot = Axes.plot

    def watch(axes: Axes, *values: Any, **options: Any) -> Any:
        across = name.endswith("_shapes") or name in (
            "softmax_ladder",
            "norm_steps",
            "matmul_ladder",
            "precision_speed",
            "autotune_repeat",
        )
        exact = name in ("autograd_losses", "norm_steps", "precision_errors", "precision_sums", "fold_digits")
        fine = name.endswith("_shapes") or name == "reductions_contention"
        digits = 9 if exact else 4 if fine else 1
        plotted.extend(round(value, digits) for value in values[0 if across else 1] if value == value)
        return plot(axes, *values, **options)

    monkeypatch.setattr(Axes, "plot", watch)
    sidecar = charts.draw(name, RECORDS)["sidecar"]
    assert set(plotted) <= flat(sidecar)
    assert bool(plotted) == (name != "softmax_traffic")
    assert all(len(row) == len(sidecar["columns"]) for row in sidecar["rows"])
    assert json.loads(json.dumps(sidecar)) == sidecar


@pytest.mark.parametrize("name", ["add_bandwidth", "softmax_rows"])
def test_the_table_holds_the_limit(name):
    assert 4000.0 in flat(charts.draw(name, RECORDS)["sidecar"])


def test_the_traffic_table_holds_every_kernel_and_the_chart_shows_each():
    drawn = charts.draw("softmax_traffic", RECORDS)
    counters = RECORDS["fused_softmax/traffic"]["counters"]
    counts = [tuple(row[3:5]) for row in drawn["sidecar"]["rows"]]
    assert counts == [(row["dram_read_bytes"], row["dram_write_bytes"]) for row in counters]
    words = [text.text or "" for text in ElementTree.fromstring(drawn["narrow"]).iter(f"{SVG}text")]
    assert any(text.startswith("5 kernels") for text in words)
    assert sum(text.startswith("1 kernel,") for text in words) == 2


def test_a_changed_number_changes_the_chart(name, drawn):
    source = charts.CHARTS[name][1][0]
    rows = "counters" if name == "softmax_traffic" else "measurements"
    for place in range(0, len(RECORDS[source][rows]), 5):
        changed = RECORDS | {source: copy.deepcopy(RECORDS[source])}
        row = changed[source][rows][place]
        if name == "softmax_rows" and row["timing"] == "graph":
            continue
        if name in ("precision_errors", "precision_sums", "fold_digits"):  # of what the same record kept beside its times
            continue
        if name.startswith("mlp") and row["op"] != name:  # two charts of one record
            continue
        if rows == "counters":
            row["dram_read_bytes"] *= 2
        else:
            row["ms"] = [1.2 * part for part in row["ms"]]
        again = charts.draw(name, changed)
        assert all(again[part] != drawn[part] for part in (*VARIANTS, "sidecar")), row


def test_every_color_is_a_property_of_the_page(drawn):
    for variant in VARIANTS:
        used = set(re.findall(r"var\(--bw-([\w-]+), #[0-9a-f]{6}\)", drawn[variant]))
        assert used <= PROPERTIES
        assert {"ink", "muted"} < used
        bare = re.sub(r"var\(--bw-[\w-]+, #[0-9a-f]{6}\)", "var", drawn[variant])
        assert not re.search(r"#[0-9a-fA-F]{3,8}\b(?!-)", re.sub(r'href="#[^"]*"|url\(#[^)]*\)', "", bare))
        paints = re.findall(r"(?:fill|stroke): ?([^;\"]+)", bare) + re.findall(r'(?:fill|stroke)="([^"]+)"', bare)
        assert set(paints) <= {"var", "none"}
        assert "font-family: var(--bw-sans, sans-serif)" in bare
        assert "DejaVu" not in bare


def test_ids_are_the_chart_s_own_and_every_reference_resolves():
    seen: list[str] = []
    for name in charts.CHARTS:
        drawn = drawing(name)
        for variant, root in zip(VARIANTS, trees(drawn), strict=True):
            ids = [element.attrib["id"] for element in root.iter() if "id" in element.attrib]
            assert all(found.startswith(f"{name}-{variant}-") for found in ids)
            assert not any("href" in element.attrib for element in root.iter())  # instant navigation would touch it
            wanted = {element.attrib[XLINK][1:] for element in root.iter() if XLINK in element.attrib}
            wanted |= set(re.findall(r"url\(#([^)]+)\)", drawn[variant])) | set(root.attrib["aria-labelledby"].split())
            assert wanted == set(ids)
            seen += ids
    assert len(seen) == len(set(seen))


def test_a_chart_can_stand_in_a_page(drawn):
    for variant, root in zip(VARIANTS, trees(drawn), strict=True):
        assert drawn[variant].startswith("<svg ")
        assert root.attrib["role"] == "img"
        assert root.attrib["width"] == "100%"
        assert root.attrib["viewBox"].split()[2] == {"wide": "720", "narrow": "360"}[variant]
        assert [root[0].tag, root[0].text] == [f"{SVG}title", drawn["sidecar"]["title"]]
        assert [root[1].tag, root[1].text] == [f"{SVG}desc", drawn["sidecar"]["alt"]]
        assert not list(root.iter(f"{SVG}style")), "a style sheet inside one chart would reach the whole page"
        assert len(gzip.compress(drawn[variant].encode())) < 12_000


def test_nothing_of_the_machine_that_drew_it_is_kept(drawn):
    text = json.dumps(drawn)
    assert str(records.ROOT) not in text
    assert str(Path.home()) not in text or str(Path.home()) == "/"
    assert set(re.findall(r"https?://[^\"\\ ]+", text)) <= {"http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"}
    assert "matplotlib" not in text.lower()


def test_the_smallest_type_of_the_narrow_drawing_is_legible(drawn):
    root = ElementTree.fromstring(drawn["narrow"])

    def sizes_under(element, size):
        found = re.search(r"font-size: ([\d.]+)px", element.get("style", ""))
        size = float(found[1]) if found else size
        return [size] * (element.tag == f"{SVG}text") + [each for child in element for each in sizes_under(child, size)]

    sizes = sizes_under(root, None)
    assert None not in sizes, "words without a size of their own or of their group"
    assert min(sizes) * 360 / float(root.attrib["viewBox"].split()[2]) >= 11


@pytest.mark.parametrize("path", sorted(records.BAKED.glob("*/charts/*_shapes.*.svg")), ids=lambda path: path.stem)
def test_the_numbers_of_a_scale_stand_apart(path):
    lines: dict[str, list[tuple[float, str]]] = {}
    for text in ElementTree.parse(path).iter(f"{SVG}text"):
        if re.fullmatch(r"[\d.,]+×?", text.text or ""):
            lines.setdefault(text.attrib["y"], []).append((float(text.attrib["x"]), text.text or ""))
    assert lines
    assert lines
    for numbers in map(sorted, lines.values()):
        for (left, first), (right, second) in zip(numbers, numbers[1:], strict=False):
            assert right - left > 6 * (len(first) + len(second)) / 2, f"{first} runs into {second}"


def test_a_record_without_what_a_chart_needs_is_named():
    without = {**RECORDS, "fused_softmax/traffic": {**RECORDS["fused_softmax/traffic"], "extra": {}}}
    with pytest.raises(records.RecordError, match=r"softmax_traffic cannot be drawn: fused_softmax/traffic lacks 'matrix_bytes'"):
        charts.draw("softmax_traffic", without)


def test_losses_are_said_in_words():
    behind = charts.draw("softmax_shapes", RECORDS)["sidecar"]["alt"]
    assert re.search(r"some peer is faster in [1-9]\d* of \d+ cases, at most in .*, where Liger-Kernel is at 0\.", behind)


@pytest.mark.parametrize(
    ("time", "words"), [(0.93456, "0.935\u00a0ms"), (1.1591, "1.16\u00a0ms"), (4.7509, "4.75\u00a0ms"), (30.04, "30.0\u00a0ms")]
)
def test_a_time_reads_in_a_chart_as_in_the_text(time, words):
    record = copy.deepcopy(RECORDS["fused_softmax/traffic"])
    record["counters"] = [{**row, "ms": time} for row in record["counters"][-1:]]
    assert main.ms(1e3 * time) == words
    assert f", {words}." in charts.draw("softmax_traffic", {record["name"]: record})["sidecar"]["alt"]
