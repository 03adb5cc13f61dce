"""What the pages about the compiler lens show of its records: excerpts, tables of two launches, and layouts drawn.

An excerpt is found by patterns. One that no longer fits stops the build, so no page shows what the compiler no longer writes.
"""

import html
import re
from functools import reduce
from typing import Any

from scripts.pages.lens import Record, made_of
from scripts.provenance.records import RecordError
from scripts.reading.text import Made, lines_of

# A kernel, the stage, and a pattern for each line that is shown, in their order; "pass NAME" is what a pass changed.
Excerpt = tuple[str, str, list[str]]
PRODUCT = "staged_matmul_kernel"
EXCERPTS: dict[str, Excerpt] = {
    "threads_layout": ("add_kernel", "ttgir", [r"^#blocked", r"tt\.make_range", r"tt\.load"]),
    "threads_tid": ("add_kernel", "ptx", [r"%tid\.x", r"%r\d+, 4|shl\.b32|bfi|and\.b32"]),
    "shared_ttgir": (PRODUCT, "ttgir", [r"^#shared", r"ttg\.local_alloc", r"async_copy_global_to_local", r"ttg\.async_wait"]),
    "barrier_ptx": ("softmax_kernel", "ptx", [r"shfl\.sync\.bfly", r"st\.shared", r"bar\.sync", r"ld\.shared"]),
    "coalesce_pass": ("add_kernel", "pass tritongpu-coalesce", [r"^- #blocked|^  #blocked", r"^\+ #blocked"]),
    "coalesce_ptx": ("add_kernel", "ptx", [r"ld\.global\.v4"]),
    "narrow_ptx": ("negate_kernel", "ptx", [r"ld\.global\.b32", r"ld\.global\.b32"]),
    "dot_ttir": (PRODUCT, "ttir", [r"tt\.dot"]),
    "dot_pass": (PRODUCT, "pass tritongpu-accelerate-matmul", [r"^\+ #mma", r"^- .*tt\.dot", r"^\+ .*warp_group_dot"]),
    "dot_ptx": (PRODUCT, "ptx", [r"wgmma\.mma_async"]),
}  # fmt: skip
# An instruction: the kernel, how PTX spells it, how the machine does.
INSTRUCTIONS: dict[str, tuple[str, str, str]] = {
    "ld_global": ("add_kernel", r"\bld\.global\.v4", r"\bLDG\.E\.128"),
    "st_global": ("add_kernel", r"\bst\.global\.v4", r"\bSTG\.E\.128"),
    "predicate": ("negate_kernel", r"@%p\d+ ld\.global", r"@!?P\d+ LDG"),
    "shared": ("softmax_kernel", r"\bst\.shared", r"\bSTS\b"),
    "barrier": ("softmax_kernel", r"\bbar\.sync", r"\bBAR\.SYNC"),
    "shuffle": ("softmax_kernel", r"\bshfl\.sync\.bfly", r"\bSHFL\.BFLY"),
    "cp_async": (PRODUCT, r"\bcp\.async\.cg", r"\bLDGSTS\.E\.\S*128"),
    "tma": ("descriptor_matmul_kernel", r"\bcp\.async\.bulk\.tensor\.2d\.shared", r"\bUTMALDG"),
    "wgmma": (PRODUCT, r"\bwgmma\.mma_async", r"\bHGMMA"),
    "fma": ("norm_kernel", r"\bfma\.rn\.f32\b", r"\bFFMA\b"),
    "ex2": ("softmax_kernel", r"\bex2\.approx", r"\bMUFU\.EX2"),
    "atomic": ("atomic_count_kernel", r"\b(atom|red)\.", r"\b(ATOMG|ATOMS|RED|REDG|ATOM)\b"),
}
Launched = tuple[str, str, str]  # a kernel, a label, and a version of Triton, or nothing
CHOICES: dict[str, tuple[Launched, Launched]] = {
    "stages": ((PRODUCT, "stages_1", ""), (PRODUCT, "stages_3", "")),
    "warps": ((PRODUCT, "warps_4", ""), (PRODUCT, "stages_3", "")),
    "mask": (("negate_kernel", "no-mask", ""), ("negate_kernel", "call", "")),
    "dtype": (("softmax_kernel", "4096-bf16", ""), ("softmax_kernel", "4096-fp32", "")),
    "descriptors": (("pointer_store_kernel", "wide", ""), ("descriptor_matmul_kernel", "wide", "")),
    "version": ((PRODUCT, "stages_3", "3.6.0"), (PRODUCT, "stages_3", "3.9.0")),
}
COUNTED = {
    "loads from memory": r"\bld\.global",
    "copies to shared memory": r"\bcp\.async\.c[ag]\.",
    "copies by descriptor": r"\bcp\.async\.bulk\.tensor",
    "barriers": r"\bbar\.sync",
    "conversions": r"\bcvt\.",
    "tensor-core instructions": r"\bwgmma\.mma_async",
}
TOLD = {
    "registers per thread": "registers",
    "bytes spilled per thread": "spill_bytes",
    "bytes of shared memory": "shared",
    "programs at once": "programs",
    "what limits that": "limit",
}
ROWS, COLUMNS, CELL, HIGH = 16, 32, 19, 17


