"""The order of tiles: the element that pictures which tiles of c are in flight, and what of a and b they touch.

    picture(order, groups)  ->  what the element reads: the kernel's own map, and what the GPU measured of each order
    element_html(data)      ->  the element for a page, with a still picture and a ledger that need no script

The map comes from the record of snippets/tile_order/order.py, the times and counts from that of groups.py. What a wave
needs is counted from the map. The standard library alone.
"""

from typing import Any

from scripts.provenance import records
from scripts.provenance.environment import measured_on

Record = dict[str, Any]
ORDER, GROUPS = "tile_order/order", "tile_order/groups"
AT_ONCE = 132  # multiprocessors of an H100 and of an H200, until a GPU has said its own
OPENS, WAVE = 8, 3
BYTES = 2  # of a number of a and b, in bfloat16
A, B, C = (8, 56), (56, 8), (56, 56)  # corners of the drawing's three matrices; c is 256 wide and high
SIDE, BAND = 256, 40


def read(machine: str, name: str) -> Record | None:
    path = records.record_path(machine, "program", name)
    return records.read(path) if path.exists() else None


def picture(order: Record, groups: Record | None) -> Record:
    """What the element reads, as JSON."""
    figures = order["figures"]
    data = {name: figures[name] for name in ("rows", "columns", "orders")}
    data |= {"row_bytes": figures["BLOCK_M"] * figures["K"] * BYTES, "column_bytes": figures["BLOCK_N"] * figures["K"] * BYTES}
    data |= {"at_once": groups["figures"]["processors"] if groups else AT_ONCE, "opens": OPENS, "wave": WAVE}
    shape = f"{figures['rows'] * figures['BLOCK_M']}x{figures['columns'] * figures['BLOCK_N']}x{figures['K']}"
    data["measured"] = {height: measured(groups, height, shape) for height in figures["orders"]} if groups else {}
    return data


def measured(groups: Record, height: str, shape: str) -> Record:
    """What the GPU said of one order: the time of a call, and of the watched call bytes and share of hits in the L2 cache."""
    name = f"group_{height}"
    row = next(
        row for row in groups["measurements"] if (row["shape"], row["implementation"], row["timing"]) == (shape, name, "call")
    )
    # The profiler watched the shape of the picture first.
    counted = next(entry for entry in groups.get("counters", []) if entry["implementation"] == name)
    found = {"ms": row["ms"][1], "tflops": row["flops"] / row["ms"][1] / 1e9, "read_bytes": counted["dram_read_bytes"]}
    return found | ({"l2_hits": counted["l2_hit_percent"] / 100} if "l2_hit_percent" in counted else {})


def tiles(data: Record, height: str) -> list[int]:
    return [int(tile) for tile in data["orders"][height].split()]


