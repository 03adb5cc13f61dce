"""The ledger of claims as parts of pages: a section a claim, the table of all, and the counts of verdicts.

    sections(page, found)  ->  the claims of one page, as Markdown
    table_html(found)      ->  every claim in a line, which a script can filter
    counts(found)          ->  how many have which verdict, for sentences

The standard library alone.
"""

import html
import re
from collections import Counter
from typing import Any

from scripts import ROOT
from scripts.claims.ledger import PAGES, Claim, page_data
from scripts.claims.verdicts import CANNOT, UNMEASURED, UNTESTED, VERDICTS
from scripts.pages.messages import inline_html

TITLE = re.compile(r"^# (.+)$", re.MULTILINE)
MOST_NAMED = 5  # programs of a claim that are named one by one


def first_capital(words: str) -> str:
    return words[0].upper() + words[1:]


def verdict_said(claim: Claim) -> str:
    """The verdict with its condition, as a sentence that begins with its mark."""
    mark = f'<span class="bw-verdict" data-verdict="{claim.verdict}">{first_capital(claim.verdict)}</span>'
    condition = claim.said("if")
    return f"{mark} {condition}." if condition else mark


def page_title(page: str) -> str:
    found = TITLE.search((ROOT / "docs" / f"{page}.md").read_text(encoding="utf-8"))
    return found[1] if found else page


def programs_said(claim: Claim) -> str:
    """The programs whose records were read; of many, how many of which room."""
    if len(claim.programs) <= MOST_NAMED:
        return ", ".join(f"[{name}](../programs/{name}.py)" for name in claim.programs)
    rooms = Counter(name.split("/")[0] for name in claim.programs)
    ways = {"errors": ("the error index", "../errors/index.md"), "gallery": ("the gallery", "../errors/gallery.md")}
    ways |= {"lens": ("the kernels of the lens", "../lens/index.md")}
    ways |= {"by_version": ("the library's kernels under each version", "../measurements/versions.md")}
    named = [f"{number} of [{ways[room][0]}]({ways[room][1]})" for room, number in rooms.items() if room in ways]
    return ", ".join([*named, *(f"[{name}](../programs/{name}.py)" for name in claim.programs if name.split("/")[0] not in ways)])


def source_said(claim: Claim) -> str:
    source = first_capital(claim.fields["source"])
    return f"[{source}]({claim.fields['url']})" if "url" in claim.fields else source


def section(claim: Claim) -> str:
    """One claim: what is said and by whom, the verdict, why, the rule, and where to read on."""
    waits = "Its program is written, and has not yet run on this GPU." if claim.found == UNMEASURED else claim.said("says")
    parts = [f"## {claim.fields['title']} {{ #{claim.id} }}"]
    parts.append(f"{claim.fields['claim']} <small>{source_said(claim)}.</small>\n{{ .bw-claim }}")
    parts.append(f"{verdict_said(claim)} {waits}")
    small = [f"*Rule:* {claim.rule}"] if claim.rule else []
    small += [f"*Records:* {programs_said(claim)}."] if claim.programs else []
    more = claim.fields["more"]
    small.append(f"*More:* [{page_title(more)}](../{more}.md)")
    parts.append("<br>\n".join(small) + "\n{ .bw-rule }")
    return "\n\n".join(parts) + "\n"


def sections(page: str, found: list[Claim]) -> str:
    return "\n".join(section(claim) for claim in found if claim.page == page)


def table_html(found: list[Claim]) -> str:
    """Every claim with its verdict, in a group for each page."""
    groups = []
    for page in PAGES:
        title = f'<a href="{page}/">{html.escape(page_data(page)["title"])}</a>'
        rows = [
            f'<tr data-verdict="{claim.verdict}" data-page="{claim.page}"><td><a href="{claim.page}/#{claim.id}">'
            f"{inline_html(claim.fields['title'])}</a></td>"
            f'<td><span class="bw-verdict" data-verdict="{claim.verdict}">{first_capital(claim.verdict)}</span> '
            f"{inline_html(claim.said('if'))}</td></tr>"
            for claim in found
            if claim.page == page
        ]
        groups.append(f'<tbody><tr><th scope="rowgroup">{title}</th><td></td></tr>{"".join(rows)}</tbody>')
    head = "".join(f'<th scope="col">{name}</th>' for name in ("Claim", "Verdict"))
    return (
        '<div class="bw-claims"><claims-table><div class="scroll" tabindex="0" role="region" aria-label="Every claim">'
        f"<table><thead><tr>{head}</tr></thead>{''.join(groups)}</table></div></claims-table></div>\n"
    )


def counts(found: list[Claim]) -> dict[str, Any]:
    """How many claims there are, and how many of each verdict, its name with `_` for a space."""
    by_verdict = Counter(claim.verdict for claim in found)
    said = {verdict.replace(" ", "_"): by_verdict[verdict] for verdict in VERDICTS}
    return said | {"claims": len(found), "judged": sum(claim.verdict not in (UNTESTED, CANNOT) for claim in found)}


def data(found: list[Claim]) -> list[dict[str, Any]]:
    """For readers who want it as a file."""
    return [
        {
            "id": claim.id,
            "page": f"claims/{claim.page}/#{claim.id}",
            "claim": claim.fields["claim"],
            "source": claim.fields["source"],
            "url": claim.fields.get("url", ""),
            "verdict": claim.verdict,
            "condition": claim.said("if"),
            "says": claim.said("says"),
            "rule": claim.rule,
            "programs": claim.programs,
        }
        for claim in found
    ]
