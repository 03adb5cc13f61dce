"""The programs under snippets/: their names, and what their headers ask for. The standard library alone."""

import re
from pathlib import Path

from scripts import ROOT

MARKER = re.compile(r"^\s*(?:#|//) --8<-- \[(start|end):[\w.-]+\]\s*$")


def snippet_names(root: Path = ROOT) -> list[str]:
    """Every program under snippets/, as `<chapter>/<name>`."""
    paths = sorted((root / "snippets").rglob("*.py"))
    return [path.relative_to(root / "snippets").with_suffix("").as_posix() for path in paths if path.name != "__init__.py"]


def needs_of(name: str, root: Path = ROOT) -> str:
    """What the program needs beyond a CPU, from its header: `cuda`, `sm_90`, or nothing."""
    return header(name, "needs", root)


def header(name: str, key: str, root: Path = ROOT) -> str:
    """The value of a header comment such as `# needs: cuda`, or nothing."""
    match = re.search(rf"^# {key}: (.+)$", snippet_path(name, root).read_text(encoding="utf-8"), re.MULTILINE)
    return match.group(1).strip() if match else ""


def snippet_path(name: str, root: Path = ROOT) -> Path:
    return root / "snippets" / f"{name}.py"
