"""Values of a checkpoint: a description of each, and pieces of arrays, of which each process has some; and the way back.

An array of JAX over several processes is a piece per device, which a restored array with other bounds is put together from.
"""

from __future__ import annotations

import functools
import json
import sys
import zlib
from typing import Any, Callable, Mapping, NamedTuple, Sequence

import numpy as np

from bitale import _core
from bitale.random import Stream

Bounds = list[list[int]]  # along each dimension the first element, and the one after the last


class Piece(NamedTuple):
    """Elements of an array, which all processes have in common or this one holds."""

    name: str
    bounds: Bounds
    elements: np.ndarray[Any, Any]
    is_common: bool


def is_shared(value: Any) -> bool:
    return hasattr(value, "get_value") and hasattr(value, "set_value")


def _is_of_jax(value: Any) -> bool:
    jax = sys.modules.get("jax")
    return jax is not None and isinstance(value, (jax.Array, jax.ShapeDtypeStruct))


def _value_of(held: Any) -> Any:
    value = held.get_value() if is_shared(held) else held
    return (
        value.values if is_shared(held) and hasattr(value, "dims") else value
    )  # labels are those of the variable


def _is_sparse(value: Any) -> bool:
    return hasattr(value, "indptr") and hasattr(value, "indices")


def _described(name: str, value: Any) -> dict[str, Any]:
    """A value but for its elements."""
    if _is_sparse(value):  # the value of a shared matrix, whose positions never change
        positions = functools.reduce(
            lambda sum, each: zlib.crc32(each.astype("<i8").tobytes(), sum),
            (value.indices, value.indptr),
            0,
        )
        return {
            "kind": "sparse",
            "dtype": value.dtype.newbyteorder("=").str[1:],
            "shape": list(value.shape),
            "format": value.format,
            "positions": positions,
        }
    if isinstance(value, Stream):
        return {"kind": "stream", "key": value.key, "drawn": value.drawn}
    if isinstance(value, np.random.Generator):
        return {"kind": "generator", "state": value.bit_generator.state}
    if isinstance(value, np.ma.MaskedArray):
        raise TypeError(
            f"checkpoint: expected an array for `{name}`, got a masked array, whose mask would be lost; save its data and its mask"
        )
    if not _is_of_jax(value) and not isinstance(
        value, (np.ndarray, np.generic, bool, int, float, complex)
    ):
        kinds = (
            "a shared variable of an array or a random state, an array, a number or a random state"
        )
        raise TypeError(f"checkpoint: expected {kinds} for `{name}`, got {type(value).__name__}")
    dtype = value.dtype if hasattr(value, "dtype") else np.asarray(value).dtype
    if getattr(dtype, "kind", "") not in tuple("biufc"):
        raise TypeError(
            f"checkpoint: expected elements of `{name}` that are numbers of NumPy's own dtypes, got {dtype}"
        )
    return {
        "kind": "array",
        "dtype": dtype.newbyteorder("=").str[1:],
        "shape": list(np.shape(value)),
    }


def _named(about: dict[str, Any]) -> str:
    if about["kind"] == "array":
        return f"an array of {np.dtype(about['dtype'])} of shape {tuple(about['shape'])}"
    if about["kind"] == "sparse":
        return f"a {about['format']} matrix of {np.dtype(about['dtype'])} of shape {tuple(about['shape'])} with positions of check sum {about['positions']:#x}"
    return {"stream": "a stream of random numbers", "generator": "a generator of NumPy"}[
        about["kind"]
    ]


def _bounds(index: Sequence[slice], shape: Sequence[int]) -> Bounds:
    return [list(each.indices(length)[:2]) for each, length in zip(index, shape)]


def _require_names(state: Any, function: str) -> None:
    if not isinstance(state, Mapping):
        raise TypeError(
            f"checkpoint.{function}: expected a dict of values by name as the state, got {type(state).__name__}"
        )
    for name in state:
        if not isinstance(name, str):
            raise TypeError(f"checkpoint.{function}: expected names that are strings, got {name!r}")


