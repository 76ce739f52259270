"""Posteriors of one model by several samplers: how far their means are apart, in standard errors, and pictures of them."""

import os
import time

import numpy as np


def sampled(model, draws, names):
    """{sampler: posterior} by PyMC and by nutpie, on Bitale and on PyTensor's own backend. Times are printed."""
    import bitale.pytensor
    import nutpie
    import pymc as pm
    import pytensor

    options = dict(draws=draws, tune=draws, chains=2)
    quick = bool(os.environ.get("BITALE_EXAMPLE_QUICK"))
    peer = (
        "c" if quick and pytensor.config.cxx else "numba"
    )  # whose compiling takes seconds, and whose calls are fast; c needs a compiler

    def by_pymc(backend):
        with model:
            return pm.sample(
                **options,
                cores=1,
                nuts_sampler="pymc",
                backend=backend,
                progressbar=False,
                random_seed=1,
            )

    def by_pymc_on_bitale():
        with bitale.pytensor.as_default():  # for the function of the trace, too
            return by_pymc(None)

    def by_nutpie(compiled):
        return nutpie.sample(compiled, **options, progress_bar=False, seed=1)

    ways = {
        "PyMC on Bitale": by_pymc_on_bitale,
        f"PyMC on {peer}": lambda: by_pymc(peer),
        "nutpie on Bitale": lambda: by_nutpie(bitale.pytensor.nutpie.compile_model(model)),
    }
    if not quick:
        ways["nutpie on numba"] = lambda: by_nutpie(nutpie.compile_pymc_model(model))
    found = {}
    for way, sample in ways.items():
        begin = time.perf_counter()
        found[way] = sample().posterior
        means = ", ".join(f"{name} {float(found[way][name].mean()):6.2f}" for name in names)
        print(f"{way:>17}: {time.perf_counter() - begin:5.1f} s, {means}")
    return found


def require_agreement(found, names):
    """AssertionError where two posteriors' means are more than five standard errors apart, or standard deviations differ by half."""
    from arviz import ess

    for name in names:
        parts = []
        for posterior in found.values():
            values = posterior[name].values
            flat = values.reshape(*values.shape[:2], -1)
            sizes = np.array([float(ess(flat[:, :, k])) for k in range(flat.shape[2])])
            parts.append((flat.mean(axis=(0, 1)), flat.std(axis=(0, 1)), sizes))
        for mean, spread, size in parts[1:]:
            first_mean, first_spread, first_size = parts[0]
            error = np.sqrt(spread**2 / size + first_spread**2 / first_size)
            assert (abs(mean - first_mean) < 5 * error).all(), f"{name}: {first_mean} and {mean}"
            assert (spread < 1.5 * first_spread).all() and (first_spread < 1.5 * spread).all(), (
                f"{name}: {first_spread} and {spread}"
            )


def picture(path, found, draw, label):
    """draw(axes, posterior, k, name) for each posterior, into one picture."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots()
    for k, (name, posterior) in enumerate(found.items()):
        draw(axes, posterior, k, name)
    axes.set_xlabel(label)
    axes.legend()
    figure.savefig(path)
    plt.close(figure)
