"""Every elementwise function against NumPy or SciPy, over dtypes, with PyTensor's rule for the result's dtype."""

import pathlib
import sys

import numpy as np
import pytest
import scipy.special
import scipy.stats

import bitale as bt
import bitale.tensor as pt
from bitale import _core
from bitale.tensor.basic import integer_dtypes

sys.path.insert(0, str(pathlib.Path(__file__).parents[2]))
from oracle import elementwise

INTEGERS = list(integer_dtypes)
FLOATS = ["float32", "float64"]
DTYPES = ["bool", *INTEGERS, *FLOATS]

# ---- dtype rules -----------------------------------------------------------------------------------------------------


def upcast(*dtypes):
    return np.result_type(*map(np.dtype, dtypes)).name


def upcast_min8(*dtypes):
    out = upcast(*dtypes)
    return "int8" if out == "bool" else out


def to_float(*dtypes):
    small = {"bool", "int8", "int16", "uint8", "uint16"}
    return upcast(*(d if d in FLOATS else "float32" if d in small else "float64" for d in dtypes))


def quotient(*dtypes):
    return upcast(*dtypes) if any(d in FLOATS for d in dtypes) else bt.config.floatX


def always_bool(*dtypes):
    return "bool"


# ---- name: (reference, dtype rule or None for any, lowest and highest value) -----------------------------------------


def floored(x, y):
    with np.errstate(all="ignore"):
        return np.floor_divide(x, y)


UNARY = {
    "abs": (np.abs, upcast, -5, 5),
    "arccos": (np.arccos, to_float, -1, 1),
    "arccosh": (np.arccosh, to_float, 1, 9),
    "arcsin": (np.arcsin, to_float, -1, 1),
    "arcsinh": (np.arcsinh, to_float, -9, 9),
    "arctan": (np.arctan, to_float, -9, 9),
    "arctanh": (np.arctanh, to_float, -0.9, 0.9),
    "angle": (lambda x: np.where(x < 0, np.pi, 0.0), None, 0.1, 9),
    "cbrt": (np.cbrt, to_float, -9, 9),
    "ceil": (np.ceil, None, -5, 5),
    "conj": (np.conj, None, -5, 5),
    "cos": (np.cos, to_float, -9, 9),
    "cosh": (np.cosh, to_float, -5, 5),
    "erf": (scipy.special.erf, to_float, -3, 3),
    "erfc": (scipy.special.erfc, to_float, -3, 3),
    "erfcinv": (scipy.special.erfcinv, to_float, 0.1, 1.9),
    "erfcx": (scipy.special.erfcx, to_float, -3, 9),
    "erfinv": (scipy.special.erfinv, to_float, -0.9, 0.9),
    "gamma": (scipy.special.gamma, to_float, 0.3, 9),
    "log_ndtr": (scipy.special.log_ndtr, to_float, -9, 3),
    "ndtr": (scipy.special.ndtr, to_float, -9, 3),
    "exp": (np.exp, to_float, -5, 5),
    "exp2": (np.exp2, to_float, -5, 5),
    "expm1": (np.expm1, to_float, -5, 5),
    "floor": (np.floor, None, -5, 5),
    "gammaln": (scipy.special.gammaln, to_float, 0.1, 9),
    "imag": (np.imag, None, -5, 5),
    "invert": (np.invert, upcast, -5, 5),
    "isinf": (np.isinf, always_bool, -5, 5),
    "isnan": (np.isnan, always_bool, -5, 5),
    "log": (np.log, to_float, 0.1, 9),
    "log10": (np.log10, to_float, 0.1, 9),
    "log1mexp": (lambda x: np.log1p(-np.exp(x)), to_float, -5, 0),
    "log1p": (np.log1p, to_float, -0.9, 9),
    "log2": (np.log2, to_float, 0.1, 9),
    "logit": (scipy.special.logit, to_float, 0, 1),
    "neg": (np.negative, upcast, -5, 5),
    "psi": (scipy.special.psi, to_float, 0.1, 9),
    "real": (np.real, None, -5, 5),
    "reciprocal": (lambda x: 1 / x, to_float, 0.5, 9),
    "round": (np.round, None, -5, 5),
    "sigmoid": (scipy.special.expit, to_float, -9, 9),
    "sign": (np.sign, upcast, -5, 5),
    "sin": (np.sin, to_float, -9, 9),
    "sinh": (np.sinh, to_float, -5, 5),
    "softplus": (lambda x: np.logaddexp(0, x), to_float, -9, 9),
    "sqr": (np.square, upcast, -5, 5),
    "sqrt": (np.sqrt, to_float, 0, 9),
    "tan": (np.tan, to_float, -1.4, 1.4),
    "tanh": (np.tanh, to_float, -5, 5),
    "tri_gamma": (lambda x: scipy.special.polygamma(1, x), to_float, 0.1, 9),
    "trunc": (np.trunc, None, -5, 5),
    "i0": (scipy.special.i0, to_float, -5, 5),
    "i1": (scipy.special.i1, to_float, -5, 5),
    "j0": (scipy.special.j0, to_float, -5, 5),
    "j1": (scipy.special.j1, to_float, -5, 5),
    "signbit": (np.signbit, always_bool, -5, 5),
    "ndtri_exp": (scipy.special.ndtri_exp, to_float, -5, 0),
}
BINARY = {
    "add": (np.add, upcast),
    "sub": (np.subtract, upcast),
    "mul": (np.multiply, upcast),
    "true_div": (np.true_divide, quotient),
    "int_div": (floored, upcast_min8),
    "mod": (np.mod, upcast_min8),
    "pow": (np.power, upcast_min8),
    "arctan2": (np.arctan2, to_float),
    "hypot": (np.hypot, to_float),
    "xlogy": (scipy.special.xlogy, to_float),
    "xlog1py": (scipy.special.xlog1py, to_float),
    "maximum": (np.maximum, upcast),
    "minimum": (np.minimum, upcast),
    "eq": (np.equal, always_bool),
    "neq": (np.not_equal, always_bool),
    "lt": (np.less, always_bool),
    "le": (np.less_equal, always_bool),
    "gt": (np.greater, always_bool),
    "ge": (np.greater_equal, always_bool),
    "and_": (np.bitwise_and, upcast),
    "or_": (np.bitwise_or, upcast),
    "xor": (np.bitwise_xor, upcast),
    "second": (lambda x, y: y + 0 * x, None),
    "copysign": (np.copysign, to_float),
    "nextafter": (np.nextafter, to_float),
    "left_shift": (np.left_shift, upcast_min8),
    "right_shift": (np.right_shift, upcast_min8),
    "polygamma": (lambda n, x: scipy.special.polygamma(n, x), lambda n, x: to_float(x)),
}


