"""What the Markdown twins of the pages leave out, named in mkdocs.yml: `preprocess(soup, path)` is called for each page.

The colors of code are of no use in Markdown, and a long table behind a chart is better fetched: its links stay.
"""

from typing import Any

LONGEST = 40  # rows of a chart's table that a twin repeats


def preprocess(soup: Any, _: str) -> None:
    for code in soup.select("pre > code"):
        code.string = code.get_text()
    for table in soup.select("figure.chart table"):
        if len(table.find_all("tr")) > LONGEST:
            table.decompose()
