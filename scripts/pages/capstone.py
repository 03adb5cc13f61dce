"""The capstone to download: one tree of files, as a skeleton and as the finished version. The standard library alone.

The parts are programs of snippets/capstone, and what stands around them lies in templates/capstone. In a part the learner's lines
stand between `[write]`, which says what to write, and `[/write]`. The skeleton has an error in their place that says the same.
"""

import html
import json
import os
import re
import zipfile
from pathlib import Path
from typing import Any

from scripts import ROOT
from scripts.pages import formats
from scripts.provenance import programs

PARTS = ROOT / "snippets" / "capstone"
AROUND = ROOT / "scripts" / "pages" / "templates" / "capstone"
ON_CPU = ROOT / "tests" / "snippets"  # where the site's own tests run CUDA C++
NAME = "gpu-programming"
FINISHED = f"{NAME}-finished"
FOLDERS = {
    "hardware-survey": ["survey"],
    "cuda-kernels": ["cuda_build", "add", "reduce", "matmul_naive", "matmul_tiled"],
    "triton-kernels": ["tuning", "softmax", "layer_norm", "rms_norm", "dropout"],
    "": ["plots", "counted"],
}
FIRST, LAST = re.compile(r"^( *)(#|//) \[write\] (.+)$"), re.compile(r"^ *(?:#|//) \[/write\]$")
# What the site alone reads: the bounds of what its pages show, and what its profiler is to watch.
MARKER = re.compile(r"^(?: *(?:#|//) --8<-- \[(?:start|end):[\w-]+\]|# counters(?:-also)?: .*)\n", re.MULTILINE)
SIBLING = re.compile(r"^from snippets\.capstone\.(\w+) import", re.MULTILINE)
# Where the site teaches what a part asks for.
TAUGHT = {
    "survey": ["course/hardware", "deeper/hardware-sheet"],
    "add": ["deeper/cuda-add"],
    "reduce": ["course/cuda"],
    "matmul_naive": ["deeper/cuda-products"],
    "matmul_tiled": ["deeper/matmul-ladder-tiles", "deeper/cuda-products"],
    "softmax": ["course/fused-softmax", "course/autograd"],
    "layer_norm": ["course/norms", "deeper/norms-gradients"],
    "rms_norm": ["course/norms", "deeper/norms-gradients"],
    "dropout": ["course/dropout"],
}
DATE = (1980, 1, 1, 0, 0, 0)  # the earliest that the format knows

Row = tuple[str, ...]


def part(name: str, folder: str) -> str:
    """A program as a file of the tree, where its siblings are files beside it."""
    text = MARKER.sub("", (PARTS / f"{name}.py").read_text(encoding="utf-8"))
    first = None if folder else SIBLING.search(text)
    if first:  # a file at the top imports from folders
        wanted = [beside for beside, names in FOLDERS.items() if beside and set(names) & set(SIBLING.findall(text))]
        paths = "".join(f'sys.path.insert(0, str(Path(__file__).resolve().parent / "{beside}"))\n' for beside in wanted)
        text = f"{text[: first.start()]}from pathlib import Path\n\n{paths}\n{text[first.start() :]}"
    return SIBLING.sub(r"from \1 import", text)


def skeleton(text: str, file: str) -> str:
    """A part without the learner's lines. What stands in their place ends the compilation or the call with words."""
    made: list[str] = []
    pages = TAUGHT.get(Path(file).stem, [])
    taught = f"on the site's page{'s' * (len(pages) > 1)} {' and '.join(pages)}"
    in_kernel = leaving = False
    for line in text.splitlines():
        if re.match(r" *(?:@|class |def )", line):
            in_kernel = "triton.jit" in line or (in_kernel and line.startswith("def "))
        if found := FIRST.match(line):
            indent, comment, word = found.groups()
            said = json.dumps(f"{file} waits for your lines: {word} ({taught}). Replace this line by yours.")
            errors = {"//": f"#error {said}", "#": f"{indent}raise NotImplementedError({said})"}
            made += [line, f"{indent}tl.static_assert(False, {said})" if in_kernel else errors[comment]]
            leaving = True
        elif LAST.match(line):
            leaving = False
        elif not leaving:
            made.append(line)
    return "\n".join(made) + "\n"


