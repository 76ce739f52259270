"""Functions, their containers, and files that store their arguments."""

from __future__ import annotations

import pickle
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar, Union, overload

from bitale import _core
from bitale._core import Function, Mode, TensorVariable, Variable
from bitale.compile.io import Container, In, Out
from bitale.configuration import config

__all__ = ["Function", "evaluate", "function", "function_dump"]

Function.__module__ = __name__

Pairs = Union[Mapping[Variable, Any], Iterable[tuple[Variable, Any]], None]


Key = TypeVar("Key")

if TYPE_CHECKING:  # what function() returns depends on the form of its outputs
    import numpy.typing as npt

    from bitale.typing import FunctionOf

    @overload
    def function(
        inputs: Sequence[Variable | In], outputs: TensorVariable | Out, mode: str | Mode | None = None, updates: Pairs = None, givens: Pairs = None,
        no_default_updates: bool | list[Any] = False, accept_inplace: bool = False, name: str | None = None, rebuild_strict: bool = True,
        allow_input_downcast: bool | None = None, profile: bool | str | None = None, on_unused_input: str | None = None, trust_input: bool = False,
        threads: int | None = None,
    ) -> FunctionOf[npt.NDArray[Any]]: ...  # fmt: skip

    @overload
    def function(
        inputs: Sequence[Variable | In], outputs: None = None, mode: str | Mode | None = None, updates: Pairs = None, givens: Pairs = None,
        no_default_updates: bool | list[Any] = False, accept_inplace: bool = False, name: str | None = None, rebuild_strict: bool = True,
        allow_input_downcast: bool | None = None, profile: bool | str | None = None, on_unused_input: str | None = None, trust_input: bool = False,
        threads: int | None = None,
    ) -> FunctionOf[None]: ...  # fmt: skip

    @overload
    def function(
        inputs: Sequence[Variable | In], outputs: Mapping[Key, TensorVariable | Out], mode: str | Mode | None = None, updates: Pairs = None, givens: Pairs = None,
        no_default_updates: bool | list[Any] = False, accept_inplace: bool = False, name: str | None = None, rebuild_strict: bool = True,
        allow_input_downcast: bool | None = None, profile: bool | str | None = None, on_unused_input: str | None = None, trust_input: bool = False,
        threads: int | None = None,
    ) -> FunctionOf[dict[Key, npt.NDArray[Any]]]: ...  # fmt: skip

    @overload
    def function(
        inputs: Sequence[Variable | In], outputs: Sequence[TensorVariable | Out], mode: str | Mode | None = None, updates: Pairs = None, givens: Pairs = None,
        no_default_updates: bool | list[Any] = False, accept_inplace: bool = False, name: str | None = None, rebuild_strict: bool = True,
        allow_input_downcast: bool | None = None, profile: bool | str | None = None, on_unused_input: str | None = None, trust_input: bool = False,
        threads: int | None = None,
    ) -> FunctionOf[list[npt.NDArray[Any]]]: ...  # fmt: skip

    @overload
    def function(
        inputs: Sequence[Variable | In], outputs: Any, mode: str | Mode | None = None, updates: Pairs = None, givens: Pairs = None,
        no_default_updates: bool | list[Any] = False, accept_inplace: bool = False, name: str | None = None, rebuild_strict: bool = True,
        allow_input_downcast: bool | None = None, profile: bool | str | None = None, on_unused_input: str | None = None, trust_input: bool = False,
        threads: int | None = None,
    ) -> FunctionOf[Any]: ...  # fmt: skip

    def function(*args: Any, **kwargs: Any) -> Any: ...

else:
    function = _core.function


def evaluate(tree: Any, inputs_to_values: Mapping[Any, Any] | None = None) -> Any:
    """The value of a tree of expressions, given those of the variables and trees that it is computed from."""
    values = dict(inputs_to_values or {})
    return function(list(values), tree, on_unused_input="ignore")(*values.values())


