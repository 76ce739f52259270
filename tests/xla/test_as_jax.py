"""as_jax: jit, vmap, grad, jvp and Hessians of Bitale's functions, against the same mathematics in jax.numpy."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import bitale as bt
import bitale.jax
import bitale.tensor as pt

rng = np.random.default_rng(0)
X, W = rng.normal(size=(6, 4)), rng.normal(size=4)


def loss_of(x, w, log1p, exp):
    return log1p(exp(-(x @ w))).sum()


@pytest.fixture
def loss():
    x, w = pt.dmatrix("x"), pt.dvector("w")
    return bitale.jax.as_jax(bt.function([x, w], loss_of(x, w, pt.log1p, pt.exp)))


def reference(x, w):
    return loss_of(x, w, jnp.log1p, jnp.exp)


TRANSFORMED = {
    "value": lambda f: f(X, W),
    "jit": lambda f: jax.jit(f)(X, W),
    "grad": lambda f: jax.grad(f, argnums=(0, 1))(X, W),
    "jit of grad": lambda f: jax.jit(jax.grad(f, argnums=1))(X, W),
    "hessian": lambda f: jax.hessian(f, argnums=1)(X, W),
    "reverse over reverse": lambda f: jax.jacrev(jax.grad(f, argnums=1), argnums=1)(X, W),
    "third derivative": lambda f: jax.jvp(jax.hessian(lambda w: f(X, w)), (W,), (W,)),
    "jvp": lambda f: jax.jvp(f, (X, W), (X, W)),
    "vmap": lambda f: jax.vmap(f, in_axes=(None, 0))(X, np.stack([W, 2 * W])),
    "vmap over a later axis": lambda f: jax.vmap(f, in_axes=(None, 1))(
        X, np.stack([W, 2 * W], axis=1)
    ),
    "vmap of grad": lambda f: jax.vmap(jax.grad(f, argnums=1), in_axes=(0, None))(
        np.stack([X, X + 1]), W
    ),
    "grad of vmap": lambda f: jax.grad(
        lambda w: jax.vmap(f, in_axes=(0, None))(np.stack([X, X + 1]), w).sum()
    )(W),
    "in a scan": lambda f: jax.lax.scan(
        lambda w, _: (w - 0.1 * jax.grad(f, argnums=1)(X, w), f(X, w)), W, None, length=3
    ),
    "checkpoint": lambda f: jax.grad(jax.checkpoint(f), argnums=1)(X, W),
}


@pytest.mark.parametrize("how", TRANSFORMED)
def test_transformations(loss, how):
    expected, got = TRANSFORMED[how](reference), TRANSFORMED[how](loss)
    jax.tree.map(
        lambda a, b: np.testing.assert_allclose(b, a, rtol=1e-10, atol=1e-12), expected, got
    )


def test_several_outputs_integers_and_shared_variables():
    x, k = pt.dvector("x"), pt.lvector("k")
    scale = bt.shared(np.array([2.0, 3.0, 5.0]), "scale")
    f = bitale.jax.as_jax(bt.function([x, k], {"picked": x[k] * scale[k], "index": k + 1}))
    a, at = np.array([1.0, 2.0, 4.0]), np.array([2, 0])
    out = f(a, at)
    np.testing.assert_allclose(out["picked"], [20.0, 2.0])
    np.testing.assert_array_equal(out["index"], [3, 1])
    np.testing.assert_allclose(jax.grad(lambda x: f(x, at)["picked"].sum())(a), [2.0, 0.0, 5.0])


def test_an_output_that_does_not_depend_on_an_input():
    x, y = pt.dvector("x"), pt.dvector("y")
    f = bitale.jax.as_jax(bt.function([x, y], [x.sum(), (y**2).sum()]))
    np.testing.assert_allclose(jax.jacrev(f)(W, W)[1], np.zeros(4))
    np.testing.assert_allclose(jax.grad(lambda y: sum(f(W, y)))(W), 2 * W)


def test_refusals():
    x = pt.dvector("x")
    with pytest.raises(TypeError, match="expected a compiled function"):
        bitale.jax.as_jax(x)
    count = bt.shared(0, "count")
    with pytest.raises(ValueError, match="side effects"):
        bitale.jax.as_jax(bt.function([x], x, updates={count: count + 1}))
    f = bitale.jax.as_jax(bt.function([x], x + 1))
    with pytest.raises(TypeError, match="1 arguments"):
        f(W, W)
    with pytest.raises(TypeError, match="1 dimensions"):
        f(X)
    with jax.enable_x64(False), pytest.raises(ValueError, match="jax_enable_x64"):
        bitale.jax.as_jax(bt.function([x], x + 1))
    with pytest.raises(NotImplementedError, match="Nonzero"):
        bitale.jax.as_jax(bt.function([x], x[x > 0]))(W)


# ---- draws ------------------------------------------------------------------------------------------------------------


def drawing(build, kind="Threefry"):
    """A function of a random state and a number, and the same function converted to JAX."""
    rng, mu = pt.random.rng("rng", kind), pt.dscalar("mu")
    f = bt.function([rng, mu], build(rng, mu))
    return f, bitale.jax.as_jax(f)


STATE = np.array([7, 2], "uint64")


@pytest.mark.parametrize("name", ["normal", "poisson", "gumbel", "truncexpon"])
def test_elements_of_a_batch_have_independent_draws(name):
    rest = {"normal": (1.0,), "poisson": (), "gumbel": (1.0,), "truncexpon": (0.0, 1.0)}[name]
    f, g = drawing(lambda rng, mu: getattr(rng, name)(mu, *rest, size=4)[1])
    np.testing.assert_allclose(g(STATE, 3.0), f(bt.random.Stream(7, 2), 3.0), rtol=1e-12)
    np.testing.assert_allclose(
        g(bt.random.Stream(7, 2), 3.0), f(bt.random.Stream(7, 2), 3.0), rtol=1e-12
    )
    rows = np.asarray(jax.vmap(g, in_axes=(None, 0))(STATE, np.full(500, 3.0)))
    np.testing.assert_allclose(rows[0], f(bt.random.Stream(7, 2), 3.0), rtol=1e-12)
    assert rows.shape == (500, 4) and len(np.unique(rows, axis=0)) > 400
    assert abs(np.corrcoef(rows[:-1].ravel(), rows[1:].ravel())[0, 1]) < 0.1
    state = bt.random.Stream(7, 2)
    rng, mus = pt.random.rng("rng", "Threefry"), pt.dvector("mus")
    mu = pt.dscalar("mu")
    whole = bt.graph.vectorize_graph(getattr(rng, name)(mu, *rest, size=4)[1], {mu: mus})
    np.testing.assert_allclose(
        rows, bt.function([rng, mus], whole)(state, np.full(500, 3.0)), rtol=1e-12
    )


def test_a_batch_of_states():
    f, g = drawing(lambda rng, mu: list(reversed(rng.normal(mu, 1.0, size=3))))
    states = np.array([[1, 0], [2, 0], [2, 5]], "uint64")
    rows, after = jax.jit(jax.vmap(g, in_axes=(0, None)))(states, 1.0)
    for row, state in zip(rows, states):
        np.testing.assert_allclose(row, f(bt.random.Stream(*map(int, state)), 1.0)[0], rtol=1e-12)
    assert np.array_equal(after, states + np.array([0, 1], "uint64"))


def test_derivatives_of_a_batch_use_the_same_draws_as_its_values():
    _, g = drawing(lambda rng, mu: pt.sum(pt.exp(mu * rng.gumbel(mu, 1.0, size=3)[1])))
    mus = np.array([0.1, 0.1, 0.3])

    def of_batch(mus):
        return jax.vmap(g, in_axes=(None, 0))(STATE, mus)

    slopes = jax.vmap(jax.grad(g, argnums=1), in_axes=(None, 0))(STATE, mus)
    step = 1e-6
    expected = (np.asarray(of_batch(mus + step)) - np.asarray(of_batch(mus - step))) / (2 * step)
    np.testing.assert_allclose(slopes, expected, rtol=1e-5)
    np.testing.assert_allclose(jax.grad(lambda mus: of_batch(mus).sum())(mus), expected, rtol=1e-5)
    tangents = jax.vmap(lambda mu: jax.jvp(lambda m: g(STATE, m), (mu,), (2.0,))[1])(mus)
    np.testing.assert_allclose(tangents, 2 * expected, rtol=1e-5)
    np.testing.assert_allclose(
        jax.jacfwd(g, argnums=1)(STATE, 0.1), jax.grad(g, argnums=1)(STATE, 0.1), rtol=1e-12
    )


def test_draws_independent_of_the_batch_are_made_once():
    rng, x = pt.random.rng("rng", "Threefry"), pt.dvector("x")
    g = bitale.jax.as_jax(bt.function([rng, x], x * rng.bernoulli(0.5, size=4)[1]))
    masks = jax.vmap(g, in_axes=(None, 0))(STATE, np.ones((6, 4)))
    assert len(np.unique(masks, axis=0)) == 1
    slopes = jax.vmap(jax.grad(lambda x: g(STATE, x).sum()))(np.ones((6, 4)))
    assert np.array_equal(slopes, masks)
