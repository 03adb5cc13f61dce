"""Figures and filters for the pages' macros: `[= m.add.fwd["268435456"].fp32.blockwise.call.gbps | gbps =]`."""

import gc
import json
from pathlib import Path

SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
FIGURES = Path(__file__).resolve().parent / "docs" / "generated" / "figures.json"
TEMPLATES = Path(__file__).resolve().parent / "scripts" / "templates"


def define_env(env):
    if not FIGURES.exists():
        raise FileNotFoundError(
            "docs/generated/figures.json is missing: run `python scripts/prepare.py`, or build with `make site`"
        )
    # mkdocs-jupyter's own templates put 600 kB of styles and scripts into every page, and load MathJax from another host.
    from mkdocs_jupyter.config import settings  # the build's alone: charts take their formats from here, too

    settings.templates_dir = str(TEMPLATES)
    from scripts import twins  # the same holds for what reads the pages for their twins

    twins.read_less()
    twins.begin()
    from scripts import page_html

    page_html.search_less()
    # What is loaded by now stays, and a page's thousands of elements would set the collector off again and again.
    gc.freeze()
    gc.set_threshold(100_000, 50, 100)
    env.variables.update(json.loads(FIGURES.read_text(encoding="utf-8")))
    for function in (gbps, tflops, us, ms, times, percent, error, gigabytes, count):
        env.filter(function)


def on_post_build(env):
    """mkdocs-macros calls it when all pages are there; it stands before llmstxt in mkdocs.yml, which then writes the twins."""
    from scripts import twins

    twins.end(env.conf.plugins["llmstxt"]._md_pages)


def gbps(value):
    return f"{value:,.0f}\u00a0GB/s"


def tflops(value):
    return f"{value:,.0f}\u00a0TFLOP/s"


def us(value):
    """Microseconds, with three significant digits below a thousand."""
    return f"{value:,.0f}\u00a0µs" if value >= 100 else f"{value:.1f}\u00a0µs" if value >= 10 else f"{value:.2f}\u00a0µs"


def ms(value):
    """Milliseconds of a number of microseconds, with three significant digits below a thousand; charts say it likewise."""
    value /= 1e3
    digits = 0 if value >= 100 else 1 if value >= 10 else 2 if value >= 1 else 3
    return f"{value:,.{digits}f}\u00a0ms"


def times(value):
    return f"{value:.2f}×" if value < 10 else f"{value:.0f}×"


def percent(value):
    return f"{value:.0%}"


def error(value):
    """A relative error, as a number with a power of ten."""
    digits, power = f"{value:.1e}".split("e")
    return f"{digits}\u00a0×\u00a010{str(int(power)).translate(SUPERSCRIPTS)}"


def gigabytes(value):
    return f"{value / 1e9:.2f}\u00a0GB"


def count(value):
    return f"{value:,}"
