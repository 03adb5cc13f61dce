"""Run a page: its Python blocks as it shows them, one after another in one namespace, with their printed lines checked."""

import ast
import inspect
from pathlib import Path
from typing import Any

import pytest
from pytest_examples import CodeExample, EvalExample, find_examples

from tests.docs.pages import ROOT, blocks_of, expanded, name_of, source_of
from tests.language import put_language_back


def run_page(path: Path, evaluate: EvalExample, scratch: Path, root: Path = ROOT) -> list[str]:
    """What went wrong on the page; nothing when every block runs and prints what it says."""
    page = name_of(path, root)
    blocks = blocks_of(page, path.read_text(encoding="utf-8"))
    copy = scratch / f"{path.stem.replace('-', '_')}.md"
    copy.write_text(expanded(path, root), encoding="utf-8")
    examples = list(find_examples(copy))
    if [example.source for example in examples] != [source_of(block, root) for block in blocks]:
        return [f"{page}: pytest-examples finds {len(examples)} Python blocks, or other text, where the page has {len(blocks)}"]
    names: dict[str, Any] = {}
    put_language_back()  # other tests of this process run kernels, too
    try:
        program = ""
        for block, example in zip(blocks, examples, strict=True):
            if page.startswith("docs/errors/") and block.program != program:
                put_language_back()  # an entry is a program for a Python of its own, as the page of all entries says
            program = block.program
            if not block.gpu and (problem := run_block(example, evaluate, names)):
                return [f"{block.where}: {problem}"]
    finally:
        put_language_back()
    return []


def run_block(example: CodeExample, evaluate: EvalExample, names: dict[str, Any]) -> str:
    """Run one block in the page's names. An exception that left a test would end the whole run on Python 3.11."""
    printed: set[int] = set()

    def note(file: Path, frame: inspect.FrameInfo, arguments) -> bool:
        own = file.samefile(frame.filename) if Path(frame.filename).exists() else False
        if own:
            printed.add(frame.lineno)
        return own

    evaluate.include_print = note
    try:
        names |= evaluate.run_print_check(example, module_globals=names, rewrite_assertions=False)
    except (Exception, SystemExit, pytest.fail.Exception) as error:
        return f"{type(error).__name__}: {error}"
    return silent_output(example.source, printed)


def silent_output(source: str, printed: set[int]) -> str:
    """A `#>` line under a statement that printed nothing: pytest-examples lets it pass."""
    statements = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.stmt)]
    lines = source.splitlines()
    for number, line in enumerate(lines, 1):
        if line.lstrip().startswith("#>"):
            above = max((node.end_lineno or 0 for node in statements if (node.end_lineno or 0) < number), default=0)
            spans = [(node.lineno, node.end_lineno or 0) for node in statements if node.end_lineno == above]
            if not any(start <= at <= end for start, end in spans for at in printed):
                return f"{line.strip()!r} stands under a statement that prints nothing"
    return ""