def derivative_by_third_parameter(a, b, c, z):
    """The derivative of hyp2f1 with respect to c, summed from Gauss's series."""
    total, term, slope = np.zeros_like(z), np.ones_like(z), np.zeros_like(z)
    for n in range(60):
        slope -= 1 / (c + n)
        term = term * (a + n) * (b + n) / ((c + n) * (n + 1)) * z
        total += term * slope
    return total


SPECIAL = {  # reference, and the interval of each argument
    "jv": (scipy.special.jv, (0.5, 4), (0.5, 9)),
    "ive": (scipy.special.ive, (0.5, 4), (0.5, 9)),
    "iv": (scipy.special.iv, (0.5, 4), (0.5, 9)),
    "ive_derivative": (elementwise.table["ive_derivative"], (0.5, 4), (0.5, 9)),
    "kv": (scipy.special.kv, (0.5, 4), (0.5, 9)),
    "kve": (scipy.special.kve, (0.5, 4), (0.5, 9)),
    "kve_derivative": (elementwise.table["kve_derivative"], (0.5, 4), (0.5, 9)),
    "owens_t": (scipy.special.owens_t, (-3, 3), (-3, 3)),
    "gammainc": (scipy.special.gammainc, (0.1, 9), (0.1, 9)),
    "gammaincc": (scipy.special.gammaincc, (0.1, 9), (0.1, 9)),
    "gammaincinv": (scipy.special.gammaincinv, (0.1, 9), (0.1, 0.9)),
    "gammainccinv": (scipy.special.gammainccinv, (0.1, 9), (0.1, 0.9)),
    "betainc": (scipy.special.betainc, (0.1, 9), (0.1, 9), (0.05, 0.95)),
    "betaincinv": (scipy.special.betaincinv, (0.1, 9), (0.1, 9), (0.05, 0.95)),
    "hyp2f1": (scipy.special.hyp2f1, (0.1, 4), (0.1, 4), (0.5, 5), (-0.9, 0.9)),
    "hyp2f1_derivative": (
        elementwise.table["hyp2f1_derivative"],
        (0.5, 3),
        (0.5, 3),
        (0.5, 4),
        (-0.7, 0.7),
    ),
    "hyp2f1_derivative_by_c": (
        derivative_by_third_parameter,
        (0.5, 2),
        (0.5, 2),
        (2, 4),
        (-0.3, 0.3),
    ),
    "gammainc_derivative": (elementwise.table["gammainc_derivative"], (0.1, 9), (0.1, 9)),
    "betainc_derivative": (
        elementwise.table["betainc_derivative"],
        (0.1, 9),
        (0.1, 9),
        (0.05, 0.95),
    ),
    "betainc_derivative_by_b": (
        elementwise.table["betainc_derivative_by_b"],
        (0.1, 9),
        (0.1, 9),
        (0.05, 0.95),
    ),
    "betainc_density": (elementwise.table["betainc_density"], (0.1, 9), (0.1, 9), (0.05, 0.95)),
    "gammainc_density": (elementwise.table["gammainc_density"], (0.1, 9), (0.1, 9)),
}
NO_BOOL = {
    "neg",
    "sub",
    "sign",
    "abs",
    "maximum",
    "minimum",
    "clip",
}  # some of their inputs may not be bool
DISCRETE_ONLY = {"invert", "and_", "or_", "xor", "left_shift", "right_shift"}