def files(found: list[Record]) -> dict[str, str]:
    """Every fragment, by its name below docs/generated/lens; none where there is no record yet."""
    if not found:
        return {}
    shown = {kernel for kernel, *_ in [*EXCERPTS.values(), *INSTRUCTIONS.values()]}
    shown |= {kernel for pair in CHOICES.values() for kernel, *_ in pair}
    kernels = {record["name"]: made_of(record) for record in found if record["name"] in shown}
    made = {f"excerpts/{name}.txt": excerpt(kernels, name) for name in EXCERPTS}
    made |= {f"instructions/{name}.txt": instruction(kernels, name) for name in INSTRUCTIONS}
    made |= {f"choices/{name}.html": choice(kernels, name) for name in CHOICES}
    of = kernels[PRODUCT]["launches"][0]["layouts"]
    for name, wanted in {"blocked": "#blocked1", "mma": "#mma", "shared": "#shared"}.items():
        layout = next(one for one in of if one["name"] == wanted and "x" in one["shape"])
        made[f"layouts/{name}.html"] = drawn(layout)
        made[f"layouts/{name}.txt"] = bits(layout)
    return made | {"layouts/banks.html": banks(found)}


def excerpt(found: dict[str, Made], name: str) -> str:
    kernel, stage, patterns = EXCERPTS[name]
    record = found[kernel]
    if stage.startswith("pass "):
        changed = record["launches"][0]["passes"]["changed"]
        lines = next(([*change["lines"]] for change in changed if change["name"] == stage[5:]), [])
    else:
        lines = [line.partition(" ")[2] for line in lines_of(record, stage)]
    shown: list[str] = []
    last = -1
    for pattern in patterns:
        at = next((at for at in range(last + 1, len(lines)) if re.search(pattern, lines[at])), None)
        if at is None:
            raise RecordError(f"lens excerpt {name}: no line of {kernel}, {stage} fits {pattern} there")
        shown += ["    ..."] if shown and at != last + 1 else []
        shown.append(lines[at] if stage.startswith("pass ") else lines[at].removeprefix("    "))
        last = at
    return shortened("\n".join(shown) + "\n")


def shortened(text: str) -> str:
    """Long lists of registers by their first and last."""
    return re.sub(r"\{(%r\d+),(?:%r\d+,){6,}(%r\d+)\}", r"{\1, ..., \2}", text)


def instruction(found: dict[str, Made], name: str) -> str:
    """One line of the source, and the first such instruction that it became, as PTX and as machine code."""
    kernel, ptx, sass = INSTRUCTIONS[name]
    record = found[kernel]
    source = [line for part in record["listing"] for line in part["lines"]]
    for number, line in parted(lines_of(record, "ptx")):
        if not re.search(ptx, line):
            continue
        twin = next((code for at, code in parted(lines_of(record, "sass")) if at == number and re.search(sass, code)), None)
        if twin:
            said = [f"# {kernel}, line {number}", f"Triton  {source[number - 1].strip()}"]
            return shortened("\n".join([*said, f"PTX     {line.strip()}", f"SASS    {twin.strip()}", ""]))
    raise RecordError(f"lens instruction {name}: no line of {kernel} became {ptx} and {sass}")


def parted(lines: list[str]) -> list[tuple[int, str]]:
    return [(int(number), text) for number, _, text in (line.partition(" ") for line in lines)]


def choice(found: dict[str, Made], name: str) -> str:
    """Two launches: figures, and how often PTX has which instruction."""
    columns, heads = [], []
    for kernel, label, version in CHOICES[name]:
        record = found[kernel]
        usual = record["launches"][0]["triton"]
        wanted = (label, "sm_90", version or usual)
        number = next(at for at, one in enumerate(record["launches"]) if (one["label"], one["target"], one["triton"]) == wanted)
        launch = record["launches"][number]
        ptx, sass = lines_of(record, "ptx", number), lines_of(record, "sass", number)
        cells = {told: launch["figures"][key] for told, key in TOLD.items()}
        cells |= {told: sum(bool(re.search(pattern, line)) for line in ptx) for told, pattern in COUNTED.items()}
        cells |= {"lines of PTX": len(ptx), "machine instructions": sum(not line.endswith(":") for line in sass)}
        columns.append(cells)
        heads.append(f"<code>{kernel}</code>, {label}" + (f", Triton {version}" if version else ""))
    head = "".join(f'<th scope="col">{one}</th>' for one in ["", *heads])
    lines = []
    for told in columns[0]:
        pair = [cells[told] for cells in columns]
        if any(pair):
            shown = "".join(f"<td>{one:,}</td>" if isinstance(one, int) else f"<td>{html.escape(one)}</td>" for one in pair)
            lines.append(f'<tr{"" if pair[0] == pair[1] else " class=differs"}><th scope="row">{told}</th>{shown}</tr>')
    table = f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(lines)}</tbody></table>"
    return f'<div class="scroll" tabindex="0" role="region" aria-label="Two launches compared">{table}</div>\n'


