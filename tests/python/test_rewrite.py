"""User-defined rules, checks, traces, and reports of how functions were rewritten."""

import numpy as np
import pytest

import bitale as bt
import bitale.tensor as pt


def logs():
    x, y = pt.dscalars("x", "y")
    assume = [x > 0.01, x < 1000, y > 0.01, y < 1000]
    return pt.log(x) + pt.log(y), pt.log(x * y), assume


def test_an_equation_is_checked_registered_and_fires():
    left, right, assume = logs()
    rule = bt.rewrite.equation("user_sum_of_logs", left, right, tags=["specialize"], assume=assume)
    assert bt.rewrite.check(rule).compared > 100
    assert bt.rewrite.check("user_sum_of_logs").ok
    a, b = pt.dvectors("a", "b")
    logs_of_known = pt.log(pt.clip(a, 0.1, 100)) + pt.log(pt.clip(b, 0.1, 100))
    f = bt.function([a, b], logs_of_known)
    assert f.rewrite_report.hits("user_sum_of_logs") == 1
    assert "user_sum_of_logs" in f.explain()
    assert "test_rewrite.py" in f.explain()
    np.testing.assert_allclose(f([2.0, 3.0], [4.0, 5.0]), np.log([8.0, 15.0]))
    excluded = bt.get_mode("FAST_RUN").excluding("user_sum_of_logs")
    assert (
        bt.function([a, b], logs_of_known, mode=excluded).rewrite_report.hits("user_sum_of_logs")
        == 0
    )
    # a and b are not known to be positive.
    assert bt.function([a, b], pt.log(a) + pt.log(b)).rewrite_report.hits("user_sum_of_logs") == 0
    with pytest.raises(ValueError, match="exists already"):
        bt.rewrite.equation("user_sum_of_logs", left, right, tags=["specialize"])
    with pytest.raises(ValueError, match="exists already"):
        bt.rewrite.register(rule)
    # The replacement under the same name is opt-in and therefore does not fire.
    bt.rewrite.equation(
        "user_sum_of_logs",
        pt.log(left),
        pt.log(right),
        ["specialize", "opt_in"],
        overwrite_existing=True,
    )
    assert bt.function([a, b], logs_of_known).rewrite_report.hits("user_sum_of_logs") == 0


def test_requesting_an_unsafe_rule_accepts_its_assumptions():
    left, right, assume = logs()
    bt.rewrite.equation("user_vouched", left, right, tags=["specialize", "unsafe"], assume=assume)
    a, b = pt.dvectors("a", "b")
    total = pt.log(a) + pt.log(b)
    assert "user_vouched" not in [step.rule for step in bt.rewrite.trace(total)]
    assert [step.rule for step in bt.rewrite.trace(total, "user_vouched")] == ["user_vouched"]
    assert "user_vouched" in [step.rule for step in bt.rewrite.trace(total, ["fast_run", "unsafe"])]


def test_accuracy_is_measured():
    x = pt.dscalar("x")
    more = bt.rewrite.equation(
        "user_more",
        pt.log(x + 1),
        pt.log1p(x),
        more_accurate=True,
        no_signed_zeros=True,
        register=False,
    )
    assert bt.rewrite.check(more).ok
    less = bt.rewrite.equation(
        "user_less", pt.log1p(x), pt.log(1 + x), more_accurate=True, register=False
    )
    assert not bt.rewrite.check(less, on_failure="return")
    unknown = bt.rewrite.equation(
        "user_unknown", pt.gammaln(x) + 0, pt.gammaln(x), more_accurate=True, register=False
    )
    with pytest.raises(bt.InconsistencyError, match="can't be checked: gammaln has no exact form"):
        bt.rewrite.check(unknown)


def test_a_trace_as_a_page(tmp_path):
    x, y = pt.dvectors("x", "y")
    trace = bt.rewrite.trace(pt.log(1 + x * y / y))
    assert len(trace) > 1 and trace.text() == str(trace) == bt.rewrite.trace_text(
        pt.log(1 + x * y / y)
    )
    page = trace.html(tmp_path / "steps.html")
    assert page == (tmp_path / "steps.html").read_text(encoding="utf-8")
    assert (
        page.count("<section>") == len(trace) and "product_over_factor" in page and "Log1p" in page
    )


@pytest.mark.parametrize(
    "tracks, message",
    [
        (["ad"], 'did you mean "add"'),
        ([pt.softmax], "no op is called"),
        (["Dott"], 'did you mean "Dot"'),
    ],
)
def test_rules_about_ops_that_do_not_exist(tracks, message):
    with pytest.raises(ValueError, match=message):
        bt.rewrite.node_rewriter(tracks, name="user_nowhere")(lambda fgraph, node: None)


