"""``pm.sample`` with nutpie's sampler on functions of Bitale, and explanations of its errors."""

from __future__ import annotations

import contextlib
import difflib
import inspect
import re
import time
from multiprocessing import cpu_count
from typing import Any, Iterator

import numpy as np

from bitale.pytensor import versions
from bitale.pytensor.linker import nothing_else_compiles

_MEANINGS = {
    "1": "the log density raised an error at all start values",
    "3": "the gradient is not finite at any start values",
    "4": "the log density is not finite at any start values",
}


def sample(
    model: Any = None,
    draws: int = 1000,
    *,
    tune: int | None = 1000,
    chains: int | None = None,
    cores: int | None = None,
    random_seed: Any = None,
    progressbar: Any = True,
    quiet: bool = False,
    var_names: Any = None,
    initvals: dict[Any, Any] | None = None,
    discard_tuned_samples: bool = True,
    idata_kwargs: dict[str, Any] | None = None,
    **options: Any,
) -> Any:
    """Draws from the posterior of a PyMC model, like ``pm.sample``: with nutpie's NUTS, on functions compiled by Bitale.

    model: the one of the block if None; a number in its place is `draws`, as in ``pm.sample(100)``.
    random_seed, and the other arguments: those of ``pm.sample``; options: those of
    ``nutpie.sample``, such as target_accept, and PyMC's max_treedepth. The result is PyMC's, with
    the observed and constant data. ImportError without PyMC 6 and nutpie; TypeError for initvals of
    each chain and for unknown options; errors of the model as `nutpie.compile_model`; PyMC's
    SamplingError if no chain finds a starting point, which names the responsible variable and
    value.
    """
    versions.check("pymc", "bitale.pytensor.sample", (6, 0))
    versions.check("nutpie", "bitale.pytensor.sample")
    import nutpie
    import pymc
    from pymc.backends.arviz import patch_nutpie_idata
    from pymc.util import get_random_generator

    from bitale.pytensor.nutpie import compile_model

    if isinstance(model, (int, np.integer)):
        model, draws = None, int(model)
    if not isinstance(initvals, (dict, type(None))):
        raise TypeError(
            f"sample: nutpie takes one dict of initvals for all chains, not {type(initvals).__name__}"
        )
    if "max_treedepth" in options:  # PyMC's name
        options["maxdepth"] = options.pop("max_treedepth")
    model = pymc.modelcontext(model)
    compiled = compile_model(model, var_names=var_names, initial_points=initvals)
    cores = cores or max(1, min(4, cpu_count() // 2))
    chains = chains or max(2, cores)
    if "seed" not in options:
        options["seed"] = int(get_random_generator(random_seed).spawn(chains)[0].integers(2**30))
    wanted = idata_kwargs or {}
    begin = time.perf_counter()
    with _explained(model, compiled.functions):
        idata = nutpie.sample(
            compiled,
            draws=draws,
            tune=max(1, 1000 if tune is None else tune),  # nutpie has no chain without
            chains=chains,
            cores=min(cores, chains),
            save_warmup=not discard_tuned_samples,
            progress_bar=bool(progressbar) and not quiet,
            store_unconstrained=wanted.get("include_transformed", False),
            **options,
        )
    patch_nutpie_idata(idata, model, time.perf_counter() - begin)
    if names := wanted.get("log_likelihood"):
        with nothing_else_compiles():
            pymc.compute_log_likelihood(
                idata, var_names=None if names is True else names, model=model, progressbar=False
            )
    return idata


@contextlib.contextmanager
def _explained(model: Any, functions: Any) -> Iterator[None]:
    """Says what nutpie's numbers of errors mean, and which variable and value of the model is to blame."""
    try:
        yield
    except AttributeError as error:
        unknown = re.fullmatch(r"Unknown settings attribute: (\w+)", str(error))
        if unknown is None:
            raise
        import nutpie

        known = [
            *inspect.signature(sample).parameters,
            *inspect.signature(nutpie.sample).parameters,
        ]
        near = difflib.get_close_matches(unknown[1], known, 1)
        raise TypeError(
            f"sample() got an unexpected keyword argument '{unknown[1]}'"
            + (f". Did you mean '{near[0]}'?" if near else "")
        ) from None
    except RuntimeError as error:
        code = re.search(r"ErrorCode\((\d+)\)", str(error))
        if code is None or code[1] not in _MEANINGS:
            raise
        from pymc.exceptions import SamplingError

        with nothing_else_compiles():
            reasons = _reasons(model, functions)
        raise SamplingError(
            f"no chain could start: {_MEANINGS[code[1]]} (nutpie's {code[0]}).\n{reasons}"
        ) from error


def _reasons(model: Any, functions: Any) -> str:
    """What is not finite at a start, or the error there."""
    free = functions.graph.free
    flat = functions.initial_point_func(0)
    parts = list(zip(free.names, free.slices, free.shapes))
    start = {name: flat[at].reshape(shape) for name, at, shape in parts}
    shown = ", ".join(
        f"{name} = {np.array2string(value, precision=4, threshold=6)}"
        for name, value in start.items()
    )
    try:
        gradient = functions.density(flat)[1]
    except Exception as error:
        return f"{type(error).__name__}: {error}\nThe start, on the unconstrained scale: {shown}"
    variables = [*model.free_RVs, *model.observed_RVs]
    terms = model.logp(sum=False)
    values = [model.rvs_to_values[v] for v in variables]
    found = model.compile_fn([*terms, *values], mode="BITALE", on_unused_input="ignore")(start)
    at = [*found[len(terms) :], *(None for _ in model.potentials)]
    lines = [
        *(
            _first_of("the log density of", v.name, term, value)
            for v, term, value in zip([*variables, *model.potentials], found, at)
        ),
        *(
            _first_of("the derivative by", name, gradient[where].reshape(shape), start[name])
            for name, where, shape in parts
        ),
    ]
    wrong = [line for line in lines if line] or [
        "at this start, all is finite; initvals may give another one"
    ]
    return "\n".join([*wrong, f"The start, on the unconstrained scale: {shown}"])


def _first_of(what: str, name: str, found: np.ndarray, at: np.ndarray | None) -> str:
    """The first element that is not finite, and the value there; empty if there is none."""
    strange = np.argwhere(~np.isfinite(found))
    if not len(strange):
        return ""
    index = tuple(int(k) for k in strange[0])
    element = f"{name}[{', '.join(map(str, index))}]" if index else name
    value = f" where its value is {at[index]}" if at is not None and at.shape == found.shape else ""
    more = f" ({len(strange)} of {found.size} elements)" if len(strange) > 1 else ""
    return f"{what} {element} is {found[index]}{value}{more}"
