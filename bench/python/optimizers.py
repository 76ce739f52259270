"""A step of Adam with the gradient of a polynomial in each parameter: 10 and a million of them."""

import json

import numpy as np

import bitale as bt
from measure import importable, in_turn

RATE, B1, B2, EPS = 1e-3, 0.9, 0.999, 1e-8


def loss_of(w):
    return ((1 - w) ** 2).sum() + 0.25 * (w**4).sum()


def by_hand(w):
    """As fast as NumPy gets: no array is made after the first step."""
    mu, nu, g, part = (np.zeros_like(w) for _ in range(4))
    steps = 0

    def step():
        nonlocal steps
        steps += 1
        np.multiply(w, w, out=g)
        np.multiply(g, w, out=g)
        np.add(g, w, out=g)
        np.add(g, w, out=g)
        np.subtract(g, 2, out=g)
        np.multiply(mu, B1, out=mu)
        np.multiply(g, 1 - B1, out=part)
        np.add(mu, part, out=mu)
        np.multiply(nu, B2, out=nu)
        np.multiply(g, g, out=g)
        np.multiply(g, 1 - B2, out=g)
        np.add(nu, g, out=nu)
        np.sqrt(nu, out=part)
        np.multiply(part, (1 - B2**steps) ** -0.5, out=part)
        np.add(part, EPS, out=part)
        np.divide(mu, part, out=part)
        np.multiply(part, RATE / (1 - B1**steps), out=part)
        np.subtract(w, part, out=w)

    return step, lambda: w


def with_bitale(start):
    w = bt.shared(start, "w")
    f = bt.function([], [], updates=bt.optimizers.adam(loss_of(w), w, RATE, B1, B2, EPS))
    return f, w.get_value


def with_optax(jax, optax, start):
    """The state is donated, so that XLA may overwrite it."""
    jax.config.update("jax_enable_x64", True)
    o = optax.adam(RATE, B1, B2, EPS)

    def step(w, state):
        g = jax.grad(lambda w: loss_of(w))(w)
        changes, state = o.update(g, state, w)
        return optax.apply_updates(w, changes), state

    compiled = jax.jit(step, donate_argnums=(0, 1))
    w = jax.numpy.asarray(start)
    state = o.init(w)

    def call():
        nonlocal w, state
        w, state = compiled(w, state)
        w.block_until_ready()

    return call, lambda: np.asarray(w)


def rivals(start):
    out = {"Bitale": with_bitale(start.copy()), "NumPy in place": by_hand(start.copy())}
    jax, optax = importable("jax"), importable("optax")
    if jax and optax:
        out["optax"] = with_optax(jax, optax, start)
    return out


def main():
    found = {}
    for dtype in ("float64", "float32"):
        for count in (10, 1_000_000):
            start = np.random.default_rng(0).normal(size=count).astype(dtype)
            made = rivals(start)
            for step, _ in made.values():
                step()
                step()
            values = {name: np.array(value()) for name, (_, value) in made.items()}
            for name, value in values.items():
                assert value.dtype == dtype, name
                np.testing.assert_allclose(
                    value, values["Bitale"], rtol=1e-5, atol=1e-6, err_msg=name
                )
            found[f"{count:,} {dtype}"] = in_turn({name: step for name, (step, _) in made.items()})
    print(json.dumps(found))


if __name__ == "__main__":
    main()
