"""Records are written whole or not at all, and what cannot be read is named."""

import errno
import json
import os
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from scripts.provenance import records
from scripts.provenance.records import RecordError
from tests.scripts import trees

OLD, NEW = {"old": 1}, {"new": ["µ"] * 100}


@pytest.fixture
def stored(tmp_path) -> Path:
    path = tmp_path / "machine" / "record.json"
    records.write(path, OLD)
    return path


def no_space(*_: Any) -> None:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


@pytest.mark.parametrize("step", ["fsync", "chmod", "replace"])
def test_a_full_disk_leaves_the_old_record_and_nothing_else(stored, monkeypatch, step):
    monkeypatch.setattr(os, step, no_space)
    with pytest.raises(RecordError) as caught:
        records.write(stored, NEW)
    assert str(caught.value) == f"{stored}: could not be written (No space left on device); what stood there before is untouched"
    assert trees.snapshot(stored.parent) == {"record.json": b'{\n "old": 1\n}\n'}


def in_a_process(text: str, path: Path, before: Callable[[], None] | None = None) -> subprocess.CompletedProcess[str]:
    variables = os.environ | {"PYTHONPATH": str(records.ROOT)}
    imports = "import os, sys; from pathlib import Path; from scripts.provenance import records"
    program = f"{imports}; path = Path(sys.argv[1]); {text}"
    command = [sys.executable, "-c", program, str(path)]
    return subprocess.run(command, env=variables, capture_output=True, text=True, preexec_fn=before)


def test_a_disk_that_takes_a_part_leaves_the_old_record_and_nothing_else(stored):
    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (5000, 5000))

    done = in_a_process("records.write(path, {'new': 'x' * 100_000})", stored, limit)
    assert "RecordError" in done.stderr and f"{stored}: could not be written (File too large)" in done.stderr
    assert trees.snapshot(stored.parent) == {"record.json": b'{\n "old": 1\n}\n'}


@pytest.mark.parametrize("step", ["fsync", "replace"])
def test_a_process_that_dies_before_the_end_leaves_the_old_record(stored, step):
    done = in_a_process(f"os.{step} = lambda *_: os._exit(9); records.write(path, {{'new': 2}})", stored)
    assert done.returncode == 9
    assert json.loads(stored.read_text()) == OLD


def test_what_cannot_be_encoded_leaves_the_old_record_and_nothing_else(stored):
    with pytest.raises(UnicodeEncodeError):
        records.write(stored, {"new": "\ud800"})
    assert trees.snapshot(stored.parent) == {"record.json": b'{\n "old": 1\n}\n'}


def test_a_place_that_cannot_be_is_named(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(RecordError, match=r"file/record\.json: could not be written"):
        records.write(tmp_path / "file" / "record.json", NEW)


def test_a_record_can_be_read_by_everyone(stored):
    assert stored.stat().st_mode & 0o777 == 0o644


WRITER = """
import sys
from pathlib import Path
from scripts.provenance import records

number = 0
while True:
    number += 1
    head = {"schema": 1, "kind": "program", "name": sys.argv[2], "hash": "", "environment": {}}
    records.write(Path(sys.argv[1]), head | {"lines": [number] * 20_000, "last": number})
"""


def test_no_reader_sees_a_half_whenever_the_writer_is_killed(tmp_path):
    path = tmp_path / "machine" / "record.json"
    for turn in ("1", "2", "3", "4", "5", "6"):
        command = [sys.executable, "-c", WRITER, str(path), turn]
        writer = subprocess.Popen(command, env=os.environ | {"PYTHONPATH": str(records.ROOT)})
        seen: set[int] = set()
        while len(seen) < 5 + int(turn):
            assert writer.poll() is None
            if path.exists():
                found = records.read(path)
                assert found["lines"] == [found["last"]] * 20_000
                seen |= {found["last"]} if found["name"] == turn else set()
        time.sleep(0.0013 * int(turn))
        writer.send_signal(signal.SIGKILL)
        writer.wait()
        ((left, record),) = records.all_records("machine", tmp_path)
        assert left == path and record["lines"] == [record["last"]] * 20_000


# Bad input

HEAD = {"schema": 1, "kind": "program", "name": "x", "hash": "", "environment": {}}
CORRUPT = {
    "nothing": (b"", "not a readable record"),
    "a half": (json.dumps(HEAD).encode()[:-9], "not a readable record"),
    "another encoding": ('{"µ": 1}'.encode("latin-1"), "not a readable record"),
    "a list": (b"[]", "lacks schema, kind, name, hash, environment"),
    "a number": (b"7", "lacks schema"),
    **{f"no {field}": (json.dumps({**HEAD, field: None}).encode(), f"lacks {field}") for field in HEAD},
    "a field of another type": (json.dumps(HEAD | {"environment": "cpu"}).encode(), "lacks environment"),
    "a newer schema": (json.dumps(HEAD | {"schema": 2}).encode(), "schema 2"),
    "another kind": (json.dumps(HEAD | {"kind": "poem"}).encode(), "kind 'poem'"),
}


@pytest.mark.parametrize("data, message", CORRUPT.values(), ids=CORRUPT)
def test_a_corrupt_record_is_named(tmp_path, data, message):
    path = tmp_path / "cpu" / "record.json"
    path.parent.mkdir()
    path.write_bytes(data)
    with pytest.raises(RecordError, match=message) as caught:
        list(records.all_records("cpu", tmp_path))
    assert str(caught.value).startswith(f"{path}: ")


def test_a_record_that_is_not_there_is_named(tmp_path):
    with pytest.raises(RecordError, match=r"gone\.json: there is no such record"):
        records.read(tmp_path / "gone.json")
    with pytest.raises(RecordError, match="not a readable record"):
        records.read(tmp_path)
