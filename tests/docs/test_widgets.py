"""The widgets' modules stay small: nothing is built, so what is written is what every reader loads."""

import gzip

import pytest

from tests.docs.pages import ROOT

ASSETS = ROOT / "docs" / "assets"
STEPPER = {f"stepper/{path.name}" for path in (ASSETS / "stepper").glob("*.js")}
REPLAYING = {"recorded.js", "stepper.js", "dance.js"} | STEPPER


def weight(names: set[str]) -> int:
    return sum(len(gzip.compress((ASSETS / name).read_bytes(), 9)) for name in names)


@pytest.mark.parametrize("names, most", [({path.name for path in ASSETS.glob("*.js")} | STEPPER, 64_000), (REPLAYING, 28_000)])
def test_scripts_stay_within_their_budget(names: set[str], most: int):
    assert names >= REPLAYING
    assert weight(names) <= most


def test_what_runs_programs_weighs_little_before_it_is_asked_for():
    """Every page loads run.js; the first press on Run, Edit or one of their kind loads the others."""
    assert weight({"run.js"}) <= 2_200
    assert weight({f"run/{path.name}" for path in (ASSETS / "run").iterdir()}) <= 21_500


def test_the_compiler_lens_stays_small():
    assert weight({f"lens/{path.name}" for path in (ASSETS / "lens").iterdir()}) <= 11_000


def test_the_search_stays_small():
    assert weight({f"search/{name}" for name in ("worker.js", "engine.js", "synonyms.js")}) <= 10_000


def test_a_widget_s_module_comes_only_where_it_is_used():
    loader = (ASSETS / "widgets.js").read_text(encoding="utf-8")
    config = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    defined = [path.name for path in ASSETS.glob("*.js") if f'"./{path.name}"' in loader]
    assert len(defined) >= 2 and not [name for name in defined if f"assets/{name}" in config]


def test_every_script_and_style_is_loaded():
    config = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    imported = "".join(path.read_text(encoding="utf-8") for path in ASSETS.glob("*.js"))
    for path in [*ASSETS.glob("*.js"), *ASSETS.glob("*.css")]:
        assert f"assets/{path.name}" in config or f'"./{path.name}"' in imported, path.name
