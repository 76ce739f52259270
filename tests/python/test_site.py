"""The documentation site: it builds without warnings, each public name has a page, and the search finds what people ask for."""

import fcntl
import functools
import http.server
import importlib
import inspect
import json
import re
import shutil
import subprocess
import threading
import zlib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PYTHON = ROOT / ".venv-docs" / "bin" / "python"
SITE = ROOT / "build" / "site"

pytestmark = pytest.mark.skipif(
    not PYTHON.exists(), reason="Sphinx is not installed (./dev setup docs)"
)

MODULES = [
    "bitale", "bitale.tensor", "bitale.tensor.linalg", "bitale.tensor.special", "bitale.tensor.fft", "bitale.tensor.signal",
    "bitale.tensor.optimize", "bitale.tensor.random", "bitale.random", "bitale.sparse", "bitale.sparse.linalg", "bitale.gradient", "bitale.scan",
    "bitale.compile", "bitale.link", "bitale.graph", "bitale.printing", "bitale.profile", "bitale.rewrite", "bitale.assumptions", "bitale.ifelse",
    "bitale.breakpoint", "bitale.raise_op", "bitale.typed_list", "bitale.jax", "bitale.array_api",
]  # fmt: skip

# What people type, and the page that is among the first three.
QUESTIONS = {
    "gradient nan": "howto/nan-gradient",
    "why slow": "howto/slow",
    "shapes don't match": "howto/shapes",
    "int8 literals": "howto/dtypes",
    "from jax": "howto/from-jax",
    "from theano": "howto/from-theano",
    "custom op": "howto/custom-op",
    "save compiled function": "howto/save",
    "cluster": "howto/cluster",
    "deterministic": "howto/deterministic",
    "container cache": "howto/cache",
    "notebook": "howto/notebooks",
    "logsumexp": "reference/api/bitale.tensor.logsumexp",
    "bitale.tensor.exp": "reference/api/bitale.tensor.exp",
    "svd": "reference/api/bitale.tensor.linalg.svd",
    "cholesky": "reference/api/bitale.tensor.linalg.cholesky",
    "scan": "reference/api/bitale.scan",
    "sparse matrices": "sparse",
    "pymc": "pymc",
    "rewrite rules": "rewrites",
    "Gaussian process": "gallery/gp_co2",
    "DebugMode": "debugging",
    "glossary": "glossary",
    "robot arm": "gallery/robot_arm",
    "bundle adjustment": "gallery/bundle_adjustment",
    "stages of the pipeline": "pipeline",
    "dict of parameters": "tutorial/trees",
    "pytree": "howto/faq",
    "Adam": "reference/api/bitale.optimizers.adam",
    "seed": "howto/faq",
    "reproducible": "howto/faq",
    "batch": "howto/faq",
    "vmap": "howto/from-jax",
    "multiprocessing": "howto/faq",
    "fork": "howto/faq",
    "pandas": "howto/faq",
    "dataframe": "howto/faq",
    "silence warnings": "howto/faq",
    "conda": "howto/faq",
    "docker": "howto/faq",
    "export C": "export",
    "WebAssembly": "browser",
    "run in a web page": "browser",
    "ODE": "integrate",
    "differential equations": "integrate",
    "float32": "howto/dtypes",
    "warn_float64": "howto/dtypes",
    "install": "start/index",
    "offline install": "howto/faq",
    "macOS": "howto/faq",
    "Windows": "howto/faq",
    "print a value": "debugging",
    "stop gradient": "howto/faq",
    "shared variable": "tutorial/updates",
    "hessian": "reference/api/bitale.hessian",
    "jacobian": "reference/api/bitale.jacobian",
    "for loop": "scan",
    "random numbers": "random",
    "threads": "howto/faq",
    "GPU": "howto/cluster",
    "checkpoint": "checkpoint",
    "profile": "profiling",
    "linear regression": "start/numpy",
    "hierarchical model": "start/pytensor",
    "scipy minimize": "optimize",
    "C++ cmake": "start/cpp",
    "named dimensions": "howto/labels",
    "ShapeError": "errors/ShapeError",
    "what does PyTensor have": "howto/faq",
    "recompile": "howto/faq",
    "compile time": "howto/slow",
    "softmax": "reference/api/bitale.tensor.softmax",
    "clip": "reference/api/bitale.tensor.clip",
    "command line": "command_line",
    "conditional": "tutorial/control_flow",
    "bug report": "contributing",
    "cite": "howto/faq",
}