def test_rule_names_are_unique():
    node_rule = bt.rewrite.node_rewriter(
        [pt.arccosh], name="user_twice", tags=["specialize", "opt_in"]
    )
    node_rule(lambda fgraph, node: None)
    with pytest.raises(ValueError, match="exists already"):
        node_rule(lambda fgraph, node: None)
    again = bt.rewrite.node_rewriter(
        [pt.arccosh], name="user_twice", tags=["specialize", "opt_in"], overwrite_existing=True
    )
    again(lambda fgraph, node: None)
    x = pt.dvector("x")
    for query in (["specialise"], ["user_twise"]):
        with pytest.raises(ValueError, match="did you mean"):
            bt.rewrite.rewrite_graph(x + 1, query)


def test_wrong_equations_are_caught():
    x = pt.dvector("x")
    wrong = bt.rewrite.equation("user_wrong", pt.sin(2 * x), 2 * pt.sin(x), register=False)
    with pytest.raises(bt.InconsistencyError, match="user_wrong: FAILS(.|\n)*the values differ"):
        bt.rewrite.check(wrong)
    assert not bt.rewrite.check(wrong, on_failure="return")
    undeclared = bt.rewrite.equation(
        "user_undeclared", pt.log(pt.exp(x)), x, no_signed_zeros=True, register=False
    )
    with pytest.raises(bt.InconsistencyError, match="declare wider_domain"):
        bt.rewrite.check(undeclared)
    with pytest.raises(ValueError, match="which the left side lacks"):
        bt.rewrite.equation("user_unbound", pt.sin(x), pt.dvector("y"), register=False)
    with pytest.raises(ValueError, match="belongs to no phase"):
        bt.rewrite.equation("user_no_phase", pt.sin(x), pt.cos(x), tags=["mine"])
    with pytest.raises(ValueError, match="expected one of"):
        bt.rewrite.equation("user_on", pt.sin(x), pt.cos(x), on="reals")
    with pytest.raises(KeyError):
        bt.rewrite.check("no_such_rule")


def test_a_function_of_nodes():
    a = pt.dvector("a")

    @bt.rewrite.register_specialize("opt_in")
    @bt.rewrite.node_rewriter([pt.arctan], samples=[pt.arctan(pt.arctan(a))])
    def user_once(fgraph, node):
        """arctan(arctan(x)) with a detour."""
        inner = node.inputs[0].owner
        if inner is None or inner.op != node.op or not fgraph.get_clients(inner.outputs[0]):
            return False
        if not inner.inputs[0].dtype.startswith("float"):  # in integer dtypes -x may equal x
            return False
        return [pt.arctan(-pt.arctan(-inner.inputs[0]))]

    assert user_once.name == "user_once" and user_once.doc.startswith("arctan")
    assert bt.rewrite.check(user_once).ok
    steps = bt.rewrite.trace(pt.arctan(pt.arctan(a)) * 2, ["user_once"])
    assert [step.rule for step in steps] == ["user_once"]
    assert steps[0].before == "arctan(arctan(a))"
    assert "user_once" in bt.rewrite.trace_text(pt.arctan(pt.arctan(a)), "user_once")
    assert bt.rewrite.hits("user_once") >= 1
    assert "user_once" in [rule.name for rule in bt.rewrite.rules()]


def test_the_graph_is_inaccessible_after_the_call():
    seen = []

    @bt.rewrite.node_rewriter([pt.arccos], name="user_keeps", tags=["specialize", "opt_in"])
    def keeps(fgraph, node):
        seen.append((fgraph, len(fgraph)))
        with pytest.raises(TypeError):
            fgraph.replace(node.outputs[0], node.inputs[0])
        return None

    a = pt.dvector("a")
    bt.rewrite.rewrite_graph(pt.arccos(a), ["user_keeps"])
    assert seen and seen[0][1] == 1
    assert len(seen[0][0]) == 0


@pytest.mark.parametrize(
    "result, message",
    [
        (lambda node: 1 / 0, "ZeroDivisionError"),
        (lambda node: 3, "got 3"),
        (lambda node: [], "gave 0 variables for 1 outputs"),
        (lambda node: pt.sum(node.inputs[0]), "change the type"),
        (lambda node: {node.inputs[0]: pt.sum(node.inputs[0])}, "change the type of a"),
        (lambda node: {"drop": node.inputs}, "as keys"),
        (
            lambda node: {node.outputs[0]: pt.sin(node.outputs[0]), "remove": [node]},
            "did not remove",
        ),
        (lambda node: pt.dvector("unknown"), "unknown"),
    ],
)
def test_errors_name_the_failing_function(result, message):
    rule = bt.rewrite.node_rewriter(["arcsin"], name="user_bad")(lambda fgraph, node: result(node))
    bt.rewrite.register_specialize(rule, "opt_in", overwrite_existing=True)
    a = pt.dvector("a")
    with bt.config.change_flags(on_opt_error="raise"):
        with pytest.raises(bt.InconsistencyError, match="user_bad") as caught:
            bt.rewrite.rewrite_graph(pt.arcsin(a), ["user_bad"])
    assert message in str(caught.value)


