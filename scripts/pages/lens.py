"""The compiler lens: its records, the table of all kernels, and the element, which loads a kernel's text when it is opened."""

import base64
import gzip
import html
from typing import Any

from scripts.provenance import records
from scripts.reading.text import Made, read_back

Record = dict[str, Any]
FOLDER = records.BAKED / "cpu" / "lens"
COLUMNS = ["kernel", "launch", "warps", "registers", "spilled bytes", "shared bytes", "programs at once", "occupancy", "limit"]


def read_all() -> list[Record]:
    return [records.read(path) for path in sorted(FOLDER.glob("*.json"))]


def packed(record: Record) -> bytes:
    """The kernel's text as it is published, compressed."""
    return base64.urlsafe_b64decode(record["text"])


def made_of(record: Record) -> Made:
    """What a record's text says."""
    return read_back(gzip.decompress(packed(record)).decode("utf-8"))


def table_html(found: list[Record], source: str) -> str:
    """All kernels with their figures on sm_90; a link leads to the text, and where scripts run, to the element."""
    rows = []
    for record in found:
        launch = record["launches"][0]
        told = launch["figures"]
        share = f"{100 * told['resident_warps'] / 64:.0f}%"
        keys = ("warps", "registers", "spill_bytes", "shared", "programs")
        cells = [launch["label"], *(f"{told[key]:,}" for key in keys), share, told["limit"]]
        columns = "".join(f"<td>{html.escape(cell)}</td>" for cell in cells)
        name = record["name"]
        link = f'<a href="{source}{name}.txt.gz" data-kernel="{name}">{name}</a>'
        rows.append(f'<tr id="{name}"><th scope="row">{link}</th>{columns}</tr>')
    heads = "".join(f'<th scope="col">{name}</th>' for name in COLUMNS)
    label = "Every kernel, compiled for sm_90"
    return (
        f'<div class="scroll lens-kernels" tabindex="0" role="region" aria-label="{label}" data-search-exclude><table>'
        f"<thead><tr>{heads}</tr></thead><tbody>{''.join(rows)}</tbody></table></div>\n"
    )


def element_html(found: list[Record], source: str) -> str:
    """The element, which loads nothing before a kernel is chosen."""
    still = "Where scripts run, a kernel of the table below opens here, each line beside what became of it. Where they do not, "
    still += "its name leads to all of it as one text, compressed."
    element = f'<compiler-lens data-texts="{source}"><p class="still">{still}</p></compiler-lens>'
    return f"<div>{element}</div>\n" if found else ""
