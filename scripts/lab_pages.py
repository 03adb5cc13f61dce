"""What readers get of a lab: notebooks and a page, made from its source and from the record of its run.

    python scripts/lab_pages.py      write the learners' notebooks, docs/labs/<name>.ipynb

The learner's notebook has no outputs and is committed, because cloud notebooks open it where it lies in the repository. The
same with the address of the site that is built, the solved one and the page, a notebook in Markdown, are written by
scripts/prepare.py, with the outputs of the GPU that mkdocs.yml names, or of the CPU where there is no such record. The standard
library alone.
"""

import html
import json
import os
import re
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from scripts.pages import dist
from scripts.provenance import records
from scripts.provenance.labs import INSTALL, SOURCES, Cell, cells_of, is_of_these_cells, names, version

SETTINGS = records.ROOT / "mkdocs.yml"
LINK = re.compile(r"\]\((?P<path>[\w./-]+)\.md(?P<anchor>#[\w-]+)?\)")
FETCHED = """import importlib.util, os, subprocess, sys, tempfile

# Where the library of this project is not installed, as on a cloud notebook, it is fetched into a folder of its own.
found = importlib.util.find_spec("kernels")
if not (found and found.origin and os.path.isdir(os.path.join(os.path.dirname(found.origin), "labs"))):
    folder = tempfile.mkdtemp()
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", folder]
    library = [
{library}
    ]
    subprocess.run([*pip, *library], check=True)
    sys.path.insert(0, folder)

"""
SOLVE = '<div class="bw-solve"></div>'  # where docs/assets/run.js puts its button, if the site has the runtime
KERNEL = {"display_name": "Python 3", "language": "python", "name": "python3"}
FRONT_MATTER = """---
jupyter:
  kernelspec:
    display_name: Python 3
    language: python
    name: python3
---
"""


def setting(pattern: str) -> str:
    match = re.search(pattern, SETTINGS.read_text(encoding="utf-8"), re.MULTILINE)
    if not match:
        raise records.RecordError(f"mkdocs.yml: nothing matches {pattern}")
    return match[1]


def repository() -> str:
    """The address of the project's repository, empty while there is none."""
    return setting(r'^  repository: "(.*)"$')


def default_url() -> str:
    """The address of the site that mkdocs.yml gives where the environment gives none."""
    return setting(r'^site_url: .*"(\S+/)"')


def site_url() -> str:
    """The address of the site that is being built."""
    given = os.environ.get("SITE_URL")
    return f"{given.rstrip('/')}/" if given else default_url()


def wheels(site: str) -> list[str]:
    return [f"{site}dist/{dist.wheel_name(part=part)}" for part in (dist.LIBRARY, dist.TOOLS)]


def with_links(text: str, base: str) -> str:
    """Links between sources, which lie in docs/labs, as links between pages; `base` is the way from the reader to the site."""

    def linked(match: re.Match) -> str:
        path = match["path"]
        address = path.removeprefix("../") if path.startswith("../") else f"labs/{path}"
        return f"]({base}{address}/{match['anchor'] or ''})"

    return LINK.sub(linked, text)


def with_install(text: str, library: list[str]) -> str:
    """A setup cell that sees to it that the library can be imported; `library` is what pip is given."""
    lines = "\n".join(f'        "{address}",' for address in library)
    return text.replace(INSTALL, FETCHED.replace("{library}", lines))


def record_of(name: str) -> dict[str, Any] | None:
    """The record of the machine whose numbers the pages show, else the CPU's; nothing before the first bake."""
    for machine in (setting(r"^  primary: (\S+)$"), "cpu"):
        path = records.record_path(machine, "lab", name)
        if path.exists():
            record = records.read(path)
            if not is_of_these_cells(record):
                raise records.RecordError(
                    f"{path}: has other cells than the lab; renew it with scripts/bake.py --only labs/{name}"
                )
            return record
    return None


def outputs_of(record: dict[str, Any] | None) -> list[str]:
    return ["\n".join(cell["output"]) for cell in record["cells"]] if record else []


def notebook(name: str, cells: list[Cell], site: str, library: list[str], outputs: list[str] | None = None) -> dict[str, Any]:
    """Cells as a notebook of format 4.5, its code cells with these outputs, for readers of the site at this address."""
    made: list[dict[str, Any]] = []
    waiting = iter(outputs or [])
    for number, cell in enumerate(cells):
        tags = {"tags": [cell.tag]} if cell.tag else {}
        text = with_links(cell.text, site) if cell.markdown else with_install(cell.text, library)
        entry = {"cell_type": "markdown" if cell.markdown else "code", "id": f"{name}-{number}", "metadata": tags}
        made.append(entry | {"source": text.splitlines(keepends=True)})
        if not cell.markdown:
            lines = next(waiting, "").splitlines()
            output = {"output_type": "stream", "name": "stdout", "text": [f"{line}\n" for line in lines]}
            made[-1] |= {"execution_count": None, "outputs": [output] if lines else []}
    about = {"kernelspec": KERNEL, "language_info": {"name": "python"}}
    return {"cells": made, "metadata": about, "nbformat": 4, "nbformat_minor": 5}


