"""Whether records that somebody sends can be true: no rate is above what the card can do, and no case moves other bytes than its
law says.

What a card can do follows from two records of its own: the bus of its memory, as the driver tells it (`memory/levels`), and its
multiprocessors, clock and compute capability (`hardware/sheet`). These are held against the copy that every benchmark times.
Where an archive lacks them, as one that a maintainer carries of a few programs, a rate is held against the copy and the product
of its own run. The standard library alone.
"""

import math
import re
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from scripts.provenance import byte_laws

Record = dict[str, Any]
# Operations that a multiprocessor's tensor cores do in a cycle on 16-bit floats, by compute capability, as NVIDIA's papers on its
# architectures give them for the best card of each. The most of all is the bound of a card that is not listed.
A_CYCLE = {"8.0": 2048, "8.6": 1024, "8.9": 1024, "9.0": 4096, "10.0": 8192, "10.3": 8192, "12.0": 1024}
EIGHT_BITS = ("fp8", "e4m3")
SPARE = 1.05  # a clock or a bus may run a little over what the driver tells
COPY = (0.3, SPARE)  # of the bus, the rate of a copy of two gibibytes: outside of these, one of the two is not this card's
OVER_THE_COPY, OVER_THE_PRODUCT = 1.25, 1.5  # where nothing is known of the card; nothing measured yet was over 1.06 and 1.15
SAME_SIZE = 0.9  # error correction takes a sixteenth of a memory; cards of one name that are sold with two sizes differ by more
CACHES = 4  # of so many L2 caches, half of what a case moves may still be on the chip when the clock stops


class Card(NamedTuple):
    """The bounds of a card, as far as its records tell: bytes and operations a second, and the L2 cache in bytes."""

    bus: float | None
    peak: float | None
    cache: float


def card_of(found: Iterable[Record]) -> Card:
    figures = {record["name"]: record.get("figures") or {} for record in found if record["kind"] == "program"}
    levels, sheet = figures.get("memory/levels", {}), figures.get("hardware/sheet", {})
    bus, cache = levels.get("bus_gbps"), levels.get("l2_bytes") or 0  # a memory that is shared with the host tells no bus
    peak = None
    if sheet.get("multiprocessors") and sheet.get("clock_khz"):
        a_cycle = A_CYCLE.get(str(sheet.get("capability")), max(A_CYCLE.values()))
        peak = sheet["multiprocessors"] * sheet["clock_khz"] * 1e3 * a_cycle
    return Card(bus * 1e9 if bus else None, peak, cache)


def held_against(found: Iterable[Record]) -> str:
    """The bounds in a sentence, for who looks at an archive."""
    card = card_of(found)
    bus = f"a bus of {card.bus / 1e9:,.0f} GB/s" if card.bus else "the copy of its own run, as the card tells no bus"
    peak = f"{card.peak / 1e12:,.0f} TFLOP/s" if card.peak else "the product of its own run"
    return f"held against {bus}, and {peak} of 16-bit floats"


def memory_of(found: Iterable[Record]) -> int:
    """The bytes of a card's memory, as its sheet tells them; none without a sheet."""
    sheets = [record for record in found if record["kind"] == "program" and record["name"] == "hardware/sheet"]
    return int((sheets[0].get("figures") or {}).get("memory_bytes") or 0) if sheets else 0


def faults(found: dict[str, Record], here: Iterable[Record] = ()) -> Iterator[str]:
    """What cannot be true of the records of one machine, beside those of it that are `here`: each a sentence that names the
    record."""
    try:
        sizes = memory_of(found.values()), memory_of(here)
        if all(sizes) and min(sizes) < SAME_SIZE * max(sizes):
            sent, kept = (f"{size / 2**30:.1f} GiB" for size in sizes)
            yield f"hardware/sheet: its card has {sent}, and one of the same name whose records are here has {kept}"
        card = card_of(found.values())
        for place, record in found.items():
            yield from (f"{place}: {fault}" for fault in faults_of(record, card))
    except (AttributeError, IndexError, KeyError, OverflowError, TypeError, ValueError) as error:
        yield f"a record has not the form of what a program keeps ({type(error).__name__}: {error})"


