"""What a built site must keep, each a function that lists what breaks it in a folder of HTML."""

import gzip
import json
import re
import zipfile
from collections.abc import Iterator
from functools import cache, cached_property
from pathlib import Path
from urllib.parse import unquote, urljoin, urlsplit

from bs4 import BeautifulSoup, Tag

OUTSIDE = "/outside the site"
LINKING = {"href", "src", "poster", "data-src", "xlink:href"}
# What others built: the paths within are of their machines.
OF_OTHERS = re.compile(r"run/\w+/(numpy|pyodide|python_stdlib)")
HOME_OF_SOMEBODY = re.compile(rb"(?<![\w.:/-])/(?:home|Users|root|private|workspace|builds?)/[\w.]+/")


class Document:
    """One HTML file of a site."""

    def __init__(self, path: Path, site: Path):
        self.path, self.site = path, site
        self.soup = BeautifulSoup(path.read_text(encoding="utf-8"), "html.parser")

    @property
    def address(self) -> str:
        """Where the page is served, with the site at `/`."""
        relative = self.path.relative_to(self.site).as_posix()
        return f"/{relative.removesuffix('index.html')}"

    @cached_property
    def anchors(self) -> set[str]:
        return {str(value) for element in self.soup.find_all(True) for key in ("id", "name") if (value := element.get(key))}

    @property
    def content(self) -> Tag:
        """The part of the page that its author wrote."""
        found = self.soup.select_one("article.md-content__inner, article, main")
        return found if found is not None else self.soup

    def links(self) -> Iterator[str]:
        for element in self.soup.find_all(True):
            for name in LINKING:
                if (value := element.get(name)) is not None and element.name != "base":
                    yield str(value).strip()
            for name in ("srcset", "imagesrcset"):
                for candidate in str(element.get(name) or "").split(","):
                    if candidate.strip():
                        yield candidate.split()[0]


@cache
def documents(site: Path) -> dict[Path, Document]:
    return {path: Document(path, site) for path in sorted(site.rglob("*.html")) if path.relative_to(site).parts[0] != "overrides"}


def page_documents(site: Path) -> dict[str, Document]:
    """The pages by address, without 404.html and without what leads from an old address to a page."""
    indexes = [document for path, document in documents(site).items() if path.name == "index.html"]
    return {document.address: document for document in indexes if not document.soup.select_one("meta[http-equiv=refresh]")}


def resolve(site: Path, address: str) -> Path | None:
    """The file that a server would answer an address with."""
    path = site / unquote(address).lstrip("/")
    path = path / "index.html" if address.endswith("/") or path.is_dir() else path
    return path if path.is_file() else None


def internal(target: str, address: str, site_url: str) -> tuple[str, str] | None:
    """The address and the fragment of a link into the site; None for one that leads to another host."""
    whole = urlsplit(urljoin(urljoin(site_url, address.lstrip("/")), target))
    own = urlsplit(site_url)
    if (whole.scheme, whole.netloc) != (own.scheme, own.netloc):
        return None
    inside = whole.path.startswith(own.path)
    return "/" + whole.path.removeprefix(own.path) if inside else OUTSIDE, unquote(whole.fragment)


def dead_links(site: Path, site_url: str) -> list[str]:
    """Links, images and scripts without a file, and fragments without an element."""
    found = []
    for document in documents(site).values():
        for target in sorted(set(document.links())):
            where = internal(target, document.address, site_url)
            if where is None:
                continue
            file = resolve(site, where[0])
            if file is None:
                found.append(f"{document.address}: {target!r} leads nowhere")
            elif where[1] and file.suffix == ".html" and where[1] not in known(site, file).anchors:
                found.append(f"{document.address}: {target!r}: no element has this id")
    return found + dead_style_links(site) + dead_imports(site)


def known(site: Path, file: Path) -> Document:
    return documents(site).get(file) or Document(file, site)


def dead_style_links(site: Path) -> list[str]:
    found = []
    for sheet in sorted(site.rglob("*.css")):
        for target in re.findall(r"url\(\s*['\"]?([^'\")]+)['\"]?\s*\)", sheet.read_text(encoding="utf-8")):
            if not target.startswith(("data:", "#")) and not (sheet.parent / unquote(urlsplit(target).path)).is_file():
                found.append(f"{sheet.relative_to(site)}: {target!r} leads nowhere")
    return found


def dead_imports(site: Path) -> list[str]:
    found = []
    for module in sorted((site / "assets").glob("*.js")):
        for target in re.findall(r"""(?:from|import)\s*\(?\s*["'](\.[^"']+)["']""", module.read_text(encoding="utf-8")):
            if not (module.parent / urlsplit(target).path).is_file():
                found.append(f"{module.relative_to(site)}: imports {target!r}, which is not there")
    return found


