"""Make one of the project's environments: .venv/<name> with the pins of pins/<name>.txt.

    python scripts/install.py site|test|bare

For `test` it also sees to a Chromium and a Firefox for the browser tests, and to a C++ compiler for those that run CUDA C++ on
the CPU. On Debian and its kin it installs what the system lacks (the venv module, these three) with apt-get, as root or through
sudo; anywhere else it says what to install.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BROWSERS = ("chromium-headless-shell", "chromium", "chromium-browser")


def run(*command: str) -> None:
    print("+", *command, flush=True)
    subprocess.run(command, check=True, cwd=ROOT)


def system_package(package: str, purpose: str) -> None:
    """Install a Debian package, or leave with a sentence that says what is missing."""
    sudo = [] if os.geteuid() == 0 else ["sudo", "-n"]
    if not shutil.which("apt-get") or (sudo and not shutil.which("sudo")):
        sys.exit(f"{purpose} is missing: install the package {package} of your system, then run make again")
    try:
        run(*sudo, "apt-get", "update", "-qq")
        run(*sudo, "env", "DEBIAN_FRONTEND=noninteractive", "apt-get", "install", "-y", "-qq", "--no-install-recommends", package)
    except subprocess.CalledProcessError:
        sys.exit(f"{purpose} is missing and could not be installed: run `sudo apt-get install {package}`, then make again")


def make_environment(name: str) -> None:
    if sys.version_info < (3, 11):  # noqa: UP036, this file runs before the environment is checked
        sys.exit(f"Python 3.11 or newer is needed, this is {sys.version.split()[0]}: run make PYTHON=python3.11, for example")
    try:
        import ensurepip  # noqa: F401
    except ImportError:
        system_package(f"python{sys.version_info.major}.{sys.version_info.minor}-venv", "Python's venv module")
    folder = ROOT / ".venv" / name
    if folder.exists():
        shutil.rmtree(folder)
    run(sys.executable, "-m", "venv", str(folder))
    run(
        str(folder / "bin" / "python"), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "-r", f"pins/{name}.txt"
    )


def main() -> None:
    (name,) = sys.argv[1:]
    make_environment(name)
    if name == "test" and not (os.environ.get("CHROMIUM") or any(shutil.which(browser) for browser in BROWSERS)):
        system_package("chromium", "Chromium, for the browser tests,")
    if name == "test" and not (os.environ.get("FIREFOX") or any(shutil.which(browser) for browser in ("firefox-esr", "firefox"))):
        system_package("firefox-esr", "Firefox, for a browser test,")
    if name == "test" and not any(shutil.which(compiler) for compiler in ("g++", "c++", "clang++")):
        system_package("g++", "A C++ compiler, for the tests that run CUDA C++ on the CPU,")


if __name__ == "__main__":
    main()
