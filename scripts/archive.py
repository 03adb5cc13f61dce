"""Carry a bake from the machine that made it to a checkout: one archive with a checksum for each record in it."""

import hashlib
import io
import json
import tarfile
from pathlib import Path, PurePosixPath

from scripts import records

MANIFEST = "manifest.json"


def pack(machine: str, archive: Path, baked: Path = records.BAKED) -> int:
    """Put every record of a machine into one archive and return their number."""
    contents = {path.relative_to(baked).as_posix(): path.read_bytes() for path, _ in records.all_records(machine, baked)}
    if not contents:
        raise records.RecordError(f"{baked / machine}: there is nothing to pack")
    manifest = {"schema": records.SCHEMA, "machine": machine, "sha256": {name: digest(data) for name, data in contents.items()}}
    partial = archive.with_name(archive.name + ".part")
    with tarfile.open(partial, "w:gz") as tar:
        for name, data in {MANIFEST: json.dumps(manifest, indent=1).encode(), **contents}.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            tar.addfile(info, io.BytesIO(data))
    partial.replace(archive)
    return len(contents)


def unpack(archive: Path, baked: Path = records.BAKED, root: Path = records.ROOT) -> list[Path]:
    """Check an archive as a whole, then lay its records in; nothing is written unless every record passes."""
    contents = read_archive(archive)
    try:
        manifest = json.loads(contents.pop(MANIFEST))
        machine, sums = manifest["machine"], manifest["sha256"]
    except (KeyError, ValueError):
        raise records.RecordError(f"{archive}: not a bake, it holds no manifest") from None
    if set(sums) != set(contents):
        raise records.RecordError(f"{archive}: its manifest lists {len(sums)} records and it holds {len(contents)}")
    for name, data in contents.items():
        if digest(data) != sums[name]:
            raise records.RecordError(f"{archive}: {name} fails its checksum; carry the archive over again")
        if PurePosixPath(name).parts[:1] != (machine,) or ".." in PurePosixPath(name).parts or PurePosixPath(name).is_absolute():
            raise records.RecordError(f"{archive}: {name} does not belong into the folder of {machine}")
    parsed = {name: json.loads(data) for name, data in contents.items()}
    other = [name for name, record in parsed.items() if not records.is_fresh(record, root)]
    if other:
        raise records.RecordError(f"{archive}: {len(other)} of {len(parsed)} records come from other code than this checkout's, {other[0]} among them")
    for name, data in contents.items():
        records.write_text(baked / name, data.decode())
    return [baked / name for name in contents]


def read_archive(archive: Path) -> dict[str, bytes]:
    try:
        with tarfile.open(archive, "r:gz") as tar:
            return {member.name: file.read() for member in tar if (file := tar.extractfile(member))}
    except (OSError, EOFError, tarfile.TarError) as error:
        raise records.RecordError(f"{archive}: not a readable archive ({error})") from None


def digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