def test_rewrite_graph():
    x, y = pt.dvectors("x", "y")
    assert bt.rewrite.rewrite_graph(x * y / y) is x
    both = bt.rewrite.rewrite_graph(
        [x * y / y, pt.log(1 + x)], ["canonicalize", "stabilize"], exclude=["log1p"]
    )
    assert both[0] is x and "log1p" not in bt.pp(both[1])
    with pytest.raises(ValueError, match="did you mean"):
        bt.rewrite.rewrite_graph(x, ["canonicalise"])
    assert "  log1p\n" in bt.rewrite.describe("+fast_run", "-specialize")
    assert "  log1p\n" not in bt.rewrite.describe("+fast_run", "-log1p")


def test_provenance_and_profile():
    x = pt.dvector("x")
    f = bt.function([x], pt.log(1 + x), profile=True)
    assert "log1p" in f.profile.summary_compiling(file="str")
    assert f.rewrite_report.uses["log1p"] == 1
    assert "{log1p; " in bt.dprint(f, provenance=True, file="str")
    assert "{log1p; " not in bt.dprint(f, file="str")


def test_a_mode_with_additional_rewrites():
    x = pt.dvector("x")
    seen = []

    def to_cos(fgraph):
        seen.append(fgraph)
        out = fgraph.outputs[0]
        fgraph.replace(out, pt.cos(out.owner.inputs[0]))

    @bt.rewrite.node_rewriter([pt.sin])
    def sin_to_tan(fgraph, node):
        return pt.tan(node.inputs[0])

    plain = bt.Mode("vm", "fast_run")
    f = bt.function([x], pt.sin(x), mode=plain.register((to_cos, 2.5)))
    np.testing.assert_allclose(f([0.5]), np.cos([0.5]))
    assert "to_cos" in f.explain()
    f = bt.function(
        [x], pt.sin(x) + pt.sin(2 * x), mode=plain.register((sin_to_tan, 1), (seen.append, 3))
    )
    np.testing.assert_allclose(f([0.5]), np.tan([0.5]) + np.tan([1.0]))
    assert "sin_to_tan" in f.explain()
    np.testing.assert_allclose(bt.function([x], pt.sin(x), mode=plain)([0.5]), np.sin([0.5]))
    assert "to_cos at 2.5" in repr(plain.register((to_cos, 2.5)))
    assert not seen[0].apply_nodes  # the graph is accessible during the call only


def test_invalid_rewrites_of_a_mode():
    mode = bt.Mode()
    for wrong in (len, (len,), (len, "early"), ("canonicalize", 1)):
        with pytest.raises(TypeError, match="Mode.register: expected"):
            mode.register(wrong)

    def fails(fgraph):
        raise RuntimeError("on purpose")

    x = pt.dvector("x")
    with bt.config.change_flags(on_opt_error="raise"):
        with pytest.raises(bt.InconsistencyError, match="`fails` at position (.|\n)*on purpose"):
            bt.function([x], pt.sin(x), mode=mode.register((fails, 1)))
    with bt.config.change_flags(on_opt_error="ignore"):
        f = bt.function([x], pt.sin(x), mode=mode.register((fails, 1)))
    assert "on purpose" in f.rewrite_report.errors[0]


def test_long_chains_do_not_look_like_rules_that_loop():
    """Rules that pass many nodes at once are applied once per read, and not once per read and node."""
    x = pt.dvector("x")
    sorted_, written = x, pt.zeros(150)
    for k in range(150):
        sorted_ = pt.sort(sorted_ * 0.9 + x)
        written = pt.set_subtensor(written[k], pt.sin(x[k % 3]) * k)
    values = np.array([0.5, -0.25, 1.0])
    with bt.config.change_flags(on_opt_error="raise"):
        f = bt.function([x], bt.grad(sorted_.sum(), x))
        g = bt.function([x], bt.grad((written**2).sum(), x))
    np.testing.assert_allclose(f(values), np.full(3, sum(0.9**k for k in range(151))))
    squares = [sum(k**2 for k in range(150) if k % 3 == i) for i in range(3)]
    np.testing.assert_allclose(g(values), np.sin(2 * values) * squares)


def test_rules_that_compute_constants_end_without_constant_folding():
    """-(2 * x) is (-2) * x; with -2 as the negation of 2, that was -(2 * x) again."""
    v = pt.dvector("v")
    scaled = v[::-1] * -1.0
    cost = scaled.sum() + pt.switch(pt.constant([True]), scaled, 0).sum()
    with bt.config.change_flags(on_opt_error="raise"):
        g = bt.function([v], bt.grad(cost, v), mode="FAST_COMPILE")
    np.testing.assert_array_equal(g([1.0, 2.0]), [-2, -2])
