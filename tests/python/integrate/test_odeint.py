"""Solutions of differential equations and their derivatives, against closed forms and scipy.integrate.solve_ivp."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import bitale as bt
import bitale.tensor as pt
from bitale.integrate import odeint

TIMES = np.linspace(0.0, 2.0, 6)


def lotka_volterra(y, t, a, b, c, d):
    return [a * y[0] - b * y[0] * y[1], d * y[0] * y[1] - c * y[1]]


def reference(f, y0, times, *args, **keywords):
    options = {"rtol": 1e-13, "atol": 1e-13, "method": "DOP853"} | keywords
    return solve_ivp(f, (times[0], times[-1]), y0, t_eval=times, args=args, **options).y.T


def central_differences(f, x, step=1e-6):
    """`step`: relative to 1 or |x|; an array of absolute steps."""
    x = np.asarray(x, float)
    out = np.empty(x.shape)
    for i in np.ndindex(x.shape):
        d = np.zeros(x.shape)
        d[i] = step[i] if np.ndim(step) else step * max(1.0, abs(x[i]))
        out[i] = (f(x + d) - f(x - d)) / (2 * d[i])
    return out


def test_exponential_decay():
    rate = pt.dscalar("rate")
    y = odeint(lambda y, t: -rate * y, [1.0, 3.0], TIMES, rtol=1e-11, atol=1e-13)
    assert y.type.shape == (6, 2)
    exact = np.exp(-0.7 * TIMES)[:, None] * [1.0, 3.0]
    np.testing.assert_allclose(y.eval({rate: 0.7}), exact, rtol=1e-10)
    gradient = bt.grad(y[-1, 1], rate).eval({rate: 0.7})
    np.testing.assert_allclose(gradient, -2.0 * exact[-1, 1], rtol=1e-9)


@pytest.mark.parametrize(
    "rtol, atol, most", [(1e-4, 1e-6, 40.0), (1e-7, 1e-8, 40.0), (1e-10, 1e-10, 40.0)]
)
def test_the_error_follows_the_tolerances(rtol, atol, most):
    y = odeint(
        lotka_volterra, [30.0, 4.0], np.arange(21.0), 0.55, 0.028, 0.8, 0.024, rtol=rtol, atol=atol
    ).eval()
    exact = reference(
        lambda t, y, *p: lotka_volterra(y, t, *p),
        [30.0, 4.0],
        np.arange(21.0),
        0.55,
        0.028,
        0.8,
        0.024,
    )
    error = np.max(np.abs(y - exact) / (atol + rtol * np.abs(exact)))
    assert 0.01 < error < most


def test_a_single_interval_takes_the_steps_of_scipy():
    # Same step control, so the same error up to rounding, unlike that of any other method or step length.
    times = [0.0, 4.0]
    f = lambda t, y: [y[1], (1 - y[0] ** 2) * y[1] - y[0]]  # noqa: E731
    ours = odeint(lambda y, t: f(t, y), [2.0, 0.0], times, rtol=1e-6, atol=1e-8).eval()[-1]
    theirs = solve_ivp(f, times, [2.0, 0.0], rtol=1e-6, atol=1e-8).y[:, -1]
    exact = reference(f, [2.0, 0.0], times)[-1]
    np.testing.assert_allclose(ours - exact, theirs - exact, rtol=0.05)


@pytest.mark.parametrize("method", ["dopri5", "rodas4"])
def test_the_derivative_may_depend_on_time(method):
    y = odeint(lambda y, t: pt.cos(t) - 0.0 * y, 0.5, TIMES, rtol=1e-9, atol=1e-9, method=method)
    assert y.type.shape == (6,)
    np.testing.assert_allclose(y.eval(), 0.5 + np.sin(TIMES), atol=1e-8)


@pytest.mark.parametrize("method", ["dopri5", "rodas4"])
def test_states_of_any_rank(method):
    a = np.array([[0.0, 1.0], [-1.0, 0.0]])
    y = odeint(lambda y, t: pt.dot(a, y), np.eye(2), TIMES, rtol=1e-9, atol=1e-9, method=method)
    assert y.type.shape == (6, 2, 2)
    np.testing.assert_allclose(
        y.eval()[-1], [[np.cos(2), np.sin(2)], [-np.sin(2), np.cos(2)]], atol=1e-7
    )


def van_der_pol(y, t, mu):
    return [y[1], mu * (1 - y[0] ** 2) * y[1] - y[0]]


def robertson(y, t, a, b, c):
    first, second = a * y[0] - b * y[1] * y[2], c * y[1] ** 2
    return [-first, first - second, second]


# The last states are those of scipy.integrate.solve_ivp by Radau with rtol=1e-10, to more digits than are compared.
STIFF = {
    "van der Pol": (van_der_pol, [2.0, 0.0], [0.0, 1.0, 500.0], (1000.0,), [1.5967689510526, -1.03039118784e-3]),
    "Robertson": (
        robertson, [1.0, 0.0, 0.0], [0.0, 0.4, 40.0, 4000.0], (0.04, 1e4, 3e7), [0.18320225778, 8.942371253e-7, 0.81679684798]
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", STIFF)
def test_stiff_systems(name):
    f, y0, times, parameters, exact = STIFF[name]
    theta = pt.vector("theta", shape=(len(parameters),))
    for sensitivity in ("adjoint", "forward"):
        y = odeint(
            f,
            y0,
            times,
            *theta,
            rtol=1e-8,
            atol=1e-11,
            method="rodas4",
            max_steps=2000,
            sensitivity=sensitivity,
        )
        cost = (y[-1] / exact).sum()
        value, gradient = bt.function([theta], [y[-1], bt.grad(cost, theta)])(parameters)
        np.testing.assert_allclose(value, exact, rtol=2e-6)
        f_cost = bt.function([theta], cost)
        differences = central_differences(f_cost, parameters, 1e-4 * np.array(parameters))
        np.testing.assert_allclose(
            gradient * parameters, differences * parameters, rtol=1e-3, atol=1e-6
        )


def test_an_explicit_method_needs_too_many_steps_for_a_stiff_system():
    f, y0, times, parameters, _ = STIFF["Robertson"]
    with pytest.raises(ArithmeticError, match="are not enough"):
        odeint(f, y0, times, *parameters, max_steps=2000).eval()


@pytest.mark.parametrize(
    "method, sensitivity",
    [("dopri5", "adjoint"), ("dopri5", "forward"), ("rodas4", "adjoint"), ("rodas4", "forward")],
)
def test_gradients_by_everything_and_tangents(method, sensitivity):
    y0, theta, times = pt.dvector("y0"), pt.dvector("theta"), pt.dvector("times")
    tolerance = 1e-11 if method == "dopri5" else 1e-9
    y = odeint(
        lotka_volterra,
        y0,
        times,
        *[theta[k] for k in range(4)],
        rtol=tolerance,
        atol=tolerance,
        method=method,
        sensitivity=sensitivity,
    )
    weights = np.random.default_rng(0).standard_normal((6, 2))
    cost = (y * weights).sum()
    point = [
        np.array([30.0, 4.0]),
        np.array([0.55, 0.028, 0.8, 0.024]),
        np.array([0.0, 0.9, 2.0, 2.0, 3.5, 6.0]),
    ]
    value = bt.function([y0, theta, times], cost)
    gradients = bt.function([y0, theta, times], bt.grad(cost, [y0, theta, times]))(*point)
    for k in range(2):
        differences = central_differences(lambda x: value(*point[:k], x, *point[k + 1 :]), point[k])
        np.testing.assert_allclose(gradients[k], differences, rtol=2e-6)
    for i in (0, 1, 4, 5):
        one = np.eye(6)[i] * 1e-5
        difference = (value(*point[:2], point[2] + one) - value(*point[:2], point[2] - one)) / 2e-5
        np.testing.assert_allclose(gradients[2][i], difference, rtol=2e-6)
    tangents = [pt.dvector() for _ in range(3)]
    forward = bt.function(
        [y0, theta, times, *tangents],
        bt.gradient.pushforward([cost], [y0, theta, times], tangents)[0],
    )
    directions = [
        np.array([1.0, -2.0]),
        np.array([0.1, 0.01, -0.2, 0.02]),
        np.array([0.3, 0.1, 0.0, 0.2, -0.4, 0.5]),
    ]
    expected = sum(g @ d for g, d in zip(gradients, directions))
    np.testing.assert_allclose(forward(*point, *directions), expected, rtol=1e-6)


def test_rejected_steps_that_leave_the_domain_do_not_reach_the_gradient():
    # The first trial steps make the argument of the root negative.
    k = pt.dscalar("k")
    y = odeint(
        lambda y, t: -k * pt.sqrt(y) * (1 + 100 * pt.exp(-1000 * (t - 0.5) ** 2)),
        1.0,
        [0.0, 1.0],
        rtol=1e-6,
        atol=1e-9,
    )
    value, gradient = bt.function([k], [y[-1], bt.grad(y[-1], k)])(0.2)
    integral = solve_ivp(
        lambda t, y: [1 + 100 * np.exp(-1000 * (t - 0.5) ** 2)],
        (0, 1),
        [0.0],
        rtol=1e-12,
        max_step=0.01,
    ).y[0, -1]
    np.testing.assert_allclose(value, (1 - 0.1 * integral) ** 2, rtol=1e-4)
    np.testing.assert_allclose(gradient, -(1 - 0.1 * integral) * integral, rtol=1e-3)


def test_second_derivatives():
    rate = pt.dscalar("rate")
    y = odeint(lambda y, t: -rate * y, 1.0, [0.0, 0.5, 1.5], rtol=1e-10, atol=1e-10)
    second = bt.grad(bt.grad(y[-1], rate), rate).eval({rate: 0.7})
    np.testing.assert_allclose(second, 1.5**2 * np.exp(-0.7 * 1.5), rtol=1e-6)


def test_values_of_the_surrounding_graph_are_parameters():
    q = pt.dscalar("q")
    rate = pt.exp(q)
    y = odeint(lambda y, t: -rate * y + pt.exp(q) * 0.0, 1.0, [0.0, 1.0])
    np.testing.assert_allclose(
        bt.grad(y[1], q).eval({q: 0.1}), -np.exp(0.1) * np.exp(-np.exp(0.1)), rtol=1e-6
    )


def test_batches():
    y0, rates = pt.tensor("y0", shape=(2,), dtype="float64"), pt.dmatrix("rates")
    rate = pt.dvector("rate")
    y = odeint(lambda y, t: -rate * y, y0, [0.0, 1.0, 3.0], rtol=1e-9, atol=1e-9)
    many = bt.graph.vectorize_graph(y, {rate: rates})
    given = np.array([[0.1, 0.2], [1.0, 5.0], [30.0, 0.0]])
    found = bt.function([y0, rates], [many, bt.grad(many.sum(), rates)])([2.0, 3.0], given)
    at = np.array([0.0, 1.0, 3.0])[None, :, None]
    exact = np.array([2.0, 3.0]) * np.exp(-given[:, None] * at)
    np.testing.assert_allclose(found[0], exact, rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(found[1], (-at * exact).sum(1), rtol=1e-6, atol=1e-7)


def test_float32_and_integers():
    y = odeint(lambda y, t: -y, np.float32([1.0, 2.0]), np.float32(TIMES))
    assert y.dtype == "float32"
    np.testing.assert_allclose(y.eval(), np.exp(-TIMES)[:, None] * [1.0, 2.0], rtol=2e-3)
    assert odeint(lambda y, t: -y, np.array([1, 2]), TIMES).dtype == "float64"


@pytest.mark.parametrize("sensitivity", ["adjoint", "forward"])
@pytest.mark.parametrize("count", [0, 1, 2])
def test_few_times(count, sensitivity):
    times, y0 = pt.dvector("times"), pt.dvector("y0")
    y = odeint(lambda y, t: -y, y0, times, sensitivity=sensitivity)
    values, gradient = bt.function([y0, times], [y, bt.grad(y.sum(), y0)])(
        [1.0, 2.0], np.arange(float(count))
    )
    assert values.shape == (count, 2)
    factors = np.exp(-np.arange(count))
    np.testing.assert_allclose(values, factors[:, None] * [1.0, 2.0], rtol=1e-7)
    np.testing.assert_allclose(gradient, np.full(2, factors.sum()), rtol=1e-7)


def test_states_without_elements():
    y0 = pt.dvector("y0")
    assert bt.function([y0], odeint(lambda y, t: -y, y0, [0.0, 1.0]))([]).shape == (2, 0)


def test_every_way_to_run():
    rate = pt.dscalar("rate")
    y = odeint(lambda y, t: -rate * y, [1.0, 3.0], [0.0, 1.0], rtol=1e-3, atol=1e-6)
    exact = np.exp(-0.7) * np.array([1.0, 3.0])
    forward = odeint(
        lambda y, t: -rate * y, [1.0, 3.0], [0.0, 1.0], rtol=1e-3, atol=1e-6, sensitivity="forward"
    )
    np.testing.assert_allclose(
        bt.grad(forward[-1].sum(), rate).eval({rate: 0.7}), -exact.sum(), rtol=1e-3
    )
    for mode in ("FAST_COMPILE", bt.Mode(linker="vm")):
        value, gradient = bt.function([rate], [y[-1], bt.grad(y[-1].sum(), rate)], mode=mode)(0.7)
        np.testing.assert_allclose(value, exact, rtol=1e-3)
        np.testing.assert_allclose(gradient, -exact.sum(), rtol=1e-3)


# ---- what goes wrong ------------------------------------------------------------------------------------------------


def test_a_solution_that_grows_beyond_all_bounds():
    y0 = pt.dscalar("y0")
    y = odeint(lambda y, t: y**2, y0, TIMES)
    f = bt.function([y0], y)
    np.testing.assert_allclose(f(0.25), 1 / (4 - TIMES), rtol=1e-6)
    with pytest.raises(ArithmeticError, match="the length of the steps went to 0"):
        f(1.0)
    for sensitivity in ("adjoint", "forward"):
        y = odeint(lambda y, t: y**2, y0, TIMES, sensitivity=sensitivity)
        with pytest.raises(ArithmeticError, match="the length of the steps went to 0"):
            bt.function([y0], bt.grad(y[-1], y0))(1.0)
    with pytest.raises(ArithmeticError, match="the derivative is nan"):
        odeint(lambda y, t: pt.log(y), -1.0, TIMES).eval()


def test_too_few_steps():
    with pytest.raises(
        ArithmeticError, match=r"5 steps \(max_steps\) from one time to the next are not enough"
    ):
        odeint(lambda y, t: -50 * y, 1.0, [0.0, 10.0], max_steps=5).eval()


@pytest.mark.parametrize("sensitivity", ["adjoint", "forward"])
def test_nan_where_there_is_no_solution(sensitivity):
    y0 = pt.dscalar("y0")
    y = odeint(lambda y, t: y**2, y0, TIMES, on_error="nan", sensitivity=sensitivity)
    f = bt.function([y0], [y, bt.grad(y.sum(), y0)])
    values, gradient = f(0.8)
    np.testing.assert_allclose(values[:4], 1 / (1.25 - TIMES[:4]), rtol=1e-6)
    assert np.isnan(values[4:]).all() and np.isnan(gradient)
    assert np.isfinite(f(0.25)[0]).all() and np.isfinite(f(0.25)[1])
    assert np.isnan(f(np.nan)[0]).all()


def test_draws_of_the_derivative_may_not_depend_on_y_or_t():
    rng = pt.random.shared_rng(seed=3)
    for draw in [
        lambda y, t: pt.random.normal(loc=y, rng=rng),
        lambda y, t: pt.random.normal(scale=1 + t, rng=rng),
        lambda y, t: pt.random.uniform(size=y.shape, rng=rng),
    ]:
        with pytest.raises(ValueError, match="draws random numbers that depend on y or t"):
            odeint(lambda y, t: -y + draw(y, t), pt.dvector("y0"), TIMES)
    # One that does not depend on them is the same number during the whole solution.
    rate = pt.random.uniform(rng=rng)
    y = odeint(lambda y, t: -rate * y, 1.0, TIMES, rtol=1e-10, atol=1e-10)
    f = bt.function([], [y, rate], updates={rng: rate.owner.outputs[0]})
    for _ in range(2):
        values, of_call = f()
        np.testing.assert_allclose(values, np.exp(-of_call * (TIMES - TIMES[0])), rtol=1e-8)


def test_arguments_that_do_not_fit():
    times = pt.dvector("times")
    decay = lambda y, t: -y  # noqa: E731
    with pytest.raises(ValueError, match="times that do not decrease"):
        odeint(decay, 1.0, [0.0, 2.0, 1.0])
    with pytest.raises(ValueError, match="times that do not decrease"):
        odeint(decay, 1.0, times).eval({times: [0.0, 2.0, 1.0]})
    with pytest.raises(ValueError, match="times that do not decrease"):
        odeint(decay, 1.0, times).eval({times: [0.0, np.nan, 1.0]})
    with pytest.raises(ValueError, match="a vector of times"):
        odeint(decay, 1.0, 1.0)
    with pytest.raises(ValueError, match="expected the same shape"):
        odeint(lambda y, t: [y[0], y[1], y[0]], [1.0, 2.0], TIMES)
    with pytest.raises(ValueError, match="expected the same shape"):
        odeint(lambda y, t: y[0], [1.0, 2.0], TIMES)
    y0 = pt.dvector("y0")
    with pytest.raises(ValueError, match="another shape than y0"):
        odeint(lambda y, t: y[:1], y0, TIMES).eval({y0: [1.0, 2.0]})
    with pytest.raises(TypeError, match="expected the same dtype"):
        odeint(lambda y, t: pt.cast(y, "float64"), np.float32([1.0]), TIMES)
    with pytest.raises(TypeError):
        odeint(lambda y, t: None, 1.0, TIMES)
    with pytest.raises(NotImplementedError, match="complex128"):
        odeint(decay, 1j, TIMES)
    with pytest.raises(ValueError, match="max_steps is 0"):
        odeint(decay, 1.0, TIMES, max_steps=0)
    with pytest.raises(ValueError, match="rtol: expected 0 or more"):
        odeint(decay, 1.0, TIMES, rtol=-1e-3).eval()
    with pytest.raises(ValueError, match="method: expected"):
        odeint(decay, 1.0, TIMES, method="euler")
    with pytest.raises(ValueError, match="sensitivity: expected"):
        odeint(decay, 1.0, TIMES, sensitivity="both")
    with pytest.raises(ValueError, match="on_error: expected"):
        odeint(decay, 1.0, TIMES, on_error="ignore")