def function_dump(
    filename: str,
    inputs: Sequence[Variable | In],
    outputs: Any = None,
    mode: str | Mode | None = None,
    updates: Pairs = None,
    givens: Pairs = None,
    no_default_updates: bool | list[Any] = False,
    accept_inplace: bool = False,
    name: str | None = None,
    rebuild_strict: bool = True,
    allow_input_downcast: bool | None = None,
    profile: bool | str | None = None,
    on_unused_input: str | None = None,
    extra_tag_to_remove: Any = None,
    trust_input: bool = False,
) -> None:
    """Write the arguments of a function into a file, to report an error.

    ``function(**pickle.load(file))`` compiles them. This function itself compiles nothing.

    Parameters
    ----------
    filename : str
        File to write.
    inputs : sequence of Variable or In
        As in `function`.
    outputs : Variable, sequence or dict of Variable, optional
        As in `function`.
    mode : str or Mode, optional
        As in `function`.
    updates : mapping or iterable of pairs, optional
        As in `function`.
    givens : mapping or iterable of pairs, optional
        As in `function`.
    no_default_updates : bool or list of Variable
        As in `function`.
    accept_inplace : bool
        As in `function`.
    name : str, optional
        As in `function`.
    rebuild_strict : bool
        As in `function`.
    allow_input_downcast : bool, optional
        As in `function`.
    profile : bool or str, optional
        As in `function`.
    on_unused_input : str, optional
        As in `function`.
    extra_tag_to_remove : str, optional
        Accepted for compatibility with PyTensor.
    trust_input : bool
        As in `function`.

    See Also
    --------
    function
    """
    arguments = {
        "inputs": inputs, "outputs": outputs, "mode": mode, "updates": updates, "givens": givens,
        "no_default_updates": no_default_updates, "accept_inplace": accept_inplace, "name": name,
        "rebuild_strict": rebuild_strict, "allow_input_downcast": allow_input_downcast, "profile": profile,
        "on_unused_input": on_unused_input, "trust_input": trust_input,
    }  # fmt: skip
    with open(filename, "wb") as file:
        pickle.dump(arguments, file)


def stored_function(arguments: dict[str, Any]) -> Function | None:
    """The function that pickle has stored; None where config.unpickle_function is off."""
    return function(**arguments) if config.unpickle_function else None


class Containers(Mapping[Any, Container]):
    """The containers of a function: of inputs that have one, and of shared variables; by name, variable or position."""

    def __init__(self, function: Function):
        self._inputs: list[In] = function.maker.inputs
        self._label = function.name or "function"
        self._all = [(given.name, given.variable, given.container) for given in self._inputs]
        own = {given.container.variable for given in self._inputs if given.container}
        for variable in function.get_shared():
            if variable not in own:
                self._all.append((variable.name, variable, Container(variable)))

    def __getitem__(self, key: Any) -> Container:
        if isinstance(key, int):
            found = [container for _, _, container in self._all[key : key + 1]]
        else:
            found = [
                container
                for name, variable, container in self._all
                if (
                    name == key
                    if isinstance(key, str)
                    else variable is key or (container and container.variable is key)
                )
            ]
        if len(found) == 1 and found[0] is not None:
            return found[0]
        if not found:
            raise KeyError(
                f"{self._label}: no input or shared variable is {key}; there are {', '.join(map(str, self))}"
            )
        raise KeyError(
            f"{self._label}: "
            + (f"several are called {key}" if len(found) > 1 else f"{key} has no value of its own")
        )

    def __iter__(self) -> Iterator[Any]:
        return iter(
            name or variable for name, variable, container in self._all if container is not None
        )

    def __len__(self) -> int:
        return sum(container is not None for _, _, container in self._all)


def containers_of(function: Function) -> Containers:
    return Containers(function)


def _cells(function: Function, key: Any) -> tuple[list[Container], Any]:
    """The containers of a tree that is an input or made of shared variables, and its structure; None: of one variable."""
    found = [
        given.tree
        for given in function.maker.given_inputs
        if given.tree is not None
        and (given.tree is key or (isinstance(key, str) and given.name == key))
    ]
    tree = found[0] if len(found) == 1 else key
    containers = Containers(function)
    if not _core.is_tree(tree):
        return [containers[key]], None
    leaves, structure = _core.tree_flatten(tree)
    return [containers[leaf] for leaf in leaves], structure


def get_input(function: Function, key: Any) -> Any:
    cells, structure = _cells(function, key)
    values = [cell.value for cell in cells]
    return values[0] if structure is None else structure.unflatten(values)


def set_input(function: Function, key: Any, value: Any) -> None:
    cells, structure = _cells(function, key)
    values = (
        [value] if structure is None else structure.flatten_like(value, f"the value of {key!r}")
    )
    for cell, each in zip(cells, values):
        cell.value = each
