"""The library's wheel, the one of its tools, and the project's sources, as files of the site: docs/dist.

    pip install <address of the site>/dist/blockwise_kernels-<version>-py3-none-any.whl

Two distributions come from one tree, and no file is in both: the library, from pyproject.toml, and what teaches and measures,
from extras/tools/pyproject.toml. The wheels are built by the project's own build backend. The same sources give the same bytes:
every date is the same, files are in order, and where the checkout lies does not count.
"""

import fnmatch
import gzip
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import tomllib
from collections.abc import Iterator
from functools import cache
from io import BytesIO
from pathlib import Path
from typing import Any

from scripts import ROOT

MADE_AT = 1577836800  # 2020-01-01: a zip file cannot say that it has no date
IN_THE_WHEELS = ("pyproject.toml", "README.md", "LICENSE", "kernels", "extras")
LIBRARY, TOOLS = ".", "extras/tools"  # where the distributions' pyproject.toml lie
BUILD = "import sys; from setuptools.build_meta import build_wheel; build_wheel(sys.argv[1])"


class BuildError(Exception):
    """The build backend made no wheel."""


@cache
def project(root: Path = ROOT, part: str = LIBRARY) -> dict[str, Any]:
    return tomllib.loads((root / part / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def wheel_name(root: Path = ROOT, part: str = LIBRARY) -> str:
    return f"{project(root, part)['name'].replace('-', '_')}-{project(root, part)['version']}-py3-none-any.whl"


def sources_name(root: Path = ROOT) -> str:
    return f"blockwise-{project(root)['version']}.tar.gz"


def names(root: Path = ROOT) -> list[str]:
    """What lies in docs/dist."""
    return sorted([wheel_name(root), wheel_name(root, TOOLS), sources_name(root)])


def write(folder: Path, root: Path = ROOT) -> None:
    """Write the three files into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    for part in (LIBRARY, TOOLS):
        build_wheel(folder, root, part)
    pack_sources(folder / sources_name(root), root)


def build_wheel(folder: Path, root: Path, part: str) -> None:
    """In a copy, because the backend leaves files behind, and takes what it finds there, such as the license."""
    with tempfile.TemporaryDirectory() as copy:
        for path in sources(root):
            if path.relative_to(root).parts[0] in IN_THE_WHEELS:
                place = Path(copy) / path.relative_to(root)
                place.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(path, place)
                place.chmod(0o644)
        place = Path(copy) / part
        if part != LIBRARY:
            shutil.copyfile(root / "LICENSE", place / "LICENSE")
        environment = os.environ | {"SOURCE_DATE_EPOCH": str(MADE_AT)}
        command = [sys.executable, "-c", BUILD, str(folder.resolve())]
        done = subprocess.run(command, cwd=place, env=environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        if done.returncode:
            raise BuildError(f"the wheel could not be built:\n{done.stdout[-2000:]}")


def pack_sources(place: Path, root: Path) -> None:
    """What git has of a checkout, or would have, in one archive."""
    packed = BytesIO()
    with tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for path in sources(root):
            entry = tarfile.TarInfo(f"{sources_name(root).removesuffix('.tar.gz')}/{path.relative_to(root).as_posix()}")
            data = path.read_bytes()
            entry.size, entry.mtime, entry.mode = len(data), MADE_AT, 0o755 if path.stat().st_mode & 0o100 else 0o644
            archive.addfile(entry, BytesIO(data))
    place.write_bytes(gzip.compress(packed.getvalue(), 6, mtime=0))


def sources(root: Path = ROOT) -> Iterator[Path]:
    """The files of a checkout, in order, without those that .gitignore names."""
    lines = [".git", *(root / ".gitignore").read_text(encoding="utf-8").splitlines()]
    patterns = [line for line in lines if line and not line.startswith("#")]

    def ignored(path: Path, is_folder: bool) -> bool:
        name = path.relative_to(root).as_posix()
        for pattern in patterns:
            plain = pattern.removesuffix("/")
            if is_folder or plain == pattern:
                at = name if "/" in plain else path.name
                if at.count("/") == plain.count("/") and fnmatch.fnmatchcase(at, plain):
                    return True
        return False

    def walk(folder: Path) -> Iterator[Path]:
        for path in sorted(folder.iterdir()):
            is_folder = path.is_dir() and not path.is_symlink()
            if not ignored(path, is_folder):
                yield from walk(path) if is_folder else [path]

    return walk(root)
