"""The built pages and an executed notebook, as a browser shows them, light and dark.

Collected where playwright is installed: the extra ``browser``. Chromium comes from the system, the
pages from ``python -m sphinx -W docs docs/_build``.
"""

import shutil

import nbformat
import pytest
from conftest import ROOT
from nbclient import NotebookClient
from nbconvert import HTMLExporter
from playwright.sync_api import sync_playwright

pytestmark = pytest.mark.slow

BUILT = ROOT / "docs" / "_build"
THEMES = ("light", "dark")
# What is wider than its page and can't be scrolled to by itself, and words outside of a picture.
CUT_OFF = """() => {
  const room = document.querySelector(".bd-article-container") ?? document.body;
  const right = room.getBoundingClientRect().right;
  const scrolls = (node) => node !== room
    && (/auto|scroll/.test(getComputedStyle(node).overflowX) || scrolls(node.parentElement));
  const wide = [...room.querySelectorAll("*")].filter((node) => node.checkVisibility()
    && node.getBoundingClientRect().right > right + 1 && !scrolls(node.parentElement));
  const outside = [...document.querySelectorAll("svg[viewBox] text")].filter((text) => {
    const inner = text.getBoundingClientRect(), outer = text.closest("svg").getBoundingClientRect();
    return inner.left < outer.left - 1 || inner.right > outer.right + 1
      || inner.top < outer.top - 1 || inner.bottom > outer.bottom + 1;
  });
  const missing = [...document.images].filter((image) =>
    !image.naturalWidth && image.loading !== "lazy");
  return [...wide, ...outside, ...missing].map((node) => node.outerHTML.slice(0, 120));
}"""
# Words whose contrast (WCAG's) with what lies behind them is too low to be read. Not looked at is
# what others colour: scikit-learn's diagram, the theme's hint of a key, a notebook's code.
FAINT = """() => {
  const parts = (color) => color.match(/[\\d.]+/g).map(Number);
  const alpha = (color) => color.length === 4 ? color[3] : 1;
  const linear = (part) => part <= 10 ? part / 3294 : ((part / 255 + 0.055) / 1.055) ** 2.4;
  const light = ([r, g, b]) => 0.2126 * linear(r) + 0.7152 * linear(g) + 0.0722 * linear(b);
  const over = (front, share, back) =>
    [0, 1, 2].map((part) => front[part] * share + back[part] * (1 - share));
  const upwards = (node) => node ? [node, ...upwards(node.parentElement)] : [];
  const contrast = (node) => {
    const line = upwards(node).map((one) => getComputedStyle(one));
    const shades = line.map((style) => parts(style.backgroundColor));
    const back = shades.reduceRight(
      (behind, shade) => over(shade, alpha(shade), behind), [255, 255, 255]);
    const word = parts(node.closest("svg") ? line[0].fill : line[0].color);
    const share = line.reduce((product, style) => product * style.opacity, alpha(word));
    const [low, high] = [light(over(word, share, back)), light(back)].sort((x, y) => x - y);
    return (high + 0.05) / (low + 0.05);
  };
  const others = ".sk-top-container, .search-button__kbd-shortcut, .jp-InputArea, .jp-OutputPrompt";
  const says = (node) => [...node.childNodes].some((part) =>
    part.nodeType === Node.TEXT_NODE && part.data.trim());
  return [...document.querySelectorAll("body *:not(script, style)")].filter((node) => says(node)
    && node.checkVisibility({checkOpacity: true, checkVisibilityCSS: true})
    && !node.closest(others) && contrast(node) < 4.5)
    .map((node) => contrast(node).toFixed(2) + node.outerHTML.slice(0, 120));
}"""


@pytest.fixture(scope="module")
def chromium():
    path = shutil.which("chromium") or shutil.which("google-chrome")
    assert path, "no Chromium: apt-get install chromium"
    assert BUILT.exists(), "no pages: python -m sphinx -W docs docs/_build"
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture(params=THEMES)
def theme(request):
    return request.param


