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
from scripts.provenance import records, sources
from scripts.provenance.follow import Code

MANIFEST = "manifest.json"


def pack(machine: str, archive: Path, baked: Path = records.BAKED, root: Path = ROOT) -> int:
    """Put every record of a machine that is of today's code into one archive and return their number.

    A bake that was interrupted leaves stale ones beside the new: they stay at home, because unpacking would refuse them all.
    """
    code = Code(root)
    every = [path for path, record in records.all_records(machine, baked, gates=True) if sources.is_fresh(record, code)]
    contents = {path.relative_to(baked).as_posix(): path.read_bytes() for path in every}
    if not contents:
        raise records.RecordError(f"{baked / machine}: there is nothing to pack")
    manifest = {"schema": records.SCHEMA, "machine": machine, "sha256": {name: digest(data) for name, data in contents.items()}}
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
    for name, data in contents.items():
        records.write_text(baked / name, data.decode())
    return [baked / name for name in contents]


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
