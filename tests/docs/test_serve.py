"""`make serve` says at once where the site will be, and ends without a traceback."""

import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.docs.pages import ROOT

AT_ONCE = 10  # seconds


@pytest.fixture
def port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@pytest.fixture
def clone(tmp_path) -> Path:
    """A checkout without an environment, where to make one takes longer than anybody waits."""
    for name in ("Makefile", "pins/site.txt", "scripts/serve.py"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    (tmp_path / "scripts" / "install.py").write_text("import time\nprint('installing', flush=True)\ntime.sleep(600)\n")
    return tmp_path


def serve(folder: Path, port: int) -> subprocess.Popen[str]:
    command = ["make", "serve", f"PORT={port}", f"PYTHON={sys.executable}"]
    environment = {name: value for name, value in os.environ.items() if not name.startswith("MAKE")}
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
    return subprocess.Popen(command, cwd=folder, env=environment, text=True, start_new_session=True, **pipes)


def test_it_says_at_once_where_the_site_will_be_and_control_c_ends_it(clone, port):
    began = time.monotonic()
    serving = serve(clone, port)
    assert f"http://127.0.0.1:{port}" in serving.stdout.readline()
    assert "environment" in serving.stdout.readline() and "installing" in serving.stdout.readline()
    assert time.monotonic() - began < AT_ONCE
    os.killpg(serving.pid, signal.SIGINT)  # as a terminal sends it
    said, _ = serving.communicate(timeout=AT_ONCE)  # at the end of which nothing holds its output open any more
    assert serving.returncode != 0 and "Traceback" not in said


def test_every_step_is_told_the_address(clone, port):
    """Notebooks and the labs' pages say where the library comes from, which is where the site is served."""
    python = clone / ".venv" / "site" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.write_text('#!/bin/sh\necho "$SITE_URL does $*"\n')
    python.chmod(0o755)
    (clone / ".venv" / "site" / "ready").touch()
    said, _ = serve(clone, port).communicate(timeout=AT_ONCE)
    told = re.findall(r"^(\S+) does (.*)$", said, re.MULTILINE)
    address = f"http://127.0.0.1:{port}/"
    assert told == [(address, "scripts/prepare.py"), (address, f"-m mkdocs serve -a 127.0.0.1:{port}")], said


def test_a_taken_port_is_named(clone):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        serving = serve(clone, port)
        said, _ = serving.communicate(timeout=AT_ONCE)
    assert serving.returncode != 0 and re.search(rf"^Port {port} cannot be had .*PORT={port + 1}", said, re.MULTILINE)
    assert "Traceback" not in said and "http://" not in said
