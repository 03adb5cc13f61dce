"""Where lanes land in memory: the addresses that a compiled load asks for, and the sectors that hold them."""

import re

from scripts import layouts
from scripts.drawing.data import Record
from scripts.drawing.pictures.sheet import Picture, Sheet
from scripts.drawing.style import Variant

LANES, SECTOR, STRIDES = 32, 32, (1, 2, 8)


def memory_sectors(record: Record) -> Picture:
    ttgir = "\n".join(record["ttgir"])
    load = next(access for access in layouts.accesses(ttgir) if access.operation == "tt.load")
    size = int(re.sub(r"\D", "", load.dtype)) // 8
    landed = {
        stride: [size * offset for offset in layouts.addresses(ttgir, "tt.load", {"stride": stride})[:LANES]]
        for stride in STRIDES
    }
    rows = [[stride, *counted(bytes_, size)] for stride, bytes_ in landed.items()]
    title = f"Where {LANES} lanes land, and the sectors of {SECTOR} bytes that are fetched for them."
    caption = (
        f"{title} The addresses are those that strided_kernel asks for, as Triton {record['environment']['triton']} compiles it, "
        "for three strides."
    )
    parts = [f"at a stride of {row[0]} they fall into {row[1]} sectors, {row[3]} bytes for {row[2]}" for row in rows]
    alt = f"{LANES} lanes above a strip of memory that is cut into sectors: {'; '.join(parts)}."
    columns = ["stride", "sectors", "bytes wanted", "bytes fetched", "used"]
    return Picture(title, caption, alt, columns, rows, lambda variant: painted(variant, landed, size))


def counted(addresses: list[int], size: int) -> tuple[int, int, int, str]:
    sectors, wanted = len({address // SECTOR for address in addresses}), size * len(addresses)
    return sectors, wanted, SECTOR * sectors, f"{100 * wanted / (SECTOR * sectors):g}%"


def painted(variant: Variant, landed: dict[int, list[int]], size: int) -> Sheet:
    tall = 128 if variant.wide else 136
    sheet = Sheet(variant, tall * len(landed) - 16)
    reach = max(address for addresses in landed.values() for address in addresses) + size
    reach = -(-reach // SECTOR) * SECTOR
    if variant.wide:
        sheet.text(398, 34, f"{LANES} lanes of a block", "ours")
    for place, (stride, addresses) in enumerate(landed.items()):
        group(sheet, place * tall, stride, addresses, reach, size)
    return sheet


def group(sheet: Sheet, top: float, stride: int, addresses: list[int], reach: int, size: int) -> None:
    """One stride: the lanes, the memory, and a line from each lane to its number."""
    wide, byte = sheet.width - 4, (sheet.width - 4) / reach
    sectors, _, fetched, used = counted(addresses, size)
    sheet.text(2, top + 14, f"stride {stride}", font_weight="bold")
    told = f"{sectors} sectors: {fetched} bytes fetched, {used} used"
    sheet.text(sheet.width - 2, top + 14, told, "memory", "end")
    lane, lanes_y, memory_y = min(12.0, wide / len(addresses)), top + 24, top + 84
    left = 2 if sheet.variant.wide else (sheet.width - lane * len(addresses)) / 2
    sheet.boxes([(left + lane * i, lanes_y, lane - 1, 12) for i in range(len(addresses))], "ours")
    lines = "".join(
        f"M{left + lane * i + (lane - 1) / 2:.5g} {lanes_y + 12}L{2 + byte * (address + size / 2):.5g} {memory_y}"
        for i, address in enumerate(addresses)
    )
    sheet.path(lines, "none", "ours", 0.6)
    touched = sorted({address // SECTOR for address in addresses})
    strip = [(2 + byte * SECTOR * sector, memory_y, byte * SECTOR, 20) for sector in range(reach // SECTOR)]
    sheet.boxes([strip[sector] for sector in touched], "memory", fill_opacity=0.25)
    sheet.boxes([(2 + byte * address, memory_y, byte * size, 20) for address in addresses], "ours")
    sheet.boxes(strip, "none", "memory", 0.8)


PICTURES = {"memory_sectors": (memory_sectors, ("layouts/strided_kernel/call",))}
