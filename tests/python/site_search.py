"""What the search of the documentation site finds: the terms of the index in the order of scores that Sphinx's script gives them,
without its snippets. Runs in .venv-docs, which has the stemmer by which the index was made.

    site_search.py SITE QUERY...    prints for each query the pages found, the best first, as JSON"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

from sphinx.search.en import SearchEnglish

TITLE, PARTIAL_TITLE, TERM, PARTIAL_TERM, OBJECT, EXACT_OBJECT = 15, 7, 5, 2, 6, 20


def read_index(site: Path) -> dict:
    text = (site / "searchindex.js").read_text(encoding="utf-8")
    return json.loads(text[text.index("(") + 1 : text.rindex(")")])


def _pages(value) -> list[int]:
    return value if isinstance(value, list) else [value]


def _scores_of_term(index: dict, stem: str) -> dict[int, float]:
    out: dict[int, float] = {}
    for table, whole, part in (("titleterms", TITLE, PARTIAL_TITLE), ("terms", TERM, PARTIAL_TERM)):
        for term, where in index[table].items():
            score = whole if term == stem else part if len(stem) > 2 and stem in term else 0
            for page in _pages(where) if score else []:
                out[page] = max(out.get(page, 0), score)
    return out


def _add_objects(index: dict, words: list[str], out: dict[int, float]) -> None:
    """One word is part of an object's name, and all others of its name, kind or page's title."""
    for prefix, entries in index["objects"].items():
        for page, kind, priority, _, name in entries:
            full = f"{prefix}.{name}".lower() if prefix else name.lower()
            place = (
                f"{prefix} {name} {index['objnames'][str(kind)][2]} {index['titles'][page]}".lower()
            )
            for word in words:
                if word in full and all(other in place for other in words if other != word):
                    last = full.rpartition(".")[2]
                    score = EXACT_OBJECT if word in (full, last) else OBJECT if word in last else 0
                    out[page] = max(out.get(page, 0), score + (15, 5, -5)[priority])


def _place_scores() -> dict[str, int]:
    text = (Path(__file__).parents[2] / "docs" / "site" / "scorer.js").read_text(encoding="utf-8")
    return json.loads(re.search(r"PLACES = ({.*?});", text)[1])


def find(index: dict, query: str) -> list[str]:
    stemmer = SearchEnglish({})
    words = [word.lower() for word in re.findall(r"\w+", query)]
    terms = [stemmer.stem(word) for word in words if stemmer.word_filter(word)]
    by_term = [_scores_of_term(index, term) for term in terms]
    out: dict[int, float] = {}
    for page in set.intersection(*map(set, by_term)) if by_term else ():
        out[page] = max(scores[page] for scores in by_term)
    _add_objects(index, words, out)
    for title, places in index["alltitles"].items():
        if query.lower() in title.lower() and len(query) >= len(title) / 2:
            for page, anchor in places:
                bonus = 1 if anchor is None else 0
                out[page] = max(out.get(page, 0), TITLE * len(query) / len(title) + bonus)
    places = _place_scores()
    for page in out:
        name, score = index["docnames"][page], out[page]
        out[page] += sum(
            more
            for start, more in places.items()
            if name.startswith(start) and (more < 0 or score >= PARTIAL_TITLE)
        )
    ranked = sorted(out, key=lambda page: (-out[page], index["titles"][page].lower()))
    return [index["docnames"][page] for page in ranked]


if __name__ == "__main__":
    found = read_index(Path(sys.argv[1]))
    print(json.dumps([find(found, query) for query in sys.argv[2:]]))
