"""Prints gcovr's summary a folder a line: covered lines and branches, in percent.

python tools/coverage_table.py summary.json
"""

import collections
import json
import pathlib
import sys

FIELDS = ("line_covered", "line_total", "branch_covered", "branch_total")


def main() -> None:
    counts: dict[str, list[int]] = collections.defaultdict(lambda: [0, 0, 0, 0])
    for file in json.loads(pathlib.Path(sys.argv[1]).read_text())["files"]:
        for folder in (str(pathlib.PurePath(file["filename"]).parent), "all"):
            for k, field in enumerate(FIELDS):
                counts[folder][k] += file[field]
    print(f"{'folder':24} {'lines':>8} {'ran':>6}  {'branches':>8} {'ran':>6}")
    for folder, (lines_ran, lines, branches_ran, branches) in sorted(counts.items()):
        print(
            f"{folder:24} {lines:8} {lines_ran / max(lines, 1):6.0%}  {branches:8} {branches_ran / max(branches, 1):6.0%}"
        )


main()
