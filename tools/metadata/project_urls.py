"""The addresses of the project in the package's metadata, all from the one that pyproject.toml has: that of the repository on
its forge. There are none where it is not set. The links of README.md to files of the repository become addresses, too, since an
index shows the text without them. scikit-build-core calls this when it builds the package."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]


def urls(repository: str) -> dict[str, str]:
    """The entries of [project.urls]."""
    address = repository.rstrip("/")
    if not address:
        return {}
    if not address.startswith("https://"):
        raise ValueError(
            f"pyproject.toml: expected an address with https:// as `repository`, got {address!r}"
        )
    return {
        "Homepage": address,
        "Repository": address,
        "Issues": f"{address}/issues",
        "Documentation": f"{address}/tree/main/docs",
        "Changelog": f"{address}/blob/main/CHANGELOG.md",
    }


def repository() -> str:
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    found = re.search(r'^repository = "(.*)"$', text, re.M)
    if not found:
        raise ValueError("pyproject.toml: expected a line `repository = ...`")
    return found[1]


def readme(text: str, address: str) -> str:
    """With links that lead to the files on the forge."""
    if not address:
        return text
    target = "](" + address.rstrip("/") + "/blob/main/"
    return re.sub(r"\]\((?![\w+]+:|#|/)", lambda _: target, text)


def dynamic_metadata(field: str, settings: Mapping[str, Any]) -> dict[str, str]:
    if field == "urls":
        return urls(settings["repository"])
    if field == "readme":
        text = (ROOT / "README.md").read_text(encoding="utf-8")
        return {"content-type": "text/markdown", "text": readme(text, repository())}
    raise ValueError(f"project_urls: expected urls or readme, got {field}")
