"""Which statements of a program others depend on: those that bind what is read later, and those that change it.

    Program(body, text).needed(shown)     the shown statements with all that they need, and every name that is read there

It walks from the last statement up, and keeps what binds a name that a kept one reads. A statement that binds nothing is kept
where it may change a value that is read (a launch into it, a part of it that is set) or what the program runs in (a seed, an
environment variable, a driver, the way out where there is no GPU). What only prints or asserts is not. Standard library alone.
"""

import ast
import re
from functools import cache

from scripts.provenance.names import Names, names_of, union

SWITCH = re.compile(r"""os\.environ\[["']TRITON_INTERPRET["']\] = ["']1["']""")
WAYS_OUT = ("sys.exit(", "SystemExit")
CHANGING = re.compile(r"\]\(|\b\w+[^_\W]_\(|\.backward\(")  # a launch, or a method that changes its tensor in place
# An operator is known by a text: whatever calls torch.ops.tiny.plus needs what registers "tiny::plus".
OPERATORS = re.compile(r"\btorch\.ops\.\w+")
REGISTERED = re.compile(r"""["'](\w+)::""")
REGISTRY = re.compile(r"""\bLibrary\(["'](\w+)""")


class Program:
    """The top level of a program, in order; `text` is the program's."""

    def __init__(self, body: list[ast.stmt], text: str):
        self.body, self.registers = body, "torch.ops." in text
        self.functions = {node.name: node for node in body if isinstance(node, ast.FunctionDef | ast.ClassDef)}
        values = [node for node in body if not isinstance(node, ast.Import | ast.ImportFrom | ast.FunctionDef | ast.ClassDef)]
        self.values = union(names_of(node).may_bind for node in values)
        self.also = {name: self.reads(node) for name, node in self.functions.items()}  # what reading a name reads as well
        for node in values if self.registers else []:
            registries = {f"torch.ops.{name}" for name in REGISTRY.findall(source(node))}
            for name in names_of(node).binds:
                self.also[name] = frozenset(registries | {*OPERATORS.findall(source(node))})
                self.also |= {registry: frozenset({name}) for registry in registries}
        self.known: dict[ast.stmt, Names] = {}

    def reads(self, node: ast.stmt) -> frozenset[str]:
        """The names that a statement reads, and the registries of the operators that it calls."""
        return names_of(node).reads | ({*OPERATORS.findall(source(node))} if self.registers else set())

    def names(self, node: ast.stmt) -> Names:
        """A statement's names; it also reads what the program's own functions read that it may call."""
        if node not in self.known:
            reads, waiting = set(self.reads(node)), [*self.reads(node)]
            while waiting:
                new = self.also.get(waiting.pop(), frozenset()) - reads
                reads |= new
                waiting += new
            names, said = names_of(node), source(node) if self.registers else ""
            registries = {f"torch.ops.{name}" for name in (*REGISTERED.findall(said), *REGISTRY.findall(said))}
            self.known[node] = Names(frozenset(reads), names.binds, names.may_bind | registries)
        return self.known[node]

    def needed(self, shown: set[ast.stmt], switch: bool = True) -> tuple[set[ast.stmt], set[str]]:
        """What the shown statements need, with them, and every name that is read.

        With `switch` false, the statement that turns the interpreter on does not count.
        """
        kept = set(shown)
        last = max((number for number, node in enumerate(self.body) if node in shown), default=len(self.body))
        while True:
            live, read = set[str](), set[str]()
            for number, node in reversed([*enumerate(self.body)]):
                names = self.names(node)
                if node in kept or (number <= last and (names.may_bind & live or self.acts(node, live, switch))):
                    kept.add(node)
                    live = (live - names.binds) | names.reads
                    read |= names.reads
            # A function may read what is bound below all that is shown.
            lost = live - union(self.names(node).may_bind for node in kept)
            below = {node for node in self.body[last + 1 :] if self.names(node).may_bind & lost}
            if not below:
                return kept, read
            kept |= below

    def acts(self, node: ast.stmt, live: set[str], switch: bool) -> bool:
        """Whether a statement that binds nothing that is read changes something that is, or what the program runs in."""
        match node:
            case ast.Expr(value=ast.Call(func=called)):
                return self.changes(node, ast.unparse(called), live)
            case ast.Expr(value=ast.Tuple(elts=calls)):
                return any(self.changes(node, ast.unparse(call.func), live) for call in calls if isinstance(call, ast.Call))
            case ast.FunctionDef(decorator_list=[ast.Attribute() as decorator, *_]):
                return root_of(decorator) in self.functions.keys() & live  # as an operator is told its fake
            case ast.Assign(targets=[ast.Subscript() | ast.Attribute() as target]):
                root = root_of(target)
                return root in live or root not in self.values and root not in self.functions
            case ast.Assign() | ast.AnnAssign():
                return self.touches(node, live) and self.alters(node)
            case ast.AugAssign():
                return self.touches(node, live)
            case ast.If() if SWITCH.search(source(node)):
                return switch
            case ast.If() if any(way in source(node) for way in WAYS_OUT):
                return True
            case ast.For() | ast.While() | ast.With() | ast.If() | ast.Try():
                of_process = isinstance(node, ast.If) and not self.names(node).reads & self.values
                inner = [part for part in ast.walk(node) if isinstance(part, ast.Expr | ast.Assign | ast.AugAssign)]
                return any((of_process or self.touches(part, live)) and self.acts(part, live, switch) for part in inner)
        return False

    def changes(self, node: ast.stmt, called: str, live: set[str]) -> bool:
        """Whether a call for its own sake may change what is read. One of a module's that names no value is about the process."""
        if called == "print" or "assert" in called or called.endswith("opcheck"):
            return called == "print" and self.touches(node, live) and self.alters(node)
        root, _, method = called.partition(".")
        if method and root in self.functions:
            return root in live  # as an operator's function is told its gradient
        if self.names(node).reads & self.values or root in self.functions:
            return self.touches(node, live)
        return bool(method)

    def alters(self, node: ast.stmt) -> bool:
        """Whether a statement, or a function that it may call, launches a kernel or changes a tensor in place."""
        called = self.names(node).reads & self.functions.keys()
        return any(CHANGING.search(source(part)) for part in (node, *(self.functions[name] for name in called)))

    def touches(self, node: ast.stmt, live: set[str]) -> bool:
        return bool(self.names(node).reads & self.values & live)


@cache
def source(node: ast.stmt) -> str:
    return ast.unparse(node)


def root_of(target: ast.expr) -> str:
    while isinstance(target, ast.Subscript | ast.Attribute):
        target = target.value
    return target.id if isinstance(target, ast.Name) else ""
