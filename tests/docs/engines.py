"""Compare what two engines made of the same pages."""

import difflib
from pathlib import Path

from tests.docs.site_rules import page_documents, visible_text

Difference = tuple[str, str, str]


def read_allowed(lines: list[str]) -> list[Difference]:
    """Lines of `page address | words in MkDocs | words in Zensical`; either side may be empty."""
    parts = [[part.strip() for part in f"{line} ".split(" | ")] for line in lines]
    return [(page, first, second) for page, first, second in parts]


def differences(first: Path, second: Path, allowed: list[Difference]) -> list[str]:
    """Words that stand on a page of one site and not of the other, without those allowed; and those allowed in vain."""
    others = page_documents(second)
    pairs = [(address, document, others[address]) for address, document in page_documents(first).items() if address in others]
    found = [(address, *words) for address, a, b in pairs for words in changed(visible_text(a), visible_text(b))]
    new = [f"{page}: {here!r} in the first, {there!r} in the second" for page, here, there in sorted({*found} - {*allowed})]
    stale = [f"{' | '.join(entry)}: allowed, but there is no such difference" for entry in allowed if entry not in found]
    return new + stale


def changed(first: str, second: str) -> list[tuple[str, str]]:
    here, there = first.split(), second.split()
    if here == there:
        return []  # the rule, and comparing word by word takes seconds a page
    steps = difflib.SequenceMatcher(None, here, there, autojunk=False).get_opcodes()
    return [(" ".join(here[a:b]), " ".join(there[c:d])) for kind, a, b, c, d in steps if kind != "equal"]
