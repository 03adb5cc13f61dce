"""The lanes of a block by warp and thread, as a compiled kernel's layout gives them out."""

from itertools import groupby

from scripts import layouts
from scripts.drawing.data import Record
from scripts.drawing.pictures.sheet import Picture, Sheet
from scripts.drawing.style import Variant

ROW = 128  # lanes in a row of the drawing
FOLLOWED = (1, 1)  # of the warps and of a warp's threads, the one that is followed: thread 33 of the program


def block_lanes(record: Record) -> Picture:
    ttgir = "\n".join(record["ttgir"])
    access = next(access for access in layouts.accesses(ttgir) if access.operation == "tt.store")
    assert access.registers
    owners = access.registers.owners(access.shape)
    warp, thread = FOLLOWED
    mine = [lane for lane, owner in enumerate(owners) if (owner.warp, owner.lane) == (warp, thread)]
    number, count = 32 * warp + thread, len(owners)
    rows = [[*part_of(part), *said(part, owners)] for part in parts(owners)]
    words = ", ".join(map(str, mine))
    warps = 1 + max(owner.warp for owner in owners)
    title = f"A block of {count} lanes, given out to the threads of {warps} warps."
    caption = (
        f"{title} Read from {record['name'].split('/')[0]} as Triton {record['environment']['triton']} compiles it. A row is "
        f"{ROW} lanes, a box the neighbors that one thread takes. The filled boxes are thread {number}'s."
    )
    alt = f"The lanes in rows of {ROW}, each with the warp that holds it. Thread {number} of warp {warp} holds lanes {words}."
    columns = ["first lane", "last lane", "warp", "threads of the program", "registers of each"]
    return Picture(title, caption, alt, columns, rows, lambda size: painted(size, owners, mine, number))


def parts(owners: list[layouts.Owner]) -> list[list[int]]:
    """Neighboring lanes of one warp, up to where it begins with its first thread again."""
    found: list[list[int]] = []
    for lane, owner in enumerate(owners):
        last = owners[lane - 1] if lane else None
        if last is None or owner.warp != last.warp or owner.lane < last.lane:
            found.append([])
        found[-1].append(lane)
    return found


def part_of(part: list[int]) -> tuple[int, int]:
    return part[0], part[-1]


def said(part: list[int], owners: list[layouts.Owner]) -> tuple[int, str, str]:
    threads = sorted({32 * owners[lane].warp + owners[lane].lane for lane in part})
    registers = sorted({owners[lane].register for lane in part})
    return owners[part[0]].warp, f"{threads[0]} to {threads[-1]}", f"{registers[0]} to {registers[-1]}"


def painted(size: Variant, owners: list[layouts.Owner], mine: list[int], number: int) -> Sheet:
    left, right = (62.0, 62.0) if size.wide else (52.0, 2.0)
    cell, tall, pitch = (size.width - left - right) / ROW, 20.0, 26.0
    rows = -(-len(owners) // ROW)
    below = 26 + rows * pitch
    sheet = Sheet(size, below + 78)
    sheet.text(left, 16, f"lanes 0 to {ROW - 1}" if size.wide else "lane 0", "muted")
    for row in range(rows):
        lanes = range(row * ROW, min((row + 1) * ROW, len(owners)))
        y = 24 + row * pitch
        warps = list(dict.fromkeys(owners[lane].warp for lane in lanes))
        sheet.text(left - 8, y + 15, f"warp {', '.join(map(str, warps))}", anchor="end")
        if size.wide:
            sheet.text(size.width - right + 8, y + 15, f"to {lanes[-1]}", "muted")
        place = {lane: left + (lane - lanes[0]) * cell for lane in lanes}
        threads = [(key, list(same)) for key, same in groupby(lanes, lambda lane: (owners[lane].warp, owners[lane].lane))]
        for tint in (0, 1):
            boxes = [(place[same[0]], y, cell * len(same), tall) for (warp, _), same in threads if warp % 2 == tint]
            sheet.boxes(boxes, "chip", fill_opacity=0.14 + 0.22 * tint)
        sheet.boxes([(place[same[0]], y, cell * len(same), tall) for _, same in threads], "none", "chip", 0.6)
        sheet.boxes([(place[lane], y, cell, tall) for lane in lanes if lane in mine], "ours")
    if not size.wide:
        sheet.text(size.width - right, below + 10, f"lane {len(owners) - 1}", "muted", "end")
    thread(sheet, owners, mine, number, below + 26)
    return sheet


def thread(sheet: Sheet, owners: list[layouts.Owner], mine: list[int], number: int, y: float) -> None:
    """One thread's registers, each with its lane."""
    wide = min(56.0, (sheet.width - 4) / len(mine))
    sheet.boxes([(2 + place * wide, y, wide, 24) for place in range(len(mine))], "none", "ours", 1.2)
    for place, lane in enumerate(sorted(mine, key=lambda lane: owners[lane].register)):
        sheet.text(2 + (place + 0.5) * wide, y + 17, str(lane), anchor="middle")
    sheet.text(2, y + 44, f"thread {number}: its {len(mine)} registers, each with a lane of the block", "ours")


PICTURES = {"block_lanes": (block_lanes, ("layouts/lane_thread_kernel/call",))}
