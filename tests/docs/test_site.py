"""The built site: quick, complete, without a dead link, and the same on every machine."""

import json
import re
import shutil
import sys
import tempfile
from pathlib import Path

import pytest
import yaml
from bs4 import BeautifulSoup
from markdownify import markdownify

from scripts.pages import dist
from scripts.pages import llms_txt as twins
from tests.docs import builds, pages, site_rules
from tests.docs.builds import SITE_URL
from tests.docs.pages import ROOT
from tests.turns import taken_if

# How many yardsticks of tests/docs/builds.py a build may cost: 281 pages cost 28 to 34 of them, alone and beside others, in what
# was 28 s of processor time on one day and 60 s on another. To render every page twice costs more than this allows.
YARDSTICKS = 50
SETTINGS = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")


def test_it_builds_in_time(site):
    assert site.cost < YARDSTICKS, f"the build cost {site.cost:.1f} yardsticks"


def test_every_page_is_built(site):
    assert set(site_rules.page_documents(site.site)) == {f"/{address}" for address in pages.addresses()}


def test_every_link_leads_somewhere(site):
    assert site_rules.dead_links(site.site, SITE_URL) == []


@pytest.mark.parametrize("build", builds.ENGINES)
def test_every_page_links_the_ones_before_and_after_it(build, request):
    folder = request.getfixturevalue(build).site
    assert site_rules.neighbor_problems(folder, pages.navigation()) == []
    assert site_rules.Document(folder / "404.html", folder).soup.select(".bw-bar") == []


def test_no_path_of_this_machine_is_published(site):
    assert site_rules.machine_paths(site.site, [str(ROOT), sys.prefix, str(Path.home()), tempfile.gettempdir() + "/"]) == []


def test_every_chapter_says_what_it_was_checked_with(site):
    assert site_rules.unchecked_chapters(site.site, primary_gpu()) == []


def test_llms_txt_lists_the_markdown_twin_of_every_page(site):
    assert site_rules.twin_problems(site.site, SITE_URL) == []


def test_the_search_knows_every_page(site):
    assert site_rules.unsearchable(site.site) == []


def test_the_search_reads_prose_and_listings_apart(site):
    file = site.site / "search" / "book.json"
    book = json.loads(file.read_text(encoding="utf-8"))
    texts, listings = {entry["location"]: entry["text"] for entry in book["docs"]}, book["listings"]
    assert [at for at, text in texts.items() if "<pre>" in text or "torch.testing.assert_close(" in text] == []
    assert any("tl.arange" in text for at, text in texts.items() if at.startswith("course/"))
    assert any("torch.testing.assert_close(" in text for text in listings.values())
    assert any("Windows" in text for at, text in listings.items() if at.startswith("reference/compatibility/"))
    assert set(listings) <= set(texts) and {"about/glossary/#atomic", "reference/language/#tl.load"} <= set(texts)
    assert max(map(len, texts.values())) < 10_000, "a drawing's text came into the index"
    assert file.stat().st_size < 3_000_000 and file.with_name("search_index.json").stat().st_size < 1_000


@pytest.mark.parametrize("build", builds.ENGINES)
def test_the_first_page_is_titled_once(build, request):
    home = (request.getfixturevalue(build).site / "index.html").read_text(encoding="utf-8")
    assert re.search(r"<title>\s*(.*?)\s*</title>", home)[1] == "Blockwise"


def test_every_chart_has_its_numbers(site):
    assert site_rules.chart_problems(site.site) == []


def test_every_python_block_is_built_with_its_program(site):
    built = site_rules.page_documents(site.site)
    written = {address: [] for address in built}
    for block in pages.blocks():
        written[f"/{pages.address_of(block.page)}"].append(block.program)
    assert {address: site_rules.programs_shown(document) for address, document in built.items()} == written
    assert site_rules.bare_python(site.site) == []


