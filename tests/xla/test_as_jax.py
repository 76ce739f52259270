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
    "vmap over a later axis": lambda f: jax.vmap(f, in_axes=(None, 1))(X, np.stack([W, 2 * W], axis=1)),
    "vmap of grad": lambda f: jax.vmap(jax.grad(f, argnums=1), in_axes=(0, None))(np.stack([X, X + 1]), W),
    "grad of vmap": lambda f: jax.grad(lambda w: jax.vmap(f, in_axes=(0, None))(np.stack([X, X + 1]), w).sum())(W),
    "in a scan": lambda f: jax.lax.scan(lambda w, _: (w - 0.1 * jax.grad(f, argnums=1)(X, w), f(X, w)), W, None, length=3),
    "checkpoint": lambda f: jax.grad(jax.checkpoint(f), argnums=1)(X, W),
}


@pytest.mark.parametrize("how", TRANSFORMED)
def test_transformations(loss, how):
    wanted, got = TRANSFORMED[how](reference), TRANSFORMED[how](loss)
    jax.tree.map(lambda a, b: np.testing.assert_allclose(b, a, rtol=1e-10, atol=1e-12), wanted, got)


def test_several_outputs_integers_and_shared_variables():
    x, k = pt.dvector("x"), pt.lvector("k")
    scale = bt.shared(np.array([2.0, 3.0, 5.0]), "scale")
    f = bitale.jax.as_jax(bt.function([x, k], {"picked": x[k] * scale[k], "place": k + 1}))
    a, at = np.array([1.0, 2.0, 4.0]), np.array([2, 0])
    out = f(a, at)
    np.testing.assert_allclose(out["picked"], [20.0, 2.0])
    np.testing.assert_array_equal(out["place"], [3, 1])
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
