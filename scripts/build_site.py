"""Build the site into site/: prepare its generated files, then run MkDocs (or Zensical) strictly.

python scripts/build_site.py [--engine mkdocs|zensical]
"""

import argparse
import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--engine", choices=["mkdocs", "zensical"], default="mkdocs")
    engine = parser.parse_args().engine
    shutil.rmtree(ROOT / ".cache", ignore_errors=True)  # Zensical would serve a stale page from it
    build = ["mkdocs", "build"] if engine == "mkdocs" else ["zensical", "build"]
    for command in ([sys.executable, "scripts/prepare.py"], [sys.executable, "-m", *build, "--strict"]):
        status = subprocess.run(command, cwd=ROOT, env=os.environ | {"NO_MKDOCS_2_WARNING": "1"}).returncode
        if status:
            return status
    return 0


if __name__ == "__main__":
    sys.exit(main())