def values(dtype, low, high, rng, size=7):
    if dtype == "bool":
        return rng.integers(0, 2, size).astype(bool)
    if dtype in FLOATS:
        return rng.uniform(low, high, size).astype(dtype)
    low = max(np.ceil(low), 0 if dtype.startswith("u") else -100)
    return rng.integers(int(low), int(np.floor(high)) + 1, size).astype(dtype)


def tolerance(*arrays):
    return 1e-4 if any(a.dtype == np.float32 for a in arrays) else 1e-9


def check(name, inputs, reference, dtype, mode):
    variables = [
        pt.tensor(f"x{i}", dtype=v.dtype.name, shape=(None,)) for i, v in enumerate(inputs)
    ]
    out = getattr(pt, name)(*variables)
    if dtype is not None:
        assert out.dtype == dtype, f"{name} of {[v.dtype.name for v in inputs]}"
    result = bt.function(variables, out, mode=mode)(*inputs)
    assert result.dtype.name == out.dtype
    with np.errstate(all="ignore"):
        expected = np.asarray(
            reference(*(v.astype(out.dtype if out.dtype in FLOATS else v.dtype) for v in inputs))
        )
    tol = tolerance(result, *inputs)
    np.testing.assert_allclose(result, expected.astype(out.dtype), rtol=tol, atol=tol)


def test_every_function_has_a_reference():
    names = {name for name, arity in _core.elementwise_functions()}
    assert names == set(UNARY) | set(BINARY) | set(SPECIAL) | {"switch", "clip"}


@pytest.mark.parametrize("name", UNARY)
def test_unary(name, mode):
    reference, rule, low, high = UNARY[name]
    rng = np.random.default_rng(0)
    for dtype in DTYPES:
        if name in DISCRETE_ONLY and dtype in FLOATS or name in NO_BOOL and dtype == "bool":
            continue
        x = values(dtype, low, high, rng)
        check(name, [x], reference, rule and rule(dtype), mode)


@pytest.mark.parametrize("name", BINARY)
def test_binary(name, mode):
    reference, rule = BINARY[name]
    rng = np.random.default_rng(1)
    pairs = [(d, d) for d in DTYPES] + [
        ("int8", "int32"),
        ("float32", "float64"),
        ("int64", "float32"),
        ("uint8", "int8"),
        ("bool", "float64"),
    ]
    for pair in pairs:
        if (
            name in DISCRETE_ONLY
            and set(pair) & set(FLOATS)
            or name in NO_BOOL
            and pair == ("bool", "bool")
        ):
            continue
        low = 1 if name in ("pow", "polygamma") else -5
        x = values(pair[0], low, 4, rng)
        y = values(pair[1], 1, 4, rng) if name != "polygamma" else values(pair[1], 1, 4, rng)
        if name == "polygamma" and pair[0] in FLOATS + ["bool"]:
            continue
        if name in ("mod", "int_div", "pow", "true_div", "polygamma") and pair[1] == "bool":
            y = np.ones(7, bool)
        check(name, [x, y], reference, rule and rule(*pair), mode)