def steps(text: str) -> list[tuple[int, ...]]:
    return [tuple(map(int, step.split(","))) for step in text.split()]


def element(layout: dict[str, Any], numbers: dict[str, int]) -> tuple[int, ...]:
    """The exclusive or of the steps of all bits that are set."""
    every = {name: enumerate(steps(layout["bases"][name])) for name in numbers}
    chosen = [step for name, found in every.items() for bit, step in found if numbers[name] >> bit & 1]
    zero = (0,) * len(layout["shape"].split("x"))
    return reduce(lambda one, other: tuple(a ^ b for a, b in zip(one, other, strict=True)), chosen, zero)


def labels(layout: dict[str, Any]) -> dict[tuple[int, ...], str]:
    """What is written on the first rows and columns: the lane of warp 0, or the first of the banks of a 16-byte piece."""
    bases = {name: 1 << len(steps(text)) for name, text in layout["bases"].items()}
    found = {}
    if "offset" in bases:
        for offset in range(bases["offset"]):
            found[element(layout, {"offset": offset})] = str(offset * 2 // 16 % 8 * 4)
        return found
    for lane in range(bases["lane"]):
        for register in range(bases["register"]):
            found.setdefault(element(layout, {"register": register, "lane": lane, "warp": 0}), str(lane))
    return found


def drawn(layout: dict[str, Any]) -> str:
    """The corner of a block: neighbors of one holder as one box with its number."""
    held = labels(layout)
    rows = 1 + max(row for row, column in held if row < ROWS and column < COLUMNS)
    of_banks = "offset" in layout["bases"]
    boxes = []
    for row in range(rows):
        column = 0
        while column < COLUMNS:
            end, mine = column, held.get((row, column), "")
            while end < COLUMNS and held.get((row, end), "") == mine:
                end += 1
            if mine:
                x, width = column * CELL, (end - column) * CELL
                tint = 10 + 6 * (int(mine) // 4 % 8)
                what = "memory" if of_banks else "chip"
                color = f"color-mix(in srgb, var(--bw-{what}) {tint}%, var(--bw-paper))"
                boxes.append(f'<rect x="{x}" y="{row * HIGH}" width="{width - 1}" height="{HIGH - 1}" style="fill:{color}"/>')
                boxes.append(f'<text x="{x + width / 2:g}" y="{row * HIGH + 12}">{mine}</text>')
            column = end
    what = "the first bank of each 16 bytes" if of_banks else "the lane of warp 0 that holds it"
    label = f"Rows 0 to {rows - 1} and columns 0 to {COLUMNS - 1} of a block of {layout['shape']} in {layout['name']}: {what}"
    return (
        f'<figure class="lens-figure"><svg viewBox="0 0 {COLUMNS * CELL} {rows * HIGH}" role="img" aria-label="{label}" '
        f'style="max-width:100%;font:10px var(--bw-sans);text-anchor:middle;fill:var(--bw-ink)">{"".join(boxes)}</svg>'
        f"<figcaption>{label}.</figcaption></figure>\n"
    )


def bits(layout: dict[str, Any]) -> str:
    """A layout's steps, a line for each kind of number."""
    lines = [f"{name:9}{' '.join(f'({step})' for step in text.split())}".rstrip() for name, text in layout["bases"].items()]
    return "\n".join([f"{layout['name']}, {layout['shape']} {layout['dtype']}", *lines, ""])


def nvidia(record: Record) -> list[Record]:
    """The launches for GPUs whose shared memory has the 32 banks that were counted with."""
    return [launch for launch in record["launches"] if launch["target"].startswith("sm_")]


def banks(found: list[Record]) -> str:
    """Every kind of access to shared memory: how many in all kernels, how many of them wait for banks, and in which kernels."""
    counted: dict[tuple[str, int], list[int]] = {}
    waiting: dict[str, None] = {}
    for record in found:
        for access in (access for launch in nvidia(record) for access in launch.get("shared", [])):
            tally = counted.setdefault((access["operation"], access["lane_bytes"]), [0, 0])
            tally[0] += 1
            if access["taken"] > access["needed"]:
                tally[1] += 1
                waiting[record["name"]] = None
    heads = ["access", "bytes a lane", "accesses in all kernels", "of them with conflicts"]
    head = "".join(f'<th scope="col">{one}</th>' for one in heads)
    rows = "".join(
        f'<tr><th scope="row"><code>{operation}</code></th><td>{size}</td><td>{every}</td><td>{slow}</td></tr>'
        for (operation, size), (every, slow) in sorted(counted.items())
    )
    table = f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"
    names = " and ".join(f"<code>{name}</code>" for name in waiting)
    said = f"<p>The conflicts are in {names}.</p>" if waiting else ""
    return f'<div class="scroll" tabindex="0" role="region" aria-label="Accesses to shared memory">{table}</div>\n{said}\n'
