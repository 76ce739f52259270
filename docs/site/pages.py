"""The pages of docs/ as sources of the site: copied to where the site has them, with links that hold there.

In the repository a link names a file. On the site a page may have another name, and a source file has a page that shows it."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterable, Iterator
from pathlib import Path

import browser
import live

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"

# Pages whose place on the site isn't that in docs/.
MOVED = {
    "README.md": "readme.md",
    "CONTRIBUTING.md": "contributing.md",
    "CHANGELOG.md": "changelog.md",
    "docs/README.md": "guide/index.md",
    "docs/api.md": "reference/table.md",
    "docs/site/index.md": "index.md",
}
LANGUAGES = {
    ".cpp": "cpp",
    ".hpp": "cpp",
    ".h": "cpp",
    ".py": "python",
    ".sh": "bash",
    ".cmake": "cmake",
    ".toml": "toml",
}
_CODE = re.compile(r"(^```.*?^```|^:::.*?$|``.+?``|`[^`\n]+`)", re.S | re.M)
_LINK = re.compile(r"\]\(([^)\s]+)\)")


def pages() -> dict[Path, str]:
    """Each page of the repository that the site has, and its name there."""
    found = {ROOT / path: target for path, target in MOVED.items()}
    for path in sorted(DOCS.rglob("*.md")):
        name = path.relative_to(DOCS).as_posix()
        if path not in found and not name.startswith("site/"):
            found[path] = name.replace("README.md", "index.md")
    return found


class Stage:
    """Writes pages below a folder, and collects the source files to which they link."""

    def __init__(self, target: Path) -> None:
        self.target = target
        self.pages = pages()
        self.sources: set[str] = set()
        self.written: set[Path] = set()

    def write(self, name: str, text: str) -> None:
        """Files that did not change keep their time, so that Sphinx reads only the others."""
        path = self.target / name
        path.parent.mkdir(parents=True, exist_ok=True)
        self.written.add(path)
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")

    def copy(self, files: Iterable[Path], folder: str) -> None:
        for file in files:
            target = self.target / folder / file.name
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(file, target)
            self.written.add(target)

    def source(self, path: str) -> str:
        """The page that shows a file or folder of the repository."""
        self.sources.add(path)
        return f"/source/{path}" + ("/index" if (ROOT / path).is_dir() else "") + ".rst"

    def link(self, page: Path, target: str) -> str:
        """Where a link of a page leads on the site."""
        path, mark, heading = target.partition("#")
        if not path or re.match(r"\w+:|/", target):
            return target
        file = (page.parent / path).resolve()
        if file in self.pages:
            return f"/{self.pages[file]}{mark}{heading}"
        inside = file.relative_to(ROOT).as_posix()
        if inside.startswith("docs/pictures/"):
            return "/" + file.relative_to(DOCS).as_posix()
        return self.source(inside)

    def text(self, page: Path) -> str:
        parts = _CODE.split(page.read_text(encoding="utf-8"))
        parts[::2] = [
            _LINK.sub(lambda m: f"]({self.link(page, m[1])})", part) for part in parts[::2]
        ]
        return "".join(parts)

    def stage_pages(self, extra: Path) -> None:
        """Files of pages that are not Sphinx's go to the folder `extra`."""
        self.copy(sorted((DOCS / "pictures").iterdir()), "pictures")
        for page, name in self.pages.items():
            text = self.text(page)
            if live.shows(text):
                text = live.expanded(text, name, extra)
            if browser.has_demos(text):
                text = browser.expanded(text, name, extra)
            if name.endswith("/index.md") or (DOCS / name).with_suffix("").is_dir():
                text += "".join(self.toctrees(name, text))
            elif name == "readme.md":
                text = "---\norphan: true\n---\n\n" + text
            self.write(name, text)

    def toctrees(self, index: str, text: str) -> Iterator[str]:
        """The pages to which the overview of a folder links are below it in the navigation, under its headings. The overview is
        the folder's index, or a page of the folder's name next to it. That of the guide links to pages of docs/ itself."""
        folder = index.removesuffix("index.md")
        if folder == index:
            folder = index.removesuffix(".md") + "/"
        own = re.compile(
            r"\]\(/([\w-]+)\.md\)" if folder == "guide/" else rf"\]\(/({folder}[\w-]+)\.md\)"
        )
        for section in re.split(r"^## ", text, flags=re.M):
            entries = dict.fromkeys(own.findall(section))
            if entries:
                caption = (
                    section.partition("\n")[0]
                    if section != text and not section.startswith("#")
                    else ""
                )
                yield toctree(entries, caption)

    def stage_sources(self) -> None:
        for name in sorted(self.sources):
            path = ROOT / name
            if path.is_dir():
                lines = [
                    f"- ``{each.name}{'/' if each.is_dir() else ''}``"
                    for each in sorted(path.iterdir())
                    if each.name != "__pycache__"
                ]
                self.write(f"source/{name}/index.rst", _source_page(name + "/", "\n".join(lines)))
            else:
                place = self.target / "source" / name
                shown = os.path.relpath(path, place.parent)
                self.write(
                    f"source/{name}.rst",
                    _source_page(
                        name,
                        f".. literalinclude:: {shown}\n   :language: {LANGUAGES.get(path.suffix, 'none')}",
                    ),
                )


def _source_page(name: str, body: str) -> str:
    return f":orphan:\n:nosearch:\n\n{name}\n{'=' * len(name)}\n\n{body}\n"


def toctree(entries: Iterable[str], caption: str = "") -> str:
    head = f":caption: {caption}\n" if caption else ""
    return (
        f"\n```{{toctree}}\n:hidden:\n{head}\n"
        + "".join(f"/{entry}\n" for entry in entries)
        + "```\n"
    )