def machine_paths(site: Path, folders: list[str]) -> list[str]:
    """Files that hold a path of the machine they were built on."""
    # A folder ends where its name does: data/lens/root_kernel.txt.gz is not in /root.
    ends = {folder: b"" if folder.endswith("/") else rb"(?!\w)" for folder in folders if len(folder) > 1}
    needles = [re.compile(re.escape(folder.encode()) + end) for folder, end in ends.items()]
    found = []
    for path in sorted(path for path in site.rglob("*") if path.is_file() and not path.name.endswith(".tar.gz")):  # the sources
        if OF_OTHERS.match(path.relative_to(site).as_posix()):
            continue
        data = unpacked(path)
        if match := next(filter(None, (needle.search(data) for needle in [*needles, HOME_OF_SOMEBODY])), None):
            found.append(f"{path.relative_to(site)}: holds the path {match[0].decode(errors='replace')!r}")
    return found


def unpacked(path: Path) -> bytes:
    """What a file holds, or the files in it."""
    if path.suffix == ".gz":
        return gzip.decompress(path.read_bytes())
    if path.suffix == ".whl":
        with zipfile.ZipFile(path) as wheel:
            return b"\n".join(wheel.read(name) for name in wheel.namelist())
    return path.read_bytes()


def unchecked_chapters(site: Path, gpu: str) -> list[str]:
    """Chapters that do not say which Triton, torch and GPU they were checked with."""
    found = []
    for address, document in page_documents(site).items():
        if address.startswith(("/course/", "/deeper/", "/measurements/")):
            said = " ".join(element.get_text(" ", strip=True) for element in document.content.select(".checked"))
            wanted = {"Triton": r"Triton \d+\.\d+", "torch": r"(?:torch|PyTorch) \d+\.\d+", gpu: re.escape(gpu)}
            missing = [name for name, pattern in wanted.items() if not re.search(pattern, said)]
            found += [f"{address}: its .checked does not name {name}: {said!r}" for name in missing]
    return found


def neighbor_problems(site: Path, order: list[str]) -> list[str]:
    """Above each page stand its kind and its neighbors in the navigation, `order`; above the first, Home, nothing does."""
    listed, found = page_documents(site), []
    for address in sorted(set(listed) ^ set(order)):
        found.append(f"{address}: is {'not in the navigation' if address in listed else 'in the navigation and not a page'}")
    around = zip(["", *order[:-1]], order, [*order[1:], ""], strict=True)
    for before, address, after in [each for each in around if each[1] in listed]:
        bars = listed[address].soup.select("article .bw-bar")
        if address == order[0]:
            found += [f"{address}: has a bar of neighbors" for _ in bars]
            continue
        shown = [link for bar in bars for link in bar.select("nav a")]
        links = [(link.get("rel"), urljoin(address, str(link.get("href"))), link.get_text()) for link in shown]
        wanted = [([rel], to) for rel, to in (("prev", before), ("next", after)) if to]
        if [link[:2] for link in links] != wanted or not all(link[2].strip() for link in links):
            found.append(f"{address}: the links at its top are {links}, not {wanted}")
        if not any(bar.span and re.match(r"\w", bar.span.get_text()) for bar in bars):
            found.append(f"{address}: does not say what kind of page it is")
    return found


def twin_problems(site: Path, site_url: str) -> list[str]:
    """llms.txt lists each page by its Markdown twin, which stands beside it and says the same."""
    index = site / "llms.txt"
    if not index.is_file():
        return ["llms.txt is missing"]
    text = index.read_text(encoding="utf-8")
    targets = [internal(target, "/", site_url) for target in re.findall(r"\]\(([^)\s]+)\)", text)]
    listed = {target[0] for target in targets if target}
    found = [f"llms.txt: {target!r} leads nowhere" for target in sorted(listed) if resolve(site, target) is None]
    for address, document in page_documents(site).items():
        twin = f"{address}index.md"
        file = resolve(site, twin)
        if twin not in listed:
            found.append(f"{address}: llms.txt does not list {twin}")
        if file is None:
            found.append(f"{address}: no Markdown twin {twin}")
            continue
        found += [f"{twin}: {problem}" for problem in twin_text_problems(file.read_text(encoding="utf-8"), document)]
    return found


def twin_text_problems(text: str, document: Document) -> list[str]:
    heading = document.content.find("h1")
    title = plain(heading.get_text()) if heading else ""
    found = [] if title and title in plain(text) else [f"does not hold the page's title {title!r}"]
    written = re.sub(r"```.*?```|`[^`]*`", "", text, flags=re.DOTALL)
    left = next((sign for sign in ("[=", "[%", '--8<-- "') if sign in written), None)
    return [*found, f"holds {left!r}, which the build did not fill in"] if left else found