@pytest.mark.parametrize("name", SPECIAL)
def test_special_function_of_several_arguments(name, mode):
    reference, *intervals = SPECIAL[name]
    rng = np.random.default_rng(2)
    is_from_oracle = reference is elementwise.table[name]
    function = reference if not is_from_oracle else lambda *x: reference(*x).array
    for dtype in ("float64", "float32"):
        arguments = [rng.uniform(*interval, 50).astype(dtype) for interval in intervals]
        variables = [pt.vector(dtype=dtype) for _ in arguments]
        out = getattr(pt, name)(*variables)
        assert out.dtype == dtype
        got = bt.function(variables, out, mode=mode)(*arguments)
        rtol = 3e-6 if dtype == "float32" else 1e-8 if "derivative" in name else 1e-11
        np.testing.assert_allclose(
            got, function(*(x.astype(float) for x in arguments)), rtol=rtol, atol=rtol / 10
        )


def test_derivatives_with_respect_to_parameters_are_accurate():
    mpmath = pytest.importorskip("mpmath")
    k, a, b, x = pt.dscalars("k", "a", "b", "x")
    by_k = bt.function([k, x], bt.grad(pt.gammainc(k, x), k))
    by_a, by_b = (bt.function([a, b, x], bt.grad(pt.betainc(a, b, x), w)) for w in (a, b))
    with mpmath.workdps(40):
        for point in [
            (0.01, 0.5),
            (0.3, 1e-5),
            (2.5, 2.4),
            (2.5, 40.0),
            (80.0, 70.0),
            (80.0, 120.0),
            (1e4, 1.01e4),
        ]:
            expected = mpmath.diff(
                lambda t: mpmath.gammainc(t, 0, point[1], regularized=True), point[0]
            )
            assert float(by_k(*point)) == pytest.approx(float(expected), rel=1e-11)
        for point in [
            (0.05, 0.2, 0.3),
            (2.5, 0.5, 0.97),
            (1.5, 30.0, 0.02),
            (300.0, 500.0, 0.4),
            (4.0, 2.0, 1e-6),
        ]:
            pa, pb, px = map(mpmath.mpf, point)
            expected = mpmath.diff(lambda t: mpmath.betainc(t, pb, 0, px, regularized=True), pa)
            assert float(by_a(*point)) == pytest.approx(float(expected), rel=1e-10)
            expected = mpmath.diff(lambda t: mpmath.betainc(pa, t, 0, px, regularized=True), pb)
            assert float(by_b(*point)) == pytest.approx(float(expected), rel=1e-10)


HYPERGEOMETRIC = [  # a, b, c, z: ordinary points, z near and at 1, |z| > 1, cancelling poles, large parameters
    (0.5, 0.75, 1.25, 0.3), (1.0, 1.0, 2.0, -1.0), (2.5, -1.5, 0.5, 0.74), (2.5, -1.5, 0.5, 0.76), (0.5, 0.5, 1.5, 0.999),
    (1.0, 2.0, 3.0, 0.99), (1.0, 1.0, 2.0, 1 - 1e-12), (0.3, 0.7, 1.0, 1 - 1e-9), (0.3, 0.4, 2.0, 1.0), (1.5, 2.0, 1.0, -1e10),
    (3.25, 0.5, 0.75, -7.5), (2.0, 3.0, 1.0 + 1e-11, 0.9), (100.0, 75.5, 30.0, -0.9), (20.5, -30.25, 4.0, 0.95), (1e-3, 1e-3, 1e-3, 0.5),
    (-0.5, 3.0, -2.5, 0.8), (50.0, 60.0, 2.0, 0.7), (2.5, 4.0, 1.5, 3.0), (3.0, 2.5, 1.5, 1.25), (1.0, 5.0, 3.0, 40.0), (-7.0, 2.5, 1.5, 8.0), (-17.0, 30.0, 0.5, 0.5), (-2.0, 1.0, -3.0, 0.3), (4.0, 2.0, 2.0, 1.5),
]  # fmt: skip