def tree(finished: bool, figures: dict[str, Any]) -> dict[str, str]:
    """The files by their paths."""
    around = [path for path in AROUND.rglob("*.*") if path.is_file() and path.parent.name != "__pycache__"]
    found = {path.relative_to(AROUND).as_posix(): path.read_text(encoding="utf-8") for path in around}
    for folder, names in FOLDERS.items():
        for name in names:
            path = f"{folder}/{name}.py".lstrip("/")
            text = part(name, folder)
            found[path] = text if finished else skeleton(text, path)
    for header in ("cuda_threads.h", "cuda_emulator.h"):
        found[f"cuda-kernels/on_cpu/{header}"] = (ON_CPU / header).read_text(encoding="utf-8")
    found["LICENSE"] = (ROOT / "LICENSE").read_text(encoding="utf-8")
    if finished:
        found["KERNEL_LOG.md"] = log(figures)
    if site := os.environ.get("SITE_URL"):  # without it the site has no address that others reach
        found["README.md"] += f"\nThe site: <{site.rstrip('/')}/capstone/>\n"
    return found


def words() -> str:
    """What is the learner's to write, as a table for a page of docs/capstone: the file, what to write, and where it is taught."""
    lines = ["| file | what you write | taught in |", "|---|---|---|"]
    for folder, names in FOLDERS.items():
        for name in [name for name in names if name in TAUGHT]:
            asked = [escaped(found[3]) for line in part(name, folder).splitlines() if (found := FIRST.match(line))]
            links = [f"[{title(page)}](../{page}.md)" for page in TAUGHT[name]]
            lines.append(f"| `{folder}/{name}.py` | {'<br>'.join(asked)} | {', '.join(links)} |")
    return "\n".join(lines) + "\n"


def escaped(word: str) -> str:
    return html.escape(word, quote=False).replace("*", "\\*")


def title(page: str) -> str:
    found = programs.TITLE.search((ROOT / "docs" / f"{page}.md").read_text(encoding="utf-8"))
    return found[1] if found else page


