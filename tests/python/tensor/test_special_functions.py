"""Special functions at the ends of their domains, and of operands of different dtypes. Accuracy in general is tested by
test_accuracy.py."""

import random

import numpy as np
import pytest
import scipy.special
from accuracy_table import EXACT, TABLE

import bitale as bt
import bitale.tensor as pt
from bitale import _core


def at(function, *point):
    variables = [pt.dscalar(f"x{i}") for i in range(len(point))]
    return float(bt.function(variables, function(*variables))(*point))


def slope(function, i, *point):
    variables = [pt.dscalar(f"x{i}") for i in range(len(point))]
    return float(
        bt.function(
            variables, bt.grad(function(*variables), variables[i]), on_unused_input="ignore"
        )(*point)
    )


# Expected values were computed by mpmath with 60 digits.


@pytest.mark.parametrize(
    "i, point, expected",
    [
        (0, (1e-3, 27.5, 0.25), -4.885448808847553e-05),
        (0, (1e-5, 27.5, 0.25), -4.860621239298193e-05),
        (0, (3.9777816436043296, 9065.48915925296, 0.00012329545430339231), -0.040288958436600034),
        (1, (1.95544e-3, 3.5, 1e-30), 0.00056604727614539),
    ],
)
def test_betainc_by_its_parameters(i, point, expected):
    assert slope(pt.betainc, i, *point) == pytest.approx(expected, rel=1e-14, abs=0)


def test_inverses_of_small_probabilities():
    assert at(pt.betaincinv, 3.0, 3.0, 1e-80) == pytest.approx((1e-80 / 10) ** (1 / 3), rel=1e-13)
    a, b, p = pt.dvectors("a", "b", "p")
    rng = np.random.default_rng(0)
    shapes = 10 ** rng.uniform(-1, 2, (2, 200))
    probabilities = 10 ** rng.uniform(-100, 0, 200)
    x = bt.function([a, b, p], pt.betaincinv(a, b, p))(*shapes, probabilities)
    inner = (x > 1e-300) & (x < 0.999)
    np.testing.assert_allclose(
        scipy.special.betainc(*shapes, x)[inner], probabilities[inner], rtol=1e-11
    )
    assert np.isfinite(x).all() and inner.sum() > 100
    for name, value in (
        ("gammaincinv", scipy.special.gammainc),
        ("gammainccinv", scipy.special.gammaincc),
    ):
        x = bt.function([a, p], getattr(pt, name)(a, p))(shapes[0], probabilities)
        inner = x > 1e-300
        np.testing.assert_allclose(value(shapes[0], x)[inner], probabilities[inner], rtol=1e-11)


