"""Random graphs of the whole language against the oracle: a part of what `./dev fuzz` runs, and the cases that have
failed before.

BITALE_TEST_FUZZ_GRAPHS is the number of graphs (default 2300), BITALE_TEST_FUZZ_LOOPS that of programs of loops (default
20), BITALE_TEST_FUZZ_SEED the first seed.
"""

import os
import pathlib
import sys

import numpy as np
import pytest

tests = pathlib.Path(__file__).parents[1]
sys.path.insert(0, str(tests))

import bitale as bt
from fuzz import case as cases
from fuzz import derivatives
from fuzz import compare, coverage, kinds, known, loops, shrink, configurations, sparse_graphs
from fuzz.check import Failure, again, check, check_seed, fails_alike, run
from fuzz.compare import Ensemble
from fuzz.generate import random_case
from sampling import part_of

first = int(os.environ.get("BITALE_TEST_FUZZ_SEED", "1"))
graphs = part_of(range(first, first + int(os.environ.get("BITALE_TEST_FUZZ_GRAPHS", "2300"))))
programs = range(first, first + int(os.environ.get("BITALE_TEST_FUZZ_LOOPS", "20")))


def test_random_gradients_at_special_points():
    """Against dual numbers, at zeros, ties, boundaries of switches, and elements that are masked or never read."""
    claimed = 0
    seeds = part_of(range(first, first + 150))
    for seed in seeds:
        program = derivatives.generate(np.random.default_rng(seed))
        found = derivatives.wrong(program)
        assert not found, f"seed {seed}: {found}\n{derivatives.shrunk(program).text()}"
        claimed += found is None
    assert claimed > len(seeds) // 2


def test_random_graphs():
    seen = coverage.Coverage()
    hits = coverage.rule_hits()
    for seed in graphs:
        failure = check_seed(seed, bt, kinds.registry, seen)
        if failure:
            if failure.configuration is not None:
                failure = again(
                    shrink.shrink(failure.case, fails_alike(failure, bt), 30), failure, bt
                )
            where = failure.configuration.name if failure.configuration else "building"
            pytest.fail(
                f"seed {seed}: {where}: {failure.message}\n\n{cases.script(failure.case, failure.configuration.mode if failure.configuration else '')}"
            )
    seen.note_rules(hits)
    print(coverage.report(seen))
    assert seen.counts["with a wider domain, as promised"] <= 0.02 * len(graphs)
    if len(graphs) >= 2000:
        missing = [op for op in coverage.all_ops() if not seen.ops[op]]
        assert not missing, "no generator reaches these ops"


def test_graphs_of_sparse_values_draw_every_form():
    import re

    texts = " ".join(
        step.text for seed in range(2000) for step in sparse_graphs.random_case(seed).steps
    )
    named = set(re.findall(r"\bsparse\.((?:linalg\.)?\w+)", texts))
    written = (tests / "fuzz" / "sparse_graphs.py").read_text()
    expected = set(re.findall(r"bt\.sparse\.((?:linalg\.)?[a-z]\w+)\(\{", written)) | {
        "CSR",
        "CSC",
        "from_elements",
        *sparse_graphs.smooth,
        *sparse_graphs.real_only,
    }
    assert expected - named - {"linalg.lu", "linalg.cholesky"} == set()
    assert (
        texts.count("bt.grad") > 100
        and texts.count("linalg.") > 50
        and texts.count("np.array([], ") > 50
    )


def test_python_integers_as_both_sides_are_int64():
    """As switch(c, 2, 2) of the library: the narrowest dtype is that beside a tensor."""
    inputs = (
        cases.Input("x0", np.array([0.5, 0.0]), (None,)),
        cases.Input("x1", np.array([1, 2], "int8"), (None,)),
    )
    steps = (
        cases.Step(("v0",), "pt.switch(x0, 2, 2)"),
        cases.Step(("v1",), "pt.switch(x0 > 0, 2, 3)"),
        cases.Step(("v2",), "pt.switch(x0, x1, 2)"),
    )
    assert [
        cases.evaluate(cases.Case(inputs, steps, ("v0",)))[name].dtype.name
        for name in ("v0", "v1", "v2")
    ] == ["int64", "int64", "int8"]
    assert check(cases.Case(inputs, steps, ("v0", "v1", "v2")), bt, configurations.ALL) is None


def test_every_public_function_is_drawn_or_has_a_reason():
    import re

    absent = coverage.not_drawn()
    assert [name for name in absent if coverage.reason_not_drawn(name) is None] == []
    assert [
        pattern
        for pattern in coverage.NOT_DRAWN
        if not any(re.fullmatch(pattern, name) for name in absent)
    ] == []
    assert len(absent) < 260, "too many names are excused by a reason"


