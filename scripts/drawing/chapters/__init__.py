"""The charts of each chapter, a module a chapter. `CHARTS` of each maps a chart's name to its function and the records it draws.

A new module is found by itself.
"""

import importlib
import pkgutil
from collections.abc import Callable

from scripts.drawing import curves
from scripts.drawing.data import Chart

Charts = dict[str, tuple[Callable[..., Chart], tuple[str, ...]]]


def collected() -> Charts:
    names = sorted(module.name for module in pkgutil.iter_modules(__path__, f"{__name__}."))
    found: Charts = dict(curves.CHARTS)
    for name in names:
        found |= importlib.import_module(name).CHARTS
    return found


CHARTS = collected()
