"""Figures and filters for the pages' macros: `[= m.add.fwd["268435456"].fp32.blockwise.call.gbps | gbps =]`."""

import gc
import json
from pathlib import Path

from scripts.pages.formats import FILTERS

FIGURES = Path(__file__).resolve().parent / "docs" / "generated" / "figures.json"
TEMPLATES = Path(__file__).resolve().parent / "scripts" / "pages" / "templates"


def define_env(env):
    if not FIGURES.exists():
        raise FileNotFoundError(
            "docs/generated/figures.json is missing: run `python scripts/prepare.py`, or build with `make site`"
        )
    # mkdocs-jupyter's own templates put 600 kB of styles and scripts into every page, and load MathJax from another host.
    from mkdocs_jupyter.config import settings

    settings.templates_dir = str(TEMPLATES)
    from scripts.pages import llms_txt  # the same holds for what reads the pages for their twins

    llms_txt.read_less()
    llms_txt.begin()
    from scripts.pages import search

    search.search_less()
    # What is loaded by now stays, and a page's thousands of elements would set the collector off again and again.
    gc.freeze()
    gc.set_threshold(100_000, 50, 100)
    env.variables.update(json.loads(FIGURES.read_text(encoding="utf-8")))
    for function in FILTERS:
        env.filter(function)


def on_post_build(env):
    """mkdocs-macros calls it when all pages are there; it stands after search in mkdocs.yml, and before llmstxt,
    which then writes the twins."""
    from scripts.pages import llms_txt, search

    search.put_off(Path(env.conf["site_dir"]))
    llms_txt.end(env.conf.plugins["llmstxt"]._md_pages)
