"""The README's Python runs as written."""

import re
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parents[2]


def test_readme(monkeypatch, capsys):
    monkeypatch.chdir(CHECKOUT)
    blocks = re.findall(r"```python\n(.*?)```", (CHECKOUT / "README.md").read_text(), re.S)
    assert blocks
    for block in blocks:
        exec(compile(block, "README.md", "exec"), {})
    accuracy = float(re.search(r"accuracy (\S+)", capsys.readouterr().out)[1])
    assert accuracy > 0.9