def test_there_is_a_page_for_what_is_not_there(site):
    lost = site_rules.Document(site.site / "404.html", site.site)
    assert any(site_rules.internal(target, "/", SITE_URL) == ("/", "") for target in lost.links())
    assert lost.content.get_text(strip=True)


def test_published_data_lies_where_readers_look_for_it(site):
    listed = json.loads((site.site / "data" / "programs.json").read_text(encoding="utf-8"))
    assert [entry["path"] for entry in listed if not (site.site / entry["path"]).is_file()] == []
    assert (site.site / "data" / "benchmarks.csv").is_file()


@pytest.mark.parametrize("build", builds.ENGINES)
def test_the_library_and_the_sources_are_files_of_the_site(build, request):
    folder = request.getfixturevalue(build).site / "dist"
    assert sorted(path.name for path in folder.iterdir()) == dist.names()


@taken_if(builds.WITH_REPOSITORY)
def test_links_to_a_repository_appear_when_there_is_one(site, site_with_repository):
    assert site_rules.repository_problems(site.site, site_with_repository.site, builds.REPOSITORY) == []


def test_a_lab_s_page_brings_no_style_sheet_and_no_script(site):
    labs = {at: page for at, page in site_rules.page_documents(site.site).items() if at.startswith("/labs/")}
    assert len(labs) >= 4
    for page in labs.values():
        assert page.content.select("style, link, iframe, script[src]") == []
        assert len(page.content.select(".lab-cell")) >= 6 and page.path.stat().st_size < 250_000


@taken_if(builds.WITH_REPOSITORY)
def test_a_lab_opens_in_a_cloud_notebook_where_there_is_a_repository(site, site_with_repository):
    for built, wanted in ((site.site, 0), (site_with_repository.site, 1)):
        for address, page in site_rules.page_documents(built).items():
            if address.startswith("/labs/"):
                found = [target for target in page.links() if "colab.research.google.com" in target]
                path = f"docs{address.rstrip('/')}.ipynb"
                owner = builds.REPOSITORY.removeprefix("https://github.com/")
                assert found == [f"https://colab.research.google.com/github/{owner}/blob/main/{path}"] * wanted
                assert (ROOT / path).is_file()


def test_a_build_without_prepared_files_names_the_command(tmp_path):
    builds.copy_sources(tmp_path / "checkout")
    for name in ("programs", "data", "generated"):
        shutil.rmtree(tmp_path / "checkout" / "docs" / name, ignore_errors=True)
    done, _ = builds.run([sys.executable, "-m", "mkdocs", "build", "--strict"], tmp_path / "checkout")
    assert done.returncode != 0 and "scripts/prepare.py" in done.stdout, done.stdout[-2000:]


@pytest.mark.parametrize("address", ["course/softmax-ladder", "course/matmul-ladder", "course/patterns"])
def test_a_twin_is_the_same_where_less_of_its_page_is_read(site, address):
    page = (site.site / address / "index.html").read_text(encoding="utf-8")
    read = twins.less(page)
    assert read.count("<") < 0.7 * page.count("<") and twin_of(read) == twin_of(page)


def twin_of(page: str) -> str:
    soup = BeautifulSoup(page, "html.parser")
    for drawing in soup.find_all("svg"):
        drawing.decompose()  # as the plugin does it
    twins.preprocess(soup, "")
    return markdownify(str(soup.article))


def primary_gpu() -> str:
    """The GPU of the newest record whose numbers the pages show."""
    machine = re.search(r"^  primary: (\S+)$", SETTINGS, re.MULTILINE)[1]
    records = [json.loads(path.read_text(encoding="utf-8")) for path in (ROOT / "docs" / "baked" / machine).rglob("*.json")]
    environments = [record["environment"] for record in records if "environment" in record]
    assert environments, f"docs/baked/{machine} holds no record"
    return max(environments, key=lambda environment: environment["measured_at"])["gpu"]


