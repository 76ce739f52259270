"""PyTensor's classes of random variables: `isinstance(node.op, NormalRV)` asks for draws of a distribution, and `NormalRV()(0, 1, size=3)`
draws. For your own distribution, derive from RandomVariable instead of passing arguments (name, ndim_supp, signature)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from bitale import _core
from bitale._class_factory import formula_class, is_library_op
from bitale.tensor.random import basic

__all__: list[str] = []

# Classes, and the functions that draw.
_FUNCTIONS = {
    record.pytensor_class: record.name for record in _core.distributions() if record.pytensor_class
} | {"PermutationRV": "permutation"}
_ARGUMENTS = {
    "name": None,
    "ndim_supp": None,
    "ndims_params": None,
    "dtype": None,
    "inplace": None,
    "signature": None,
}

_is_draw, _is_composed = is_library_op("RandomVariable"), is_library_op("ComposedDraw")


def _draws(distribution: str) -> Callable[[Any], bool]:
    return lambda op: (
        (_is_draw(op) or _is_composed(op))
        and dict(op.__props__).get("distribution") == distribution
    )


def _class(name: str, function: str) -> Any:
    draw = getattr(basic, function)

    def apply(
        *parameters: Any,
        name: Any = None,
        ndim_supp: Any = None,
        ndims_params: Any = None,
        dtype: Any = None,
        inplace: Any = None,
        signature: Any = None,
        **named: Any,
    ) -> Any:
        given = {
            "name": name,
            "ndim_supp": ndim_supp,
            "ndims_params": ndims_params,
            "signature": signature,
            "inplace": inplace or None,
        }
        for key in [key for key, value in given.items() if value is not None and key != "name"]:
            raise NotImplementedError(
                f"{draw.__name__}: {key} is that of the distribution; a subclass of RandomVariable has its own"
            )
        return draw(*parameters, **({} if dtype is None else {"dtype": dtype}), **named)

    __all__.append(name)
    return formula_class(
        name, f"Draws of {function}.", apply, __name__, dict(_ARGUMENTS), _draws(function)
    )


for _name, _function in _FUNCTIONS.items():
    globals()[_name] = _class(_name, _function)
del _name, _function
