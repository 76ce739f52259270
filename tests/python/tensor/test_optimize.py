"""Minima and roots: values against known solutions, derivatives against differences, pickles, and invalid arguments."""

import pickle

import numpy as np
import pytest

import bitale as bt
import bitale.tensor as pt

a, b = pt.dscalars("a", "b")
x, y = pt.dscalars("x", "y")
v = pt.dvector("v")


def rosenbrock(v, a, b):
    return ((a - v[:-1]) ** 2 + b * (v[1:] - v[:-1] ** 2) ** 2).sum()


@pytest.mark.parametrize("method, jac, hess", [("BFGS", True, False), ("L-BFGS-B", True, False), ("Newton-CG", True, True),
                                               ("trust-exact", True, True), ("BFGS", False, False), ("Nelder-Mead", False, False)])  # fmt: skip
def test_minimize(method, jac, hess):
    options = (
        {"options": {"xatol": 1e-10, "fatol": 1e-14}} if method == "Nelder-Mead" else {"tol": 1e-10}
    )
    found, success = pt.optimize.minimize(
        rosenbrock(v, a, b), v, method=method, jac=jac, hess=hess, optimizer_kwargs=options
    )
    f = bt.function([v, a, b], [found, success])
    value, is_good = f([-0.5, 0.5], 1.0, 10.0)
    np.testing.assert_allclose(value, [1, 1], atol=1e-4)
    assert is_good or (method == "BFGS" and not jac) or method == "L-BFGS-B"


def test_derivatives_of_a_minimum():
    def solution(w, target):
        start = pt.zeros(2)
        x = pt.dvector("x")
        found, _ = pt.optimize.minimize(
            ((w @ x - target) ** 2).sum() + pt.cosh(x).sum(), x, optimizer_kwargs={"tol": 1e-12}
        )
        return bt.graph.clone_replace(found, {x: start})

    rng = np.random.default_rng(0)
    points = [rng.normal(size=(3, 2)), rng.normal(size=3)]
    bt.verify_grad(solution, points, abs_tol=1e-5, rel_tol=1e-4)
    # The second derivative, as the derivative of the solution's derivative.
    bt.verify_grad(
        lambda t: bt.grad(solution(points[0], t).sum(), t), points[1:], abs_tol=1e-4, rel_tol=1e-3
    )


def test_several_variables_of_any_shape():
    m, s = pt.dmatrix("m"), pt.fscalar("s")
    goal = pt.dmatrix("goal")
    cost = ((m - goal) ** 2).sum() + (s - goal.sum().astype("float32")) ** 2
    (found_m, found_s), success = pt.optimize.minimize(cost, [m, s], method="L-BFGS-B")
    f = bt.function([m, s, goal], [found_m, found_s, success])
    value, scalar, is_good = f(np.zeros((2, 3)), 0.0, np.arange(6.0).reshape(2, 3))
    np.testing.assert_allclose(value, np.arange(6.0).reshape(2, 3), atol=1e-2)
    assert scalar.dtype == "float32" and abs(scalar - 15) < 1e-2 and is_good in (True, False)


@pytest.mark.parametrize(
    "method, jac", [("hybr", True), ("hybr", False), ("lm", True), ("krylov", False)]
)
def test_root(method, jac):
    equations = [x**2 + y**2 - a, x - b * y]
    (u, w), success = pt.optimize.root(equations, [x, y], method=method, jac=jac)
    f = bt.function([x, y, a, b], [u, w, success])
    u, w, is_good = f(1.0, 1.0, 5.0, 2.0)
    np.testing.assert_allclose([u, w], [2, 1], atol=1e-5)
    assert is_good


def test_derivatives_of_a_root():
    def solution(a, b):
        x, y = pt.dscalars("x", "y")
        (u, w), _ = pt.optimize.root(
            [x**2 + y**2 - a, x - b * y], [x, y], optimizer_kwargs={"tol": 1e-13}
        )
        return pt.stack(
            bt.graph.clone_replace(
                [u, w], {x: pt.constant(np.float64(1)), y: pt.constant(np.float64(1))}
            )
        )

    bt.verify_grad(solution, [np.array(5.0), np.array(2.0)], abs_tol=1e-6, rel_tol=1e-5)


@pytest.mark.parametrize(
    "method, bracket",
    [
        ("secant", None),
        ("newton", None),
        ("halley", None),
        ("brentq", (0.0, 3.0)),
        ("bisect", (0.0, 3.0)),
    ],
)
def test_root_scalar(method, bracket):
    found, success = pt.optimize.root_scalar(pt.exp(x) - a, x, method=method, bracket=bracket)
    f = bt.function([x, a], [found, success, bt.grad(found, a)], on_unused_input="ignore")
    value, is_good, slope = f(0.5, 3.0)
    np.testing.assert_allclose(value, np.log(3.0), rtol=1e-9)
    np.testing.assert_allclose(slope, 1 / 3, rtol=1e-8)
    assert is_good


