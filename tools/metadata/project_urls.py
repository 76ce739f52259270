"""The addresses of the project in the package's metadata, all from the one that pyproject.toml has: that of the repository on
its forge. None where it is not set. scikit-build-core calls this when it builds the package."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


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


def dynamic_metadata(field: str, settings: Mapping[str, Any]) -> dict[str, str]:
    if field != "urls" or settings.keys() != {"repository"}:
        raise ValueError(
            f"project_urls: expected the setting `repository` for urls, got {dict(settings)} for {field}"
        )
    return urls(settings["repository"])
