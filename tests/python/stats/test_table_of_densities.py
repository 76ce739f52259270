"""The page on densities lists all of them with their parameters."""

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "tools"))

import stats_doc  # noqa: E402


def test_the_page_has_the_table():
    text = stats_doc.PAGE.read_text()
    assert text == stats_doc.page_with_table(text), "python tools/stats_doc.py writes the table"
    assert "| `normal_logpdf` | loc=0, scale=1 | `logcdf`, `logsf` |" in text