@pytest.fixture(scope="module")
def site():
    """Several processes of tests wait for the one that builds; theirs then find nothing to do."""
    SITE.parent.mkdir(exist_ok=True)
    with open(SITE.parent / "site.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        done = subprocess.run(
            [PYTHON, ROOT / "docs" / "site" / "build.py", "--output", SITE],
            cwd=ROOT,
            capture_output=True,
            text=True,
        )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "WARNING" not in done.stderr and "ERROR" not in done.stderr, done.stderr
    return SITE


def names_of_site(site):
    """The objects that other sites can link to, with their pages."""
    data = (site / "objects.inv").read_bytes().split(b"\n", 4)[4]
    for line in zlib.decompress(data).decode().splitlines():
        name, kind, _, page, _ = re.match(
            r"(.+?) (py:\w+|std:\w+) (-?\d+) (\S+) (.*)", line
        ).groups()
        if kind.startswith("py:"):
            yield name, page.replace("$", name)


def test_every_public_name_has_a_page(site):
    pages = dict(names_of_site(site))
    documented = {}
    for name in MODULES:
        module = importlib.import_module(name)
        for attribute in getattr(module, "__all__", None) or dir(module):
            value = getattr(module, attribute)
            own = str(getattr(value, "__module__", "")).startswith("bitale")
            if (
                attribute[0] != "_"
                and own
                and (inspect.isclass(value) or inspect.isroutine(value))
                and inspect.getdoc(value)
            ):
                documented.setdefault(id(value), []).append(f"{name}.{attribute}")
    assert len(documented) > 900
    missing = [names for names in documented.values() if not any(name in pages for name in names)]
    assert not missing
    for names in documented.values():
        page = next(pages[name] for name in names if name in pages)
        assert (site / page.partition("#")[0]).exists(), names


def test_pages_of_the_reference_have_their_sections(site):
    text = (site / "reference" / "api" / "bitale.tensor.softmax.html").read_text(encoding="utf-8")
    for part in ("Parameters", "Returns", "Examples", "See also", "log_softmax"):
        assert part in text
    text = (site / "reference" / "api" / "bitale.tensor.tanh.html").read_text(encoding="utf-8")
    assert "<math" in text and "bitale.tensor.tanh.svg" in text and "pytensor.tensor.tanh" in text
    assert "2.25 ulp in float64" in text


@pytest.mark.skipif(shutil.which("node") is None, reason="Node.js is not installed")
def test_search_finds_what_people_ask_for(site):
    found = subprocess.run(
        ["node", Path(__file__).with_name("site_search.mjs"), site, *QUESTIONS],
        capture_output=True,
        text=True,
    )
    assert found.returncode == 0, found.stderr
    wrong = {}
    for (question, expected), pages in zip(QUESTIONS.items(), json.loads(found.stdout)):
        if expected not in pages[:3]:
            wrong[question] = pages[:5]
    assert len(QUESTIONS) > 60 and not wrong


def test_pages_have_descriptions_and_no_index_of_words(site):
    """Words are in the index of the search, which a page loads when it is asked."""
    names = {path.stem for path in (site / "pagefind" / "fragment").iterdir()}
    assert len(names) > 1000
    text = (site / "howto" / "faq.html").read_text(encoding="utf-8")
    assert '<meta name="description" content="Short answers' in text and "searchindex" not in text


def test_nothing_is_fetched(site):
    """Pages name no script, style or picture of another server."""
    for page in (
        "index.html",
        "404.html",
        "guide/index.html",
        "reference/api/bitale.tensor.tanh.html",
    ):
        text = (site / page).read_text(encoding="utf-8")
        assert not re.findall(
            r"<(?:script|link|img)[^>]+(?:src|href)=\"(?:https?:)?//[^\"]*\"", text
        )


@pytest.fixture(scope="module")
def browser():
    playwright = pytest.importorskip(
        "playwright.sync_api", reason="playwright is not installed (./dev setup browser)"
    )
    program = next(
        filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None
    )
    if program is None:
        pytest.skip("no Chromium is installed (./dev setup browser)")
    with playwright.sync_playwright() as driver:
        chromium = driver.chromium.launch(executable_path=program, args=["--no-sandbox"])
        yield chromium
        chromium.close()


