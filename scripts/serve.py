"""Serve the site from this machine, and say at once where it will be.

    make serve [PORT=8000]

The standard library alone, because there may be no environment yet. What it starts runs in a session of its own, which Ctrl-C
reaches only through this process: so nothing of it prints a traceback.
"""

import os
import signal
import socket
import subprocess
import sys
from pathlib import Path
from typing import NoReturn

ROOT = Path(__file__).resolve().parent.parent
HOST = "127.0.0.1"
PYTHON = ".venv/site/bin/python"


def stop(number: int, _: object = None) -> NoReturn:
    sys.exit(128 + number)


def try_port(port: int) -> None:
    """Leave with a sentence where the port cannot be had."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # as MkDocs does it: what was closed a moment ago is free
        try:
            probe.bind((HOST, port))
        except OSError as error:
            sys.exit(f"Port {port} cannot be had ({error.strerror}): run make serve PORT={port + 1}, for example")


def run(what: str, *command: str, site: str) -> None:
    """Say what is done now and do it, for this address. Leave where it fails, and end it where this process is told to end."""
    print(what, flush=True)
    environment = os.environ | {"NO_MKDOCS_2_WARNING": "1", "SITE_URL": site}
    started = subprocess.Popen(command, cwd=ROOT, env=environment, start_new_session=True)
    try:
        status = started.wait()
    finally:
        if started.poll() is None:
            os.killpg(started.pid, signal.SIGTERM)
            started.wait()
    if status:
        sys.exit(status)


def main() -> None:
    port = int(sys.argv[1])
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, stop)
    try_port(port)
    site = f"http://{HOST}:{port}/"
    print(f"The site will be at {site}", flush=True)
    make = ("make", "--no-print-directory", "--silent", f"PYTHON={sys.executable}")
    run("Seeing to the environment in .venv/site: half a minute or more the first time", *make, ".venv/site/ready", site=site)
    run("Preparing programs, data and figures: some seconds", PYTHON, "scripts/prepare.py", site=site)
    run("Building the pages: some more seconds", PYTHON, "-m", "mkdocs", "serve", "-a", f"{HOST}:{port}", site=site)


if __name__ == "__main__":
    main()