@pytest.mark.parametrize(
    "method, around",
    [
        ("brent", {}),
        ("brent", {"bracket": (-1.0, 0.0)}),
        ("golden", {}),
        ("bounded", {"bounds": (-5.0, 5.0)}),
    ],
)
def test_minimize_scalar(method, around):
    found, success = pt.optimize.minimize_scalar(
        pt.cosh(x - a) + 0.1 * x, x, method=method, **around
    )
    f = bt.function([x, a], [found, success, bt.grad(found, a)], on_unused_input="ignore")
    value, is_good, slope = f(0.0, 0.7)
    np.testing.assert_allclose(value, 0.7 + np.arcsinh(-0.1), atol=1e-6)
    np.testing.assert_allclose(slope, 1, rtol=1e-6)
    assert is_good


def test_brackets_may_be_expressions():
    found, _ = pt.optimize.root_scalar(x**3 - a, x, method="brentq", bracket=pt.stack([-b, b]))
    np.testing.assert_allclose(
        bt.function([x, a, b], found, on_unused_input="ignore")(0.0, 8.0, 10.0), 2.0
    )


def test_derivatives_do_not_depend_on_the_starting_point():
    found, _ = pt.optimize.minimize((v**2).sum() * a + v.sum() * b, v)
    f = bt.function([v, a, b], bt.grad(found.sum(), [v, a]))
    of_start, of_a = f([1.0, 2.0], 2.0, 3.0)
    np.testing.assert_allclose(of_start, 0)
    np.testing.assert_allclose(of_a, 2 * 3 / (2 * 2.0**2), rtol=1e-6)


def test_a_parameter_that_occurs_twice():
    found, _ = pt.optimize.root_scalar(x * a - b, x)
    same = bt.graph.clone_replace(found, {b: a})  # the equation x a = a
    np.testing.assert_allclose(bt.function([x, a], bt.grad(same, a))(0.5, 3.0), 0, atol=1e-12)


def test_undefined_derivatives_are_nan():
    found, _ = pt.optimize.root((v**2 - a) * pt.as_tensor_variable([1.0, 0.0]), v)
    assert np.isnan(bt.function([v, a], bt.grad(found.sum(), a))([1.0, 1.0], 4.0))


def test_missing_convergence_is_reported():
    _, success = pt.optimize.root_scalar(x**2 + 1, x, optimizer_kwargs={"maxiter": 5})
    assert not bt.function([x], success)(0.3)


def test_batches_and_pickles():
    found, _ = pt.optimize.root_scalar(pt.exp(x) - a, x)
    many = pt.dvector("many")
    batched = bt.graph.vectorize_graph(found, {a: many})
    f = bt.function([x, many], batched)
    np.testing.assert_allclose(f(0.5, [1.0, 2.0, 3.0]), np.log([1.0, 2.0, 3.0]), atol=1e-8)
    again = pickle.loads(pickle.dumps(bt.function([x, a], found)))
    np.testing.assert_allclose(again(0.5, 2.0), np.log(2.0))


def test_shared_variables_are_read():
    shared = bt.shared(2.0)
    found, _ = pt.optimize.root_scalar(pt.exp(x) - shared, x)
    f = bt.function([x], found)
    np.testing.assert_allclose(f(0.5), np.log(2.0))
    shared.set_value(3.0)
    np.testing.assert_allclose(f(0.5), np.log(3.0))


def test_invalid_arguments():
    with pytest.raises(ValueError, match="scalar objective"):
        pt.optimize.minimize(v, v)
    with pytest.raises(ValueError, match="does not depend"):
        pt.optimize.minimize(a**2, v)
    with pytest.raises(ValueError, match="does not depend"):
        pt.optimize.root_scalar(a**2, x)
    with pytest.raises(TypeError, match="float"):
        pt.optimize.minimize(pt.lscalar("n") ** 2, pt.lscalar("n"))
    with pytest.raises(TypeError, match="variable"):
        pt.optimize.minimize(a**2, 3.0)
    with pytest.raises(ValueError, match="scalar"):
        pt.optimize.root_scalar(v.sum(), v)
    with pytest.raises(ValueError, match="bracket or bounds"):
        pt.optimize.minimize_scalar(x**2, x, bracket=(0, 1), bounds=(0, 1))
    with pytest.raises(ValueError, match="at least one"):
        pt.optimize.root([], [x])
    found, _ = pt.optimize.root_scalar(x**2 - 1, x, method="brentq", bracket=(2.0, 3.0))
    with pytest.raises(ValueError, match="signs"):
        bt.function([x], found, on_unused_input="ignore")(0.0)
    with pytest.raises(ValueError, match="none of them"):
        pt.optimize.minimize((v**2).sum(), v, method="none of them")