def files(name: str) -> str:
    links = {f"{name}-unsolved.ipynb": "this lab as a notebook", f"{name}-solved.ipynb": "solved", f"{name}.py": "its source"}
    return f'{SOLVE}\n\n<p class="files">Download: {" · ".join(link(*each) for each in links.items())}</p>'


def link(file: str, words: str) -> str:
    return f'<a href="../{file}" download>{words}</a>'


def page(name: str) -> str:
    """The lab as a page: a notebook in Markdown, as Jupytext reads it, and a page for readers without Jupytext as well."""
    record = record_of(name)
    outputs, printed, where = iter(outputs_of(record)), "", place(record)
    parts = []
    for cell in version(cells_of(name), False):
        if cell.markdown:
            text = with_solved_output(cell.text, printed, where) if cell.tag == "solution" else cell.text
            parts.append(region(with_links(text, "../../")))
            continue
        parts.append(f"```python\n{with_install(cell.text, wheels(site_url()))}\n```")
        printed = next(outputs, "")
        if printed and cell.tag not in ("exercise", "check"):
            parts.append(region(f"It prints, on {where}:\n\n{output(printed)}"))
    first, *rest = parts
    last = [region(checked(record))] if record else []
    return "\n\n".join([FRONT_MATTER + first, region(files(name)), *rest, *last]) + "\n"


def place(record: dict[str, Any] | None) -> str:
    gpu = record and record["environment"]["gpu"]
    return f"an {gpu}" if gpu else "a CPU, under the interpreter"


def with_solved_output(text: str, printed: str, where: str) -> str:
    """A folded solution, with what the check then says."""
    said = f"The check then says, on {where}:\n\n{output(printed)}\n\n</details>"
    return text.removesuffix("</details>") + said if printed else text


def output(text: str) -> str:
    """What a cell printed, as other pages show it; an empty line would end it."""
    lines = "\n".join(html.escape(line) or "&nbsp;" for line in text.splitlines())
    return f'<div class="language-text highlight no-copy"><pre><code>{lines}</code></pre></div>'


def region(text: str) -> str:
    return f"<!-- #region -->\n{text}\n<!-- #endregion -->"


def checked(record: dict[str, Any]) -> str:
    made = record["environment"]
    versions = f"Triton {made['triton']}, torch {made['torch']} and Python {made['python']}"
    return f'<p class="checked">Solved, this lab ran on {place(record)}, with {versions} ({made["measured_at"][:10]}).</p>'


def learners(name: str) -> str:
    """The learner's notebook as its file in the repository holds it."""
    site = default_url()
    source = f"git+{repository()}"
    library = [source, f"{source}#subdirectory={dist.TOOLS}"] if repository() else wheels(site)
    return as_json(notebook(name, version(cells_of(name), False), site, library))


def published(name: str, is_solved: bool) -> str:
    """A notebook as the site has it, from which the library comes, too."""
    outputs = outputs_of(record_of(name)) if is_solved else None
    return as_json(notebook(name, version(cells_of(name), is_solved), site_url(), wheels(site_url()), outputs))


def in_page(name: str) -> str:
    """The code cells as they are run in the page, where the library is at hand; docs/assets/run/lab.js reads them."""
    cells = [cell for cell in version(cells_of(name), False) if not cell.markdown]
    return as_json({"cells": [{"tag": cell.tag, "text": cell.text.replace(INSTALL, "")} for cell in cells]})


def as_json(book: dict[str, Any]) -> str:
    return json.dumps(book, indent=1, ensure_ascii=False) + "\n"


def write() -> None:
    """Write every lab's page and the notebooks that it offers."""
    for name in names():
        records.write_text(SOURCES / f"{name}-unsolved.ipynb", published(name, False))
        records.write_text(SOURCES / f"{name}-solved.ipynb", published(name, True))
        records.write_text(SOURCES / f"{name}.md", page(name))
        records.write_text(SOURCES.parent / "data" / "labs" / f"{name}.json", in_page(name))


def main() -> int:
    for name in names():
        records.write_text(SOURCES / f"{name}.ipynb", learners(name))
    return 0


if __name__ == "__main__":
    sys.exit(main())
