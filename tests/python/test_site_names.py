"""Every public name is in the reference of the documentation site. docs/site/names.py says what has a page; test_site.py, which
needs Sphinx, checks that the pages are there."""

import importlib
import json
import pkgutil
import re
import sys
from pathlib import Path

import pytest

import bitale as bt

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "docs" / "site"))
import names
import versions

sys.path.pop(0)


def modules():
    for found in pkgutil.walk_packages(bt.__path__, "bitale."):
        if any(part.startswith("_") for part in found.name.split(".")):
            continue
        try:
            yield importlib.import_module(found.name)
        except ImportError as error:  # the bridge to PyTensor, where that is not installed
            assert "bitale.pytensor" in found.name and "PyTensor" in str(error)


@pytest.fixture(scope="module")
def described():
    found = [*names.entries(), *(entry for each in names.listed().values() for entry in each)]
    assert len({id(entry.value) for entry in found}) == len(found) > 1500
    return found


def test_every_public_name_is_described(described):
    known = {id(entry.value) for entry in described}
    missing = []
    for module in modules():
        if not re.fullmatch(names.INTERNAL, module.__name__) and not module.__name__.startswith("bitale.pytensor"):
            missing += [f"{module.__name__}.{name}" for name in names.public_names(module) if id(getattr(module, name)) not in known]
    assert not missing, "give their modules a page in docs/site/names.py"


def test_modules_of_the_reference_have_something_to_describe(described):
    assert {*names.MODULES, *names.LISTED} == {entry.module for entry in described}
    assert not [module for module in (*names.MODULES, *names.LISTED) if re.fullmatch(names.INTERNAL, module)]
    assert len(set(names.LISTED.values()) | set(names.MODULES.values())) == len(names.LISTED) + len(names.MODULES)


def test_names_of_the_reference_are_unique(described):
    all_names = [name for entry in described for name in entry.names]
    assert len(set(all_names)) == len(all_names)
    assert {"bitale.function", "bitale.tensor.exp", "bitale.xtensor.XTensorVariable", "bitale.xtensor.math.exp", "bitale.ShapeError"} <= set(all_names)


def test_versions():
    """The switcher's file: the version that is built and the releases, of which the newest is preferred."""
    changelog = "# Changelog\n\n## [0.3.0] - unreleased\n\n## [0.2.1] - 2025-03-01\n\n### Added\n\n## [0.2.0] - 2025-01-01\n"
    first, second, third = json.loads(versions.switcher(changelog, "https://example.org/bitale/"))
    assert first == {"name": "0.3.0 (development)", "version": "0.3.0", "url": "https://example.org/bitale/0.3.0/"}
    assert second["preferred"] and second["name"] == "0.2.1" and "preferred" not in third
    own = versions.of_changelog((Path(__file__).resolve().parents[2] / "CHANGELOG.md").read_text(encoding="utf-8"))
    assert own[0][0] == bt.__version__