PAGE = """<html><body><main><article>
<div class="bw-bar"><span>Lesson</span><nav><a rel="prev" href="../../">Home</a></nav></div>
<h1>Sums</h1><h2 id="how">How</h2><a href="../../">home</a> <a href="#how">how</a> <img src="../../a.png" srcset="../../a.png 2x">
<p class="checked">Checked on an NVIDIA H200 with Triton 3.6.0 and torch 2.11.0.</p>
<div class="language-python highlight" data-program="sums/sum"><pre><code>x</code></pre></div>
<figure class="chart"><svg><title>Bandwidth</title></svg><figcaption>On an H200, Triton 3.6.0, 2026-11-20.</figcaption>
<table><thead><tr><th>n</th></tr></thead><tbody><tr><td>1</td></tr></tbody></table>
<a href="../../sum.csv">CSV</a> <a href="../../sum.json">JSON</a></figure>
</article></main></body></html>
"""
HOME = '<html><body><main><article><h1>Home</h1><a href="course/sums/#how">sums</a></article></main></body></html>'
FILES = {
    "index.html": HOME,
    "index.md": "# Home\n",
    "404.html": '<html><body><main><a href="/blockwise/">home</a></main></body></html>',
    "course/sums/index.html": PAGE,
    "course/sums/index.md": "# Sums\n",
    "llms.txt": "- [Home](https://example.org/blockwise/index.md)\n- [Sums](https://example.org/blockwise/course/sums/index.md)\n",
    "a.png": "x",
    "sum.csv": "n\n1\n",
    "sum.json": "{}",
    "assets/a.css": "@font-face { src: url(a.woff2) }",
    "assets/a.woff2": "x",
    "assets/a.js": 'import "./b.js";',
    "assets/b.js": "export {};",
    "search/book.json": json.dumps({"docs": [{"location": at, "text": "x"} for at in ("", "course/sums/#how")]}),
}
CHECKS = {
    "links": lambda site: site_rules.dead_links(site, SITE_URL),
    "neighbors": lambda site: site_rules.neighbor_problems(site, ["/", "/course/sums/"]),
    "paths": lambda site: site_rules.machine_paths(site, ["/checkout/blockwise"]),
    "checked": lambda site: site_rules.unchecked_chapters(site, "NVIDIA H200"),
    "twins": lambda site: site_rules.twin_problems(site, SITE_URL),
    "search": site_rules.unsearchable,
    "charts": site_rules.chart_problems,
    "python": site_rules.bare_python,
}
SUMS = "course/sums/index.html"
DEFECTS = {
    "a dead link": ("links", SUMS, 'href="../../"', 'href="../"'),
    "a dead anchor": ("links", SUMS, 'id="how"', 'id="why"'),
    "a dead anchor elsewhere": ("links", "index.html", "#how", "#why"),
    "a dead image": ("links", SUMS, 'src="../../a.png"', 'src="a.png"'),
    "a dead image set": ("links", SUMS, "../../a.png 2x", "b.png 2x"),
    "a dead absolute link": ("links", "index.html", "course/sums/#how", "https://example.org/blockwise/course/products/"),
    "a link past the site's folder": ("links", "index.html", 'href="course/', 'href="/course/'),
    "a dead font": ("links", "assets/a.css", "a.woff2", "b.woff2"),
    "a dead import": ("links", "assets/a.js", "./b.js", "./c.js"),
    "no page before": ("neighbors", SUMS, '<a rel="prev" href="../../">Home</a>', ""),
    "another page before": ("neighbors", SUMS, 'rel="prev" href="../../"', 'rel="prev" href="../"'),
    "a page after the last": ("neighbors", SUMS, "Home</a></nav>", 'Home</a><a rel="next" href="../../">Home</a></nav>'),
    "a neighbor without a title": ("neighbors", SUMS, ">Home</a></nav>", "></a></nav>"),
    "no kind of page": ("neighbors", SUMS, "<span>Lesson</span>", "<span> · 5 min</span>"),
    "neighbors above Home": ("neighbors", "index.html", "<h1>Home", '<div class="bw-bar"></div><h1>Home'),
    "the checkout's path": ("paths", "sum.json", "{}", "/checkout/blockwise/kernels/add.py"),
    "somebody's home": ("paths", "sum.csv", "1", '"/home/ann/kernels.py"'),
    "no Triton": ("checked", SUMS, "Triton 3.6.0 and", "and"),
    "no torch": ("checked", SUMS, "torch 2.11.0", "nothing"),
    "another GPU": ("checked", SUMS, "NVIDIA H200", "NVIDIA A100"),
    "an unlisted page": ("twins", "llms.txt", "course/sums", "course/sum"),
    "an empty twin": ("twins", "course/sums/index.md", "# Sums", ""),
    "an unfilled twin": ("twins", "course/sums/index.md", "# Sums", "# Sums\n[= a =]"),
    "a page not indexed": ("search", "search/book.json", "course/sums", "course/sum"),
    "a chart without a table": ("charts", SUMS, "<tr><td>1</td></tr>", ""),
    "a chart without a date": ("charts", SUMS, ", 2026-11-20", ""),
    "a chart without CSV": ("charts", SUMS, "sum.csv", "sums.csv"),
    "a chart without JSON": ("charts", SUMS, '<a href="../../sum.json">JSON</a>', ""),
    "a chart without words": ("charts", SUMS, "<title>Bandwidth</title>", ""),
    "Python of no program": ("python", SUMS, ' data-program="sums/sum"', ""),
}


