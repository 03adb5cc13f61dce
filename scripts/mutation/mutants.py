"""Wrong versions of a kernel, one change each: what the tests of the library have to notice.

They are generated, not chosen. In every jitted function each mask, each `other=`, each conversion, each stride, each
comparison, each arithmetic term, each reduction and each number is changed once, where it stands in the source.
"""

import ast
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

COMPARISONS = {ast.Lt: "<=", ast.LtE: "<", ast.Gt: ">=", ast.GtE: ">", ast.Eq: "!=", ast.NotEq: "=="}
ARITHMETIC = {ast.Add: "-", ast.Sub: "+", ast.Mult: "+", ast.Div: "*", ast.FloorDiv: "*", ast.Mod: "//"}
ARITHMETIC |= {ast.BitAnd: "|", ast.BitOr: "&", ast.BitXor: "|", ast.LShift: ">>", ast.RShift: "<<"}
FUNCTIONS = {"max": "min", "min": "max", "maximum": "minimum", "minimum": "maximum", "sum": "max", "exp": "exp2", "exp2": "exp"}
FUNCTIONS |= {"log": "log2", "log2": "log", "sqrt": "rsqrt", "rsqrt": "sqrt", "cumsum": "cumprod", "cdiv": "mul"}
ACCESSES = {"load", "store", "atomic_add", "atomic_max", "atomic_min", "atomic_cas", "atomic_xchg"}
# Numbers that say how fast or where a thing is computed, not what.
NOT_VALUES = {"axis", "num_stages", "dim", "n_rounds"}


@dataclass(frozen=True)
class Mutant:
    """One change: what stands at [start, end) of the source, counted in bytes, becomes `after`."""

    function: str
    kind: str
    line: int
    before: str
    after: str
    start: int
    end: int
    ordinal: int = 0

    @property
    def name(self) -> str:
        """The same from one run to the next, as long as the kernel is the same."""
        again = f" ({self.ordinal + 1})" if self.ordinal else ""
        return f"{self.function}: {self.kind}: {flat(self.before)} -> {flat(self.after)}{again}"

    def of(self, source: str) -> str:
        data = source.encode("utf-8")
        return (data[: self.start] + self.after.encode("utf-8") + data[self.end :]).decode("utf-8")


def flat(text: str) -> str:
    return " ".join(text.split())


def mutants(source: str) -> list[Mutant]:
    """Every mutant of the jitted functions in a file, in the order of the source; each parses."""
    found, seen = [], Counter[str]()
    for function in ast.parse(source).body:
        if isinstance(function, ast.FunctionDef) and any("jit" in ast.unparse(mark) for mark in function.decorator_list):
            for mutant in changes(function, source):
                again = Mutant(**{**vars(mutant), "ordinal": seen[mutant.name]})
                seen[mutant.name] += 1
                ast.parse(again.of(source))
                found.append(again)
    return sorted(found, key=lambda mutant: (mutant.start, mutant.end))


def changes(function: ast.FunctionDef, source: str) -> Iterator[Mutant]:
    lines = source.encode("utf-8").splitlines(keepends=True)
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line))

    def place(node: ast.expr) -> tuple[int, int]:
        assert node.end_lineno is not None and node.end_col_offset is not None
        return starts[node.lineno - 1] + node.col_offset, starts[node.end_lineno - 1] + node.end_col_offset

    def text(node: ast.expr) -> str:
        start, end = place(node)
        return source.encode("utf-8")[start:end].decode("utf-8")

    def change(kind: str, node: ast.expr, after: str) -> Mutant:
        start, end = place(node)
        return Mutant(function.name, kind, node.lineno, text(node), after, start, end)

    # `other=` has a change of its own, a maximum's axis none.
    left_alone = set()
    for node in ast.walk(function):
        if isinstance(node, ast.keyword) and node.arg in NOT_VALUES | {"other"}:
            left_alone |= {id(part) for part in ast.walk(node.value)}
        elif isinstance(node, ast.Subscript):
            left_alone |= {id(part) for part in ast.walk(node.slice)}
    for statement in function.body[1:] if ast.get_docstring(function) else function.body:
        for node in ast.walk(statement):
            if not isinstance(node, ast.expr):
                continue
            if isinstance(node, ast.Call):
                yield from of_call(node, change, text)
            elif id(node) in left_alone:
                continue
            elif isinstance(node, ast.Name) and "stride" in node.id and isinstance(node.ctx, ast.Load):
                yield change("stride", node, f"({node.id} + 1)")
            elif isinstance(node, ast.Compare) and type(node.ops[0]) in COMPARISONS and len(node.ops) == 1:
                sign = COMPARISONS[type(node.ops[0])]
                yield change("comparison", node, f"({text(node.left)}) {sign} ({text(node.comparators[0])})")
            elif isinstance(node, ast.BinOp) and type(node.op) in ARITHMETIC:
                sign = ARITHMETIC[type(node.op)]
                yield change("arithmetic", node, f"(({text(node.left)}) {sign} ({text(node.right)}))")
            elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub | ast.Not | ast.Invert):
                yield change("arithmetic", node, f"({text(node.operand)})")
            elif isinstance(node, ast.Constant) and type(node.value) in (int, float):
                yield change("number", node, f"({text(node)} + 1)")


def of_call(node: ast.Call, change, text) -> Iterator[Mutant]:
    if not isinstance(node.func, ast.Attribute):
        return
    name = node.func.attr
    if name == "to" and ast.unparse(node.func.value) != "tl":
        yield change("conversion", node, text(node.func.value))
    elif ast.unparse(node.func.value) not in ("tl", "tl.math", "libdevice"):
        return
    elif name in ACCESSES:
        for keyword in node.keywords:
            if keyword.arg == "mask":
                yield change("mask", keyword.value, f"({text(keyword.value)}) | True")
            elif keyword.arg == "other":
                yield change("other", keyword.value, "0.0" if "inf" in text(keyword.value) else f"({text(keyword.value)} + 1)")
    elif name == "where" and len(node.args) == 3:
        condition, yes, no = (text(argument) for argument in node.args)
        yield change("choice", node, f"tl.where({condition}, {no}, {yes})")
    elif name in FUNCTIONS:
        yield change("function", node.func, f"{text(node.func.value)}.{FUNCTIONS[name]}")
