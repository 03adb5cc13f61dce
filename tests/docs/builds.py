"""Build the site for tests into build/, each way once in a test run."""

import json
import os
import resource
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

from tests import turns
from tests.docs.pages import ROOT, once, prepare

BUILD = ROOT / "build"
SITE_URL = "https://example.org/blockwise/"  # in a folder, as GitHub Pages serves a project
REPOSITORY = "https://github.com/example-owner/example-repository"
UNSET = '  repository: ""\n'
SOURCES = ("docs", "kernels", "snippets", "scripts", "main.py", "mkdocs.yml", "README.md", "CHANGELOG.md")
# The site under Zensical, and with a repository, take as long to build as all that is asked of them. They are built when what
# decides how a page is made has changed lately, and else by turns.
HOW = turns.files("mkdocs.yml", "main.py", "pins/*.txt", "docs/overrides/**/*.*")
ENGINES = ["site", "zensical_site"] if turns.due("zensical", 4, *HOW) else ["site"]
WITH_REPOSITORY = turns.due("repository", 4, *HOW)


# Work of the kind that a build is made of, and that is always the same: three thousand functions, colored.
YARDSTICK = """
from pygments import highlight, lexers, formatters
text = 'def add(x, y=1, *, name="a"):\\n    return x[0] + y * 2.5  # a sum\\n' * 3000
highlight(text, lexers.PythonLexer(), formatters.HtmlFormatter())
"""


class Build(NamedTuple):
    site: Path
    cost: float  # in yardsticks: a second of the same machine may do half of what it did yesterday
    output: str


def run(command: list[str], folder: Path) -> tuple[subprocess.CompletedProcess[str], float]:
    """Run a command, and say how much processor time it took: the wall clock counts whatever else runs on the machine."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    environment = os.environ | {"NO_MKDOCS_2_WARNING": "1", "NO_COLOR": "1", "SITE_URL": SITE_URL}
    done = subprocess.run(command, cwd=folder, env=environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return done, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def measured(command: list[str], folder: Path) -> tuple[subprocess.CompletedProcess[str], float]:
    """Run a build, and say how many times the yardstick's processor time it took, which is taken before and after it."""
    yardstick = [sys.executable, "-c", YARDSTICK]
    before, (done, seconds), after = run(yardstick, folder), run(command, folder), run(yardstick, folder)
    for taken, _ in (before, after):
        taken.check_returncode()
    return done, seconds / ((before[1] + after[1]) / 2)


def copy_sources(folder: Path) -> None:
    """A checkout's sources, for builds that change a setting or write where they like."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for name in SOURCES:
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
        elif source.exists():
            shutil.copy2(source, folder / name)


def build(name: str, command: list[str], folder: Path, site: Path) -> Build:
    """Build once in a test run, and remember how it went for the workers that ask later."""
    report = BUILD / f"{name}.json"

    def make() -> None:
        done, cost = measured([sys.executable, "-m", *command], folder)
        report.write_text(json.dumps({"status": done.returncode, "cost": cost, "output": done.stdout}), encoding="utf-8")

    once(name, make)
    made = json.loads(report.read_text(encoding="utf-8"))
    assert made["status"] == 0, f"{' '.join(command)} failed:\n{made['output']}"
    return Build(site, made["cost"], made["output"])


def mkdocs_site() -> Build:
    prepare()
    site = BUILD / "test-site"
    return build("mkdocs", ["mkdocs", "build", "--strict", "--clean", "--site-dir", str(site)], ROOT, site)


def site_with_repository() -> Build:
    prepare()
    folder = BUILD / "with-repository"

    def make() -> None:
        copy_sources(folder)
        config = folder / "mkdocs.yml"
        text = config.read_text(encoding="utf-8")
        assert text.count(UNSET) == 1, f"mkdocs.yml must hold {UNSET!r} once, under extra"
        config.write_text(text.replace(UNSET, f'  repository: "{REPOSITORY}"\n'), encoding="utf-8")

    once("with-repository-sources", make)
    return build("with-repository", ["mkdocs", "build", "--strict"], folder, folder / "site")


def zensical_site() -> Build:
    """A fresh copy, so that no `.cache` of an earlier build serves a stale page."""
    prepare()
    folder = BUILD / "zensical"
    once("zensical-sources", lambda: copy_sources(folder))
    return build("zensical", ["zensical", "build", "--strict"], folder, folder / "site")
