"""Carry a bake from the machine that made it to a checkout: one archive with a checksum for each record in it."""

import contextlib
import hashlib
import io
import json
import tarfile
import zlib
from pathlib import Path, PurePosixPath
from typing import Any

from scripts import ROOT
from scripts.baking import core, plausible
from scripts.provenance import records, sources
from scripts.provenance.follow import Code

MANIFEST = "manifest.json"


def pack(machine: str, archive: Path, baked: Path = records.BAKED, root: Path = ROOT) -> int:
    """Put every record of a machine that is of today's code into one archive and return their number.

    A bake that was interrupted leaves stale ones beside the new: they stay at home, because unpacking would refuse them all.
    """
    code = Code(root)
    every = [path for path, record in records.all_records(machine, baked, gates=True) if sources.is_fresh(record, code)]
    if not every:
        raise records.RecordError(f"{baked / machine}: there is nothing to pack")
    return write(archive, machine, {path.relative_to(baked).as_posix(): path.read_bytes() for path in every}, {})


def pack_core(machine: str, archive: Path, absent: dict[str, str], baked: Path = records.BAKED, root: Path = ROOT) -> int:
    """Put the core set of a machine into one archive, with the tests that passed there and what is absent, and why."""
    code, contents, programs = Code(root), {}, set[str]()
    wanted = {part.program for part in core.PARTS}
    for path, record in records.all_records(machine, baked, gates=True):
        is_of_it = record["kind"] == "gate" or record["kind"] == "program" and record["name"] in wanted - absent.keys()
        if is_of_it and sources.is_fresh(record, code):
            contents[path.relative_to(baked).as_posix()] = path.read_bytes()
            programs |= {record["name"]} & wanted
    if missing := core.lacking(programs, absent):
        raise records.RecordError(f"{baked / machine}: the core set has no record of {', '.join(missing)}, so it is not packed")
    return write(archive, machine, contents, {"set": core.NAME, "absent": dict(sorted(absent.items()))})


def write(archive: Path, machine: str, contents: dict[str, bytes], said: dict[str, Any]) -> int:
    """Write an archive whole or not at all."""
    manifest = {"schema": records.SCHEMA, "machine": machine, "sha256": {name: digest(data) for name, data in contents.items()}}
    manifest |= said
    partial = archive.with_name(archive.name + ".part")
    try:
        with tarfile.open(partial, "w:gz") as tar:
            for name, data in {MANIFEST: json.dumps(manifest, indent=1).encode(), **contents}.items():
                info = tarfile.TarInfo(name)
                info.size = len(data)
                tar.addfile(info, io.BytesIO(data))
        partial.replace(archive)
    except OSError as error:
        with contextlib.suppress(OSError):
            partial.unlink()
        message = f"{archive}: could not be written ({error.strerror}); what stood there before is untouched"
        raise records.RecordError(message) from None
    return len(contents)


def unpack(archive: Path, baked: Path = records.BAKED, root: Path = ROOT) -> list[Path]:
    """Check an archive as a whole, then lay its records in; nothing is written unless every record passes."""
    contents, manifest, parsed = opened(archive, baked, root)
    if manifest.get("set") == core.NAME:
        demand_core(archive, manifest, parsed)
    for name, data in contents.items():
        records.write_text(baked / name, data.decode())
    return [baked / name for name in contents]


def check(archive: Path, baked: Path = records.BAKED, root: Path = ROOT) -> list[str]:
    """Refuse an archive as `unpack` does, or for lack of something of the core set; else say what is in it and what is absent."""
    _, manifest, parsed = opened(archive, baked, root)
    demand_core(archive, manifest, parsed)
    environments = [record["environment"] for record in parsed.values()]
    said = [f"{archive}: {len(parsed)} records of an {environments[0]['gpu']}, of this checkout's code, plausible, and complete"]
    dates = sorted(environment["measured_at"][:10] for environment in environments)
    said += [f"measured from {dates[0]} to {dates[-1]}", plausible.held_against(parsed.values())]
    return [*said, *(f"absent: {name}: {reason}" for name, reason in absent_of(manifest).items())]


def demand_core(archive: Path, manifest: dict[str, Any], parsed: dict[str, dict[str, Any]]) -> None:
    """Refuse an archive that neither holds a program of the core set nor says why it is absent."""
    there = [record["name"] for record in parsed.values() if record["kind"] == "program"]
    if missing := core.lacking(there, absent_of(manifest)):
        more = f", nor {len(missing) - 1} more" if missing[1:] else ""
        raise records.RecordError(f"{archive}: incomplete: {missing[0]} is neither in it nor absent with a reason{more}")


def absent_of(manifest: dict[str, Any]) -> dict[str, Any]:
    """What an archive says to be absent, each with its reason."""
    absent = manifest.get("absent")
    return absent if isinstance(absent, dict) else {}


def opened(archive: Path, baked: Path, root: Path) -> tuple[dict[str, bytes], dict[str, Any], dict[str, dict[str, Any]]]:
    """What an archive holds, its manifest, and its records, all of this checkout's code and plausible; or it is refused."""
    contents = read_archive(archive)
    try:
        manifest = json.loads(contents.pop(MANIFEST))
        machine, sums = str(manifest["machine"]), dict(manifest["sha256"])
    except (KeyError, ValueError, TypeError):
        raise records.RecordError(f"{archive}: not a bake, it holds no manifest") from None
    if odd := sorted(set(sums) ^ set(contents)):
        counts = f"its manifest lists {len(sums)} records and it holds {len(contents)}"
        raise records.RecordError(f"{archive}: {counts}; {odd[0]} is only in one of them")
    for name, data in contents.items():
        if digest(data) != sums[name]:
            raise records.RecordError(f"{archive}: {name} fails its checksum; carry the archive over again")
    parsed = {name: records.parse(data, f"{archive}: {name}") for name, data in contents.items()}
    for name, record in parsed.items():
        if not belongs(name, record, machine):
            raise records.RecordError(f"{archive}: {name} does not belong into the folder of {machine}")
    code = Code(root)
    other = [name for name, record in parsed.items() if not sources.is_fresh(record, code)]
    if other:
        count = f"{len(other)} of {len(parsed)} records"
        raise records.RecordError(f"{archive}: {count} come from other code than this checkout's, {other[0]} among them")
    sheet = []
    with contextlib.suppress(records.RecordError):
        sheet = [records.read(records.record_path(machine, "program", "hardware/sheet", baked))]
    if fault := next(plausible.faults(parsed, sheet), ""):
        raise records.RecordError(f"{archive}: {fault}")
    return contents, manifest, parsed


def read_archive(archive: Path) -> dict[str, bytes]:
    try:
        contents = {}
        with tarfile.open(archive, "r:gz") as tar:
            for member in tar:
                file = tar.extractfile(member) if member.isreg() else None
                if file is None:
                    raise records.RecordError(f"{archive}: {member.name} is not a plain file")
                contents[member.name] = file.read()
        return contents
    except (OSError, EOFError, tarfile.TarError, zlib.error) as error:
        raise records.RecordError(f"{archive}: not a readable archive ({error})") from None


def belongs(name: str, record: dict[str, Any], machine: str) -> bool:
    """Whether a path in an archive is the place of that record among those of the machine."""
    inside = PurePosixPath(name).parts[:1] == (machine,) and ".." not in PurePosixPath(name).parts
    place = records.record_path(machine, record["kind"], record["name"], Path())
    return inside and record["environment"].get("machine") == machine and place == Path(name)


def digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