def archive(path: Path, files: dict[str, str], folder: str = NAME) -> None:
    """The files in one folder. The same files make the same bytes."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(path, "w") as packed:
        for name, text in sorted(files.items()):
            entry = zipfile.ZipInfo(f"{folder}/{name}", DATE)
            entry.compress_type, entry.external_attr = zipfile.ZIP_DEFLATED, 0o644 << 16
            packed.writestr(entry, text.encode("utf-8"))


def write(docs: Path, figures: dict[str, Any]) -> None:
    data = docs / "data" / "capstone"
    archive(data / f"{NAME}-skeleton.zip", tree(False, figures))
    archive(data / f"{FINISHED}.zip", tree(True, figures), FINISHED)  # in the other folder it would replace the learner's work
    shown = docs / "generated" / "capstone"
    shown.mkdir(parents=True, exist_ok=True)
    (shown / "words.md").write_text(words(), encoding="utf-8")
    below = log(figures).split("\n\n", 2)[2]  # the page has a title of its own, and says itself what the log is
    (shown / "kernel_log.md").write_text(below.replace("\n## ", "\n### "), encoding="utf-8")


# The filled log


def log(figures: dict[str, Any]) -> str:
    """KERNEL_LOG.md, filled with what a GPU counted: of these very parts where they were watched, else of the site's ladders."""
    counted, own = figures["counted"], "capstone_counted" in figures["counted"]
    rows, squares = "16384 × 4096 in bfloat16", "2048 × 2048 times 2048 × 2048 in float32"
    softmax = ("softmax_ladder_one_row", "unfused", "row")
    product: tuple[str, ...] = ("matmul_ladder_naive", "naive", "matmul_ladder_tiles", "tiles_16")
    if own:
        softmax, product = ("capstone_counted", "unfused", "fused"), ("capstone_counted", "naive", "tiled")
    steps = [
        step(
            "Softmax: from separate calls to one kernel",
            "what is read from memory falls to about a fifth: five kernels read a matrix each, and the fused one reads one.",
            rows,
            *sides(counted, *softmax),
            "each call of PyTorch's brings its input from memory and takes its output back there, and between two of them nothing"
            " stays on the chip. One kernel holds a row in registers from its load to its store. The time falls by more than the"
            " bytes do: the subtraction and the division pair a matrix with a column, and are busy with instructions besides.",
        ),
        step(
            "Product: from one element a thread to tiles" if own else "Product: from one element a program to tiles of 16",
            "the L2 cache passes far fewer bytes, because each number of a tile is used by a whole row or column of it.",
            squares + (", the product's kernel alone, without the one before it that fills the output with NaN" if own else ""),
            *sides(counted, *product),
            "memory was never the matter, for both factors fit into the L2 cache. Before, each multiplication had two loads to"
            " wait for, from the caches. Now a tile's numbers are loaded once, into shared memory, and used many times from there"
            " and from registers. Those registers leave room for fewer warps, and fewer are enough.",
            alone=own,
        ),
        step(
            "Product: from tiles of 16 to larger ones",
            "the L2 cache passes fewer bytes, because larger tiles use each number more often. A thread takes more registers, and"
            " occupancy falls, because fewer warps fit.",
            squares,
            *sides(counted, "matmul_ladder_tiles", "tiles_16", "matmul_ladder_tiles", "tiles"),
            "the cache passes fewer bytes again. Occupancy falls, and the kernel is faster all the same: a warp that has more"
            " arithmetic for each number that it loads needs fewer others beside it to hide the waiting.",
        ),
    ]
    made = figures["baked"]
    device = f"Device: {made['gpu']}, driver {made['driver']}, Triton {made['triton']}, torch {made['torch']}"
    ladders = ["matmul_ladder/tiles"] if own else ["softmax_ladder/one_row", "matmul_ladder/naive", "matmul_ladder/tiles"]
    watched = f"{'these parts and ' if own else ''}the site's {', '.join(ladders)}"
    example = "This log is an example: its three expectations were written after the counts. Those of your own log come first."
    return "\n".join(["# Kernel log", "", example, "", f"{device}. Nsight Compute watched {watched}.", *steps])


def sides(counted: dict[str, Any], name: str, before: str, *after: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """What was counted before and after: two parts of one program, or of two."""
    other, part_after = after if len(after) == 2 else (name, after[0])
    return counted[name][before], counted[other][part_after]


def step(
    title: str, expected: str, sizes: str, before: dict[str, Any], after: dict[str, Any], because: str, alone: bool = False
) -> str:
    """One section. With `alone`, all counters are those of each side's last kernel."""
    if alone:
        before, after = ({**side["each"][-1], "each": side["each"][-1:], "kernels": 1} for side in (before, after))
    rows: list[Row] = [
        ("time", *(formats.us(side["ms"] * 1e3) for side in (before, after))),
        ("read from memory", *(megabytes(side["dram_read_bytes"]) for side in (before, after))),
        ("written to memory", *(megabytes(side["dram_write_bytes"]) for side in (before, after))),
        *([] if alone else [("kernels", str(before["kernels"]), str(after["kernels"]))]),
    ]
    whole = [side["each"][-1] if side["kernels"] == 1 else {} for side in (before, after)]
    for key, label, told in (
        ("l2_bytes", "through the L2 cache", megabytes),
        ("registers", "registers of a thread", str),
        ("occupancy_percent", "occupancy", lambda value: formats.percent(value / 100)),
    ):
        if all(key in side for side in whole):
            rows.append((label, told(whole[0][key]), told(whole[1][key])))
    table = "\n".join(f"| {name} | {one} | {other} |" for name, one, other in rows)
    head = f"\n## {title}\n\nCounted: {sizes}.\n\nExpected: {expected}"
    return f"{head}\n\n| counter | before | after |\n|---|---|---|\n{table}\n\nBecause: {because}\n"


def megabytes(count: float) -> str:
    return f"{count / 1e6:,.0f}\u00a0MB"
