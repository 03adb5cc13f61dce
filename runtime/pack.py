"""Put the page's Python into one archive, compiled. bundle.mjs runs this in the Python that will run the archive.

Of Triton go in the modules that importing the session imports, without docstrings. The interpreter reads the text of a kernel,
so the text of those that Triton and the labs bring goes in, too, and nothing else of their files.
"""

import ast
import importlib
import os
import py_compile
import sys
import zipfile

READ = {"jit", "triton.jit", "constexpr_function"}  # decorators that ask for the text of their function
ALSO_READ = {"get_int_dtype"}  # made a constexpr function in another file than its own
UNCHECKED = py_compile.PycInvalidationMode.UNCHECKED_HASH


def wanted(root: str) -> list[str]:
    """Triton's modules that are imported by now, and every other one that was laid out."""
    loaded = (getattr(module, "__file__", None) or "" for module in list(sys.modules.values()))
    found = {file for file in loaded if file.startswith(f"{root}/triton/")}
    for folder, _, files in os.walk(root):
        if not f"{folder}/".startswith(f"{root}/triton/"):
            found |= {f"{folder}/{file}" for file in files if file.endswith(".py")}
    return sorted(found)


def without_docstrings(text: str) -> str:
    """The text with each docstring's lines empty, but for the first, so that all others keep their numbers."""
    lines = text.splitlines(keepends=True)
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and ast.get_docstring(node, False) is not None:
            first, last = node.body[0].lineno, node.body[0].end_lineno or 0
            if first > getattr(node, "lineno", 0):
                lines[first - 1] = " " * node.body[0].col_offset + '""\n'
                lines[first:last] = ["\n"] * (last - first)
    return "".join(lines)


def kernels_of(text: str) -> str:
    """The functions whose text is read, at their lines; all other lines are empty."""
    lines, kept = text.splitlines(), set[int]()
    for node in ast.parse(text).body:
        if isinstance(node, ast.FunctionDef):
            decorators = {ast.unparse(getattr(each, "func", each)) for each in node.decorator_list}
            if decorators & READ or node.name in ALSO_READ:
                first = min([node.lineno, *(each.lineno for each in node.decorator_list)])
                kept.update(range(first, (node.end_lineno or 0) + 1))
    return "\n".join(line if number in kept else "" for number, line in enumerate(lines, start=1)) + "\n" if kept else ""


def compiled(text: str, name: str) -> bytes:
    with open("/source.py", "w", encoding="utf-8") as source:
        source.write(text)
    py_compile.compile("/source.py", "/compiled.pyc", name, doraise=True, invalidation_mode=UNCHECKED)
    with open("/compiled.pyc", "rb") as made:
        return made.read()


def pack(root: str, bundle: str) -> None:
    from runtime import session

    for name in session.ALSO:
        importlib.import_module(name)
    with zipfile.ZipFile(bundle, "w") as archive:

        def add(name: str, content: str | bytes) -> None:
            told = zipfile.ZipInfo(name, (2020, 1, 1, 0, 0, 0))  # the same bytes on every day
            told.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(told, content, compresslevel=9)

        for file in wanted(root):
            name = file.removeprefix(f"{root}/")
            with open(file, encoding="utf-8") as source:
                text = source.read()
            text = without_docstrings(text)
            if kernels := kernels_of(text):
                folder, _, last = name.rpartition("/")
                add(name, kernels)
                add(f"{folder}/__pycache__/{last.removesuffix('.py')}.{sys.implementation.cache_tag}.pyc", compiled(text, file))
            else:
                add(f"{name}c", compiled(text, file))