def test_quotients_of_gamma_functions():
    beta, betaln, poch = pt.special.beta, pt.special.betaln, pt.special.poch
    for mode in (bt.Mode("vm", "None"), "FAST_COMPILE", "FAST_RUN"):
        x, y = pt.dvectors("x", "y")
        f = bt.function([x, y], betaln(x, y), mode=mode)
        np.testing.assert_allclose(
            f([1e15, 10.0, 1e308, 1e300, 3.0, 5.0], [0.5, 1e17, 1e308, 1e-300, 3.0, 1e-20]),
            [
                -16.69702325453064,
                -378.6376383289063,
                -1.3862943611198907e308,
                690.7755278982137,
                -3.4011973816621555,
                46.051701859880914,
            ],
            rtol=1e-15,
        )
    assert at(beta, 171.0, 5.0) == pytest.approx(1.5490066574640955e-10, rel=1e-13)
    assert at(beta, 200.0, 200.0) == pytest.approx(9.713217247611181e-122, rel=1e-13)
    assert at(beta, 1e-310, 3.0) == pytest.approx(1e310, rel=1e-15) and at(
        beta, 1e-300, 1e-300
    ) == pytest.approx(2e300, rel=1e-15)
    assert at(poch, 200.0, 1.0) == pytest.approx(200, rel=1e-14) and at(
        poch, 1e5, 60.0
    ) == pytest.approx(1.0178540011894557e300, rel=1e-13)
    assert (
        at(poch, 170.0, -160.0) == pytest.approx(8.500215954268721e-300, rel=1e-13)
        and at(poch, 1e4, -9000.0) == 0
    )
    for function in (
        beta,
        betaln,
    ):  # the derivative is -(psi(a + b) - psi(a)), times the value for beta
        scale = at(function, 1e10, 1e-5) if function is beta else 1
        assert slope(function, 0, 1e10, 1e-5) == pytest.approx(-1e-15 * scale, rel=1e-9)
        assert slope(function, 1, 7.0, 7.0) == slope(function, 0, 7.0, 7.0)
    digamma = scipy.special.psi  # where products of gamma functions, as in derivatives, overflow
    for a, b in ((48.02, 120.42), (27.7, 141.4), (20.0, 25.0), (0.08, 157.0), (3.0, 4.0)):
        value = scipy.special.beta(a, b)
        assert slope(beta, 0, a, b) == pytest.approx(
            value * (digamma(a) - digamma(a + b)), rel=1e-11, abs=0
        )
        assert slope(beta, 1, a, b) == pytest.approx(
            value * (digamma(b) - digamma(a + b)), rel=1e-11, abs=0
        )
        assert slope(poch, 0, a, b) == pytest.approx(
            at(poch, a, b) * (digamma(a + b) - digamma(a)), rel=1e-11
        )
        assert slope(poch, 1, a, b) == pytest.approx(at(poch, a, b) * digamma(a + b), rel=1e-11)
    assert at(betaln, -0.5, 200.0) == pytest.approx(scipy.special.betaln(-0.5, 200), rel=1e-14)
    assert at(beta, -0.5, 2.5) == pytest.approx(scipy.special.beta(-0.5, 2.5), rel=1e-14)
    assert at(poch, -0.5, 2.0) == pytest.approx(-0.25, rel=1e-14) and at(
        poch, 1e-10, 172.0
    ) == pytest.approx(1.2410180709277537e299, rel=1e-12)


def test_hypergeometric_polynomials_have_zeros():
    assert at(pt.hyp2f1, -1.0, 2.0, 1.0, 0.5) == 0
    assert at(pt.hyp2f1, 2.0, -1.0, 3.0, 1.5) == 0
    assert at(pt.hyp2f1, 3.0, 2.0, 1.0, -0.5) == 0  # (1 + 2 z) (1 - z)^-4
    assert at(pt.hyp2f1, -2.0, 1.0, 0.5, 0.375) == pytest.approx(-0.125, rel=1e-15)
    assert slope(pt.hyp2f1, 3, -2.0, 3.0, 1.0, 0.5) == 0


def test_bessel_functions_at_their_ends():
    assert at(pt.iv, 50.0, 711.0) == pytest.approx(1.5655916656335875e306, rel=1e-14)
    assert at(pt.iv, 1300.0, 800.0) == pytest.approx(2.1744453230572046e-52, rel=1e-14)
    assert at(pt.kv, 2000.0, 1500.0) == pytest.approx(scipy.special.kv(2000, 1500), rel=1e-10)
    for x in (1e-300, 1e-100, 1e-20, 1e-9):
        assert slope(pt.iv, 1, 0.0, x) == pytest.approx(x / 2, rel=1e-15, abs=0)
    for name, order in (("ive", 0.0), ("ive", 2.0), ("kve", 0.0), ("kve", 3.5)):
        for x in (1e5, 1e10, 1e100):  # -value / (2 x) and smaller terms
            assert slope(getattr(pt, name), 1, order, x) == pytest.approx(
                -at(getattr(pt, name), order, x) / (2 * x), rel=20 / x + 1e-14
            )


