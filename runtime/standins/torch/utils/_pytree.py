"""torch.utils._pytree: a function of some leaves of nested tuples, lists and dicts."""

from collections.abc import Callable
from typing import Any


def tree_map_only(kind: Any, function: Callable[[Any], Any], tree: Any) -> Any:
    if isinstance(tree, tuple | list):
        return type(tree)(tree_map_only(kind, function, part) for part in tree)
    if isinstance(tree, dict):
        return {key: tree_map_only(kind, function, part) for key, part in tree.items()}
    return function(tree) if isinstance(tree, kind) else tree
