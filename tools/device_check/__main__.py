"""python tools/device_check --wheel FILE --out FOLDER: Bitale on XLA's device, checked and measured in four minutes.

Needs a checkout (tests/xla, bench), a wheel of Bitale for the Python that has JAX there, and pytest. Writes report.json and
report.md into the folder after each step, so that a run which is cut off leaves what it has, and prints the table;
programs.zip has what XLA made of each workload. Without --wheel the Bitale that Python finds is used. A rehearsal on a processor: JAX_PLATFORMS=cpu, with --size small.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
import zipfile
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from device_check import machine


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="device_check", description=__doc__.splitlines()[0])
    parser.add_argument("--wheel", type=Path, help="a wheel of Bitale for the Python that has JAX")
    parser.add_argument(
        "--out",
        type=Path,
        required=True,
        help="the folder for report.json, report.md, programs.zip and tests.log",
    )
    parser.add_argument(
        "--size", choices=["device", "small"], default="device", help="of the workloads"
    )
    parser.add_argument("--seconds", type=float, default=240, help="that all of it may take")
    parser.add_argument("--each", type=float, default=0.5, help="seconds to measure a workload")
    parser.add_argument(
        "--share",
        type=float,
        default=0.6,
        help="of the seconds that is for the workloads, the rest is for the tests",
    )
    parser.add_argument("--dtypes", nargs="+", default=["float32", "float64"])
    parser.add_argument(
        "--tests", default="", help="an expression for pytest's -k; `none` leaves the tests out"
    )
    return parser.parse_args()


def main() -> int:
    start, chosen = time.monotonic(), arguments()
    if os.environ.get("BITALE_DEVICE_CHECK") != "started":  # with JAX and the wheel on the path
        own = dict(os.environ, BITALE_DEVICE_CHECK="started")
        own["XLA_PYTHON_CLIENT_PREALLOCATE"] = (
            "false"  # the processes of the tests need memory of the device, too
        )
        own.setdefault(
            "JAX_PLATFORMS", "cuda,cpu" if machine.driver() not in ("", "none") else "cpu"
        )
        if chosen.wheel:
            own["PYTHONPATH"] = os.pathsep.join(
                [machine.unpacked(chosen.wheel), own.get("PYTHONPATH", "")]
            )
        interpreter = machine.with_jax()
        os.execve(interpreter, [interpreter, str(Path(__file__).parent), *sys.argv[1:]], own)

    import jax

    jax.config.update("jax_enable_x64", True)
    jax.config.update("jax_default_matmul_precision", "highest")  # as in Bitale's modules
    from device_check import measure, report, suite

    chosen.out.mkdir(parents=True, exist_ok=True)
    whole: dict[str, Any] = {
        "machine": machine.description(),
        "limits": measure.limits(chosen.size),
        "workloads": [],
    }

    def keep(**more: Any) -> None:
        whole.update(more, seconds=time.monotonic() - start)
        (chosen.out / "report.json").write_text(json.dumps(whole, indent=1))
        (chosen.out / "report.md").write_text(report.table(whole) + "\n")

    print(report.table(whole), flush=True)
    deadline = start + chosen.share * chosen.seconds
    try:
        keep(updates=measure.updates_stay(chosen.size))
    except Exception as failure:
        keep(updates={"transfers": f"{type(failure).__name__}: {failure}"})
    programs = zipfile.ZipFile(chosen.out / "programs.zip", "w", zipfile.ZIP_DEFLATED)
    for row in measure.rows(
        chosen.size,
        chosen.dtypes,
        whole["limits"]["used"],
        deadline,
        chosen.each,
        programs.writestr,
    ):
        keep(workloads=[*whole["workloads"], row])
        print(f"{time.monotonic() - start:5.0f} s {report.line(row)}", flush=True)
    programs.close()
    keep(peak=(jax.devices()[0].memory_stats() or {}).get("peak_bytes_in_use"))
    if chosen.tests != "none":
        left = max(10, start + chosen.seconds - time.monotonic())
        keep(
            tests=suite.run(
                os.environ["JAX_PLATFORMS"], left, chosen.tests, chosen.out / "tests.log"
            )
        )
    print(report.table(whole), flush=True)
    is_fine = (
        all(row.get("agrees", True) for row in whole["workloads"])
        and whole["updates"].get("transfers") == "none"
    )
    return 0 if is_fine and whole.get("tests", {"status": 0})["status"] == 0 else 1


if __name__ == "__main__":
    sys.exit(main())
