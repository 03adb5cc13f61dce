"""Execute a recorded run in a process of its own, because Triton's interpreter must be chosen before Triton is imported."""

import json
import os
import subprocess
import sys
from typing import Any

from scripts import ROOT


def recorded(name: str) -> dict[str, Any]:
    """Execute one run under the interpreter and return what a record of it holds."""
    variables = os.environ | {"TRITON_INTERPRET": "1", "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-m", "scripts.recording.recorder", name]
    result = subprocess.run(command, cwd=ROOT, env=variables, capture_output=True, text=True)
    if result.returncode != 0:
        raise RuntimeError(f"traces/{name}: the recorder ended with status {result.returncode}\n{result.stderr.strip()}")
    return json.loads(result.stdout)