def faults_of(record: Record, card: Card) -> Iterator[str]:
    environment = record["environment"]
    machine = re.sub(r"-x\d+$|-triton-[\w.-]+$", "", environment["machine"])  # several of a card, or another Triton on it
    if (gpu := environment.get("gpu")) and slug(gpu) != machine:
        yield f"made on an {gpu}, which is not {machine}"
    ceilings = record.get("ceilings")
    if ceilings:
        yield from faults_of_ceilings(ceilings, card)
    for row in rows(record):
        what = f"{row['op']} {row['direction']} {row['shape']} {row['dtype']} by {row['implementation']}"
        fast, middle, slow = row["ms"]
        if not 0 < fast <= middle <= slow:
            yield f"{what} has no times that can be: {row['ms']}"
            continue
        if "timing" in row and not is_by_law(row):  # what drew its shapes has laws of its own
            yield f"{what} moves {row['bytes']:,} bytes, which is not its law's"
        moved, done = row["bytes"] / middle * 1e3, (row["flops"] or 0) / middle * 1e3
        if moved > (bound := bandwidth_bound(row["bytes"], card, ceilings)) and row["op"] not in byte_laws.SWEEPS:
            yield f"{what} moves {moved / 1e9:,.0f} GB/s, over the card's {bound / 1e9:,.0f}"
        if done > (bound := arithmetic_bound(row["dtype"], card, ceilings)):
            yield f"{what} does {done / 1e12:,.0f} TFLOP/s, over the card's {bound / 1e12:,.0f}"


def faults_of_ceilings(ceilings: Record, card: Card) -> Iterator[str]:
    copy, product = rate(ceilings["copy"], "bytes"), rate(ceilings["matmul"], "flops")
    if card.bus and not COPY[0] * card.bus <= copy <= COPY[1] * card.bus:
        yield f"its copy moves {copy / 1e9:,.0f} GB/s, on a bus of {card.bus / 1e9:,.0f}"
    if card.peak and product > SPARE * card.peak:
        yield f"its product does {product / 1e12:,.0f} TFLOP/s, over the card's {card.peak / 1e12:,.0f}"


def rows(record: Record) -> Iterator[Record]:
    """Everything that a record times, one row for each implementation."""
    yield from record.get("measurements") or []
    for case in (record.get("drawn") or {}).get("cases", []):
        for name, ms in case["ms"].items():
            yield case | {"implementation": name, "ms": ms}


def is_by_law(row: Record) -> bool:
    """Whether a case moves and does what its operation's law says; a test of the published data asks that each has one."""
    op, direction, shape = row["op"], row["direction"], row["shape"]
    if op not in byte_laws.OPERATIONS:
        return True
    try:
        moved = byte_laws.bytes_of(op, direction, shape, row["dtype"], row["flops"])
        flops = byte_laws.flops_of(op, direction, shape)
    except (KeyError, TypeError):  # a shape of other sides, or a type that is none
        return False
    return moved in (None, row["bytes"]) and flops in (None, row["flops"])


def bandwidth_bound(moved: int, card: Card, ceilings: Record | None) -> float:
    if card.bus:
        return SPARE * card.bus * (2 if moved < CACHES * card.cache else 1)
    return OVER_THE_COPY * rate(ceilings["copy"], "bytes") if ceilings else math.inf


def arithmetic_bound(dtype: str, card: Card, ceilings: Record | None) -> float:
    faster = 2 if dtype in EIGHT_BITS else 1
    if card.peak:
        return SPARE * card.peak * faster
    return OVER_THE_PRODUCT * rate(ceilings["matmul"], "flops") * faster if ceilings else math.inf


def rate(measured: Record, quantity: str) -> float:
    return measured[quantity] / measured["ms"][1] * 1e3


def slug(gpu: str) -> str:
    """A GPU's name as the folder of its records is called."""
    return re.sub(r"[^a-z0-9]+", "-", gpu.lower()).strip("-")
