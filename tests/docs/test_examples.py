"""The examples of the API reference: every public name has one, which runs when it is pasted, and prints what it says."""

import ast
import doctest
import re
from pathlib import Path
from typing import NamedTuple

import pytest
import torch
from pytest_examples import CodeExample, find_examples

import kernels
import kernels.functional
import kernels.integrations
import kernels.nn
from tests.docs.page_runner import run_block
from tests.docs.pages import ROOT
from tests.language import put_language_back

ENTRY = re.compile(r"^::: ([\w.]+)$", re.MULTILINE)
MOST_LINES = 8


class Documented(NamedTuple):
    """A function or class of the reference, and where its docstring lies."""

    path: Path
    name: str
    first: int
    last: int


def documented(address: str) -> Documented:
    module, _, name = address.rpartition(".")
    path = (ROOT / module.replace(".", "/")).with_suffix(".py")
    body = ast.parse(path.read_text(encoding="utf-8")).body
    (node,) = (each for each in body if isinstance(each, ast.FunctionDef | ast.ClassDef) and each.name == name)
    return Documented(path, name, node.body[0].lineno, node.body[0].end_lineno or 0)


def entries() -> list[str]:
    """What the reference lists. A reference in plain PyTorch is an example already, of what its function means."""
    page = (ROOT / "docs" / "reference" / "kernels.md").read_text(encoding="utf-8")
    return [address for address in ENTRY.findall(page) if not address.endswith("_reference")]


def example_of(address: str) -> list[CodeExample]:
    place = documented(address)
    return [each for each in find_examples(place.path) if place.first <= each.start_line <= place.last]


def test_the_reference_lists_every_public_name():
    public = [*kernels.__all__, *kernels.nn.__all__, *kernels.integrations.__all__]
    assert sorted({*public} - {address.rpartition(".")[2] for address in entries()}) == []


@pytest.mark.parametrize("address", entries())
def test_every_entry_has_an_example_that_runs(address, eval_example):
    (example,) = example_of(address) or [pytest.fail(f"{address} has no example")]
    code = [line for line in example.source.splitlines() if line.strip() and not line.lstrip().startswith("#")]
    assert 3 <= len(code) <= MOST_LINES and "#>" in example.source
    put_language_back()  # other tests of this process run kernels, too
    try:
        assert not (problem := run_block(example, eval_example, {})), problem
    finally:
        put_language_back()


@pytest.mark.parametrize("name", sorted(kernels.functional.DECLARATIONS))
def test_the_example_of_a_form_prints_what_it_says(name):
    names = {"torch": torch, "kernels": kernels}
    examples = doctest.DocTestFinder().find(getattr(kernels.functional, name), name, globs=names)
    assert any(test.examples for test in examples)
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE)
    assert not any(runner.run(test).failed for test in examples)
