"""Random variables. Generators are values in both: a draw takes one, and gives the next and what was drawn.

Distributions are known by the class that defines how they draw. A subclass that draws in another way is called back.
"""

from __future__ import annotations

from typing import Any, Callable

from pytensor.tensor.random import basic
from pytensor.tensor.random.op import RandomVariable

import bitale.tensor as pt
from bitale import _core, raise_op
from bitale.pytensor.registry import NotConverted, converts

# (parameters, rng=, size=) -> the next generator, and the draw
Draw = Callable[..., tuple[Any, Any]]
_draws: dict[str, Draw] = {}


def _name(cls: type) -> str:
    return f"{cls.__module__}.{cls.__qualname__}"


def draws(*classes: Any) -> Callable[[Draw], Draw]:
    """Registers how random variables of these classes draw. Classes of libraries that need not be there are given by their names."""

    def register(draw: Draw) -> Draw:
        for cls in classes:
            _draws[cls if isinstance(cls, str) else _name(cls)] = draw
        return draw

    return register


def _draw_of(op: Any) -> Draw:
    """The function for the op's class, or for a base class whose sampler the op's class has, too."""
    cls = type(op)
    for base in cls.__mro__:
        draw = _draws.get(_name(base))
        if draw is None:
            continue
        for sampler in ("rng_fn", "rng_fn_scipy"):
            if getattr(
                getattr(cls, sampler, None), "__func__", getattr(cls, sampler, None)
            ) is not getattr(
                getattr(base, sampler, None), "__func__", getattr(base, sampler, None)
            ):
                raise NotConverted("it draws in a way of its own")
        return draw
    raise NotConverted("no converter is registered for its draws")


@converts(RandomVariable)
def _random_variable(op: Any, node: Any, rng: Any, size: Any, *parameters: Any) -> Any:
    draw = _draw_of(op)
    lengths = None
    if size is not None:
        count = node.inputs[1].type.shape[0]
        lengths = [size[k] for k in range(count)]
    return draw(op, *parameters, rng=rng, size=lengths)


def _named(name: str) -> Draw:
    """A distribution of the library, whose parameters are PyTensor's."""

    def draw(op: Any, *parameters: Any, rng: Any, size: Any) -> tuple[Any, Any]:
        return _core.draw_from(name, rng, list(parameters), size)

    return draw


for _record in _core.distributions():
    if _record.pytensor_class:
        draws(getattr(basic, _record.pytensor_class))(_named(_record.name))


def in_domain(x: Any, *conditions: Any) -> Any:
    """SciPy's samplers refuse parameters outside their domain, nan among them."""
    check = raise_op.CheckAndRaise(
        ValueError,
        "Domain error in arguments: a parameter of a random variable is outside its domain",
    )
    return check(x, *(pt.all(condition) for condition in conditions))


@draws(basic.MvNormalRV)
def _multivariate_normal(op: Any, mean: Any, cov: Any, **keys: Any) -> Any:
    method = getattr(op, "method", "cholesky")
    if method == "eigh":
        raise NotConverted(
            "the signs of eigenvectors differ between routines of LAPACK, and with them the draws"
        )
    return _of_module("multivariate_normal", mean, cov, method=method, **keys)


@draws(basic.CategoricalRV)
def _categorical(op: Any, p: Any, rng: Any, size: Any) -> Any:
    """As PyTensor's, which takes probabilities whatever their sum."""
    following, u = drawn(
        "random", rng, [], [p.shape[axis] for axis in range(p.ndim - 1)] if size is None else size
    )
    return following, pt.cast((pt.cumsum(p, axis=-1) < pt.expand_dims(u, -1)).sum(axis=-1), "int64")


@draws(basic.PermutationRV)
def _permutation(op: Any, x: Any, **keys: Any) -> Any:
    if x.ndim > op.ndims_params[0] or keys["size"]:
        raise NotConverted("a batch of permutations")
    return _of_module("permutation", x, rng=keys["rng"], size=None)


@draws(basic.ChoiceWithoutReplacement)
def _choice(op: Any, a: Any, *rest: Any, rng: Any, size: Any) -> Any:
    (*weights, core_shape) = rest
    if (
        a.ndim > op.ndims_params[0]
        or size
        or core_shape.ndim != 1
        or core_shape.type.shape[0] is None
    ):
        raise NotConverted("a batch of choices")
    lengths = [core_shape[k] for k in range(core_shape.type.shape[0])]
    return _of_module(
        "choice", a, size=lengths, replace=False, p=weights[0] if weights else None, rng=rng
    )


def drawn(name: str, rng: Any, parameters: Any, size: Any) -> tuple[Any, Any]:
    """The next generator, and a draw of one of NumPy's distributions with these parameters and lengths, of which any may be numbers."""
    lengths = None if size is None else [pt.as_tensor_variable(length) for length in size]
    following, draw = _core.random_draw(
        name, rng, [pt.as_tensor_variable(x) for x in parameters], lengths
    )
    return following, draw


def _of_module(name: str, *parameters: Any, **keys: Any) -> Any:
    return getattr(pt.random, name)(*parameters, return_next_rng=True, **keys)
