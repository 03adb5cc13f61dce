"""The choice of a card on measured charts: which other cards have fresh records of a chart, and the element of the choice.

A page holds the charts of the card whose numbers the text gives. Another card's lie in files of their own,
`data/charts/<machine>/<chart>.html`, which the element of `docs/assets/cards.js` puts in their place when a reader asks for them.
Where no other card has a chart of today's code there is nothing to choose, and no element. The standard library alone.
"""

import html
import json
from pathlib import Path
from typing import Any, NamedTuple

from scripts.provenance import records, sources
from scripts.provenance.environment import primary_machine
from scripts.provenance.follow import Code

Chart = dict[str, Any]


class Card(NamedTuple):
    """A card beside the primary one: the folder of its records, its name, and its charts whose records are all fresh, by name."""

    machine: str
    gpu: str
    charts: dict[str, Chart]


def others(drawn: Path, baked: Path = records.BAKED, code: Code | None = None) -> list[Card]:
    """Every other card of which charts are drawn from records of today's code."""
    code = code or Code()
    found = []
    for folder in sorted(drawn.iterdir()) if drawn.exists() else []:
        if folder.name in ("cpu", primary_machine()):
            continue
        charts = [json.loads(path.read_text(encoding="utf-8")) for path in sorted(folder.glob("*.json"))]
        fresh = {chart["name"]: chart for chart in charts if is_fresh(chart, folder.name, baked, code)}
        if fresh:
            found.append(Card(folder.name, next(iter(fresh.values()))["environment"]["gpu"], fresh))
    return found


def is_fresh(chart: Chart, machine: str, baked: Path, code: Code) -> bool:
    paths = [records.record_path(machine, "program", source, baked) for source in chart["sources"]]
    return all(path.exists() and sources.is_fresh(records.read(path), code) for path in paths)


def element(name: str, gpu: str, cards: list[Card], data: str) -> str:
    """The element in the figure of a chart, whose own card comes first; nothing where there is no other card."""
    if not cards:
        return ""
    given = [{"machine": "", "gpu": gpu, "has": True}]
    given += [{"machine": card.machine, "gpu": card.gpu, "has": name in card.charts} for card in cards]
    told = html.escape(json.dumps(given, ensure_ascii=False, separators=(",", ":")))
    return f'<chart-cards data-charts="{data}" data-chart="{name}" data-cards="{told}"></chart-cards>'
