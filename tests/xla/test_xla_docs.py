"""The code of docs/xla.md runs as written."""

import re
from pathlib import Path


def test_page():
    page = (Path(__file__).resolve().parents[2] / "docs" / "xla.md").read_text()
    code = "\n".join(re.findall(r"```python\n(.*?)```", page, re.S))
    names = {}
    exec(compile(code, "xla.md", "exec"), names)
    assert names["g"](names["np"].ones((8, 3)), names["np"].zeros(3))[1].shape == (3,)