@pytest.mark.parametrize("seed", programs)
def test_random_programs_of_loops(seed):
    _, found, case = loops.examined(seed)
    assert found is None, f"{found[0]}: {found[2]}\n\n{cases.script(case)}"


def test_a_wrong_program_of_loops_shrinks(monkeypatch):
    def trouble(case, configurations=None):
        return (
            ("a configuration", "wrong", "")
            if any("tanh" in step.text for step in case.steps)
            else None
        )

    monkeypatch.setattr(loops, "trouble", trouble)
    seed = next(seed for seed in range(100) if trouble(loops.seeded(seed)))
    _, found, case = loops.examined(seed, 20)
    assert (
        found
        and len(cases.script(case)) < len(cases.script(loops.seeded(seed)))
        and len(case.steps) == 1
    )


@pytest.mark.parametrize(
    "path", sorted((tests / "fuzz" / "seeds").glob("*.json")), ids=lambda path: path.stem
)
def test_cases_that_failed_before(path):
    failure = check(cases.from_json(path.read_text()), bt, configurations.ALL)
    assert failure is None, (
        f"{failure.configuration.name}: {failure.message}\n\n{cases.script(failure.case, failure.configuration.mode)}"
    )


# ---- the fuzzer itself -----------------------------------------------------------------------------------------------


def small_case():
    inputs = (cases.Input("x0", np.array([[1.0, 2.0], [3.0, 4.0]]), (None, 2)),)
    steps = (
        cases.Step(("v0",), "pt.exp(x0)"),
        cases.Step(("v1",), "v0.sum(axis=0)"),
        cases.Step(("v2",), "x0[::-1] * v1"),
    )
    return cases.Case(inputs, steps, ("v2",))


@pytest.mark.parametrize(
    "configuration", configurations.ALL, ids=lambda configuration: configuration.name
)
def test_a_correct_result_passes(configuration):
    assert run(small_case(), bt, configuration, Ensemble(small_case())) is None


def test_a_wrong_result_is_found():
    ensemble = Ensemble(small_case())
    right = ensemble.native["v2"].array
    assert compare.difference(right * (1 + 1e-15), "v2", ensemble) is None
    for wrong in (
        right * (1 + 1e-12),
        right[::-1].copy(),
        right.astype("float32"),
        right[:1],
        np.full_like(right, np.nan),
    ):
        assert compare.difference(wrong, "v2", ensemble)


def test_ill_conditioned_and_discontinuous_expressions_are_no_failures():
    steps = (
        cases.Step(("v0",), "x0 * 3.0 / 3.0"),
        cases.Step(("v1",), "pt.floor(v0)"),
        cases.Step(("v2",), "(x0 + v0) - x0"),
    )
    case = cases.Case(
        (cases.Input("x0", np.array([1e16, 7.0, 49.0]), (None,)),), steps, ("v1", "v2")
    )
    ensemble = Ensemble(case)
    for _ in range(5):
        ensemble.noisy(5)
    assert compare.difference(np.array([1e16 - 2, 6.0, 49.0]), "v1", ensemble) is None
    assert compare.difference(np.array([1e16, 5.0, 49.0]), "v1", ensemble)


def test_failures_shrink():
    steps = small_case().steps + (
        cases.Step(("v3",), "pt.concatenate([v2, x0], axis=1)"),
        cases.Step(("v4",), "pt.tanh(v3)"),
    )
    big = cases.Case(small_case().inputs, steps, ("v4", "v1"))
    small = shrink.shrink(big, lambda case: any("tanh" in step.text for step in case.steps), 20)
    assert [step.text.split("(")[0] for step in small.steps] == ["pt.tanh"]
    assert small.inputs[0].value.size == 0


def test_cases_are_stored_and_merged():
    case = small_case()
    again = cases.from_json(cases.to_json(case))
    assert cases.script(again) == cases.script(case)
    both = cases.merged([case, case])
    assert len(both.outputs) == 2 and check(both, bt, [configurations.FAST_RUN]) is None


def test_a_script_runs():
    namespace = {}
    exec(cases.script(small_case()).replace("print(got)", ""), namespace)
    np.testing.assert_allclose(namespace["got"][0], Ensemble(small_case()).native["v2"].array)


def test_a_seed_determines_the_graph():
    assert cases.script(random_case(5, bt, kinds.registry)) == cases.script(
        random_case(5, bt, kinds.registry)
    )


def test_known_differences_do_not_excuse_other_failures(monkeypatch):
    failure = Failure(small_case(), configurations.FAST_RUN, "v2: 1 of 4 elements are wrong")
    for message, text, expected in (
        ("elements are wrong", r"pt\.exp", True),
        ("dtype", r"pt\.exp", False),
        ("elements are wrong", r"pt\.log", False),
    ):
        monkeypatch.setattr(known, "patterns", [("shape", "pt"), (message, text)])
        assert known.explains(failure) == expected
