"""Find every skip in the tests by reading them: the helpers of tests/needs.py are the only way to one."""

import ast
from collections.abc import Iterator
from pathlib import Path

from tests.docs.pages import name_of

HELPERS = "tests/needs.py"
SKIPS = {"skip", "skipif", "xfail", "importorskip", "skipTest", "skipUnless", "skipIf", "SkipTest", "expectedFailure"}
HARDWARE = ("needs: cuda", "needs: sm_90")
Place = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | None


def places(tree: ast.Module) -> Iterator[tuple[Place, ast.AST]]:
    """Every node with the outermost function or class that it stands in or decorates."""
    for statement in tree.body:
        place = statement if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) else None
        for node in ast.walk(statement):
            yield place, node


def skipping(node: ast.AST) -> str:
    """What skips here, if it is one of pytest's or unittest's own means."""
    if isinstance(node, ast.Attribute) and node.attr in SKIPS:
        owner = ast.unparse(node.value)
        if owner in ("pytest", "pytest.mark", "mark", "unittest", "unittest.case", "self"):
            return f"{owner}.{node.attr}"
    if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] in ("pytest", "unittest", "_pytest"):
        names = [alias.name for alias in node.names if alias.name in SKIPS | {"mark"}]
        return f"from {node.module} import {names[0]}" if names else ""
    if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]).startswith("collect_ignore"):
        return ast.unparse(node)
    return ""


def for_lack_of_torch(tree: ast.Module) -> list[ast.AST]:
    """What may be left out where torch is not installed; tests/conftest.py refuses that when CI is set."""
    conditions = [node for node in tree.body if isinstance(node, ast.If)]
    excused = [node for node in conditions if "find_spec('torch') is None" in ast.unparse(node.test)]
    return [node for condition in excused for node in ast.walk(condition)]


def helpers(root: Path) -> set[str]:
    tree = ast.parse((root / HELPERS).read_text(encoding="utf-8"))
    return {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}


def helper_problems(root: Path) -> list[str]:
    """The reasons that the helpers give begin with a piece of hardware."""
    tree = ast.parse((root / HELPERS).read_text(encoding="utf-8"))
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and skipping(node.func):
            reasons = [keyword.value for keyword in node.keywords if keyword.arg == "reason"] or node.args[:1]
            text = ast.unparse(reasons[0]).removeprefix("f").strip("'\"") if reasons else ""
            if not text.startswith((*HARDWARE, "needs: {what}")):
                found.append(f"{HELPERS}:{node.lineno}: the reason must begin with {' or '.join(HARDWARE)}: {text!r}")
    return found


def stray_skips(root: Path) -> list[str]:
    """Skips by any other means."""
    found = []
    for path in sorted((root / "tests").rglob("*.py")):
        if name_of(path, root) != HELPERS:
            tree = ast.parse(path.read_text(encoding="utf-8"))
            excused = for_lack_of_torch(tree)
            nodes = [node for node in ast.walk(tree) if node not in excused]
            found += [f"{name_of(path, root)}:{node.lineno}: {means}" for node in nodes if (means := skipping(node))]
    return found


def skips(root: Path) -> list[str]:
    """`file::test  reason` for each test that a helper may skip; `file` alone where it may skip the whole file."""
    known = helpers(root)
    found: dict[str, None] = {}
    for path in sorted((root / "tests").rglob("test_*.py")):
        for place, node in places(ast.parse(path.read_text(encoding="utf-8"))):
            called = ast.unparse(node.func).rpartition(".")[2] if isinstance(node, ast.Call) else ""
            if called in known:
                where = f"{name_of(path, root)}::{place.name}" if place else name_of(path, root)
                found[f"{where}  needs: {literal(node) or 'cuda'}"] = None
    return list(found)


def literal(call: ast.Call) -> str:
    """The hardware that a call of `needs` names."""
    first = call.args[0] if call.args else None
    return first.value if isinstance(first, ast.Constant) and isinstance(first.value, str) else ""


def problems(root: Path) -> list[str]:
    """How tests/skips.txt differs from what the tests say."""
    lines = (root / "tests" / "skips.txt").read_text(encoding="utf-8").splitlines()
    listed = {" ".join(line.split()) for line in lines if line.strip() and not line.startswith("#")}
    actual = {" ".join(line.split()) for line in skips(root)}
    wrong = [f"{line}: the reason is not one of {HARDWARE}" for line in sorted(actual | listed) if not line.endswith(HARDWARE)]
    unlisted = [f"{line}: skips and is not in tests/skips.txt" for line in sorted(actual - listed)]
    stale = [f"{line}: in tests/skips.txt and not in the tests" for line in sorted(listed - actual)]
    return wrong + unlisted + stale
