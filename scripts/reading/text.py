"""A kernel's lens as one text, for people and for the page's element alike, and read back. The standard library alone."""

import json
from typing import Any

Made = dict[str, Any]
HEAD = """{name}: what the compiler made of it.
Before each line stands the number of the line of the source that it comes from, or 0.
"=40 12" stands for 12 lines of the same text of launch 0, from its line 40 on, counted from 0.
"""


def written(name: str, made: Made) -> str:
    """All that was made of a kernel."""
    parts = [HEAD.format(name=name)]
    number = 1
    for part in made["listing"]:
        lines = [f"{number + at} {line}" for at, line in enumerate(part["lines"])]
        number += len(lines)
        parts.append("\n".join([f"== source {part['name']} {part['file']}", *lines, ""]))
    for number, launch in enumerate(made["launches"]):
        told = {key: value for key, value in launch.items() if key not in ("stages", "passes")}
        parts.append(f"== launch {number} {json.dumps(told, separators=(',', ':'))}\n")
        for stage, lines in launch.get("stages", {}).items():
            parts.append("\n".join([f"== {stage} {number}", *lines, ""]))
        if passes := launch.get("passes"):
            parts.append(f"== passes {number} {passes['count']}\n")
            for change in passes["changed"]:
                parts.append("\n".join([f"== pass {change['name']} {change['out']} {change['into']}", *change["lines"], ""]))
    return "\n".join(parts)


def read_back(text: str) -> Made:
    """What was made of a kernel, from its text."""
    made: Made = {"listing": [], "launches": []}
    for part in text.split("\n== ")[1:]:
        head, _, rest = part.partition("\n")
        kind, *words = head.split(" ")
        lines = rest.rstrip("\n").split("\n") if rest.strip("\n") else []
        if kind == "source":
            made["listing"].append({"name": words[0], "file": words[1], "lines": [line.partition(" ")[2] for line in lines]})
        elif kind == "launch":
            made["launches"].append(json.loads(" ".join(words[1:])))
        elif kind == "passes":
            made["launches"][int(words[0])]["passes"] = {"count": int(words[1]), "changed": []}
        elif kind == "pass":
            change = {"name": words[0], "out": int(words[1]), "into": int(words[2]), "lines": lines}
            made["launches"][-1]["passes"]["changed"].append(change)
        else:
            made["launches"][int(words[0])].setdefault("stages", {})[kind] = lines
    return made


def lines_of(made: Made, stage: str, number: int = 0) -> list[str]:
    """A text of a launch, with what it shares with the first written out."""
    lines = made["launches"][number]["stages"][stage]
    first = made["launches"][0]["stages"].get(stage, [])
    found: list[str] = []
    for line in lines:
        if line.startswith("="):
            start, count = map(int, line[1:].split())
            found += first[start : start + count]
        else:
            found.append(line)
    return found
