"""The machine's map: its sizes are the records', and each page of the strip lights up its own parts and no others."""

import copy
import re
from typing import Any

import pytest

from scripts.pages import machine_map, machine_strip
from scripts.provenance import records
from scripts.provenance.environment import primary_machine

CLASSES = {"hbm", "l2", "multiprocessors", "registers", "shared", "cores"}


def figures() -> dict[str, Any]:
    kept = {
        name.replace("/", "_"): records.read(records.record_path(primary_machine(), "program", name))["figures"]
        for name in ("memory/levels", "hardware/sheet")
    }
    return {"kept": kept, "ceiling": {"copy_gbps": 4000.0, "matmul_tflops": 700.0}}


def lit(drawing: str) -> set[str]:
    parts = dict(re.findall(r'<g class="map-(\w+)">(<rect [^>]*>)', drawing))
    assert parts.keys() == CLASSES
    return {name for name, box in parts.items() if 'stroke-width="2"' in box}


@pytest.mark.parametrize("page", machine_strip.MAPS)
def test_a_page_lights_up_its_parts_and_includes_its_strip(page):
    found = machine_strip.figure_html(page, figures())
    for drawing in re.findall(r"<svg.*?</svg>", found, re.DOTALL):
        assert lit(drawing) == set(machine_strip.MAPS[page].parts)
        title = re.findall(r"<title[^>]*>(.*?)</title>", drawing)[0]
        assert all(machine_strip.NAMES[part] in title for part in machine_strip.MAPS[page].parts)
    text = (records.ROOT / "docs" / "course" / f"{page}.md").read_text(encoding="utf-8")
    assert f'--8<-- "docs/generated/machine/{page}.html"' in text


def test_the_map_gives_the_sizes_of_the_record():
    changed = copy.deepcopy(figures())
    changed["kept"]["memory_levels"] |= {"multiprocessors": 77, "l2_bytes": 5 * 2**20}
    for draw in (machine_map.figure_html, lambda given: machine_strip.figure_html("memory", given)):
        assert "77 multiprocessors" in draw(changed) and "5 MiB" in draw(changed)
        assert "77 multiprocessors" not in draw(figures())
