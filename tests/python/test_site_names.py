"""Every public name is in the reference of the documentation site. docs/site/names.py says what has a page; test_site.py, which
needs Sphinx, checks that the pages are there."""

import importlib
import json
import pkgutil
import re
import shutil
import sys
from pathlib import Path

import pytest

import bitale as bt

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "docs" / "site"))
import live
import names
import versions

sys.path.pop(0)


def modules():
    for found in pkgutil.walk_packages(bt.__path__, "bitale."):
        if any(part.startswith("_") for part in found.name.split(".")):
            continue
        try:
            yield importlib.import_module(found.name)
        except ImportError as error:  # of bridges to packages that are not installed
            assert found.name.startswith(("bitale.pytensor", "bitale.graph.rewriting."))
            assert "PyTensor" in str(error) or "packages that are not installed" in str(error)


@pytest.fixture(scope="module")
def described():
    found = [*names.entries(), *(entry for each in names.listed().values() for entry in each)]
    assert len({id(entry.value) for entry in found}) == len(found) > 1500
    return found


def test_every_public_name_is_described(described):
    known = {id(entry.value) for entry in described}
    missing = []
    for module in modules():
        if not re.fullmatch(names.INTERNAL, module.__name__) and not module.__name__.startswith(
            "bitale.pytensor"
        ):
            missing += [
                f"{module.__name__}.{name}"
                for name in names.public_names(module)
                if id(getattr(module, name)) not in known
            ]
    assert not missing, "give their modules a page in docs/site/names.py"


def test_modules_of_the_reference_have_something_to_describe(described):
    assert {*names.MODULES, *names.LISTED} == {entry.module for entry in described}
    assert not [
        module for module in (*names.MODULES, *names.LISTED) if re.fullmatch(names.INTERNAL, module)
    ]
    assert len(set(names.LISTED.values()) | set(names.MODULES.values())) == len(names.LISTED) + len(
        names.MODULES
    )


def test_names_of_the_reference_are_unique(described):
    all_names = [name for entry in described for name in entry.names]
    assert len(set(all_names)) == len(all_names)
    assert {
        "bitale.function",
        "bitale.tensor.exp",
        "bitale.xtensor.XTensorVariable",
        "bitale.xtensor.math.exp",
        "bitale.ShapeError",
    } <= set(all_names)


def test_versions():
    """The switcher's file: the version that is built and the releases, of which the newest is preferred."""
    changelog = "# Changelog\n\n## [0.3.0] - unreleased\n\n## [0.2.1] - 2025-03-01\n\n### Added\n\n## [0.2.0] - 2025-01-01\n"
    first, second, third = json.loads(versions.switcher(changelog, "https://example.org/bitale/"))
    assert first == {
        "name": "0.3.0 (development)",
        "version": "0.3.0",
        "url": "https://example.org/bitale/0.3.0/",
    }
    assert second["preferred"] and second["name"] == "0.2.1" and "preferred" not in third
    own = versions.of_changelog(
        (Path(__file__).resolve().parents[2] / "CHANGELOG.md").read_text(encoding="utf-8")
    )
    assert own[0][0] == bt.__version__


def test_values_in_pages(tmp_path):
    """A line of a page that shows a value stands for what a notebook shows of it; its folder on the site is that of the page."""
    text = "```python\nn = 2\n```\n<!-- shows 'a' * n -->\nwords\n```python\nw = pt.vector('w')\n```\n<!-- shows pt.exp(w) -->\n<!-- shows bt.printing.html(w + 1) -->\n"
    text = "```python\nimport bitale as bt, bitale.tensor as pt\n```\n" + text
    shown = live.expanded(text, "howto/page.md", tmp_path)
    assert (
        "```text\naa\n```\n\nwords\n" in shown and "```{math}\n" in shown and "shows" not in shown
    )
    assert 'src="../live/howto-page-3.html"' in shown and 'class="node' not in shown
    assert (tmp_path / "live" / "howto-page-3.html").read_text().startswith("<!DOCTYPE")
    with pytest.raises(ZeroDivisionError):
        live.expanded("<!-- shows 1 / 0 -->\n", "page.md", tmp_path)


@pytest.mark.parametrize("name", ["pipeline.md", "pictures.md", "howto/notebooks.md"])
def test_pages_that_show_values(name, tmp_path):
    if name == "pictures.md" and shutil.which("dot") is None:
        pytest.skip("Graphviz is not installed")
    text = (Path(__file__).resolve().parents[2] / "docs" / name).read_text(encoding="utf-8")
    assert live.shows(text)
    assert "<!-- shows" not in live.expanded(text, name, tmp_path)
    assert all(
        file.read_text(encoding="utf-8").startswith("<!DOCTYPE")
        for file in (tmp_path / "live").iterdir()
    )
