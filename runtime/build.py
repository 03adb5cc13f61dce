"""Build what runs Triton in the page: build/run/<hash>/, named after all that it holds.

    make runtime
    python runtime/build.py [--triton FOLDER]     FOLDER: a site-packages with the Triton of lock.toml

Fetches the files that lock.toml pins with npm and pip, from wherever these two are set up to fetch from, and compares each with
its hash. What is in build/downloads is not fetched again, so this works offline afterwards, and a file laid there by hand counts
as well. Python's standard library, Node and npm; of Triton, an environment of this project that has it is enough.
"""

import argparse
import gzip
import hashlib
import html
import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
import urllib.request
import zipfile
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from scripts import ROOT
from scripts.pages import run_here
from scripts.provenance import sources

HERE = ROOT / "runtime"
DOWNLOADS = ROOT / "build" / "downloads"
WORK = ROOT / "build" / "runtime"  # what is laid out on the way
BUILT = ROOT / "build" / "run"
LOCK = tomllib.loads((HERE / "lock.toml").read_text(encoding="utf-8"))
# Of Triton's Python files: what only its compiler, its profiler and its drivers need.
LEFT_OUT = (
    "_C/",
    "backends/nvidia/",
    "backends/amd/",
    "profiler/",
    "instrumentation/",
    "tools/triton_to_gluon_translator/",
    "language/extra/cuda/",
    "language/extra/hip/",
    "experimental/",
)
# What of the project runs in the page beside runtime/ itself, and the packages that are empty there.
PROJECT_FILES = ("kernels/labs/**/*.py", "scripts/recording/recorder.py", "runtime/*.py")
EMPTY = ("kernels/__init__.py", "scripts/__init__.py", "scripts/recording/__init__.py")
# Served packed, because not every server packs what it sends: the page unpacks them. Not as .gz, which some servers announce as
# packed by themselves, so that browsers unpack it.
PACKED = ("pyodide.asm.wasm", "pyodide.asm.mjs", "pyodide-lock.json", "editor.js")
# Of NumPy's wheel: what is for those who compile against it, or check types.
NOT_OF_NUMPY = re.compile(r"\.(pyi|pxd|h)$|^numpy/(f2py|_pyinstaller)/")
LONGEST = 300  # characters of a line that a failed command said


class BuildError(Exception):
    """What cannot be had, and what to do about it."""


def sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def run(*command: str, cwd: Path = ROOT, why: str) -> None:
    """Run a command, and where it fails say what it was for, with the last of what it said."""
    if not shutil.which(command[0]):
        raise BuildError(
            f"{why}: the command {command[0]} is missing. Install it (npm comes with Node 20 or newer), and try again."
        )
    done = subprocess.run(command, cwd=cwd, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if done.returncode:
        told = [line for line in done.stdout.strip().splitlines() if len(line) < LONGEST]  # Pyodide shows its own text, too
        said = "\n".join(f"  {line}" for line in told[-6:])
        raise BuildError(f"{why}: `{' '.join(command[:4])} ...` failed:\n{said}")


# Fetching


def checked(path: Path, expected: str, what: str) -> Path:
    if sha256(path) != expected:
        raise BuildError(f"{what}: {path} is not the file that runtime/lock.toml names. Delete it, and run make runtime again.")
    return path


def download(archive: str, *command: str) -> Path:
    """The archive, from build/downloads or by the command, which leaves it there."""
    path = DOWNLOADS / archive
    if not path.exists():
        print(f"Fetching {archive}", flush=True)
        DOWNLOADS.mkdir(parents=True, exist_ok=True)
        run(*command, cwd=DOWNLOADS, why=f"{archive} could not be fetched; offline, lay it into {DOWNLOADS} by hand")
    if not path.exists():
        raise BuildError(f"{archive} was fetched under another name: look into {DOWNLOADS}")
    return path


def pip(*arguments: str) -> tuple[str, ...]:
    return (sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps", *arguments)


def fetch_pyodide(folder: Path) -> None:
    lock = LOCK["pyodide"]
    archive = download(lock["archive"], "npm", "pack", "--silent", f"pyodide@{lock['version']}")
    checked(archive, lock["sha256"], "Pyodide")
    shutil.unpack_archive(archive, WORK / "pyodide", filter="data")
    for name, expected in lock["files"].items():
        shutil.copyfile(checked(WORK / "pyodide" / "package" / name, expected, "Pyodide"), folder / name)


def numpy_from(source: dict[str, str], target: Path) -> None:
    """Take the wheel from one of the places that may have it."""
    if "address" in source:
        print(f"Fetching {source['address']}", flush=True)
        with urllib.request.urlopen(source["address"], timeout=60) as answer:
            target.write_bytes(answer.read())
        return
    fetched = pip("--only-binary", ":all:", "--python-version", "3.12", f"{source['package']}=={source['version']}")
    archive = checked(download(source["archive"], *fetched), source["sha256"], "NumPy")
    with zipfile.ZipFile(archive) as wheel:
        target.write_bytes(wheel.read(source["within"]))


def fetch_numpy(folder: Path) -> None:
    lock, failed = LOCK["numpy"], []
    listed = json.loads((folder / "pyodide-lock.json").read_text(encoding="utf-8"))["packages"]["numpy"]
    if (listed["file_name"], listed["sha256"]) != (lock["file"], lock["sha256"]):
        raise BuildError(f"NumPy: this Pyodide wants {listed['file_name']} ({listed['sha256']}): correct runtime/lock.toml")
    kept = DOWNLOADS / lock["file"]
    for source in [] if kept.exists() else lock["sources"]:
        try:
            DOWNLOADS.mkdir(parents=True, exist_ok=True)
            numpy_from(source, kept)
            break
        except (BuildError, OSError, KeyError, zipfile.BadZipFile) as error:
            failed.append(f"  {source.get('package') or source['address']}: {error}")
    if not kept.exists():
        how = f"No source had {lock['file']}. Lay it into {DOWNLOADS} by hand, or name another source in runtime/lock.toml."
        raise BuildError("\n".join([how, *failed]))
    shutil.copyfile(checked(kept, lock["sha256"], "NumPy"), folder / lock["file"])


def python_files(triton: Path) -> list[str]:
    """Those of Triton's Python files that may be wanted, as paths below the package."""
    found = (path.relative_to(triton).as_posix() for path in triton.rglob("*.py"))
    return sorted(name for name in found if not name.startswith(LEFT_OUT))


def digest_of(triton: Path) -> str:
    lines = [f"{sha256(triton / name)}  {name}\n" for name in python_files(triton)]
    return hashlib.sha256("".join(lines).encode()).hexdigest()


def installed_triton(given: Path | None = None) -> Path | None:
    """A site-packages that has the pinned Triton, unchanged: the one asked for, or one of the project's environments."""
    folders = (
        [given] if given else [path for name in ("test", "bare") for path in (ROOT / ".venv" / name).glob("lib/*/site-packages")]
    )
    for folder in folders:
        if (folder / "triton").is_dir() and digest_of(folder / "triton") == LOCK["triton"]["sha256_of_python_files"]:
            return folder
    return None


def fetch_triton(given: Path | None = None) -> Path:
    """A folder with Triton's Python files and its license."""
    lock = LOCK["triton"]
    if folder := installed_triton(given):
        return folder
    unpacked = DOWNLOADS / f"triton-{lock['version']}"
    if not (unpacked / "triton").is_dir():
        wheel = download(lock["archive"], *pip("--only-binary", ":all:", *lock["wheel_for"], f"triton=={lock['version']}"))
        with zipfile.ZipFile(wheel) as files:
            files.extractall(unpacked, [name for name in files.namelist() if name.endswith((".py", "/LICENSE"))])
    if digest_of(unpacked / "triton") != lock["sha256_of_python_files"]:
        raise BuildError(
            f"Triton: {unpacked} holds other files than runtime/lock.toml names. Delete it and its wheel, and try again."
        )
    return unpacked


# Laying out


def lay_out(folder: Path, site_packages: Path) -> None:
    """The Python that the page imports, as one folder on its path: Triton, the stand-ins, the session, the labs' checker."""
    shutil.rmtree(folder, ignore_errors=True)
    for name in python_files(site_packages / "triton"):
        copy(site_packages / "triton" / name, folder / "triton" / name)
    for path in (HERE / "standins").rglob("*.py"):
        copy(path, folder / path.relative_to(HERE / "standins"))
    for pattern in PROJECT_FILES:
        for path in ROOT.glob(pattern):
            if path.name not in sources.NOT_IN_THE_PAGE:
                copy(path, folder / path.relative_to(ROOT))
    for name in EMPTY:
        (folder / name).write_text("", encoding="utf-8")


def copy(path: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(path, target)


def modules(folder: Path) -> None:
    """What the page's own half brings: the worker as it is, and the editor in one file."""
    if (HERE / "worker.mjs").exists():
        copy(HERE / "worker.mjs", folder / "worker.mjs")
    if (HERE / "editor.mjs").exists():
        install_node_packages()
        esbuild = str(HERE / "node_modules" / ".bin" / "esbuild")
        options = ["--bundle", "--minify", "--format=esm", "--legal-comments=none", f"--outfile={folder / 'editor.js'}"]
        run(esbuild, str(HERE / "editor.mjs"), *options, "--log-level=warning", why="The editor could not be bundled")


def install_node_packages() -> None:
    kept = HERE / "node_modules" / ".package-lock.json"
    if not kept.exists() or kept.stat().st_mtime < (HERE / "package-lock.json").stat().st_mtime:
        run("npm", "ci", "--silent", "--prefix", str(HERE), why="The editor's packages could not be fetched")
        kept.touch()


# Licenses


def license_texts(site_packages: Path, numpy: Path, editor: bool) -> list[tuple[str, str, str]]:
    """Name and version, license, and text of all that is served and not ours."""
    python = "its text and its history are at https://docs.python.org/3/license.html"
    mpl = "the text is at https://www.mozilla.org/MPL/2.0/ and the sources at https://github.com/pyodide/pyodide"
    found = [
        (f"Pyodide {LOCK['pyodide']['version']}", "MPL-2.0", f"Served as published, unchanged; {mpl}."),
        ("Python 3.14 and its standard library, within Pyodide", "PSF-2.0", f"Served as Pyodide built it; {python}."),
    ]
    with zipfile.ZipFile(numpy) as wheel:
        names = [name for name in wheel.namelist() if re.search(r"\.dist-info/.*LICENSE", name)]
        text = "\n\n".join(wheel.read(name).decode("utf-8", "replace") for name in sorted(names))
    found.append((f"NumPy {LOCK['numpy']['version']}", "BSD-3-Clause, and 0BSD, MIT, Zlib and CC0-1.0 in parts", text))
    (text_of_triton,) = [path.read_text(encoding="utf-8") for path in site_packages.glob("triton-*.dist-info/**/LICENSE")][:1]
    found.append((f"Triton {LOCK['triton']['version']}", "MIT", text_of_triton))
    for package in sorted((HERE / "node_modules").glob("**/package.json")) if editor else []:
        described = json.loads(package.read_text(encoding="utf-8"))
        parts = package.relative_to(HERE / "node_modules").parts
        if "esbuild" not in package.as_posix() and len(parts) <= 3 and described.get("version"):
            texts = [path.read_text(encoding="utf-8") for path in sorted(package.parent.glob("LICENSE*"))]
            found.append((f"{described['name']} {described['version']}", described.get("license", ""), "\n".join(texts)))
    return found


def write_licenses(folder: Path, site_packages: Path) -> None:
    texts = license_texts(site_packages, folder / LOCK["numpy"]["file"], (folder / "editor.js").exists())
    parts = [
        f"<h2>{html.escape(name)}</h2>\n<p>{html.escape(terms)}</p>\n<pre>{html.escape(text)}</pre>"
        for name, terms, text in texts
    ]
    head = '<!doctype html>\n<html lang="en">\n<meta charset="utf-8">\n<title>Licenses of what runs in the page</title>\n'
    style = (
        "<style>body{max-width:52rem;margin:2rem auto;padding:0 1rem;font-family:sans-serif}pre{white-space:pre-wrap}</style>\n"
    )
    intro = (
        "<h1>Licenses of what runs in the page</h1>\n<p>All else in this folder is this site's own, under the MIT license.</p>\n"
    )
    (folder / "licenses.html").write_text(head + style + intro + "\n".join(parts) + "\n</html>\n", encoding="utf-8")


# All of it


def inputs() -> str:
    """A digest of all that the result is made from, as far as it lies in the checkout."""
    files = [HERE / "lock.toml", HERE / "build.py", HERE / "package-lock.json", HERE / "pack.py", *HERE.glob("*.mjs")]
    files += [*(HERE / "standins").rglob("*.py"), *(path for pattern in PROJECT_FILES for path in ROOT.glob(pattern))]
    lines = [
        f"{sha256(path)}  {path.relative_to(ROOT)}\n"
        for path in sorted(set(files))
        if path.exists() and path.name != "measure.py"
    ]
    return hashlib.sha256("".join(lines).encode()).hexdigest()


def built() -> Path | None:
    """The folder that was built from today's files, whole."""
    for manifest in sorted(BUILT.glob("*/manifest.json")):
        told = json.loads(manifest.read_text(encoding="utf-8"))
        if told["inputs"] == inputs() and all((manifest.parent / name).is_file() for name in told["files"]):
            return manifest.parent
    return None


def pack(folder: Path) -> None:
    """Make what is served small. All of it has been checked before."""
    thin(folder / LOCK["numpy"]["file"])
    for name in PACKED:
        path = folder / name
        if path.exists():
            (folder / f"{name}.gzip").write_bytes(gzip.compress(path.read_bytes(), 9, mtime=0))
            path.unlink()


def thin(wheel: Path) -> None:
    """Write NumPy's wheel anew with what an import may ask for."""
    with zipfile.ZipFile(wheel) as files:
        kept = [(entry, files.read(entry)) for entry in files.infolist() if not NOT_OF_NUMPY.search(entry.filename)]
    with zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as files:
        for entry, content in kept:
            files.writestr(entry, content, zipfile.ZIP_DEFLATED, 9)


def manifest_of(folder: Path) -> dict[str, Any]:
    files = {path.name: {"bytes": path.stat().st_size, "sha256": sha256(path)} for path in sorted(folder.iterdir())}
    return {"files": files, "total": sum(file["bytes"] for file in files.values()), "inputs": inputs()}


def build(triton: Path | None = None) -> Path:
    if folder := built():
        return folder
    served = WORK / "served"
    shutil.rmtree(served, ignore_errors=True)
    served.mkdir(parents=True)
    fetch_pyodide(served)
    fetch_numpy(served)
    site_packages = fetch_triton(triton)
    lay_out(WORK / "python", site_packages)
    command = ("node", str(HERE / "bundle.mjs"), str(served), str(WORK / "python"), str(served / "bundle.zip"))
    run(*command, why="The Python files could not be put together")
    modules(served)
    write_licenses(served, site_packages)
    pack(served)
    manifest = manifest_of(served)
    names = hashlib.sha256("".join(f"{file['sha256']} {name}\n" for name, file in manifest["files"].items()).encode()).hexdigest()
    (served / "manifest.json").write_text(json.dumps(manifest, indent=1) + "\n", encoding="utf-8")
    shutil.rmtree(BUILT, ignore_errors=True)
    BUILT.mkdir(parents=True)
    os.rename(served, BUILT / names[:16])
    return BUILT / names[:16]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--triton", type=Path, metavar="FOLDER", help="a site-packages with the Triton of lock.toml")
    try:
        folder = build(parser.parse_args().triton)
    except BuildError as error:
        print(error, file=sys.stderr)
        return 1
    told = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    if (ROOT / "docs" / "data").is_dir():
        run_here.write(ROOT / "docs")  # a site that is being served offers it from now on
    print(f"{folder.relative_to(ROOT)}: {len(told['files'])} files, {told['total'] / 1e6:.1f} MB")
    return 0


if __name__ == "__main__":
    sys.exit(main())
