"""Which names a statement reads and which it binds, as far as a program's top level is concerned. The standard library alone."""

import ast
from collections.abc import Iterable
from functools import cache
from typing import NamedTuple

NO_NAMES: frozenset[str] = frozenset()


class Names(NamedTuple):
    """What a statement reads of what was bound before it, what it binds in any case, and what it may bind."""

    reads: frozenset[str]
    binds: frozenset[str]
    may_bind: frozenset[str]


@cache
def names_of(node: ast.stmt) -> Names:
    match node:
        case ast.FunctionDef() | ast.ClassDef():
            return sure(outside(node), {node.name})
        case ast.Import() | ast.ImportFrom():
            return sure((), {(alias.asname or alias.name).partition(".")[0] for alias in node.names})
        case ast.Assign():
            return sure(loaded(node), stored(*node.targets))
        case ast.AnnAssign():
            return sure(loaded(node), stored(node.target) if node.value else ())
        case ast.AugAssign():
            return Names(loaded(node) | stored(node.target), NO_NAMES, stored(node.target))
        case ast.For():
            body, targets = in_order([*node.body, *node.orelse]), stored(node.target)
            return Names(loaded(node.iter, node.target) | body.reads - targets, NO_NAMES, targets | body.may_bind)
        case ast.While():
            body = in_order([*node.body, *node.orelse])
            return Names(loaded(node.test) | body.reads, NO_NAMES, body.may_bind)
        case ast.If():
            first, second = in_order(node.body), in_order(node.orelse)
            reads = loaded(node.test) | first.reads | second.reads
            return Names(reads, first.binds & second.binds, first.may_bind | second.may_bind)
        case ast.With():
            targets = stored(*(item.optional_vars for item in node.items if item.optional_vars))
            body = in_order(node.body)
            reads = loaded(*(item.context_expr for item in node.items)) | body.reads - targets
            return Names(reads, body.binds | targets, body.may_bind | targets)
        case ast.Try():
            parts = [in_order(part) for part in (node.body, *(one.body for one in node.handlers), node.orelse, node.finalbody)]
            reads = union(part.reads for part in parts) | loaded(*(one.type for one in node.handlers if one.type))
            return Names(reads - {one.name for one in node.handlers}, NO_NAMES, union(part.may_bind for part in parts))
    return Names(loaded(node), NO_NAMES, stored(node))


def sure(reads: Iterable[str], binds: Iterable[str]) -> Names:
    return Names(frozenset(reads), frozenset(binds), frozenset(binds))


def union(sets: Iterable[frozenset[str]]) -> frozenset[str]:
    return NO_NAMES.union(*sets)


def in_order(body: list[ast.stmt]) -> Names:
    """The names of statements that run one after another."""
    reads, binds, may_bind = NO_NAMES, NO_NAMES, NO_NAMES
    for node in body:
        names = names_of(node)
        reads, binds, may_bind = reads | names.reads - binds, binds | names.binds, may_bind | names.may_bind
    return Names(reads, binds, may_bind)


def loaded(*nodes: ast.AST) -> frozenset[str]:
    """The names that expressions read, without those that comprehensions and lambdas bind for themselves."""
    found: set[str] = set()
    for node in nodes:
        match node:
            case ast.Name(ctx=ast.Load()):
                found.add(node.id)
            case ast.Lambda():
                found |= loaded(node.args) | loaded(node.body) - {
                    part.arg for part in ast.walk(node.args) if isinstance(part, ast.arg)
                }
            case ast.ListComp() | ast.SetComp() | ast.DictComp() | ast.GeneratorExp():
                targets = stored(*(part.target for part in node.generators))
                found |= loaded(node.generators[0].iter) | loaded(*ast.iter_child_nodes(node)) - targets
            case _:
                found |= loaded(*ast.iter_child_nodes(node))
    return frozenset(found)


def stored(*nodes: ast.AST) -> frozenset[str]:
    return frozenset(
        part.id for node in nodes for part in ast.walk(node) if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store)
    )


def outside(node: ast.FunctionDef | ast.ClassDef) -> frozenset[str]:
    """What a function or a class reads from outside of itself, when it is defined and when it is called."""
    if isinstance(node, ast.ClassDef):
        return loaded(*node.bases, *node.keywords, *node.decorator_list) | in_order(node.body).reads - {node.name}
    settings = [*node.args.defaults, *(default for default in node.args.kw_defaults if default), *node.decorator_list]
    settings += [one.annotation for one in ast.walk(node.args) if isinstance(one, ast.arg) and one.annotation]
    settings += [node.returns] if node.returns else []
    arguments = {one.arg for one in ast.walk(node.args) if isinstance(one, ast.arg)}
    declared = {name for part in ast.walk(node) if isinstance(part, ast.Global) for name in part.names}
    body = in_order(node.body)
    return loaded(*settings) | (body.reads - arguments - (body.may_bind - declared)) - {node.name}