@pytest.fixture
def page(browser, site):
    """A page in a narrow window; messages of the browser, and requests to other places, make the test fail."""
    complaints = []
    page = browser.new_page(viewport={"width": 400, "height": 800})
    page.on(
        "console",
        lambda message: message.type in ("error", "warning") and complaints.append(message.text),
    )
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on(
        "request",
        lambda request: (
            request.url.startswith(("file://", "data:", "about:")) or complaints.append(request.url)
        ),
    )
    yield page
    page.close()
    assert complaints == []


def test_pages_are_readable_in_narrow_windows(page, site):
    """The pages of docs/ itself, which have the widest tables and longest lines, and one of each other kind."""
    others = ["guide/index", "start/numpy", "howto/dtypes", "tutorial/shapes", "errors/ShapeError", "reference/index", "reference/api/bitale.tensor.tanh",
              "reference/api/bitale.function", "gallery/index", "gallery/kalman", "gallery/robot_arm"]  # fmt: skip
    names = [path.stem for path in site.glob("*.html") if path.stem not in ("404", "genindex")]
    assert len(names) > 35
    wrong = {}
    for name in [*names, *others]:
        page.goto((site / f"{name}.html").as_uri(), wait_until="domcontentloaded")
        width = page.evaluate("document.documentElement.scrollWidth")
        size = page.evaluate(
            "parseFloat(getComputedStyle(document.querySelector('article p')).fontSize)"
        )
        if not page.locator("h1").first.inner_text() or width > 400 or size < 14:
            wrong[name] = (width, size)
    assert not wrong


def test_lines_of_code_fit(browser, site):
    """96 characters in a window of 1280 px."""
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    page.goto((site / "tutorial" / "compilation.html").as_uri())
    line, room = page.evaluate(
        """() => {
          const code = document.querySelector("article pre"), line = document.createElement("span");
          line.textContent = "x".repeat(96);
          code.append(line);
          const style = getComputedStyle(code);
          return [line.getBoundingClientRect().width,
                  code.clientWidth - parseFloat(style.paddingLeft) - parseFloat(style.paddingRight)];
        }"""
    )
    page.close()
    assert line <= room


def test_graphs_are_live(page, site):
    """The page of the pipeline shows its function as built, each step of its rewriting, and as it is compiled."""
    page.goto((site / "pipeline.html").as_uri())
    frames = page.locator("div.live iframe")
    assert frames.count() >= 3
    for k in range(frames.count()):
        frames.nth(k).scroll_into_view_if_needed()
        inside = page.frame_locator("div.live iframe").nth(k)
        inside.locator(".node, mark").first.wait_for()
        if inside.locator("#next").count():
            inside.locator("#next").click()
            assert (
                inside.locator("section.shown h1, section.shown h2")
                .first.inner_text()
                .startswith("2 of ")
            )
        else:
            inside.locator(".node.apply .label").first.dispatch_event("click")
            assert "expression" in inside.locator("aside").inner_text()
    assert "code generation" in page.locator("article").inner_text()


def test_notebooks_page_shows_mathematics(page, site):
    page.goto((site / "howto" / "notebooks.html").as_uri())
    lines = page.locator("article math mtable mtr")
    assert lines.count() == 2 and "softmax" in lines.nth(1).text_content()
    assert "&" not in page.locator("article math").last.text_content()
    assert page.evaluate(
        "[...document.images].every(image => image.complete && image.naturalWidth > 0)"
    )


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *arguments):
        pass


def test_search_in_the_browser(browser, site):
    """Results come while one types, with excerpts, and lead to pages from any folder."""
    handler = functools.partial(Quiet, directory=site)
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        page = browser.new_page(viewport={"width": 400, "height": 800})
        page.goto(f"http://127.0.0.1:{server.server_port}/reference/api/bitale.grad.html")
        page.keyboard.press("Control+k")
        page.locator("dialog#site-search input").wait_for()
        page.keyboard.type("multiproces")
        first = page.locator(".pagefind-ui__result").first
        first.wait_for()
        assert "fork" in first.locator(".pagefind-ui__result-excerpt").first.inner_text()
        first.locator("a").first.click()
        page.wait_for_url("**/howto/faq.html*")
        assert page.locator("h1").inner_text().startswith("Frequent questions")
        page.close()
        server.shutdown()
