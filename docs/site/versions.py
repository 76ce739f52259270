"""The versions of the site, for its switcher: the one that is built, and the releases of the changelog, each in a folder of its own
below the site's address."""

from __future__ import annotations

import json
import re
from pathlib import Path


def of_changelog(text: str) -> list[tuple[str, bool]]:
    """Versions with whether they are released, the newest first."""
    found = re.findall(r"^## \[(\d+\.\d+\.\d+)\] - (.+)$", text, re.M)
    return [(version, state.strip() != "unreleased") for version, state in found]


def switcher(text: str, address: str) -> str:
    """The file that pydata-sphinx-theme's switcher reads; the newest release is the one that old pages point to."""
    entries = []
    newest = next((version for version, is_released in of_changelog(text) if is_released), None)
    for version, is_released in of_changelog(text):
        entry = {
            "name": version if is_released else f"{version} (development)",
            "version": version,
            "url": f"{address.rstrip('/')}/{version}/",
        }
        entries.append(entry | {"preferred": True} if version == newest else entry)
    return json.dumps(entries, indent=2) + "\n"


def write(changelog: Path, target: Path, address: str) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(switcher(changelog.read_text(encoding="utf-8"), address), encoding="utf-8")
