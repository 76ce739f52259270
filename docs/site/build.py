#!/usr/bin/env python3
"""Builds the documentation site; `./dev docs` calls it in .venv-docs.

The sources of the site are put together in build/site-source: pages of docs/ (pages.py), the reference (reference.py), and the
gallery (gallery.py). Sphinx makes the site of them. Warnings are errors, links to pages and headings that don't exist are
warnings, and nothing is fetched."""

from __future__ import annotations

import argparse
import os
import re
import shutil
import sys
import time
from pathlib import Path

import models
import versions
from pages import ROOT, Stage


def version() -> str:
    found = re.search(
        r"project\(\s*bitale\s+VERSION\s+([\d.]+)",
        (ROOT / "CMakeLists.txt").read_text(encoding="utf-8"),
    )
    assert found, "CMakeLists.txt has no version"
    return found[1]


def remove_others(folder: Path, kept: set[Path]) -> None:
    """Files of an earlier build that this one did not write."""
    for path in folder.rglob("*"):
        if path.is_file() and path not in kept:
            path.unlink()


def write_sitemap(output: Path, address: str) -> None:
    names = (
        path.relative_to(output).as_posix()
        for path in sorted(output.rglob("*.html"))
        if path.name != "404.html" and not path.is_relative_to(output / "live")
    )
    entries = "".join(f"<url><loc>{address}{name}</loc></url>\n" for name in names)
    (output / "sitemap.xml").write_text(
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">\n{entries}</urlset>\n',
        encoding="utf-8",
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--output", type=Path, default=ROOT / "build" / "site")
    parser.add_argument(
        "--without-reference",
        action="store_true",
        help="the pages alone, for a quick look at one of them",
    )
    parser.add_argument(
        "--gallery",
        nargs="*",
        metavar="NAME",
        help="records what the examples print, in full runs, and builds nothing",
    )
    options = parser.parse_args()
    if options.gallery is not None:
        import recorded

        recorded.record(options.gallery)
        return 0
    output = options.output.resolve()
    source = output.with_name(output.name + "-source")

    extra = output.with_name(output.name + "-extra")
    start = time.monotonic()
    stage = Stage(source)
    stage.stage_pages(extra)
    models.draw(extra.with_name("models.svg"))
    stage.copy([extra.with_name("models.svg")], "pictures")
    if not options.without_reference:
        import cpp
        import gallery
        from reference import Reference

        Reference(stage, cpp.reference(extra)).write()
        gallery.write(stage)
    stage.stage_sources()
    remove_others(source, stage.written)
    print(f"{len(stage.written)} sources in {time.monotonic() - start:.0f} s", flush=True)

    from sphinx.cmd.build import build_main

    os.environ |= {
        "BITALE_SITE_VERSION": version(),
        "BITALE_SITE_EXTRA": str(extra) if extra.exists() else "",
    }
    doctrees = output.with_name(output.name + "-doctrees")
    strict = [] if options.without_reference else ["-W", "--keep-going"]
    arguments = [
        "-q",
        *strict,
        "-j",
        str(os.cpu_count() or 1),
        "-b",
        "html",
        "-d",
        str(doctrees),
        "-c",
        str(Path(__file__).parent),
    ]
    failed = build_main([*arguments, str(source), str(output)])
    kept = {output / path.relative_to(source).with_suffix(".html") for path in stage.written}
    kept |= {output / path.relative_to(extra) for path in extra.rglob("*.html")}
    kept |= {output / "404.html", output / "genindex.html"}
    for path in set(output.rglob("*.html")) - kept:  # of pages that were moved or removed
        path.unlink()
    import search

    print(f"search: {search.write(output)} pages", flush=True)
    if address := os.environ.get("BITALE_SITE_URL"):
        write_sitemap(output, f"{address.rstrip('/')}/{version()}/")
    versions.write(
        ROOT / "CHANGELOG.md", output / "switcher.json", os.environ.get("BITALE_SITE_URL", "")
    )
    if failed:  # pages that were read are not read again, and their warnings would be missing from the next build
        shutil.rmtree(doctrees, ignore_errors=True)
    print(
        f"{sum(1 for _ in output.rglob('*.html'))} pages in {time.monotonic() - start:.0f} s: {output.relative_to(Path.cwd()) if output.is_relative_to(Path.cwd()) else output}/index.html",
        flush=True,
    )
    return failed


if __name__ == "__main__":
    sys.exit(main())