def plain(text: str) -> str:
    return " ".join(re.sub(r"[*_`#\\¶]", "", text).split())


def unsearchable(site: Path) -> list[str]:
    """Pages that the search would not find."""
    index = json.loads((site / "search" / "book.json").read_text(encoding="utf-8"))
    texts: dict[str, str] = {}
    for entry in index["docs"]:
        address = f"/{entry['location'].partition('#')[0]}"
        texts[address] = texts.get(address, "") + entry["text"]
    missing = [address for address in page_documents(site) if not texts.get(address, "").strip()]
    return [f"{address}: the search index does not hold it" for address in missing]


def chart_problems(site: Path) -> list[str]:
    """Each chart has a caption, its numbers as a table, and as CSV and JSON."""
    found = []
    for address, document in page_documents(site).items():
        for number, figure in enumerate(document.content.select("figure.chart:not(.picture, .machine-map)"), 1):
            name = f"{address}: chart {figure.get('id') or number}"
            found += [f"{name} {problem}" for problem in figure_problems(figure, document)]
    return found


def figure_problems(figure: Tag, document: Document) -> list[str]:
    found = [] if figure.find("svg") else ["has no drawing"]
    for svg in figure.find_all("svg"):
        if not (svg.find("title") or svg.get("aria-label") or svg.get("aria-labelledby") or svg.get("aria-hidden")):
            found.append("has a drawing without a text alternative")
    caption = figure.find("figcaption")
    if not caption or not re.search(r"Triton \d.*\d{4}-\d\d-\d\d", caption.get_text(" ")):
        found.append("has no caption that names Triton's version and the date")
    table = figure.find("table")
    if not table or len(table.select("tbody tr")) < 1 or not table.select("th"):
        found.append("has no table of its numbers")
    targets = [str(link.get("href")) for link in figure.find_all("a")]
    for kind in ("csv", "json"):
        linked = [target for target in targets if target.endswith(f".{kind}")]
        if not linked or resolve(document.site, urlsplit(urljoin(document.address, linked[0])).path) is None:
            found.append(f"has no {kind.upper()} file of its numbers")
    return found


def bare_python(site: Path) -> list[str]:
    """Python blocks of a page without `data-program`; those that mkdocstrings shows are its own."""
    found = []
    for address, document in page_documents(site).items():
        for block in document.content.select(".language-python"):
            own = block.get("data-program") or block.find_parent(attrs={"data-program": True})
            if block.name != "code" and not own and not block.find_parent(class_="doc"):
                found.append(f"{address}: a Python block belongs to no program: {block.get_text()[:60]!r}")
    return found


def programs_shown(document: Document) -> list[str]:
    return [str(block["data-program"]) for block in document.content.select(".language-python.highlight[data-program]")]


def all_links(site: Path) -> set[tuple[str, str]]:
    return {(document.address, target) for document in documents(site).values() for target in document.links()}


def repository_problems(without: Path, having: Path, repository: str) -> list[str]:
    """With a repository, every page links its source and a discussion; without one, the pages lack just these links."""
    owner = urlsplit(repository).path.strip("/")
    plain_links, links = all_links(without), all_links(having)
    into = {(page, target) for page, target in links if owner in target}
    leaked = [(page, target) for page, target in sorted(plain_links) if owner in target]
    found = [f"{page}: {target!r} leads to a repository that is not set" for page, target in leaked]
    found += [f"{page}: {target!r} is there without a repository only" for page, target in sorted(plain_links - links)]
    found += [f"{page}: {target!r} is there with a repository only" for page, target in sorted(links - plain_links - into)]
    for address in page_documents(having):
        own = [target.removeprefix(repository) for page, target in into if page == address and target.startswith(repository)]
        if not any(re.match(r"/(?:blob|tree|edit|raw)/", target) for target in own):
            found.append(f"{address}: no link to its source")
        if not any(re.match(r"/(?:discussions|issues)\b", target) for target in own):
            found.append(f"{address}: no link to a discussion")
    return found


def visible_text(document: Document) -> str:
    """What a reader reads in the main content: no marks for links, no buttons, no scripts."""
    copy = BeautifulSoup(str(document.content), "html.parser")
    for hidden in copy.select("script, style, template, .headerlink, button, .md-clipboard, .md-code__nav, .linenos"):
        hidden.decompose()
    for listing in copy.select("pre"):
        listing.string = listing.get_text()  # however many elements color it
    return " ".join(copy.get_text(" ").split())
