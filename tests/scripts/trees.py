"""Small checkouts to bake in: the project's own scripts, a library of two kernels, programs that only print.

Where a bake wants torch and triton, it finds modules of a few lines that name a version, and a GPU if a test asks.
"""

import os
import shutil
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

from scripts.provenance import records, sources
from scripts.provenance.follow import Code

LIBRARY = {
    "__init__": "from kernels.plus import plus\nfrom kernels.times import times\n",
    "checks": "LIMIT = 3\n\n\ndef check(x):\n    return x < LIMIT\n",
    "plus": "from kernels.checks import check\n\n\ndef plus(x, y):\n    # x is small.\n    return x + y if check(x) else None\n",
    "times": "def times(x, y):\n    return x * y\n",
}
GREEN = "def test_it():\n    pass\n"
PROGRAMS = {
    "plus": "from kernels.plus import plus\n\nprint('plus', plus(1, 2))\n",
    "times": "from kernels.times import times\n\nprint('times', times(1, 2))\n",
    "alone": "print('alone')\n",
}
PRIMARY = "test-gpu-1-pcie"  # the card whose numbers the pages show
TORCH = """
import os

if os.environ.get("NO_TORCH"):
    raise ModuleNotFoundError("No module named 'torch'", name="torch")

__version__ = "1.2.3"


class cuda:
    is_available = staticmethod(lambda: "A_GPU" in os.environ)
    device_count = staticmethod(lambda: len(os.environ.get("CUDA_VISIBLE_DEVICES", "0").split(",")))
    get_device_name = staticmethod(lambda number=0: os.environ["A_GPU"])

    class get_device_properties:
        def __init__(self, number):
            self.total_memory = int(os.environ.get("GIB", "80")) * 2**30
            if "A_UUID" in os.environ:
                self.uuid = os.environ["A_UUID"]


class backends:
    class cudnn:
        version = staticmethod(lambda: 91002)


class version:
    cuda = "4.5"
"""
NVIDIA_SMI = "#!/bin/sh\necho '580.1, 700.00, 1980, 3201'\n"
NCU = """#!/bin/sh
echo '==PROF== Connected'
echo '"Kernel Name","dram__bytes_read.sum","dram__bytes_write.sum","launch__registers_per_thread","gpu__time_duration.sum"'
echo '"","byte","byte","register/thread","ns"'
echo '"void at::native::<unnamed>::plus_kernel<float>(int)","1,024","512","32","2,500"'
"""
SANITIZER = """#!/bin/sh
case "$*" in *" broken") exit 3;; esac
echo '========= COMPUTE-SANITIZER'
case "$*" in *" clean"|*" raises")
    echo '========= ERROR SUMMARY: 0 errors'
    case "$*" in *" raises") exit 1;; esac
    exit 0;;
esac
echo '========= Invalid __global__ read of size 4 bytes'
echo '=========     at plus_kernel+0x90 in /elsewhere/some folder/plus.py:12'
echo '=========     Access at 0x7f52a4c00fa0 is out of bounds'
echo '=========     and is 1 bytes after the nearest allocation at 0x7f52a4c00000 of size 4,000 bytes'
echo '========= Target process: 4711'
echo '========= ERROR SUMMARY: 24 errors'
echo '========= ERROR SUMMARY: 22 errors were not printed. Use --print-limit option to adjust it'
exit 1
"""


def checkout(folder: Path, **programs: str) -> Path:
    """A checkout whose programs are snippets/tiny/<name>.py."""
    shutil.copytree(records.ROOT / "scripts", folder / "scripts", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(records.ROOT / "main.py", folder)
    put(folder, {f"kernels/{name}.py": text for name, text in LIBRARY.items()})
    put(folder, {f"tests/kernels/test_{name}.py": GREEN for name in ("plus", "times")})
    put(folder, {f"snippets/tiny/{name}.py": text for name, text in (programs or PROGRAMS).items()})
    put(folder, {"stubs/torch.py": TORCH, "stubs/triton.py": "__version__ = '6.7'\n", "pytest.ini": "[pytest]\n"})
    put(folder, {"mkdocs.yml": f"extra:\n  primary: {PRIMARY}\n  several: {PRIMARY}-x2\n"})
    put(folder, {"stubs/bin/nvidia-smi": NVIDIA_SMI, "stubs/bin/ncu": NCU})
    put(folder, {"stubs/bin/compute-sanitizer": SANITIZER})
    for tool in (folder / "stubs/bin").iterdir():
        tool.chmod(tool.stat().st_mode | stat.S_IXUSR)
    return folder


def put(folder: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")


def command(tree: Path, *arguments: str, script: str = "bake.py", **variables: str) -> dict[str, Any]:
    """What subprocess needs to run a script of the checkout."""
    own = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("PYTEST", "PYTHON", "TRITON_", "A_GPU", "BLOCKWISE_"))
    }
    own |= {"PYTHONPATH": str(tree / "stubs"), "PYTHONDONTWRITEBYTECODE": "1", "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    own |= {"PATH": f"{tree / 'stubs/bin'}:{own['PATH']}", "CUDA_VISIBLE_DEVICES": ""}
    return {"args": [sys.executable, f"scripts/{script}", *arguments], "cwd": tree, "env": own | variables, "text": True}


def bake(tree: Path, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(**command(tree, *arguments, **variables), capture_output=True, timeout=120)


def baked(tree: Path) -> Path:
    return tree / "docs" / "baked"


def record(root: Path, name: str, machine: str = "cpu", **fields: Any) -> dict[str, Any]:
    """A record of a program as the checkout has it now."""
    head = {"schema": records.SCHEMA, "kind": "program", "name": name, "hash": sources.digest_of("program", name, Code(root))}
    environment = {"machine": machine, "gpu": None, "measured_at": "2000-01-01T00:00:00Z", "commit": ""}
    return head | {"environment": environment, "status": 0, "seconds": 0.1, "output": ["µ"]} | fields


def lay(root: Path, name: str, machine: str = "cpu", **fields: Any) -> Path:
    """Put a record of a program into the checkout."""
    path = records.record_path(machine, "program", name, baked(root))
    records.write(path, record(root, name, machine, **fields))
    return path


def snapshot(folder: Path) -> dict[str, bytes | None]:
    """Every file under a folder with its contents."""
    return {str(path.relative_to(folder)): path.read_bytes() if path.is_file() else None for path in sorted(folder.rglob("*"))}
