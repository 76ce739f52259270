"""The code of docs/xla.md and docs/cluster.md runs as written."""

import os
import re
import subprocess
import sys
from pathlib import Path

from test_shard import free_port

from bitale import checkpoint

DOCS = Path(__file__).resolve().parents[2] / "docs"


def test_page():
    page = (DOCS / "xla.md").read_text()
    code = "\n".join(re.findall(r"```python\n(.*?)```", page, re.S))
    names = {}
    exec(compile(code, "xla.md", "exec"), names)
    assert names["g"](names["np"].ones((8, 3)), names["np"].zeros(3))[1].shape == (3,)


def test_program_of_a_cluster(tmp_path):
    (code,) = re.findall(r"```python\n(.*?)```", (DOCS / "cluster.md").read_text(), re.S)
    (tmp_path / "train.py").write_text(code)
    common = {
        **os.environ,
        "JAX_PLATFORMS": "cpu",
        "XLA_FLAGS": "",
        "COUNT": "2",
        "COORDINATOR": f"127.0.0.1:{free_port()}",
    }
    processes = [
        subprocess.Popen(
            [sys.executable, "train.py"],
            cwd=tmp_path,
            env={**common, "NUMBER": str(number)},
            stderr=subprocess.STDOUT,
            stdout=subprocess.PIPE,
            text=True,
        )
        for number in range(2)
    ]
    try:
        texts = [process.communicate(timeout=240)[0] for process in processes]
    finally:
        for process in processes:
            process.kill()
            process.wait()
    assert [process.returncode for process in processes] == [0, 0], texts
    assert checkpoint.steps(tmp_path / "train-run") == [80, 100]
    assert len(os.listdir(tmp_path / "train-run" / "step-100")) == 2
