"""The claims as docs/claims/*.toml has them, each with what its judge finds in the records.

    entries()        ->  every claim, judged, in the order of the pages
    problems(found)  ->  where a page says another verdict than the records, in words that name the file to edit

A claim's sentences bind the judge's figures as a page binds others, `[= name | filter =]`. The standard library alone.
"""

import re
import tomllib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from scripts import ROOT
from scripts.claims import judges_fusion, judges_libraries, judges_measuring, judges_numbers, judges_programs, judges_tuning
from scripts.claims.evidence import Evidence, NotMeasured, Verdict
from scripts.claims.verdicts import CANNOT, JUDGED, TRUE_IF, UNMEASURED, UNTESTED
from scripts.pages.formats import FILTERS
from scripts.provenance import records

FOLDER = ROOT / "docs" / "claims"
PAGES = ("libraries", "fusion", "programs", "blocks", "tuning", "measuring", "writing")  # as the navigation has them
MODULES = (judges_libraries, judges_fusion, judges_programs, judges_tuning, judges_numbers, judges_measuring)
BOUND = re.compile(r"\[= (\w+)(?: \| (\w+))? =\]")
FIELDS = {"id", "title", "claim", "source", "verdict", "says", "more"}
OPTIONAL = {"url", "if", "judge", "show"}
Judge = Callable[[Evidence], Verdict]


class Claim(NamedTuple):
    """What somebody says, who, and what a page of ours says to it; `found` is what the records say today."""

    page: str
    fields: dict[str, str]
    found: str
    figures: dict[str, Any]
    programs: list[str]

    @property
    def id(self) -> str:
        return self.fields["id"]

    @property
    def verdict(self) -> str:
        return self.fields["verdict"]

    @property
    def rule(self) -> str:
        """The judge's rule, which is its docstring."""
        return " ".join((judge_of(self.fields["judge"]).__doc__ or "").split()) if "judge" in self.fields else ""

    def said(self, field: str) -> str:
        """A field with the figures in it; nothing where the figures are still to come."""
        text = self.fields.get(field, "")
        return "" if self.found == UNMEASURED else bind(text, self.figures, f"{self.page}.toml, {self.id}")


def tenths(value: float) -> str:
    return f"{value:.1f}"


WRITERS = {function.__name__: function for function in (*FILTERS, tenths)}


def bind(text: str, figures: dict[str, Any], where: str) -> str:
    """The text with each `[= name | filter =]` replaced by the figure of that name."""

    def written(match: re.Match[str]) -> str:
        name, writer = match.groups()
        if name not in figures or (writer and writer not in WRITERS):
            raise records.RecordError(f"{where}: its judge gives no {match[0]}, but {', '.join(figures)}")
        value = figures[name]
        if writer is None and isinstance(value, float):
            raise records.RecordError(f"{where}: {name} is no whole number, and needs a filter")
        return WRITERS[writer](value) if writer else str(value)

    return BOUND.sub(written, text)


def judge_of(name: str) -> Judge:
    found = [vars(module)[name] for module in MODULES if name in vars(module)]
    if not found:
        raise records.RecordError(f"docs/claims: there is no judge {name!r} in scripts/claims")
    judge: Judge = found[0]
    return judge


def page_data(page: str, folder: Path = FOLDER) -> dict[str, Any]:
    return tomllib.loads((folder / f"{page}.toml").read_text(encoding="utf-8"))


def judged(page: str, fields: dict[str, str], evidence: Evidence) -> Claim:
    """A claim with what its judge finds; one without a judge is what its page says."""
    lacking, unknown = FIELDS - fields.keys(), fields.keys() - FIELDS - OPTIONAL
    if lacking or unknown:
        raise records.RecordError(f"docs/claims/{page}.toml, {fields.get('id')}: lacks {lacking or 'nothing'}, has {unknown}")
    if "judge" not in fields:
        return Claim(page, fields, fields["verdict"], {}, [])
    try:
        verdict, figures = judge_of(fields["judge"])(evidence)
    except NotMeasured:
        return Claim(page, fields, UNMEASURED, {}, list(evidence.read))
    except (KeyError, IndexError, ValueError) as error:
        where = f"docs/claims/{page}.toml, {fields['id']}"
        raise records.RecordError(f"{where}: its judge cannot read the records: {error!r}") from None
    return Claim(page, fields, verdict, figures, list(evidence.read))


def entries(baked: Path = records.BAKED, folder: Path = FOLDER) -> list[Claim]:
    """Every claim of every page, each judged by itself."""
    return [
        judged(page, fields, Evidence(baked=baked)) for page in PAGES for fields in page_data(page, folder)["claims"]
    ]


def problems(found: Sequence[Claim]) -> list[str]:
    """What a page says and the records do not."""
    said = []
    for claim in found:
        where = f"docs/claims/{claim.page}.toml, {claim.id}"
        if claim.verdict != claim.found:
            both = f"it says {claim.verdict!r}, the records say {claim.found!r}"
            said.append(f"{where}: {both}. Read its sentences again, then mend them")
        if "judge" in claim.fields and claim.verdict not in (*JUDGED, UNMEASURED):
            said.append(f"{where}: a judge gives no {claim.verdict!r}")
        if "judge" not in claim.fields and claim.verdict not in (UNTESTED, CANNOT):
            said.append(f"{where}: no judge gives {claim.verdict!r}, and nobody else may")
        if (claim.verdict == TRUE_IF) != ("if" in claim.fields) and claim.verdict != UNMEASURED:
            said.append(f"{where}: a condition belongs to {TRUE_IF!r} and to nothing else")
    return said
