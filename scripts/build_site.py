"""Build the site into site/: prepare its generated files, then run MkDocs (or Zensical) strictly.

python scripts/build_site.py [--engine mkdocs|zensical]

MkDocs runs in this process, because to load it with its plugins takes as long as a third of the preparing, which other
processes do meanwhile.
"""

import argparse
import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))
from scripts import prepare


def load_mkdocs() -> None:
    from mkdocs.config import load_config

    config = load_config("mkdocs.yml")
    shutil.rmtree(config.site_dir, ignore_errors=True)  # MkDocs would do it when the other processes are done


def build_with_mkdocs() -> int:
    status = prepare.main(load_mkdocs)
    if not status:
        from mkdocs.__main__ import cli

        cli(["build", "--strict"])  # leaves by itself, with a status
    return status


def build_with_zensical() -> int:
    shutil.rmtree(ROOT / ".cache", ignore_errors=True)  # Zensical would serve a stale page from it
    return prepare.main() or subprocess.run([sys.executable, "-m", "zensical", "build", "--strict"]).returncode


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--engine", choices=["mkdocs", "zensical"], default="mkdocs")
    engine = parser.parse_args().engine
    os.chdir(ROOT)
    os.environ["NO_MKDOCS_2_WARNING"] = "1"
    return build_with_mkdocs() if engine == "mkdocs" else build_with_zensical()


if __name__ == "__main__":
    sys.exit(main())
