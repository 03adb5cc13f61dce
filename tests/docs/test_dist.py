"""The wheels and the project's sources: what they hold, that pip takes them, what a user's Python makes of them, and that they
are the same each time.
"""

import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import venv
import zipfile
from email import message_from_string
from email.message import Message
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.version import Version

import kernels
from scripts.pages import dist
from scripts.provenance import records
from tests.docs import pages
from tests.docs.pages import ROOT
from tests.scripts.trees import put


@pytest.fixture(scope="module")
def folder() -> Path:
    pages.prepare()
    return ROOT / "docs" / "dist"


def test_there_is_one_of_each(folder):
    assert sorted(path.name for path in folder.iterdir()) == dist.names()


def contents(path: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(path) as wheel:
        return {name: wheel.read(name) for name in wheel.namelist()}


def metadata_of(held: dict[str, bytes]) -> Message:
    (text,) = (data.decode() for name, data in held.items() if name.endswith("/METADATA"))
    return message_from_string(text)


def test_each_file_of_the_library_is_in_one_of_the_wheels(folder):
    library, tools = contents(folder / dist.wheel_name()), contents(folder / dist.wheel_name(part=dist.TOOLS))
    modules = {path.relative_to(ROOT).as_posix(): path.read_bytes() for path in (ROOT / "kernels").rglob("*.py")}
    modules["kernels/py.typed"] = b""
    of_the_tools = {name for name in modules if name.startswith(("kernels/labs/", "kernels/tools/"))}
    for held, expected in ((library, modules.keys() - of_the_tools), (tools, of_the_tools)):
        inside = {name: data for name, data in held.items() if ".dist-info/" not in name}
        assert inside == {name: modules[name] for name in expected}
        assert metadata_of(held)["License-Expression"] == "MIT"
        assert any(name.endswith("licenses/LICENSE") for name in held)


def test_both_wheels_are_of_one_version_and_name_one_another(folder):
    library, tools = (metadata_of(contents(folder / dist.wheel_name(part=part))) for part in (dist.LIBRARY, dist.TOOLS))
    version = dist.project()["version"]
    assert {library["Version"], tools["Version"], kernels.__version__} == {version}
    assert f"{tools['Name']}=={version}; extra == \"tools\"" in library.get_all("Requires-Dist")
    assert f"{library['Name']}=={version}" in tools.get_all("Requires-Dist")


def tried(package: str) -> set[str]:
    """The versions that records were made with, without what a build appends."""
    environments = (records.read(path).get("environment") or {} for path in (ROOT / "docs" / "baked").rglob("*.json"))
    return {str(made[package]).partition("+")[0] for made in environments if made.get(package)}


@pytest.mark.parametrize("package", ["torch", "triton"])
def test_the_wheel_takes_the_versions_that_were_tried_and_no_others(package):
    """By their first two numbers, up and down from what has records."""
    (bounds,) = (Requirement(text).specifier for text in dist.project()["dependencies"] if Requirement(text).name == package)
    versions = tried(package)
    assert all(bounds.contains(version) for version in versions)
    minors = {Version(version).minor for version in versions}
    major = Version(max(versions, key=Version)).major
    others = set(range(max(minors) + 3)) - minors
    assert [f"{major}.{minor}.1" for minor in others if bounds.contains(f"{major}.{minor}.1")] == []
    assert not bounds.contains(f"{major + 1}.0.0") and not bounds.contains(f"{major - 1}.99.0")


# Installed, as a reader installs them


def environment(place: Path, *arguments: str) -> Path:
    """A new environment with torch and Triton, in which pip has installed something without a network; its Python."""
    venv.create(place, with_pip=False, symlinks=True)
    python = place / "bin" / "python"
    (lies,) = place.glob("lib/*/site-packages")
    (lies / "lent.pth").write_text(f"{sysconfig.get_path('purelib', vars={'base': sys.prefix})}\n", encoding="utf-8")
    pip = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-index", *arguments]
    subprocess.run(pip, check=True, cwd=place)
    return python


def run(python: Path, program: str) -> tuple[int, str]:
    """What a program ends with and says, in another folder than this checkout's."""
    settings = os.environ | {"TRITON_INTERPRET": "1"}
    done = subprocess.run([python, "-I", "-c", program], capture_output=True, text=True, cwd=python.parent, env=settings)
    return done.returncode, done.stdout + done.stderr


@pytest.fixture(scope="module")
def alone(folder, tmp_path_factory) -> Path:
    """Python where the library is installed, as its metadata asks for, and nothing of its tools."""
    return environment(tmp_path_factory.mktemp("alone"), str(folder / dist.wheel_name()))


ADDS = "import torch, kernels; print(kernels.__file__, kernels.add(torch.ones(2), torch.ones(2)).tolist())"


def test_the_library_runs_where_its_wheel_is_installed(alone):
    status, said = run(alone, ADDS)
    assert status == 0 and said.startswith(str(alone.parent.parent)) and said.endswith("[2.0, 2.0]\n"), said


def test_without_the_tools_an_import_says_what_to_install(alone):
    status, said = run(alone, told_by("kernels.labs", "kernels.tools", "kernels.tools.benchmark"))
    assert status == 0 and said.count("ModuleNotFoundError('") == said.count("blockwise_kernels_tools") == 3, said


def told_by(*modules: str) -> str:
    """A program that imports modules one by one, and prints what each import ended with."""
    return f"""
import importlib
for module in {modules}:
    try:
        print(importlib.import_module(module))
    except ImportError as error:
        print(repr(error))
"""


def test_the_extra_brings_the_tools(folder, tmp_path):
    """From a folder, as on a machine without a network."""
    python = environment(tmp_path, "--find-links", str(folder), "blockwise-kernels[tools]")
    imports = "from kernels.labs import TASKS; from kernels.tools.benchmark import keep"
    status, said = run(python, f"{ADDS}; {imports}; print(len(TASKS))")
    assert status == 0 and int(said.split()[-1]), said


def test_type_checkers_see_the_types(alone, tmp_path):
    put(tmp_path, {"user.py": USER})
    command = [sys.executable, "-m", "mypy", "--strict", "--python-executable", str(alone), "--cache-dir", "cache", "user.py"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
    found = re.findall(r'user\.py:(\d+): (?:error|note): (.*)', done.stdout)
    wrong = {str(number) for number, line in enumerate(USER.splitlines(), 1) if line.endswith("# wrong")}
    assert {line for line, text in found if not text.startswith("Revealed")} == wrong, done.stdout
    assert [text for _, text in found if text.startswith("Revealed")] == ['Revealed type is "torch._tensor.Tensor"'] * 3


USER = """import torch
from torch import nn

import kernels
from kernels import softmax
from kernels.integrations import apply_kernels_to_llama
from kernels.nn import CrossEntropyLoss, GroupNorm, LayerNorm, LinearCrossEntropyLoss, RMSNorm, SwiGLU

x = torch.ones(2, 8)
reveal_type(softmax(x, dim=-1))
reveal_type(kernels.rms_norm(x))
reveal_type(kernels.matmul(x, x.T, activation="relu"))
loss: nn.CrossEntropyLoss = CrossEntropyLoss(reduction="sum")
block: list[nn.Module] = [GroupNorm(1, 8), LayerNorm(8), RMSNorm(8), SwiGLU(8, 16), LinearCrossEntropyLoss(8, 4)]
counts: dict[str, int] = apply_kernels_to_llama(nn.Linear(2, 2), loss=False).counts
softmax("x")  # wrong
softmax(x, dimension=1)  # wrong
"""


def with_another(python: Path, name: str) -> Path:
    """An environment in which another distribution of a name lies beside the library."""
    (lies,) = python.parent.parent.glob("lib/*/site-packages")
    put(lies, {f"{name}-9.9.dist-info/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: 9.9\n"})
    return lies / f"{name}-9.9.dist-info"


@pytest.mark.parametrize("came_last", [False, True])
def test_another_distribution_in_the_same_folder_is_refused(alone, came_last):
    """Also where its face of the package has replaced ours: then by the first module of ours."""
    other = with_another(alone, "kernels")
    face = other.parent / "kernels" / "__init__.py"
    ours = face.read_bytes()
    try:
        if came_last:
            face.write_text("def get_kernel(): ...\n", encoding="utf-8")
        _, said = run(alone, told_by("kernels", "kernels.nn", "kernels.add"))
    finally:
        face.write_bytes(ours)
        shutil.rmtree(other)
    assert said.count("ImportError('blockwise-kernels and kernels 9.9, another project") == 3 - came_last, said
    assert "pip uninstall blockwise-kernels kernels" in said


@pytest.mark.parametrize("name", ["kernels_of_others", "blockwise_kernels_tools"])
def test_any_other_distribution_is_none_of_the_library_s_business(alone, name):
    other = with_another(alone, name)
    try:
        assert run(alone, "import kernels.common")[0] == 0
    finally:
        shutil.rmtree(other)


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
    "LICENSE": "Do as you like.\n",
    "extras/tools/pyproject.toml": '[build-system]\nrequires = ["setuptools>=77"]\nbuild-backend = "setuptools.build_meta"\n'
    '[project]\nname = "tiny-tools"\nversion = "1.2"\n[tool.setuptools.packages.find]\nwhere = ["../.."]\n'
    'include = ["kernels.more"]\n',
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
        assert sorted(made[-1]) == dist.names(root) == [
            *("blockwise-1.2.tar.gz", "tiny_kernels-1.2-py3-none-any.whl", "tiny_tools-1.2-py3-none-any.whl")
        ]
        assert sorted(path.name for path in root.iterdir()) == sorted({name.split("/")[0] for name in SMALL | LEFT_OUT})
    assert made[0] == made[1]
    with tarfile.open(tmp_path / "made1/blockwise-1.2.tar.gz") as archive:
        assert archive.getnames() == [f"blockwise-1.2/{name}" for name in sorted([*SMALL, ".gitignore"])]


def test_a_wheel_that_cannot_be_built_says_why(tmp_path):
    put(tmp_path / "checkout", SMALL | {".gitignore": "", "pyproject.toml": SMALL["pyproject.toml"].replace("1.2", "one")})
    with pytest.raises(dist.BuildError, match="(?s)could not be built.*version"):
        dist.write(tmp_path / "made", tmp_path / "checkout")
    shutil.rmtree(tmp_path)
