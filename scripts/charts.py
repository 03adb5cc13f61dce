"""Charts from records: the same records give the same bytes.

    python scripts/charts.py [--machine nvidia-h200]

Draws every chart whose records exist into docs/charts/<machine>/: <name>.wide.svg, <name>.narrow.svg, and <name>.json with
 what the page says beside them: title, text alternative, the table of all that is drawn, environment. The pictures that
explain, which are drawn from records of no GPU, go into docs/charts/cpu/; so does `--machine cpu`, which draws them alone.
"""

import argparse
import json
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from scripts.drawing.chapters import CHARTS
from scripts.drawing.data import Chart, Record
from scripts.drawing.pictures import PICTURES
from scripts.drawing.pictures.sheet import Picture, Sheet
from scripts.drawing.spots import spots
from scripts.drawing.style import NARROW, WIDE, Canvas, page_style
from scripts.drawing.svg import to_svg
from scripts.provenance import records
from scripts.provenance.environment import primary_machine

DRAWN = records.ROOT / "docs" / "charts"

# What a caption says once of all that a chart is drawn from.
SAID = ("gpu", "driver", "cuda", "torch", "triton")


def draw(name: str, by_name: dict[str, Record]) -> dict[str, Any]:
    """A chart from its records, given by their names: two SVG texts and what the page says beside them."""
    function, sources = CHARTS[name]
    needed = [by_name[source] for source in sources]
    if len({tuple(record["environment"].get(key) for key in SAID) for record in needed}) > 1:
        raise records.RecordError(f"{name} cannot be drawn: {', '.join(sources)} were measured with different versions")
    try:
        chart = function(*needed)
    except (KeyError, IndexError, ValueError, StopIteration) as error:
        raise records.RecordError(f"{name} cannot be drawn: {', '.join(sources)} lacks {error}") from None
    sidecar = {
        "name": name,
        "title": chart.title,
        "alt": chart.alt,
        "columns": chart.columns,
        "rows": chart.rows,
        "sources": list(sources),
        "environment": needed[0]["environment"],
        "dates": sorted({record["environment"]["measured_at"][:10] for record in needed}),
    }
    with page_style():
        painted = {size.name: chart.paint(size) for size in (WIDE, NARROW)}
        svgs = {size: svg(canvas, f"{name}-{size}", chart) for size, canvas in painted.items()}
        sidecar["spots"] = {size: spots(canvas, chart.rows) for size, canvas in painted.items() if isinstance(canvas, Canvas)}
    return {**svgs, "sidecar": sidecar}


def svg(painted: Canvas | Sheet, prefix: str, chart: Chart) -> str:
    if isinstance(painted, Sheet):
        return painted.svg(prefix, Picture(chart.title, chart.title, chart.alt, chart.columns, chart.rows, lambda _: painted))
    return to_svg(painted, prefix, chart.title, chart.alt)


def draw_picture(name: str, by_name: dict[str, Record]) -> dict[str, Any]:
    """A picture from its records, given by their names, as `draw` gives a chart."""
    function, sources = PICTURES[name]
    try:
        picture = function(*(by_name[source] for source in sources))
    except KeyError as error:
        raise records.RecordError(f"{name} cannot be drawn: {', '.join(sources)} lacks {error}") from None
    sidecar = {"name": name, **picture._asdict(), "sources": list(sources)}
    svgs = {size.name: picture.paint(size).svg(f"{name}-{size.name}", picture) for size in (WIDE, NARROW)}
    return {**svgs, "sidecar": {key: value for key, value in sidecar.items() if key != "paint"}}


def picture_record(source: str, baked: Path = records.BAKED) -> Path:
    """Where the record of a picture lies: below docs/baked/cpu, or of a program on the primary GPU, which begins with `gpu/`."""
    if source.startswith("gpu/"):
        return records.record_path(primary_machine(), "program", source.removeprefix("gpu/"), baked)
    return baked / "cpu" / f"{source}.json"


def drawable(baked: Path = records.BAKED) -> list[str]:
    """The pictures whose records exist."""
    return [name for name, (_, sources) in PICTURES.items() if all(picture_record(each, baked).exists() for each in sources)]


def picture_files(baked: Path = records.BAKED, drawn_into: Path = DRAWN) -> dict[Path, str]:
    """Every file of the pictures whose records exist, with its text."""
    texts: dict[Path, str] = {}
    for name in drawable(baked):
        sources = {source: records.read(picture_record(source, baked)) for source in PICTURES[name][1]}
        texts |= written(name, draw_picture(name, sources), drawn_into / "cpu")
    return texts


def written(name: str, drawn: dict[str, Any], folder: Path) -> dict[Path, str]:
    texts = {folder / f"{name}.{variant.name}.svg": drawn[variant.name] for variant in (WIDE, NARROW)}
    return texts | {folder / f"{name}.json": json.dumps(drawn["sidecar"], indent=1, ensure_ascii=False) + "\n"}


def files(machine: str, baked: Path = records.BAKED, drawn_into: Path = DRAWN) -> dict[Path, str]:
    """Every file that the records of a machine call for, with its text."""
    if machine == "cpu":
        return picture_files(baked, drawn_into)
    texts: dict[Path, str] = {}
    for name, (_, sources) in CHARTS.items():
        paths = {source: records.record_path(machine, "program", source, baked) for source in sources}
        found = {source: records.read(path) for source, path in paths.items() if path.exists()}
        # A program that checks without a GPU and measures with one leaves a record of either kind.
        if len(found) == len(paths) and all(record["environment"]["gpu"] for record in found.values()):
            try:
                texts |= written(name, draw(name, found), drawn_into / machine)
            except records.RecordError as error:
                if machine == primary_machine():
                    raise
                print(f"{machine}: {error}", file=sys.stderr)  # another card may lack what a chart is about
    return texts


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--machine", default="nvidia-h200", help="the folder of docs/baked whose records to draw")
    machine = parser.parse_args().machine
    try:
        texts = files(machine) | files("cpu")
        for path, text in texts.items():
            records.write_text(path, text)
            print(f"{path.relative_to(records.ROOT)}: {len(text.encode()) / 1000:.1f} kB")
    except records.RecordError as error:
        print(error, file=sys.stderr)
        return 1
    if not texts:
        print(f"docs/baked/{machine} has no record that a chart is drawn from", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
