"""What one version of Triton makes of launches. scripts/versions.py starts it with that one's Python.

    python scripts/recording/by_version.py

A line on standard input holds, as JSON, the name of a launch, the GPU to compile it for, and whether multiplications and
additions may be fused; a line of JSON answers with what the kernel takes there, or with the compiler's last words. Each is
compiled in a fork of this process, so that a compiler that dies takes nothing along.
"""

import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent))
from scripts.compile import compiled, launch_of, nvidia_resources
from scripts.launches import SPECIMENS, Specimen

SECONDS = 300
INSTRUCTION = re.compile(r"^\s*/\*[0-9a-f]+\*/\s+(?:@!?\w+\s+)?([A-Z][\w.]*)", re.MULTILINE)
FUSED = ("FFMA", "HFMA2", "DFMA")  # a multiplication and an addition, rounded once


def taken(specimen: Specimen, target: str, fusion: bool) -> dict[str, Any]:
    """What a launch takes on a GPU, compiled by the Triton of this process."""
    try:
        function, arguments, options = launch_of(specimen)
        kernel = compiled(function, arguments, options | {"enable_fp_fusion": fusion}, target)
    except Exception as error:
        lines = str(error).strip().splitlines() or [""]
        return {"error": f"{type(error).__name__}: {lines[-1]}"}
    operations = machine_code(kernel.asm["cubin"])
    found = nvidia_resources(kernel.asm["cubin"]) | {"shared_bytes": kernel.metadata.shared}
    ptx = len(re.findall(r"^\s+(?:@!?%p\d+ )?[a-z][\w.:]*\s[^;]*;", kernel.asm["ptx"], re.MULTILINE))
    return found | {"ptx": ptx, "sass": len(operations), "fused": sum(each.split(".")[0] in FUSED for each in operations)}


def machine_code(cubin: bytes) -> list[str]:
    """The instructions of a binary, without those that only fill it up."""
    from triton import knobs

    with tempfile.NamedTemporaryFile(suffix=".cubin") as file:
        file.write(cubin)
        file.flush()
        command = [knobs.nvidia.cuobjdump.path, "-sass", file.name]
        text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return [name for name in INSTRUCTION.findall(text) if name != "NOP"]


def answer(specimen: Specimen, target: str, fusion: bool) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.json"
        child = os.fork()
        if child == 0:
            try:
                import signal

                os.environ["TRITON_CACHE_DIR"] = f"{folder}/cache"
                os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
                signal.alarm(SECONDS)
                report.write_text(json.dumps(taken(specimen, target, fusion)), encoding="utf-8")
            finally:
                os._exit(0)
        os.waitpid(child, 0)
        if not report.exists():
            return {"error": f"no end within {SECONDS} s, or a crash"}
        return json.loads(report.read_text(encoding="utf-8"))


def main() -> None:
    import kernels  # noqa: F401  here once, and not in every fork

    by_name = {specimen.name: specimen for specimen in SPECIMENS}
    for line in sys.stdin:
        name, target, fusion = json.loads(line)
        print(json.dumps(answer(by_name[name], target, fusion)), flush=True)


if __name__ == "__main__":
    main()