def waves(data: Record) -> int:
    return -(-data["rows"] * data["columns"] // data["at_once"])


def touched(data: Record, height: str, wave: int) -> tuple[list[int], list[int], list[int]]:
    """The tiles of one wave, and which rows of blocks of a and columns of blocks of b they need."""
    now = tiles(data, height)[wave * data["at_once"] : (wave + 1) * data["at_once"]]
    return now, sorted({tile // data["columns"] for tile in now}), sorted({tile % data["columns"] for tile in now})


def needed(data: Record, height: str, wave: int) -> int:
    """The bytes of a and b that one wave needs, each counted once."""
    _, rows, columns = touched(data, height, wave)
    return len(rows) * data["row_bytes"] + len(columns) * data["column_bytes"]


def needed_by_all(data: Record, height: str) -> int:
    return sum(needed(data, height, wave) for wave in range(waves(data)))


# The element


def element_html(data: Record, made: Record | None, source: str) -> str:
    """The whole element for a page, on one line: Markdown would take a blank line as the end of the HTML."""
    height = str(data["opens"])
    words = words_of(data, height, data["wave"])
    still = (
        f'<div class="explorer still"><p class="explorer-words">{words}</p>'
        f'<div class="order-picture">{drawing(data, height, data["wave"])}</div></div>'
    )
    told = "Tiles, blocks and bytes are counted from the recorded map; times and traffic are measured. " if made else ""
    return (
        f'<figure class="explorer-figure" id="tile-order"><tile-order data-src="{source}">{still}{ledger(data)}</tile-order>'
        f"<figcaption>A product of 8192 by 8192 by 8192 in bfloat16, in tiles of 128 by 256. The map is what the kernel's own "
        f"index function said, run once for every program. {told}{measured_on(made) if made else ''}</figcaption></figure>\n"
    )


def words_of(data: Record, height: str, wave: int) -> str:
    now, rows, columns = touched(data, height, wave)
    first = wave * data["at_once"]
    return (
        f"GROUP_M = {height}. Programs {first:,} to {first + len(now) - 1:,} have {len(now)} tiles of c. They need "
        f"{len(rows)} rows of tiles of a and {len(columns)} columns of tiles of b: {needed(data, height, wave) / 1e6:,.0f} MB."
    )


def shape(look: str, boxes: list[tuple[float, float, float, float]]) -> str:
    """Rectangles of one look, as one path."""
    path = "".join(f"M{x:g} {y:g}h{width:g}v{height:g}h{-width:g}z" for x, y, width, height in boxes)
    return f'<path class="{look}" d="{path}"/>'


def drawing(data: Record, height: str, wave: int) -> str:
    """The three matrices: c with its tiles done and in flight, and beside them what these need."""
    tall, wide = SIDE / data["rows"], SIDE / data["columns"]
    now, rows, columns = touched(data, height, wave)
    done = tiles(data, height)[: wave * data["at_once"]]
    parts = [shape("sheet", [(*A, BAND, SIDE), (*B, SIDE, BAND), (*C, SIDE, SIDE)])]
    for look, chosen in (("done", done), ("now", now)):
        places = (divmod(tile, data["columns"]) for tile in chosen)
        parts.append(shape(look, [(C[0] + column * wide, C[1] + row * tall, wide, tall) for row, column in places]))
    blocks = [(A[0], A[1] + row * tall, BAND, tall) for row in rows]
    parts.append(shape("block", blocks + [(B[0] + column * wide, B[1], wide, BAND) for column in columns]))
    names = "".join(f'<text x="{x}" y="{y}">{name}</text>' for name, x, y in (("a", 24, 48), ("b", 44, 32), ("c", 44, 48)))
    label = "The tiles of c in flight, and the blocks of a and b that they need, as said above"
    return f'<svg viewBox="0 0 320 320" role="img" aria-label="{label}">{"".join(parts)}{names}</svg>'


def ledger(data: Record) -> str:
    """What each order needs, and what was measured of it, as a table."""
    head = ["GROUP_M", f"needed by wave {data['wave'] + 1}", "needed by all waves"]
    timed = bool(data["measured"])
    hits = timed and all("l2_hits" in found for found in data["measured"].values())
    head += (["read from memory"] if timed else []) + (["hits in L2"] if hits else []) + (["time", "rate"] if timed else [])
    lines = []
    for height in data["orders"]:
        cells = [f"{needed(data, height, data['wave']) / 1e6:,.0f} MB", f"{needed_by_all(data, height) / 1e6:,.0f} MB"]
        if timed:
            found = data["measured"][height]
            cells.append(f"{found['read_bytes'] / 1e6:,.0f} MB")
            cells += [f"{int(100 * found['l2_hits'] + 0.5)}%"] if hits else []
            cells += [f"{found['ms']:.2f} ms", f"{found['tflops']:,.0f} TFLOP/s"]
        columns = "".join(f"<td>{cell}</td>" for cell in cells)
        lines.append(f'<tr data-group="{height}"><th scope="row">{height}</th>{columns}</tr>')
    titles = "".join(f'<th scope="col">{title}</th>' for title in head)
    table = f'<table class="ledger"><thead><tr>{titles}</tr></thead><tbody>{"".join(lines)}</tbody></table>'
    label = "Each GROUP_M, its bytes and its time"
    return f'<div class="order-ledger scroll" tabindex="0" role="region" aria-label="{label}">{table}</div>'