@pytest.fixture
def page(chromium, theme):
    """A page that remembers what was logged as an error or could not be loaded."""
    context = chromium.new_context(
        color_scheme=theme, viewport={"width": 1280, "height": 1000}, offline=True
    )
    page = context.new_page()
    page.wrong = []
    page.on("console", lambda said: said.type == "error" and page.wrong.append(said.text))
    page.on("pageerror", lambda error: page.wrong.append(str(error)))
    page.on("requestfailed", lambda request: page.wrong.append(request.url))
    yield page
    context.close()


def opened(page, path):
    page.goto(path.as_uri())
    assert (page.wrong, page.evaluate(CUT_OFF), page.evaluate(FAINT)) == ([], [], []), path
    return page


def assert_seen(element, width):
    """An element is there, and so wide at least."""
    assert element.is_visible()
    assert element.bounding_box()["width"] >= width


@pytest.fixture(scope="module")
def built_pages():
    paths = [path for path in BUILT.rglob("*.html") if "_static" not in path.parts]
    assert len(paths) > 60
    return paths


def test_no_page_is_cut_off_or_logs_an_error(page, built_pages):
    for path in built_pages:
        opened(page, path)


def test_no_page_is_cut_off_on_a_narrow_screen(page, built_pages):
    page.set_viewport_size({"width": 400, "height": 900})
    for path in built_pages:
        opened(page, path)


def test_the_gallery_shows_pictures(page):
    opened(page, BUILT / "auto_examples" / "index.html")
    assert page.locator(".sphx-glr-thumbcontainer").count() == len([*ROOT.glob("examples/*.py")])


def assert_shows_a_search(page, n_rungs):
    table = page.locator("table", has_text="lowest promoted").last
    assert_seen(table, 200)
    assert table.locator("tbody tr").count() == n_rungs
    picture = page.locator("svg", has_text="epochs").last
    assert_seen(picture, 300)


def test_a_search_on_a_page(page):
    assert_shows_a_search(opened(page, BUILT / "auto_examples" / "quickstart.html"), n_rungs=4)


class Watched(NotebookClient):
    """Keeps what a display was updated to, which the notebook has the last of."""

    def process_message(self, msg, cell, cell_index):
        if msg["msg_type"] == "update_display_data":
            self.updates = [*getattr(self, "updates", ()), msg["content"]["data"]["text/html"]]
        return super().process_message(msg, cell, cell_index)


@pytest.fixture(scope="module")
def executed():
    """A notebook with its outputs, and what its live table went through."""
    notebook = nbformat.read(ROOT / "examples" / "first_steps.ipynb", as_version=4)
    # Every update is shown, however fast a rung is.
    every = "from sklearn_sha._progress import notebook\nnotebook._SECONDS_BETWEEN_UPDATES = 0"
    notebook.cells.insert(0, nbformat.v4.new_code_cell(every))
    client = Watched(notebook, timeout=300)
    client.execute()
    return notebook, client.updates


def test_an_executed_notebook(page, theme, executed, tmp_path):
    exporter = HTMLExporter(theme=theme, mathjax_url="", require_js_url="")
    path = tmp_path / "notebook.html"
    path.write_text(exporter.from_notebook_node(executed[0])[0])
    opened(page, path)
    assert_shows_a_search(page, n_rungs=4)
    live = page.locator("table", has_text="best parameters")
    assert live.locator("tbody tr").count() == 4 + 1  # rungs and the refit
    assert_seen(live, 500)


def test_the_bar_of_a_live_table(page, executed, tmp_path):
    under_way = [html for html in executed[1] if "<progress max" in html]
    path = tmp_path / "live.html"
    values = []
    for html in under_way:
        path.write_text(f"<!doctype html><body>{html}</body>")
        bar = opened(page, path).locator("progress")
        assert_seen(bar, 100)
        values.append(float(bar.get_attribute("value")) / float(bar.get_attribute("max")))
    assert len(values) > 4
    assert 0 <= min(values) < 0.5 < max(values) <= 1