@pytest.fixture
def small(tmp_path):
    def write(changed: dict[str, str]) -> Path:
        for name, text in (FILES | changed).items():
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        return tmp_path

    return write


@pytest.mark.parametrize("check", CHECKS.values(), ids=CHECKS)
def test_a_site_that_keeps_the_rules_passes(small, check):
    assert check(small({})) == []


@pytest.mark.parametrize("check, name, old, new", DEFECTS.values(), ids=DEFECTS)
def test_a_planted_defect_is_reported(small, check, name, old, new):
    assert old in FILES[name]
    assert CHECKS[check](small({name: FILES[name].replace(old, new)}))


def with_links(tmp_path: Path, name: str, links: str) -> Path:
    (tmp_path / name).mkdir()
    (tmp_path / name / "index.html").write_text(f"<article>{links}</article>", encoding="utf-8")
    return tmp_path / name


def test_the_links_of_a_repository_are_compared(tmp_path):
    repository = "https://github.com/somebody/something"
    source, talk = f'<a href="{repository}/blob/main/a.md">s</a>', f'<a href="{repository}/discussions">d</a>'
    plain = with_links(tmp_path, "plain", "<a href=a>a</a>")
    both = with_links(tmp_path, "both", f"<a href=a>a</a>{source}{talk}")
    assert site_rules.repository_problems(plain, both, repository) == []
    for number, links in enumerate([source, talk, f"{source}{talk}<a href=b>b</a>", ""]):
        wrong = with_links(tmp_path, str(number), f"<a href=a>a</a>{links}")
        assert site_rules.repository_problems(plain, wrong, repository)
    leaking = with_links(tmp_path, "leaking", f"<a href=a>a</a>{talk}")
    assert site_rules.repository_problems(leaking, leaking, repository)


def test_the_settings_are_those_the_tests_expand_with():
    extensions = yaml.compose(SETTINGS).value
    names = {key.value: value for key, value in extensions}
    snippets = [item for item in names["markdown_extensions"].value if isinstance(item, yaml.MappingNode)]
    options = next(value for item in snippets for key, value in item.value if key.value == "pymdownx.snippets")
    assert {key.value: yaml.safe_load(yaml.serialize(value)) for key, value in options.value} == {
        "base_path": ["."], "check_paths": True, "dedent_subsections": True,
    }  # fmt: skip
