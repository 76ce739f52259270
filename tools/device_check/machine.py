"""What the machine has: an interpreter with JAX, Bitale from a wheel, the device and the processor by name."""

from __future__ import annotations

import glob
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]


def interpreters() -> list[str]:
    """This one, those on the PATH, and those of virtual environments in /opt."""
    found = [
        sys.executable,
        *(path for name in ("python3", "python3.12") if (path := shutil.which(name))),
    ]
    return list(dict.fromkeys([*found, *sorted(glob.glob("/opt/*/.venv/bin/python3"))]))


def with_jax() -> str:
    """The first interpreter of the wheel's version that imports JAX. SystemExit naming those tried, if none does."""
    for path in interpreters():
        if subprocess.run([path, "-c", "import jax"], capture_output=True).returncode == 0:
            return path
    raise SystemExit(
        f"device_check: none of {', '.join(interpreters())} has the package jax (pip install jax)"
    )


def unpacked(wheel: Path) -> str:
    """A new folder with the wheel's packages, to be put on the path of modules."""
    folder = tempfile.mkdtemp(prefix="bitale-wheel-")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder)
    return folder


def processor_name() -> str:
    with open("/proc/cpuinfo") as lines:
        return next(
            (line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")),
            "unknown",
        )


def driver() -> str:
    """NVIDIA's, or none."""
    try:
        query = [
            "nvidia-smi",
            "--query-gpu=name,driver_version,memory.total",
            "--format=csv,noheader",
        ]
        return subprocess.run(query, capture_output=True, text=True, timeout=30).stdout.strip()
    except OSError:
        return "none"


def description() -> dict[str, Any]:
    """Names and versions, for the report."""
    import bitale
    import jax
    import jaxlib
    import numpy

    device = jax.devices()[0]
    return {
        "device": device.device_kind,
        "platform": device.platform,
        "devices": len(jax.devices()),
        "driver": driver(),
        "processor": processor_name(),
        "processors": len(os.sched_getaffinity(0)),
        "jax": jax.__version__,
        "jaxlib": jaxlib.__version__,
        "numpy": numpy.__version__,
        "python": sys.version.split()[0],
        "bitale": str(bitale.__version__),
    }
