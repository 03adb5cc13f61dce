"""Pictures that explain: drawn from recorded runs and compiled kernels. `PICTURES` maps a name to its function and its records.

A record is named by its path below docs/baked/cpu, such as `traces/memory/strided`; or, of a program that only a GPU runs, by
`gpu/` and the program's name. Without its record a picture is not drawn. A new module is found by itself.
"""

import importlib
import pkgutil
from collections.abc import Callable

from scripts.drawing.pictures.sheet import Picture

Pictures = dict[str, tuple[Callable[..., Picture], tuple[str, ...]]]


def collected() -> Pictures:
    found: Pictures = {}
    for name in sorted(module.name for module in pkgutil.iter_modules(__path__, f"{__name__}.")):
        found |= getattr(importlib.import_module(name), "PICTURES", {})  # a module without the table is a tool
    return found


PICTURES = collected()
