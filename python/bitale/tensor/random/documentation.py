"""Docstrings of distributions: what all of them have in common is added to a summary, the parameters and notes of each.

A distribution is written with a docstring of a summary line, a line ``name: text`` for each of its parameters, and lines
that become notes.
"""

from __future__ import annotations

import inspect
import re
import textwrap
from typing import Any, Callable

_SIZE = """\
size : int or sequence of int, optional
    Shape of the draws, to which the parameters broadcast; of a distribution
    of vectors or matrices, the shape of the batch. By default the broadcast
    shape of the parameters.
"""

_COMMON = """\
rng : RandomGeneratorVariable, numpy.random.Generator or Stream, optional
    Generator. By default a shared generator with a seed of the system is
    created, whose default update draws anew in each call.
dtype : dtype_like, optional
    Dtype of the draws; config.floatX or int64 by default.
name : str, optional
    Name of the result.
return_next_rng : bool, default False
    Also return the generator after the draws.

Returns
-------
TensorVariable
    Draws; or the next generator and the draws.

Raises
------
ValueError
    At run time, if a parameter is outside of its domain.
TypeError
    If `rng` is not a random generator, or `dtype` is of another kind.
"""


def _parameter(name: str, parameter: inspect.Parameter, text: str) -> str:
    default = parameter.default
    kind = {"replace": "bool", "method": "str"}.get(name, "tensor_like")
    after = (
        ""
        if default is parameter.empty
        else ", optional"
        if default is None
        else f", default {default!r}"
    )
    return f"{name} : {kind}{after}\n" + textwrap.indent("\n".join(textwrap.wrap(text, 75)), "    ")


def document(make: Callable[..., Any], names: list[str]) -> str:
    """Compose the docstring of a distribution with parameters of these names.

    Parameters
    ----------
    make : callable
        The distribution as it is written.
    names : list of str
        Names of its parameters, without the generator and the size.

    Returns
    -------
    str
        A docstring with numpydoc's sections.
    """
    lines = inspect.cleandoc(make.__doc__ or "").splitlines()
    texts: dict[str, str] = {}
    notes = []
    for line in filter(None, lines[1:]):
        found = re.match(r"(\w+): (.*)", line)
        if found and found[1] in names:
            texts[found[1]] = found[2]
        else:
            notes.append(line)
    parameters = inspect.signature(make).parameters
    order = [name for name in parameters if name in names or name == "size"]
    written = "".join(
        _SIZE if name == "size" else _parameter(name, parameters[name], texts.get(name, "")) + "\n"
        for name in order
    )
    after = "\nNotes\n-----\n" + "\n".join(textwrap.wrap(" ".join(notes), 79)) if notes else ""
    return f"{lines[0] if lines else ''}\n\nParameters\n----------\n{written}{_COMMON}{after}"
