"""A worker process of a run, which checks its share of the seeds."""

from __future__ import annotations

import re
import time
import traceback
from typing import Any


def signature(failure: Any) -> str:
    """The key of a failure: failures with the same key are reported once."""
    texts = " ; ".join(
        re.sub(r"\b[xv]\d+\b", "x", re.sub(r"(?<![\w.])-?\d+(\.\d+)?", "n", step.text))
        for step in failure.case.steps
    )
    configuration = failure.configuration.name if failure.configuration else "building"
    return f"{configuration}: {re.sub(r'[0-9.]+', 'n', failure.kind)}: {texts}"


def work(
    number: int, jobs: int, first: int, end: float, most: int, at: Any, since: Any, results: Any
) -> None:
    """Checks this worker's share of the seeds, starting after the last one of its predecessor with the same number."""
    import bitale as bt

    from .check import again, check_seed, fails_alike
    from .coverage import Coverage, rule_hits
    from .kinds import registry
    from .shrink import shrink

    coverage, last, hits = Coverage(), time.monotonic(), rule_hits()
    seed = at[number]
    while time.time() < end and seed < most:
        at[number], since[number] = seed, time.time()
        try:
            failure = check_seed(seed, bt, registry, coverage)
        except Exception:
            results.put(
                (
                    "failure",
                    seed,
                    "the fuzzer raises",
                    None,
                    None,
                    "the fuzzer",
                    traceback.format_exc(),
                )
            )
            failure = None
        if failure:
            since[number] = time.time() + 60  # extends the deadline, since shrinking takes time
            if failure.configuration is not None:
                small = shrink(failure.case, fails_alike(failure, bt), 30)
                failure = again(small, failure, bt)
            results.put(("failure", seed, signature(failure), failure.case, failure.configuration and failure.configuration.mode,
                         failure.configuration.name if failure.configuration else "building", failure.message))  # fmt: skip
        seed += jobs
        at[number] = seed
        if time.monotonic() - last > 2:
            coverage.note_rules(hits)
            results.put(("coverage", coverage))
            coverage, last, hits = Coverage(), time.monotonic(), rule_hits()
    coverage.note_rules(hits)
    results.put(("coverage", coverage))
    results.put(("done", number))