def test_logit_next_to_one_half():
    x = pt.dvector("x")
    steps = np.array([2.0**-k for k in range(2, 54)])
    for mode in ("FAST_COMPILE", "FAST_RUN"):
        got = bt.function([x], pt.special.logit(x), mode=mode)(
            np.concatenate([0.5 + steps[:-1], 0.5 - steps, [0.5]])
        )
        np.testing.assert_allclose(
            got[:-1],
            np.concatenate([2 * np.arctanh(2 * steps[:-1]), -2 * np.arctanh(2 * steps)]),
            rtol=6e-16,
        )
        assert got[-1] == 0
        ends = bt.function([x], pt.special.logit(x), mode=mode)(
            [0.0, 1.0, -0.1, 1.1, 5e-324, np.nan]
        )
        np.testing.assert_array_equal(
            ends, [-np.inf, np.inf, np.nan, np.nan, np.log(5e-324), np.nan]
        )
    simple = bt.function([x], pt.special.logit(pt.sigmoid(x)))
    np.testing.assert_array_equal(simple([800.0, -800.0]), [800, -800])
    z = pt.zscalar("z")
    assert bt.function([z], pt.special.logit(z))(0.25 + 0.5j) == pytest.approx(
        np.log((0.25 + 0.5j) / (0.75 - 0.5j)), rel=1e-14
    )


def test_derivatives_far_from_zero():
    for x in (-30.0, -300.0):
        assert slope(pt.expm1, 0, x) == pytest.approx(np.exp(x), rel=1e-15)
    assert slope(pt.erfinv, 0, 1 - 2.0**-53) == pytest.approx(757347920544974.0, rel=2e-15)
    assert slope(pt.erfinv, 0, 1.0) == np.inf and slope(pt.erfcinv, 0, 0.0) == -np.inf
    for x in (1e160, 1e300):
        assert slope(pt.arcsinh, 0, x) == pytest.approx(1 / x, rel=1e-15)
    for x, y in ((1e-200, 1e-200), (1e200, 1e200)):
        assert slope(pt.arctan2, 0, x, y) == pytest.approx(0.5 / y, rel=1e-15)
        assert slope(pt.arctan2, 1, x, y) == pytest.approx(-0.5 / y, rel=1e-15)


# ---- operands of different dtypes ------------------------------------------------------------------------------------

SEVERAL = [name for name, arity in _core.elementwise_functions() if arity > 1 and name not in EXACT] + [
    "special.beta", "special.betaln", "special.poch", "logaddexp", "gammal", "gammau", "chi2sf", "kn"]  # fmt: skip


@pytest.mark.parametrize("name", SEVERAL)
@pytest.mark.parametrize("narrow", ["float32", "int8"])
def test_all_operands_are_promoted_before_anything_is_computed(name, narrow):
    """Beside a float64 operand, one of another dtype gives the values and derivatives of its float64 version."""
    function = pt
    for part in name.split("."):
        function = getattr(function, part)
    points = TABLE[name].points if name in TABLE else TABLE["gammainc"].points
    rng = random.Random(name)
    columns = list(zip(*(points(rng) for _ in range(12))))
    for i in range(len(columns)):
        values = [np.array(column) for column in columns]
        with np.errstate(all="ignore"):
            values[i] = np.clip(values[i], -100, 100).astype(narrow)
        wide = [v.astype("float64") for v in values]
        variables, references = (
            [pt.vector(dtype=v.dtype.name) for v in given] for given in (values, wide)
        )
        got, expected = (values_and_gradients(function, given) for given in (variables, references))
        results = [
            bt.function(v, o, on_unused_input="ignore", mode=bt.Mode("vm", "None"))(*x)
            for v, o, x in ((variables, got, values), (references, expected, wide))
        ]
        for g, e, by in zip(*results, ["value", *range(len(got))]):
            if by == i:  # has the dtype of this operand
                continue
            if g.dtype == "float64":
                np.testing.assert_allclose(
                    g, e, rtol=1e-14, atol=0, err_msg=f"operand {i} is narrow, {by}"
                )
            else:
                assert name == "polygamma" and i == 1  # whose result has the dtype of this operand


def values_and_gradients(function, variables):
    out = function(*variables)
    gradients = []
    for v in variables:
        gradient = bt.grad(out.sum(), v, null_gradients="return", disconnected_inputs="ignore")
        gradients.append(
            gradient if isinstance(gradient.type, pt.TensorType) else pt.zeros_like(out)
        )
    return [out, *(g for g in gradients)]
