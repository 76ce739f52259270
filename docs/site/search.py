"""The index of the site's search, made by Pagefind of the pages that Sphinx wrote, and what each kind of page counts.

A page of the guide counts more than one of the reference whose text has the word as well; the page of a function comes first
for its name. Pages that show source files are not found."""

from __future__ import annotations

import html
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

# Of the longest beginning of a page's name: the weight of its text, and of its title.
WEIGHTS = {
    "": (1.0, 9.0),
    "howto/": (2.0, 10.0),
    "start/": (1.5, 9.0),
    "tutorial/": (1.5, 8.0),
    "gallery/": (0.7, 8.0),
    "errors/": (0.7, 7.0),
    "reference/": (0.3, 4.0),
    "reference/api/": (0.3, 3.0),
    "design": (0.4, 3.0),
    "measurements": (0.2, 3.0),
    "upstream": (0.2, 2.0),
    "rewrite_rules": (0.2, 3.0),
    "releasing": (0.3, 4.0),
    "changelog": (0.2, 4.0),
    "reference/table": (0.1, 1.0),
    "testing": (0.3, 4.0),
    "documentation_site": (0.2, 2.0),
}
_LEFT_OUT = ("source/", "cpp/", "live/", "genindex", "search", "404", "readme")
_ARTICLE = re.compile(r'<article class="bd-article">(.*)</article>', re.S)
_TITLE = re.compile(r"<h1>(.*?)(?:<a class=\"headerlink\".*?)?</h1>", re.S)
_SECTION = re.compile(r'<section id="([^"]+)">(\s*)<h([2-6])>')
_HEADING = re.compile(r"<h([2-6])")


def weights(name: str) -> tuple[float, float]:
    return WEIGHTS[max((each for each in WEIGHTS if name.startswith(each)), key=len)]


def document(name: str, page: str) -> str | None:
    """What Pagefind reads of a page; None for one that has no text of its own."""
    article, title = _ARTICLE.search(page), _TITLE.search(page)
    if not article or not title:
        return None
    text, heading = weights(name)
    body = article[1].replace(title[0], "", 1)
    body = _SECTION.sub(
        r'<section>\2<h\3 id="\1">', body
    )  # where the search finds what results link to
    body = _HEADING.sub(lambda m: f'{m[0]} data-pagefind-weight="{max(text, heading / 2)}"', body)
    shown = re.sub(r"<.*?>", "", title[1])
    words = ""
    if name.startswith(
        "reference/api/"
    ):  # the name alone; names of several words, of which it may be one, come after it
        last = html.unescape(shown).rpartition(".")[2]
        is_word = last.isalnum() and last.islower()
        heading = heading if is_word else 1.0
        words = f'<p data-pagefind-weight="{10 if is_word else 2}">{html.escape(last)}</p>'
    words = f'<h1 data-pagefind-weight="{heading}">{shown}</h1>{words}'
    return f'<html lang="en"><body data-pagefind-weight="{text}">{words}{body}</body></html>'


def write(site: Path) -> int:
    """Makes the index in the site's folder pagefind; how many pages it has."""
    count = 0
    shutil.rmtree(site / "pagefind", ignore_errors=True)
    with tempfile.TemporaryDirectory() as folder:
        for path in sorted(site.rglob("*.html")):
            name = path.relative_to(site).as_posix().removesuffix(".html")
            if name.startswith(_LEFT_OUT):
                continue
            text = document(name, path.read_text(encoding="utf-8"))
            if text is not None:
                target = Path(folder) / f"{name}.html"
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_text(text, encoding="utf-8")
                count += 1
        # Its program: the interface for Python was seen to end before all files were written.
        options = ["--include-characters", "_.", "--keep-index-url", "--quiet"]
        options += [
            "--exclude-selectors",
            ".headerlink",
            "--exclude-selectors",
            ".copybtn",
            "--exclude-selectors",
            "div.live",
        ]
        target = ["--site", folder, "--output-path", str(site / "pagefind")]
        subprocess.run([sys.executable, "-m", "pagefind", *target, *options], check=True)
    return count