def test_the_hypergeometric_function_is_accurate():
    mpmath = pytest.importorskip("mpmath")
    variables = pt.dscalars("a", "b", "c", "z")
    f = bt.function(variables, pt.hyp2f1(*variables))
    slopes = bt.function(variables, bt.grad(pt.hyp2f1(*variables), list(variables)))
    with mpmath.workdps(50):
        for point in HYPERGEOMETRIC:
            expected = mpmath.re(mpmath.hyp2f1(*point))
            assert float(f(*point)) == pytest.approx(float(expected), rel=4e-15, abs=0), point
            if point[3] >= 1 or point[2] < 0 or point[0] < -5:
                continue
            for i, slope in enumerate(slopes(*point)):
                at = list(map(mpmath.mpf, point))
                expected = mpmath.diff(lambda t: mpmath.hyp2f1(*at[:i], t, *at[i + 1 :]), at[i])
                assert float(slope) == pytest.approx(float(expected), rel=1e-13, abs=1e-300), (
                    point,
                    i,
                )


def test_derivatives_of_hypergeometric_polynomials():
    mpmath = pytest.importorskip("mpmath")
    variables = pt.dscalars("a", "b", "c", "z")
    slopes = bt.function(variables, bt.grad(pt.hyp2f1(*variables), list(variables)))
    with mpmath.workdps(50):
        for point in [
            (-3.0, 2.5, 1.5, 4.0),
            (2.5, -3.0, 1.5, 4.0),
            (-2.0, 1.5, -0.75, 1.0),
            (-2.0, 1.5, -3.0, 2.0),
        ]:
            found = slopes(*point)
            # The index of the other parameter. The derivative with respect to the negative integer is not real.
            which = 1 if point[0] < 0 else 0
            assert np.isnan(found[1 - which])
            at = list(map(mpmath.mpf, point))
            for i in (which, 2, 3):
                by = lambda t: sum(mpmath.rf(p[0], n) * mpmath.rf(p[1], n) / mpmath.rf(p[2], n) * p[3] ** n / mpmath.factorial(n)  # noqa: E731
                                   for p in [[*at[:i], t, *at[i + 1 :]]] for n in range(4))  # fmt: skip
                assert float(found[i]) == pytest.approx(float(mpmath.diff(by, at[i])), rel=1e-13), (
                    point,
                    i,
                )


def test_the_hypergeometric_function_at_its_limits():
    variables = pt.dscalars("a", "b", "c", "z")
    f = bt.function(variables, pt.hyp2f1(*variables))
    assert f(1.0, 1.0, 2.0, 1.0) == np.inf and f(-0.5, 1.0, 0.25, 1.0) == -np.inf  # poles at 1
    assert f(1.0, 1.0, 2.0, 0.0) == f(0.0, 1.0, 2.0, 5.0) == 1 and f(1.0, 2.0, -3.0, 0.5) == np.inf
    for point in (
        (1.0, 1.0, 2.0, 1.5),
        (np.inf, 1.0, 2.0, 0.5),
        (1.0, 1.0, 2.0, -np.inf),
        (1.0, np.nan, 2.0, 0.5),
    ):
        assert np.isnan(f(*point))  # no real value, or undefined
    a, b, c, z = variables
    with pytest.raises(bt.NullTypeGradError):
        bt.grad(bt.grad(pt.hyp2f1(a, b, c, z), a), b)
    twice = bt.grad(bt.grad(pt.hyp2f1(a, b, c, z), c), z)
    swapped = bt.grad(bt.grad(pt.hyp2f1(a, b, c, z), z), c)
    at = {a: 0.5, b: 1.25, c: 2.5, z: 0.6}
    assert twice.eval(at) == pytest.approx(swapped.eval(at), rel=1e-13)


def test_scaled_bessel_functions_of_large_arguments():
    mpmath = pytest.importorskip("mpmath")
    v, x = pt.dscalars("v", "x")
    i, k = bt.function([v, x], pt.ive(v, x)), bt.function([v, x], pt.kve(v, x))
    with mpmath.workdps(40):
        for point in [
            (0.0, 20.0),
            (2.5, 800.0),
            (2.5, 10999.0),
            (2.5, 11001.0),
            (300.0, 12000.0),
            (0.5, 1e12),
        ]:
            pv, px = map(mpmath.mpf, point)
            assert float(i(*point)) == pytest.approx(
                float(mpmath.besseli(pv, px) * mpmath.exp(-px)), rel=1e-13
            )
            assert float(k(*point)) == pytest.approx(
                float(mpmath.besselk(pv, px) * mpmath.exp(px)), rel=1e-13
            )
    # Here mpmath does not converge, but the uniform expansion for large orders holds.
    assert float(i(1e4, 2e4)) == pytest.approx(scipy.special.ive(1e4, 2e4), rel=1e-11)
    assert float(k(1e4, 2e4)) == pytest.approx(scipy.special.kve(1e4, 2e4), rel=1e-11)


