"""Do the installed torch, Triton and NumPy fit one another? Run it with the Python that you mean to use: python check_install.py

It says what is installed and what does not fit, with the command that mends it, and ends with status 1 then.
The standard library alone; nothing is imported, so it also works where an import fails.
"""

import platform
import re
import sys
from importlib import metadata

# Which Triton each torch was made for.
PAIRS = {"2.11": "3.6", "2.13": "3.7", "2.14": "3.8", "2.15": "3.9"}
INSTALL = "pip install torch==2.13.0 triton==3.7.1 numpy==2.4.6"


def installed(package: str) -> str:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return ""


def numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", version.partition("+")[0])[:2])


def short(version: str) -> str:
    return ".".join(map(str, numbers(version)))


def faults(torch: str, triton: str, numpy: str) -> list[str]:
    """What does not fit, each with what to do."""
    lacking = [name for name, version in {"torch": torch, "triton": triton, "numpy": numpy}.items() if not version]
    if lacking:
        return [f"{', '.join(lacking)} not installed: {INSTALL}"]
    found = []
    if numbers(triton) < (3, 6):
        found.append(f"this site's programs need Triton 3.6 or newer: {INSTALL}")
    elif short(torch) in PAIRS and PAIRS[short(torch)] != short(triton):
        found.append(f"torch {short(torch)} was made for Triton {PAIRS[short(torch)]}, not {short(triton)}: {INSTALL}")
    elif short(torch) not in PAIRS and short(triton) in PAIRS.values():
        torches = [known for known, its in PAIRS.items() if its == short(triton)]
        found.append(f"Triton {short(triton)} belongs to torch {torches[0]}, not {short(torch)}: {INSTALL}")
    if numbers(triton) == (3, 6) and numbers(numpy) >= (2, 4):
        found.append('the interpreter of Triton 3.6 needs an older NumPy: pip install "numpy<2.4"')
    return found


def shared_folder(library: str, other: str) -> list[str]:
    """Two projects have the import name `kernels`, and in one environment they write over one another's files."""
    if not (library and other):
        return []
    again = "pip uninstall blockwise-kernels kernels, then install each again in an environment of its own"
    return [f"blockwise-kernels {library} and kernels {other}, another project, share the folder kernels: {again}"]


def main() -> int:
    versions = [installed(package) for package in ("torch", "triton", "numpy")]
    shown = [f"{name} {version or '-'}" for name, version in zip(("torch", "triton", "numpy"), versions, strict=True)]
    print(f"Python {platform.python_version()}, {', '.join(shown)}, {platform.system()}")
    if platform.system() != "Linux":
        print("Triton has no wheels for this system: use Linux, WSL 2 or a cloud notebook.")
        return 1
    wrong = faults(*versions) + shared_folder(installed("blockwise-kernels"), installed("kernels"))
    print("\n".join(f"does not fit: {line}" for line in wrong) or "They fit.")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
