"""Archives: what is packed arrives as it was, and what is not a whole bake of this code is refused before a byte is written."""

import errno
import gzip
import io
import json
import os
import subprocess
import sys
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from scripts.baking import archive
from scripts.provenance import records
from scripts.provenance.records import RecordError
from tests.scripts import trees

ONE, TWO = "cpu/tiny/plus.json", "cpu/tiny/times.json"


@pytest.fixture(scope="module")
def source(tmp_path_factory) -> Path:
    """A checkout with two records, one of them long."""
    tree = trees.checkout(tmp_path_factory.mktemp("source"))
    trees.lay(tree, "tiny/plus")
    trees.lay(tree, "tiny/times", output=[archive.digest(bytes([line])) for line in range(256)] * 4)
    return tree


@pytest.fixture(scope="module")
def packed(source) -> Path:
    assert archive.pack("cpu", source / "bake.tgz", trees.baked(source), source) == 2
    return source / "bake.tgz"


@pytest.fixture
def target(tmp_path, source) -> Callable[[Path], list[Path]]:
    """Unpack into an empty place, by the code of `source`."""
    return lambda path: archive.unpack(path, tmp_path / "baked", source)


def contents(source: Path) -> dict[str, bytes]:
    return {name: (trees.baked(source) / name).read_bytes() for name in (ONE, TWO)}


def make(path: Path, members: dict[str, bytes], manifest: Any = None, machine: str = "cpu") -> Path:
    """An archive with right checksums, or with another manifest."""
    sums = {name: archive.digest(data) for name, data in members.items()}
    text = json.dumps(manifest or {"schema": 1, "machine": machine, "sha256": sums})
    with tarfile.open(path, "w:gz") as tar:
        for name, data in ({} if manifest is False else {archive.MANIFEST: text.encode()} | members).items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            tar.addfile(info, io.BytesIO(data))
    return path


def refused(target: Callable[[Path], list[Path]], path: Path, message: str) -> None:
    """The archive is refused by name and reason, and nothing is written anywhere near."""
    before = trees.snapshot(path.parent)
    with pytest.raises(RecordError, match=message) as caught:
        target(path)
    assert str(caught.value).startswith(f"{path}: ") and "\n" not in str(caught.value)
    assert trees.snapshot(path.parent) == before


def test_what_is_packed_arrives_as_it_was(tmp_path, source, packed, target):
    assert target(packed) == [tmp_path / "baked" / name for name in (ONE, TWO)]
    assert trees.snapshot(tmp_path / "baked" / "cpu") == trees.snapshot(trees.baked(source) / "cpu")
    assert not list(source.glob("*.part"))


def test_other_machines_stay_at_home(tmp_path, source, target):
    baked = tmp_path / "from"
    for name, data in contents(source).items():
        trees.put(baked, {name: data.decode(), name.replace("cpu", "some-gpu"): data.decode()})
    assert archive.pack("cpu", tmp_path / "bake.tgz", baked, source) == 2
    assert [path.name for path in target(tmp_path / "bake.tgz")] == ["plus.json", "times.json"]


def test_a_record_of_other_code_stays_at_home(tmp_path):
    tree = trees.checkout(tmp_path / "tree")
    trees.lay(tree, "tiny/plus")
    trees.lay(tree, "tiny/times")
    trees.put(tree, {"kernels/times.py": "def times(x, y):\n    return y * x * 1\n"})
    assert archive.pack("cpu", tmp_path / "bake.tgz", trees.baked(tree), tree) == 1
    assert archive.unpack(tmp_path / "bake.tgz", tmp_path / "baked", tree) == [tmp_path / "baked" / ONE]


def test_the_archive_made_here_for_other_tests_is_a_good_one(tmp_path, source, target):
    assert len(target(make(tmp_path / "bake.tgz", contents(source)))) == 2


# What is refused


def test_any_flipped_bit_is_refused_or_changes_nothing(tmp_path, source, packed):
    """A few bits of the packing itself, such as its date, say nothing."""
    data, good = packed.read_bytes(), contents(source)
    harmless = 0
    for position in range(0, len(data), 17):
        path, baked = tmp_path / "flipped.tgz", tmp_path / f"{position}"
        path.write_bytes(data[:position] + bytes([data[position] ^ 1 << position % 8]) + data[position + 1 :])
        try:
            archive.unpack(path, baked, source)
        except RecordError as error:
            assert str(error).startswith(f"{path}: ") and not baked.exists()
        else:
            assert {name: (baked / name).read_bytes() for name in good} == good
            harmless += 1
    assert harmless < len(data) / 170


