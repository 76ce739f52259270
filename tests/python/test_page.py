"""The HTML page written by bitale.printing, in a real browser."""

import shutil

import pytest

import bitale as bt
import bitale.tensor as pt


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
def show(browser, tmp_path):
    """Opens the page of a graph; browser messages and network requests make the test fail."""
    complaints = []
    page = browser.new_page(viewport={"width": 1400, "height": 900})
    page.on("console", lambda message: complaints.append(message.text))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on(
        "request",
        lambda request: request.url.startswith("file://") or complaints.append(request.url),
    )

    def open_page(graph, **options):
        bt.printing.html(graph, tmp_path / "graph.html", **options)
        page.goto((tmp_path / "graph.html").as_uri())
        return page

    yield open_page
    page.close()
    assert complaints == []


def layers(count):
    """A graph whose nodes are built on few source lines."""
    x = pt.dvector("x")
    y = x
    for i in range(count):
        y = pt.tanh(y * 2.0 + x)
        y = pt.exp(-y) + y
        y.name = f"layer{i}"
    return x, y


def overlaps(page):
    """The number of pairs of overlapping boxes of a pane."""
    return page.evaluate("""() => {
        let count = 0;
        for (const pane of document.querySelectorAll("section:not([hidden])")) {
            const boxes = [...pane.querySelectorAll(".node")].map(node => node.querySelector("rect").getBoundingClientRect());
            boxes.forEach((a, i) => boxes.slice(i + 1).forEach(b => {
                const apart = a.right <= b.left + .5 || b.right <= a.left + .5 || a.bottom <= b.top + .5 || b.bottom <= a.top + .5;
                count += !apart;
            }));
        }
        return count;
    }""")


def shown(page):
    return page.locator("section:not([hidden]) .node").count()


def test_a_small_graph(show):
    x, y = pt.dvectors("x", "y")
    page = show(pt.exp(x) * y + 2.0)
    assert shown(page) >= 5 and overlaps(page) == 0
    page.locator(".node.apply .label").first.click()
    assert "expression" in page.locator("aside").inner_text()
    assert page.locator("path.edge.chosen").count() >= 1


def test_a_click_folds_and_unfolds(show):
    x, y = pt.dvectors("x", "y")
    page = show(pt.exp(pt.sin(x) + 1.0) * y)
    before = shown(page)
    fold = page.locator(".badge", has_text="−").last
    item = fold.get_attribute("data-fold")
    fold.click()
    assert shown(page) < before and overlaps(page) == 0
    page.locator(f'.badge[data-fold="{item}"]').click()
    assert shown(page) == before


def test_search_finds_nodes_that_are_folded_away(show):
    x, y = layers(20)
    page = show(y)
    page.get_by_text("fold all", exact=True).click()
    assert shown(page) < 10
    page.get_by_label("search").fill("layer3 add")
    assert page.locator("output").inner_text() == "1 of 1"
    assert page.locator(".node.found.chosen .label").text_content().startswith("layer3 = ")
    assert "test_page.py" in page.locator("aside").inner_text()
    page.get_by_label("search").fill("nothing of that name")
    assert page.locator("output").inner_text() == "none found"


def test_a_thousand_nodes(show):
    x, y = layers(200)
    assert len(bt.graph.toposort([y])) >= 1000
    page = show(y)
    assert shown(page) < 400
    page.get_by_text("unfold all").click()
    assert shown(page) > 1000 and overlaps(page) == 0
    page.get_by_label("fold by").select_option("line")
    assert shown(page) < 20 and overlaps(page) == 0
    badge = page.locator(".badge").first
    badge.click()
    assert shown(page) > 100


def test_edges_across_a_large_graph_are_straight(show):
    x, y = layers(60)
    page = show(bt.function([x], [y, bt.grad(y.sum(), x)], mode="FAST_COMPILE"))
    page.get_by_text("unfold all").click()
    assert page.locator("path.far").count() > 50 and overlaps(page) == 0


def test_a_notebook(browser):
    x = pt.dvector("x")
    page = browser.new_page()
    page.set_content(bt.function([x], pt.exp(x).sum())._repr_html_())
    page.frame_locator("iframe").locator(".node").first.wait_for()
    page.close()


def test_a_function_before_and_after_rewriting_and_its_program(show):
    x = pt.dvector("x")
    f = bt.function([x], pt.log(1 + pt.exp(x)).sum() * 1.0, mode="FAST_RUN", name="softplus_sum")
    page = show(f)
    assert page.title() == "softplus_sum"
    assert (
        page.locator("section:not([hidden]) h2").all_inner_texts()[0].startswith("after rewriting")
    )
    assert page.locator("section:not([hidden])").count() == 2
    page.get_by_role("button", name="program").click()
    assert "for " in page.locator("section.program pre").inner_text()
    page.get_by_role("button", name="as built").click()
    assert page.locator("section:not([hidden])").count() == 2
    page.locator("section .node.apply .label").first.click()
    assert "made by" in page.locator("aside").inner_text()


def test_times_of_nodes(show):
    x = pt.dvector("x")
    f = bt.function([x], pt.exp(x).sum())
    times = {node: 0.5e-3 * (i + 1) for i, node in enumerate(f.fgraph.toposort())}
    page = show(f, times=times)
    assert "500 µs" in " ".join(page.locator(".node text.time").all_text_contents())
    assert "slowest" in page.locator("aside").inner_text()
    page.get_by_text("fold all", exact=True).click()
    # includes the nodes folded into it
    assert page.locator(".node.folded text.time").text_content().endswith("100.0 %")


def test_special_characters_in_text(show):
    x = pt.dvector('</script><b onload="x">&é')
    page = show(pt.exp(x), title="<i>title</i>")
    assert page.title() == "<i>title</i>"
    assert page.locator(".node.input .label").text_content() == '</script><b onload="x">&é'


def test_wheel_and_keys_zoom(show):
    x = pt.dvector("x")
    page = show(pt.exp(x))
    scale = lambda: page.evaluate("window.page.panes[0].at.scale")
    before = scale()
    page.mouse.move(400, 400)
    page.mouse.wheel(0, -300)
    page.wait_for_function(f"window.page.panes[0].at.scale > {before}")
    page.locator("section svg").first.focus()
    page.keyboard.press("0")
    assert scale() == pytest.approx(before)
