"""Checks one case: runs it in several configurations and compares the results with the oracle."""

from __future__ import annotations

import dataclasses
from typing import Any, Iterable

import numpy as np

from . import complex_graphs, known, sparse_graphs
from .case import Case, build, evaluate, evaluate_by_ops
from .compare import Ensemble, difference
from .coverage import Coverage
from .exported import AS_C, AS_OBJECT, Exported
from .generate import Refused, random_case
from .gradients import wrong_gradient
from .configurations import ALWAYS, AS_BUILT, OFTEN, RARELY, Configuration


@dataclasses.dataclass
class Failure:
    case: Case
    configuration: Configuration | None  # None if the graph cannot be built
    message: str
    seed: int | None = None

    @property
    def kind(self) -> str:
        """The class of failure that shrinking preserves: the class of error, or a wrong value."""
        if "no error:" in self.message or "expected" in self.message and "raises" in self.message:
            return "invalid"
        for word in (
            "dtype",
            "shape",
            "elements are wrong",
            "gradient is wrong",
            "raises",
            "changed an argument",
            "type:",
        ):
            if word in self.message:
                return word if word != "raises" else self.message.split(":")[0]
        return self.message


def run(case: Case, bt: Any, configuration: Configuration, ensemble: Ensemble) -> Failure | None:
    try:
        got = configuration.results(case, bt)
    except Exception as error:
        if isinstance(error, NotImplementedError) and isinstance(configuration, Exported):
            return None  # some functions cannot be exported, and the export then raises NotImplementedError
        first = str(error).strip().split("\n")[0]
        return Failure(case, configuration, f"raises {type(error).__name__}: {first}")
    for label, value in got.items():
        message = difference(value, label.split(" ")[0], ensemble)
        if message:
            return Failure(case, configuration, message)
    return None


def is_promised(failure: Failure, bt: Any, ensemble: Ensemble) -> bool:
    """Whether documented domain-widening rules explain the failure: the reference is not finite, and the case passes
    without them."""
    configuration = failure.configuration
    if configuration is None or not configuration.rewrites or failure.kind != "elements are wrong":
        return False
    finite = all(
        np.isfinite(each.array).all() for each in ensemble.native.values() if each.dtype.kind == "f"
    )
    return not finite and run(failure.case, bt, configuration.without("domain"), ensemble) is None


def check(
    case: Case, bt: Any, configurations: Iterable[Configuration], coverage: Coverage | None = None
) -> Failure | None:
    """The first failure that is neither promised (see is_promised) nor listed in known.py."""
    ensemble = Ensemble(case)
    for configuration in configurations:
        failure = run(case, bt, configuration, ensemble)
        if coverage is not None:
            coverage.counts[f"by {configuration.name}"] += 1
        if failure is None:
            continue
        if is_promised(failure, bt, ensemble):
            if coverage is not None:
                coverage.counts["with a wider domain, as promised"] += 1
            continue
        if known.explains(failure):
            if coverage is not None:
                coverage.counts["with known bugs"] += 1
            continue
        return failure
    return None


def configurations_for(rng: np.random.Generator) -> list[Configuration]:
    """The configurations of ALWAYS, and a random choice of the others."""
    configurations = list(ALWAYS)
    configurations.append(OFTEN[int(rng.integers(len(OFTEN)))])
    if rng.random() < 0.06:
        rare = [*RARELY, AS_OBJECT, AS_C] if Exported.is_possible() else RARELY
        configurations.append(rare[int(rng.integers(len(rare)))])
    return configurations


def check_seed(seed: int, bt: Any, kinds: Any, coverage: Coverage) -> Failure | None:
    """Checks the graph of a seed in some of the configurations; one seed in eight gets an expression that must raise, another one
    a graph of complex numbers, and one in sixteen a graph of sparse values."""
    coverage.counts["graphs"] += 1
    if seed % 8 == 7:
        from .invalid import check_invalid

        coverage.counts["without a value"] += 1
        invalid = check_invalid(seed, bt)
        if invalid and known.explains(invalid):
            coverage.counts["with known bugs"] += 1
            return None
        return invalid
    if seed % 8 == 3:
        coverage.counts["of complex numbers"] += 1
        found = complex_graphs.check(seed, bt)
        return Failure(found[0], None, found[1], seed) if found else None
    if seed % 16 == 13:
        coverage.counts["of sparse values"] += 1
        found = sparse_graphs.check(seed, bt)
        return Failure(found[0], None, found[1], seed) if found else None
    try:
        case = random_case(seed, bt, kinds)
    except Refused as refused:
        failure = Failure(refused.case, None, refused.message, seed)
        if known.explains(failure):
            coverage.counts["with known bugs"] += 1
            return None
        return failure
    message = wrong_gradient(case, np.random.default_rng(seed))
    if message:
        failure = Failure(case, AS_BUILT, message, seed)
        if not known.explains(failure):
            return failure
    env = build(case, bt)
    coverage.note_graph([env[name] for name in case.results])
    failure = check(case, bt, configurations_for(np.random.default_rng(seed)), coverage)
    if failure:
        failure.seed = seed
    return failure


def fails_alike(failure: Failure, bt: Any) -> Any:
    """The predicate that holds throughout shrinking: the smaller case fails in the same configuration."""

    def fails(case: Case) -> bool:
        if failure.configuration is None:
            return False
        if failure.kind == "invalid":
            return still_gives_a_value(case, bt, failure.configuration)
        if "gradient is wrong" in failure.message:
            return wrong_gradient(case, np.random.default_rng(failure.seed)) is not None
        evaluate_by_ops(case)  # raises if the smaller case is invalid
        ensemble = Ensemble(case)
        found = run(case, bt, failure.configuration, ensemble)
        return (
            found is not None
            and found.kind == failure.kind
            and not known.explains(found)
            and not is_promised(found, bt, ensemble)
        )

    return fails


def again(small: Case, failure: Failure, bt: Any) -> Failure:
    """The failure of the shrunk case."""
    if failure.kind == "invalid":
        return dataclasses.replace(failure, case=small)
    if failure.kind == "gradient is wrong":
        message = wrong_gradient(small, np.random.default_rng(failure.seed))
        return dataclasses.replace(failure, case=small, message=message or failure.message)
    return run(small, bt, failure.configuration, Ensemble(small)) or failure


def still_gives_a_value(case: Case, bt: Any, configuration: Configuration) -> bool:
    """Whether a case for which the oracle raises returns a value in this configuration."""
    try:
        evaluate(case)
        return False
    except (ValueError, IndexError, TypeError, AssertionError):
        pass
    configuration.results(case, bt)
    return True
