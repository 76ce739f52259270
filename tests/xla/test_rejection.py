"""Rejection sampling in mode JAX: the bits of a counter-based stream equal those of native code, and therefore so do
the draws."""

import numpy as np
import pytest

import bitale as bt
import bitale.tensor as pt

N = 2000
r = pt.random
DRAWS = {
    "gamma": (
        r.gamma,
        [np.concatenate([[0.0, 1.0], np.geomspace(1e-3, 1e6, N - 2)]), np.full(N, 2.0)],
    ),
    "gamma of a small shape": (r.gamma, [np.float64(0.3), np.float64(1.0)]),
    "beta": (r.beta, [np.geomspace(1e-2, 50, N), np.full(N, 0.7)]),
    "chisquare": (r.chisquare, [np.geomspace(0.1, 50, N)]),
    "poisson": (
        r.poisson,
        [np.concatenate([np.linspace(0, 40, N // 2), np.geomspace(10, 1e12, N - N // 2)])],
    ),
    "binomial": (r.binomial, [np.geomspace(1, 1e6, N).astype("int64"), np.linspace(0, 1, N)]),
    "negative binomial": (
        r.negative_binomial,
        [np.geomspace(0.5, 50, N), np.linspace(0.1, 0.9, N)],
    ),
    "vonmises": (r.vonmises, [np.linspace(-3, 3, N), np.geomspace(1e-9, 1e8, N)]),
    "integers": (r.integers, [np.full(N, -5), np.linspace(1, 3 * 2.0**61, N).astype("int64")]),
}


@pytest.mark.parametrize("name", DRAWS)
def test_draws(name):
    draw, values = DRAWS[name]
    parameters = [
        pt.tensor(shape=(None,) * value.ndim, dtype=str(value.dtype))
        for value in map(np.asarray, values)
    ]
    made = {}
    for mode in ("JAX", None):
        rng = bt.shared(bt.random.stream(11), name="rng")
        f = bt.function(parameters, draw(*parameters, size=(N,), rng=rng), mode=mode)
        made[mode] = f(*values)
    assert made["JAX"].dtype == made[None].dtype
    if made[None].dtype.kind == "f":
        np.testing.assert_allclose(made["JAX"], made[None], rtol=1e-9, atol=1e-300)
    else:
        np.testing.assert_array_equal(made["JAX"], made[None])


def test_a_loop_of_draws():
    """A rejection loop inside a step of a scan."""
    start = bt.shared(bt.random.stream(3), name="start")

    def step(total, rng):
        after, number = r.gamma(total + 0.5, 1.0, rng=rng, return_next_rng=True)
        return [total + number, after]

    made = []
    for mode in ("JAX", None):
        totals, after = bt.scan(
            step, outputs_info=[np.float64(1.0), start], n_steps=5, return_updates=False
        )
        made.append(bt.function([], totals, mode=mode)())
    np.testing.assert_allclose(*made, rtol=1e-11)


def test_under_jit():
    jax = pytest.importorskip("jax")
    import bitale.jax

    rate = pt.dscalar("rate")
    draw = bt.function([rate], r.poisson(rate, size=(3,), rng=bt.shared(bt.random.stream(5))))
    np.testing.assert_array_equal(jax.jit(bitale.jax.as_jax(draw))(12.0), draw(12.0))
