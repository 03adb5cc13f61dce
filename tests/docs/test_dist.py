"""The library's wheel and the project's sources: what they hold, that pip takes them, and that they are the same each time."""

import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

from scripts.pages import dist
from tests.docs import pages
from tests.docs.pages import ROOT
from tests.scripts.trees import put


@pytest.fixture(scope="module")
def folder() -> Path:
    pages.prepare()
    return ROOT / "docs" / "dist"


def test_there_is_one_of_each(folder):
    assert sorted(path.name for path in folder.iterdir()) == sorted([dist.wheel_name(), dist.sources_name()])


def test_pip_installs_the_wheel_and_python_imports_it(folder, tmp_path):
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index", "--target", str(tmp_path / "installed")]
    subprocess.run([*pip, str(folder / dist.wheel_name())], check=True, cwd=tmp_path)
    program = (
        f"import sys; sys.path.insert(0, {str(tmp_path / 'installed')!r}); import kernels; print(kernels.__file__, kernels.add)"
    )
    done = subprocess.run([sys.executable, "-I", "-c", program], capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(str(tmp_path / "installed" / "kernels"))


def test_the_wheel_holds_the_library_and_its_license(folder):
    with zipfile.ZipFile(folder / dist.wheel_name()) as wheel:
        held = {name: wheel.read(name) for name in wheel.namelist()}
    modules = {path.relative_to(ROOT).as_posix(): path.read_bytes() for path in (ROOT / "kernels").rglob("*.py")}
    assert {name: data for name, data in held.items() if ".dist-info/" not in name} == modules
    (metadata,) = (data.decode() for name, data in held.items() if name.endswith("METADATA"))
    assert f"\nVersion: {dist.project()['version']}\n" in metadata and "\nLicense-Expression: MIT\n" in metadata
    assert any(name.endswith("licenses/LICENSE") for name in held)


def test_the_sources_are_what_git_has_of_the_checkout(folder):
    with tarfile.open(folder / dist.sources_name()) as archive:
        held = {entry.name.partition("/")[2]: archive.extractfile(entry).read() for entry in archive.getmembers()}
    assert held["pyproject.toml"] == (ROOT / "pyproject.toml").read_bytes()
    assert held.keys() >= {"kernels/__init__.py", "snippets/first_kernel/launch.py", "docs/index.md", "Makefile", "LICENSE"}
    listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT, capture_output=True, text=True)
    if listed.returncode == 0:  # not in a copy without git
        assert [path.relative_to(ROOT).as_posix() for path in dist.sources()] == sorted(
            (name for name in listed.stdout.splitlines() if (ROOT / name).exists()), key=lambda name: name.split("/")
        )


SMALL = {
    "pyproject.toml": '[build-system]\nrequires = ["setuptools>=77"]\nbuild-backend = "setuptools.build_meta"\n'
    '[project]\nname = "tiny-kernels"\nversion = "1.2"\n[tool.setuptools.packages.find]\ninclude = ["kernels*"]\n',
    "kernels/__init__.py": "ONE = 1\n",
    "kernels/more/__init__.py": "",
    "docs/a.md": "a\n",
}
LEFT_OUT = {
    ".gitignore": "# What is made.\n__pycache__/\n*.egg-info/\n.venv\ndocs/made/\ndocs/*/index.md\n",
    ".git/config": "",
    ".venv/bin/python": "",
    "kernels/__pycache__/a.pyc": "",
    "tiny.egg-info/PKG-INFO": "",
    "docs/made/a.md": "",
    "docs/old/index.md": "",
}


def test_the_same_sources_give_the_same_bytes_wherever_they_lie(tmp_path):
    made = []
    for number in (1, 2):
        root = tmp_path / f"checkout{number}"
        put(root, SMALL | LEFT_OUT)
        (root / "kernels/__init__.py").chmod(0o644 if number == 1 else 0o600)
        dist.write(tmp_path / f"made{number}", root)
        made.append({path.name: path.read_bytes() for path in (tmp_path / f"made{number}").iterdir()})
        assert sorted(made[-1]) == ["blockwise-1.2.tar.gz", "tiny_kernels-1.2-py3-none-any.whl"]
        assert sorted(path.name for path in root.iterdir()) == sorted({name.split("/")[0] for name in SMALL | LEFT_OUT})
    assert made[0] == made[1]
    with tarfile.open(tmp_path / "made1/blockwise-1.2.tar.gz") as archive:
        assert archive.getnames() == [f"blockwise-1.2/{name}" for name in sorted([*SMALL, ".gitignore"])]


def test_a_wheel_that_cannot_be_built_says_why(tmp_path):
    put(tmp_path / "checkout", SMALL | {".gitignore": "", "pyproject.toml": SMALL["pyproject.toml"].replace("1.2", "one")})
    with pytest.raises(dist.BuildError, match="(?s)could not be built.*version"):
        dist.write(tmp_path / "made", tmp_path / "checkout")
    shutil.rmtree(tmp_path)