def test_missing_derivatives_with_respect_to_orders_are_errors():
    v, x = pt.dscalars("v", "x")
    with pytest.raises(bt.NullTypeGradError, match="no derivative"):
        bt.grad(pt.jv(v, x), v)
    with pytest.raises(bt.NullTypeGradError, match="no derivative"):
        bt.grad(pt.polygamma(v, x), v)
    assert bt.function([v, x], bt.grad(pt.jv(v, x), x))(1.0, 0.5) == pytest.approx(
        scipy.special.jvp(1.0, 0.5)
    )


def test_formulas_of_special_functions(mode):
    x, y = pt.dvectors("x", "y")
    a, b = np.array([0.5, 1.0, 3.5, 7.0]), np.array([0.3, 2.0, 1.5, 4.0])
    sp = scipy.special
    for got, expected in [
        (pt.iv(x, y), sp.iv(a, b)),
        (pt.kv(x, y), sp.kv(a, b)),
        (pt.kn(2, y), sp.kn(2, b)),
        (pt.gammal(x, y), sp.gammainc(a, b) * sp.gamma(a)),
        (pt.gammau(x, y), sp.gammaincc(a, b) * sp.gamma(a)),
        (pt.chi2sf(x, y), scipy.stats.chi2.sf(a, b)),
        (pt.special.beta(x, y), sp.beta(a, b)),
        (pt.special.betaln(x, y), sp.betaln(a, b)),
        (pt.special.factorial(x), sp.factorial(a)),
        (pt.special.poch(x, y), sp.poch(a, b)),
        (pt.special.xlogx(x), a * np.log(a)),
    ]:
        np.testing.assert_allclose(
            bt.function([x, y], got, mode=mode, on_unused_input="ignore")(a, b),
            expected,
            rtol=1e-12,
        )
    halves = np.array(
        [0.5, -0.5, 2.5, -2.5, 0.49999999999999994, -0.3, np.inf, np.nan, 4503599627370497.0]
    )
    rounded = bt.function([x], pt.round_half_away_from_zero(x), mode=mode)(halves)
    np.testing.assert_array_equal(rounded, [1, -1, 3, -3, 0, 0, np.inf, np.nan, 4503599627370497.0])


def test_switch_and_clip(mode):
    c, x, y = pt.tensor("c", dtype="bool", shape=(None,)), pt.dvector("x"), pt.dvector("y")
    given = np.array([True, False, True]), np.array([1.0, 2.0, 3.0]), np.array([-1.0, -2.0, -3.0])
    np.testing.assert_array_equal(
        bt.function([c, x, y], pt.where(c, x, y), mode=mode)(*given), np.where(*given)
    )
    np.testing.assert_array_equal(
        bt.function([x], x.clip(1.5, 2.5), mode=mode)(given[1]), [1.5, 2.0, 2.5]
    )
    np.testing.assert_array_equal(
        bt.function([x], pt.clip(x, 1.5, 2.5), mode=mode)(given[1]), [1.5, 2.0, 2.5]
    )


OPERATORS = {
    "x + y": lambda x, y: x + y,
    "x - y": lambda x, y: x - y,
    "x * y": lambda x, y: x * y,
    "x / y": lambda x, y: x / y,
    "x // y": lambda x, y: x // y,
    "x % y": lambda x, y: x % y,
    "x ** y": lambda x, y: x**y,
    "x < y": lambda x, y: x < y,
    "x <= y": lambda x, y: x <= y,
    "x > y": lambda x, y: x > y,
    "x >= y": lambda x, y: x >= y,
}


@pytest.mark.parametrize("text", OPERATORS)
@pytest.mark.parametrize(
    "other",
    [2, 2.5, np.True_, np.float32(1.5), np.int64(3), np.array([1.0, 2.0, 4.0]), [1.0, 2.0, 4.0]],
)
def test_operators_with_numbers_and_arrays(text, other):
    operator = OPERATORS[text]
    x = pt.dvector("x")
    given = np.array([0.5, 2.5, 3.0])
    np.testing.assert_allclose(operator(x, other).eval({x: given}), operator(given, other))
    np.testing.assert_allclose(operator(other, x).eval({x: given}), operator(other, given))