def test_any_lost_end_is_refused_or_changes_nothing(tmp_path, source, packed, target):
    data = packed.read_bytes()
    for length in range(0, len(data) - 100, 97):
        (tmp_path / "cut.tgz").write_bytes(data[:length])
        refused(target, tmp_path / "cut.tgz", "not a readable archive|not a bake|is only in one of them")


def changed(data: bytes, **fields: Any) -> bytes:
    return json.dumps(json.loads(data) | fields).encode()


def in_environment(data: bytes, machine: str) -> bytes:
    return changed(data, environment=json.loads(data)["environment"] | {"machine": machine})


FAULTS: dict[str, tuple[Callable[[bytes, bytes], tuple[dict[str, bytes], Any]], str]] = {
    "a record that is missing": (
        lambda one, two: ({ONE: one}, {"machine": "cpu", "sha256": {ONE: archive.digest(one), TWO: archive.digest(two)}}),
        "lists 2 records and it holds 1; cpu/tiny/times.json is only in one",
    ),
    "a record too many": (
        lambda one, two: ({ONE: one, TWO: two}, {"machine": "cpu", "sha256": {ONE: archive.digest(one)}}),
        "lists 1 records and it holds 2; cpu/tiny/times.json is only in one",
    ),
    "a wrong checksum": (
        lambda one, two: ({ONE: one}, {"machine": "cpu", "sha256": {ONE: archive.digest(two)}}),
        "cpu/tiny/plus.json fails its checksum; carry the archive over again",
    ),
    "no manifest": (lambda one, two: ({}, False), "holds no manifest"),
    "a manifest without sums": (lambda one, two: ({ONE: one}, {"machine": "cpu"}), "holds no manifest"),
    "a manifest without a machine": (lambda one, two: ({ONE: one}, {"sha256": {}}), "holds no manifest"),
    "a manifest of another form": (lambda one, two: ({ONE: one}, [1]), "holds no manifest"),
    "a number for sums": (lambda one, two: ({ONE: one}, {"machine": "cpu", "sha256": 7}), "holds no manifest"),
    "a way out": (lambda one, two: ({"../x.json": one}, None), "does not belong into the folder of cpu"),
    "a way out from inside": (lambda one, two: ({"cpu/../../x.json": one}, None), "does not belong"),
    "a way out by name": (lambda one, two: ({"cpu/../../x.json": changed(one, name="../../x")}, None), "does not belong"),
    "an absolute path": (lambda one, two: ({"/elsewhere/tiny/plus.json": one}, None), "does not belong"),
    "an absolute name": (lambda one, two: ({"/elsewhere/x.json": changed(one, name="/elsewhere/x")}, None), "does not belong"),
    "another machine's folder": (lambda one, two: ({"nvidia-h200/tiny/plus.json": one}, None), "does not belong"),
    "another machine's record": (lambda one, two: ({ONE: in_environment(one, "nvidia-h200")}, None), "does not belong"),
    "another record's place": (lambda one, two: ({ONE: two}, None), "does not belong"),
    "another kind's place": (lambda one, two: ({ONE: changed(one, kind="trace")}, None), "does not belong"),
    "other code": (lambda one, two: ({ONE: one, TWO: changed(two, hash="0")}, None), "1 of 2 records come from other code"),
    "a newer schema": (lambda one, two: ({ONE: changed(one, schema=2)}, None), "cpu/tiny/plus.json: schema 2"),
    "no record": (lambda one, two: ({ONE: b"{"}, None), "cpu/tiny/plus.json: not a readable record"),
    "another encoding": (lambda one, two: ({ONE: one.decode().encode("utf-16")}, None), "not a readable record"),
}


@pytest.mark.parametrize("fault, message", FAULTS.values(), ids=FAULTS)
def test_an_archive_is_refused_for(tmp_path, source, target, fault, message):
    members, manifest = fault(*contents(source).values())
    refused(target, make(tmp_path / "bake.tgz", members, manifest), message)


@pytest.mark.parametrize("kind", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.DIRTYPE, tarfile.FIFOTYPE])
def test_a_member_that_is_no_file_is_refused(tmp_path, source, target, kind):
    path = tmp_path / "bake.tgz"
    with tarfile.open(path, "w:gz") as tar:
        info = tarfile.TarInfo(ONE)
        info.type, info.linkname = kind, "../../../etc/hostname"
        tar.addfile(info)
    refused(target, path, "cpu/tiny/plus.json is not a plain file")


