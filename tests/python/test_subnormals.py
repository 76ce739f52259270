"""Weights of a softmax that would be subnormal numbers, which slow down products, are zero; logarithms of weights are not affected."""

import numpy as np
import pytest

import bitale as bt
import bitale.tensor as pt


@pytest.mark.parametrize(("dtype", "negligible"), [("float64", 720.0), ("float32", 95.0)])
def test_no_weight_is_subnormal(dtype: str, negligible: float) -> None:
    x = pt.vector("x", dtype=dtype)
    at = np.array([0.0, -negligible, -5.0], dtype)
    log_total = pt.logsumexp(x)
    weights, slope, logs = bt.function(
        [x], [pt.softmax(x), bt.grad(log_total, x), pt.log_softmax(x)]
    )(at)
    for each in (weights, slope):
        assert each[1] == 0
        np.testing.assert_allclose(
            each[[0, 2]], np.exp(at[[0, 2]]) / (1 + np.exp(at[2])), rtol=1e-6
        )
    assert logs[1] == pytest.approx(-negligible, rel=1e-4)


def test_exponentials_elsewhere_may_be_subnormal() -> None:
    x = pt.dvector("x")
    assert 0 < bt.function([x], pt.exp(x))(np.array([-720.0]))[0] < np.finfo(float).tiny


def test_special_values() -> None:
    x = pt.dvector("x")
    softmax = bt.function([x], pt.softmax(x))
    assert np.isnan(softmax(np.array([0.0, np.nan]))).all()
    np.testing.assert_array_equal(softmax(np.array([0.0, -np.inf])), [1.0, 0.0])
