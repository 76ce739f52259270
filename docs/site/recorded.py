"""What the examples in Python print in whole runs: recorded in outputs/ with the time, the date and the machine, and the hash of
the program, so that a page never shows what another version printed."""

from __future__ import annotations

import datetime
import hashlib
import os
import platform
import re
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "examples" / "python"
OUTPUTS = Path(__file__).with_name("outputs")

# Examples that need packages which the site's environment lacks: they draw pictures themselves, which are recorded, too.
WITH_OTHERS = re.compile(r"^\s*(?:import|from) (?:pymc|jax|pytensor|nutpie)\b", re.M)


@dataclass
class Run:
    """What an example prints, its seconds, when and where, and its picture."""

    output: str
    seconds: float
    where: str
    picture: Path | None


def source_hash(example: Path) -> str:
    """Of the program, with the files of its folder that it imports."""
    text = example.read_bytes()
    for name in sorted(re.findall(r"^from (_\w+) import", text.decode(), re.M)):
        text += (example.parent / f"{name}.py").read_bytes()
    return hashlib.sha256(text).hexdigest()[:16]


def of(example: Path) -> Run | None:
    """What the program printed when it was recorded; None if it never was. RuntimeError if it has changed since."""
    file = OUTPUTS / f"{example.stem}.txt"
    if not file.exists():
        return None
    head, _, output = file.read_text(encoding="utf-8").partition("\n")
    source, seconds, where = head.split("; ", 2)
    if source != source_hash(example):
        raise RuntimeError(
            f"{file.relative_to(ROOT)} is what another version of {example.name} printed: ./dev docs --gallery {example.stem}"
        )
    picture = file.with_suffix(".svg")
    return Run(output, float(seconds), where, picture if picture.exists() else None)


def processor() -> str:
    cpu = Path("/proc/cpuinfo")
    found = re.search(r"^model name\s*: (.+)$", cpu.read_text() if cpu.exists() else "", re.M)
    return found[1] if found else platform.processor()


def record(names: list[str]) -> None:
    """Runs examples in Python to their end and keeps what they print; without names, all for which the packages are there.

    One that says that it was skipped keeps the record that it has."""
    OUTPUTS.mkdir(exist_ok=True)
    clean = {name: value for name, value in os.environ.items() if name != "BITALE_EXAMPLE_QUICK"}
    for path in sorted(EXAMPLES.glob("[!_]*.py")):
        draws = bool(WITH_OTHERS.search(path.read_text()))
        if path.stem not in names if names else draws:
            continue
        command = [sys.executable, path, *([OUTPUTS / f"{path.stem}.svg"] if draws else [])]
        start = time.monotonic()
        done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, env=clean)
        seconds = time.monotonic() - start
        if done.returncode:
            raise RuntimeError(f"{path.name} failed:\n{done.stdout}{done.stderr}")
        if done.stdout.startswith("skipped: "):
            print(f"{path.stem}: {done.stdout.strip()}", flush=True)
            continue
        where = f"{datetime.date.today()}, {processor()}"
        text = f"{source_hash(path)}; {seconds:.1f}; {where}\n{done.stdout}"
        (OUTPUTS / f"{path.stem}.txt").write_text(text, encoding="utf-8")
        print(f"{path.stem}: {seconds:.1f} s", flush=True)