def test_integer_operators():
    x, y = pt.ivectors("x", "y")
    given = {x: np.array([5, 6, 7], "int32"), y: np.array([3, 3, 1], "int32")}
    a, b = given.values()
    for out, expected in [
        (x & y, a & b),
        (x | y, a | b),
        (x ^ y, a ^ b),
        (~x, ~a),
        (-x, -a),
        (abs(-x), a),
        (+x, a),
    ]:
        np.testing.assert_array_equal(
            out.eval({v: given[v] for v in (x, y) if v in bt.graph.ancestors([out])}), expected
        )
    q, r = divmod(x, y)
    np.testing.assert_array_equal(q.eval(given), a // b)
    np.testing.assert_array_equal(r.eval(given), a % b)


def test_numbers_keep_the_dtype():
    for dtype in INTEGERS + FLOATS:
        x = pt.tensor("x", dtype=dtype, shape=())
        assert (x + 1).dtype == (dtype if not dtype.startswith("u") else upcast(dtype, "int8"))
    f = pt.fscalar("f")
    assert (f * 0.5).dtype == "float32"
    assert (f * np.float64(0.5)).dtype == "float64"
    assert (pt.bscalar("b") + 1000).dtype == "int16"


def test_several_operands():
    x = pt.dscalar("x")
    assert pt.add(x, x, 1).eval({x: 2.0}) == 5.0
    assert pt.mul(x, x, 3, 2).eval({x: 2.0}) == 24.0
    assert pt.largest(x, 1, 7, 3).eval({x: 2.0}) == 7.0


def test_numpy_on_the_left():
    x = pt.dvector("x")
    out = np.ones(3) * x
    assert isinstance(out, pt.TensorVariable) and out.ndim == 1
    out = np.float32(2) - x
    assert isinstance(out, pt.TensorVariable)


def test_aliases():
    for alias, name in dict(
        power="pow",
        floor_div="int_div",
        equal="eq",
        less="lt",
        digamma="psi",
        bitwise_and="and_",
        square="sqr",
        expit="sigmoid",
        fill="second",
    ).items():
        assert getattr(pt, alias) is getattr(pt, name)


def test_documentation():
    for name, _ in _core.elementwise_functions():
        assert len(getattr(pt, name).__doc__) > 20, name


def test_unequal_lengths_name_the_line():
    x = pt.dvector("x")
    with pytest.raises(ValueError, match=r"test_elementwise\.py"):
        bt.function([x], x + np.array([1.0, 2.0, 3.0]))([1.0, 2.0])


def test_isclose_of_extreme_integers(mode):
    i = pt.lvector("i")
    assert bt.function([i], pt.isclose(i, 0), mode=mode)([-(2**63), 0, 2**63 - 1]).tolist() == [
        False,
        True,
        False,
    ]


def test_ndtri_exp_of_huge_logarithms(mode):
    x = pt.dvector("x")
    y = np.array([-1e10, -1e29, -1e31, -1e300, -8.98e307, -9e307, -np.finfo(float).max, -np.inf])
    out = bt.function([x], pt.ndtri_exp(x), mode=mode)(y)
    np.testing.assert_allclose(out, -np.sqrt(2) * np.sqrt(-y), rtol=2e-9)
    np.testing.assert_allclose(out[:1], scipy.special.ndtri_exp(y[:1]), rtol=1e-15)


def test_polygamma_overflows_with_its_sign():
    x = pt.dvector("x")
    values = np.array([2.3e-308, 1e-200, 1e-104, 0.5])
    for order in range(1, 9):
        np.testing.assert_allclose(
            bt.function([x], pt.polygamma(order, x))(values),
            scipy.special.polygamma(order, values),
            rtol=1e-12,
        )
    left, right = bt.function([x], pt.polygamma(20, x))([np.nextafter(-1, -2), np.nextafter(-1, 0)])
    assert left == np.inf and right == -np.inf
    for order in (2, 4, 6):  # as digamma, of order 0
        assert bt.function([x], pt.polygamma(order, x))([0.0, -0.0]).tolist() == [-np.inf, np.inf]
    assert bt.function([x], pt.polygamma(3, x))([0.0, -0.0, -1.0]).tolist() == [np.inf] * 3