def named_leaves(state: Any, function: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """The values by name, those in trees by name and path, and the structure of each entry."""
    _require_names(state, function)
    leaves: dict[str, Any] = {}
    forms: dict[str, Any] = {}
    for name, value in state.items():
        own, forms[name] = _core.tree_flatten(
            value, lambda x: x is None or _core.is_registered(x) or is_shared(x)
        )
        leaves.update(zip(forms[name].paths(name), own))
    return leaves, forms


def in_forms(values: Mapping[str, Any], forms: Mapping[str, Any]) -> dict[str, Any]:
    """The entries of these structures with values by name and path."""
    return {
        name: form.unflatten([values[path] for path in form.paths(name)])
        for name, form in forms.items()
    }


def taken_apart(state: Mapping[str, Any]) -> tuple[dict[str, dict[str, Any]], list[Piece]]:
    """Descriptions of the values, and the pieces of arrays that this process has."""
    described, pieces = {}, []
    for name, held in state.items():
        value = _value_of(held)
        about = described[name] = _described(name, value)
        if about["kind"] == "sparse":
            pieces.append(Piece(name, _bounds([slice(None)], value.data.shape), value.data, True))
        if about["kind"] != "array":
            continue
        shape = about["shape"]
        if not _is_of_jax(value) or getattr(value, "is_fully_addressable", False):
            pieces.append(
                Piece(name, _bounds([slice(None)] * len(shape), shape), np.asarray(value), True)
            )
        elif hasattr(value, "addressable_shards"):
            own = (each for each in value.addressable_shards if each.replica_id == 0)
            pieces += [
                Piece(name, _bounds(each.index, shape), np.asarray(each.data), False)
                for each in own
            ]
        else:
            raise TypeError(
                f"checkpoint.save: expected elements for `{name}`, got a {type(value).__name__}, which has none"
            )
    return described, pieces


def digest(about: Any, pieces: Sequence[Piece]) -> int:
    """A check sum of what is equal in all processes."""
    text = json.dumps(about, default=lambda each: each.tolist(), sort_keys=True).encode()
    return functools.reduce(
        lambda sum, each: zlib.crc32(each.elements.tobytes(), sum), pieces, zlib.crc32(text)
    )


def put_together(
    described: dict[str, dict[str, Any]],
    pieces: Sequence[tuple[str, Bounds, Callable[[], Any]]],
    state: Mapping[str, Any],
) -> dict[str, Any]:
    """The values of a state. pieces: names, bounds, and functions that read the elements."""
    if described.keys() != state.keys():
        saved, got = (", ".join(sorted(map(str, each))) or "nothing" for each in (described, state))
        raise ValueError(
            f"checkpoint.restore: expected a state of {saved}, as it was saved, got {got}"
        )
    return {
        name: _restored(
            name,
            described[name],
            _value_of(template),
            [each[1:] for each in pieces if each[0] == name],
        )
        for name, template in state.items()
    }


def _restored(
    name: str,
    saved: dict[str, Any],
    template: Any,
    pieces: Sequence[tuple[Bounds, Callable[[], Any]]],
) -> Any:
    got = _described(name, template)
    if any(
        saved.get(key) != got.get(key) for key in ("kind", "dtype", "shape", "format", "positions")
    ):
        error = ValueError if saved["kind"] == got["kind"] else TypeError
        raise error(
            f"checkpoint.restore: expected {_named(saved)} for `{name}`, as it was saved, got {_named(got)}"
        )
    if saved["kind"] == "stream":
        return Stream(saved["key"], saved["drawn"])
    if saved["kind"] == "generator":
        bits = getattr(np.random, saved["state"]["bit_generator"])()
        bits.state = saved["state"]
        return np.random.Generator(bits)
    shape, cached = (
        tuple(saved["shape"]),
        [(bounds, functools.cache(load)) for bounds, load in pieces],
    )

    def read(index: Sequence[slice]) -> Any:
        return _assembled(_bounds(index, shape), saved["dtype"], cached)

    if _is_of_jax(template) and template.sharding is not None:
        import jax

        with jax.enable_x64(True):
            return jax.make_array_from_callback(shape, template.sharding, read)
    if saved["kind"] == "sparse":
        data = _assembled(_bounds([slice(None)], template.data.shape), saved["dtype"], cached)
        return type(template)((data, template.indices, template.indptr), shape=shape)
    whole = read([slice(None)] * len(shape))
    return whole if isinstance(template, np.ndarray) or _is_of_jax(template) else whole[()]


def _assembled(
    wanted: Bounds, dtype: str, pieces: Sequence[tuple[Bounds, Callable[[], Any]]]
) -> Any:
    """The elements between those bounds, from the pieces that have some of them."""
    out = np.empty([stop - start for start, stop in wanted], dtype)
    for bounds, load in pieces:
        common = [(max(a, c), min(b, d)) for (a, b), (c, d) in zip(wanted, bounds)]
        if all(start < stop for start, stop in common):
            target, source = (
                tuple(
                    slice(start - first, stop - first)
                    for (start, stop), (first, _) in zip(common, each)
                )
                for each in (wanted, bounds)
            )
            out[target] = load()[source]
    return out