NO_ARCHIVES = {"nothing": b"", "text": b"records\n" * 99, "packed text": gzip.compress(b"records\n" * 99)}


@pytest.mark.parametrize("data", NO_ARCHIVES.values(), ids=NO_ARCHIVES)
def test_what_is_no_archive_is_refused(tmp_path, target, data):
    (tmp_path / "bake.tgz").write_bytes(data)
    refused(target, tmp_path / "bake.tgz", "not a readable archive|not a bake")


def test_what_is_not_there_is_refused(tmp_path, target):
    refused(target, tmp_path / "gone.tgz", "not a readable archive .*No such file")
    (tmp_path / "folder").mkdir()
    refused(target, tmp_path / "folder", "not a readable archive .*[Dd]irectory")


def test_the_command_refuses_in_one_line(source, packed, tmp_path):
    (tmp_path / "bake.tgz").write_bytes(packed.read_bytes()[:5000])
    before = trees.snapshot(trees.baked(source))
    done = trees.bake(source, "--unpack", str(tmp_path / "bake.tgz"), NO_TORCH="1")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith(str(tmp_path / "bake.tgz")) and done.stderr.count("\n") == 1
    assert trees.snapshot(trees.baked(source)) == before


def test_the_command_lays_in_without_torch(source, packed):
    done = trees.bake(source, "--unpack", str(packed), NO_TORCH="1")
    assert (done.returncode, done.stdout, done.stderr) == (0, "laid in 2 records\n", "")


# Writing


def test_records_that_stand_there_are_replaced_whole(tmp_path, source, packed, target, monkeypatch):
    """A disk that fills up on the way leaves every record whole, the old one or the new one."""
    old = {name: '{"old": 1}' for name in (ONE, TWO)}
    trees.put(tmp_path / "baked", old)
    replace, done = os.replace, []

    def once(*paths: Any) -> None:
        if done:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        done.append(replace(*paths))

    monkeypatch.setattr(os, "replace", once)
    with pytest.raises(RecordError, match=r"times\.json: could not be written \(No space left on device\)"):
        target(packed)
    new = contents(source)
    laid = {name: data for name, data in trees.snapshot(tmp_path / "baked").items() if data is not None}
    assert laid == {ONE: new[ONE], TWO: old[TWO].encode()}
    monkeypatch.undo()
    target(packed)
    assert (tmp_path / "baked" / TWO).read_bytes() == new[TWO]


def test_a_full_disk_leaves_the_old_archive_and_nothing_else(tmp_path, source, monkeypatch):
    (tmp_path / "bake.tgz").write_bytes(b"old")

    def no_space(*_: Any) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(tarfile.TarFile, "addfile", no_space)
    with pytest.raises(RecordError, match=r"bake\.tgz: could not be written \(No space left on device\)"):
        archive.pack("cpu", tmp_path / "bake.tgz", trees.baked(source), source)
    assert trees.snapshot(tmp_path) == {"bake.tgz": b"old"}


def test_a_place_that_cannot_be_is_named(tmp_path, source):
    with pytest.raises(RecordError, match=r"gone/bake\.tgz: could not be written \(No such file or directory\)"):
        archive.pack("cpu", tmp_path / "gone" / "bake.tgz", trees.baked(source), source)


def test_a_machine_without_records_is_named(tmp_path, source):
    with pytest.raises(RecordError, match="no-gpu: there is nothing to pack"):
        archive.pack("no-gpu", tmp_path / "bake.tgz", trees.baked(source), source)


def test_a_corrupt_record_is_not_packed(tmp_path):
    trees.put(tmp_path, {"baked/cpu/x.json": "{"})
    with pytest.raises(RecordError, match=r"x\.json: not a readable record"):
        archive.pack("cpu", tmp_path / "bake.tgz", tmp_path / "baked")
    assert not (tmp_path / "bake.tgz").exists()


DYING = """
import os, sys, tarfile
from pathlib import Path
from scripts.baking import archive

tarfile.TarFile.addfile = lambda *_: os._exit(9)
archive.pack("cpu", Path(sys.argv[1]), Path(sys.argv[2]), Path(sys.argv[3]))
"""


def test_a_process_that_dies_while_it_packs_leaves_the_old_archive(tmp_path, source):
    path = tmp_path / "bake.tgz"
    path.write_bytes(b"old")
    command = [sys.executable, "-c", DYING, str(path), str(trees.baked(source)), str(source)]
    done = subprocess.run(command, env=os.environ | {"PYTHONPATH": str(records.ROOT)})
    assert (done.returncode, path.read_bytes()) == (9, b"old")
