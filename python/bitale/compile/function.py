"""function(): the many forms of its arguments."""

from __future__ import annotations

import copy
import dataclasses
import operator
import pickle
from typing import Any, Callable, Iterable, Iterator, Mapping, Sequence, TypeVar, Union, overload

import numpy.typing as npt

from bitale import _core
from bitale._core import Function, Mode, TensorVariable, Variable
from bitale.compile.mode import get_mode
from bitale.compile.io import Container, In, Out, SharedVariable, refuse
from bitale.compile.maker import FunctionMaker, Recipe, replaced, wants_profile
from bitale.configuration import config
from bitale.typing import FunctionOf

__all__ = ["Function", "function", "function_dump"]

Function.__module__ = __name__


_MAX_THREADS = 1024
Pairs = Union[Mapping[Variable, Any], Iterable[tuple[Variable, Any]], None]
Key = TypeVar("Key")


_compilers: dict[type, Callable[..., Any]] = {}


def register_compiler(kind: type, compiler: Callable[..., Any]) -> None:
    """Have function() call another one where values of a class are among its arguments.

    Parameters
    ----------
    kind
        The class of the values, which are no variables themselves.
    compiler
        What is called with the arguments of function().
    """
    _compilers[kind] = compiler


def _compiler_for(*arguments: Any) -> Callable[..., Any] | None:
    """What compiles a function of these inputs, outputs, updates and givens; None: function() itself."""
    for kind, compiler in _compilers.items():
        for given in arguments:
            members = [each for pair in given.items() for each in pair] if isinstance(given, Mapping) else given
            for each in members if isinstance(members, (list, tuple)) else (members,):
                if isinstance(each, kind) or (isinstance(each, tuple) and any(isinstance(one, kind) for one in each)):
                    return compiler
    return None


def _thread_count(threads: Any) -> int | None:
    if threads is None:
        return None
    expected = f"function: threads is an integer from 1 to {_MAX_THREADS}, got {threads!r}"
    if isinstance(threads, bool) or not hasattr(threads, "__index__"):
        raise TypeError(expected)
    count = operator.index(threads)
    if not 1 <= count <= _MAX_THREADS:
        raise ValueError(expected)
    return count


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


def function(
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
    trust_input: bool = False,
    threads: int | None = None,
) -> Function:
    """Compile expressions to a function of inputs.

    Parameters
    ----------
    inputs : sequence of Variable or In
        Inputs. A computed variable cuts the graph off: what it was computed
        from is not needed.
    outputs : Variable, sequence or dict of Variable, optional
        Expressions to compute; the function returns results of the same form.
    mode : str or Mode, optional
        How to compile; by default config.mode.
    updates : mapping or iterable of pairs, optional
        Shared variables, and the expressions whose values they get after each
        call.
    givens : mapping or iterable of pairs, optional
        Variables, and what to use in place of them.
    no_default_updates : bool or list of Variable
        Leave out the default updates of shared variables (such as random
        generators have): of all, or of those listed.
    accept_inplace : bool
        Has to be False.
    name : str, optional
        Name of the function, for errors and profiles.
    rebuild_strict : bool
        Has to be True.
    allow_input_downcast : bool, optional
        None converts Python floats to config.floatX and otherwise nothing that
        would lose precision; True converts whatever is given; False not even
        those floats.
    profile : bool or str, optional
        Measure what compiling and calls take (`Function.profile`); a str is
        the name of a function that has none. By default config.profile.
    on_unused_input : str, optional
        'raise', 'warn' or 'ignore'; by default config.on_unused_input.
    trust_input : bool
        Accepted for compatibility with PyTensor.
    threads : int, optional
        How many threads a call may use, from 1 to 1024; by default
        config.num_threads. Large loops are shared among them. Results are the
        same, bit by bit, for any number.

    Returns
    -------
    Function
        The compiled function.

    Raises
    ------
    UnusedInputError
        If no output depends on an input, and `on_unused_input` is 'raise'.
    MissingInputError
        If an output depends on a variable that is neither an input nor has a
        value.
    NotImplementedError
        For `accept_inplace`, or ``rebuild_strict=False``.
    TypeError
        If an update or a given has another type than its variable.
    ValueError
        If `threads` is out of range, or `givens` replace an input.

    See Also
    --------
    In, shared, Mode

    Examples
    --------
    >>> x, y = pt.dvectors("x", "y")
    >>> f = bt.function([x, y], [x + y, pt.dot(x, y)])
    >>> f([1.0, 2.0], [3.0, 4.0])
    [array([4., 6.]), array(11.)]
    """
    refuse(
        "function",
        {
            "accept_inplace": accept_inplace,
            "rebuild_strict=False": not rebuild_strict,
        },
    )
    compiler = _compiler_for(inputs, outputs, updates, givens)
    if compiler is not None:
        made: Function = compiler(
            inputs, outputs, updates, givens, on_unused_input, mode=mode, no_default_updates=no_default_updates, name=name,
            allow_input_downcast=allow_input_downcast, profile=profile, trust_input=trust_input, threads=threads,
        )  # fmt: skip
        return made
    chosen = mode if isinstance(mode, Mode) else get_mode(mode)
    maker: FunctionMaker = chosen.function_maker(
        inputs,
        outputs,
        None if mode is None else chosen,
        updates=updates,
        givens=givens,
        name=name,
        allow_input_downcast=allow_input_downcast,
        profile=profile,
        on_unused_input=on_unused_input,
        trust_input=trust_input,
        threads=_thread_count(threads),
        no_default_updates=no_default_updates,
    )
    return maker.create()


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

    ``function(**pickle.load(file))`` compiles them. Nothing is compiled here.

    Parameters
    ----------
    filename : str
        File to write.
    inputs : sequence of Variable or In
        As of `function`.
    outputs : Variable, sequence or dict of Variable, optional
        As of `function`.
    mode : str or Mode, optional
        As of `function`.
    updates : mapping or iterable of pairs, optional
        As of `function`.
    givens : mapping or iterable of pairs, optional
        As of `function`.
    no_default_updates : bool or list of Variable
        As of `function`.
    accept_inplace : bool
        As of `function`.
    name : str, optional
        As of `function`.
    rebuild_strict : bool
        As of `function`.
    allow_input_downcast : bool, optional
        As of `function`.
    profile : bool or str, optional
        As of `function`.
    on_unused_input : str, optional
        As of `function`.
    extra_tag_to_remove : str, optional
        Accepted for compatibility with PyTensor.
    trust_input : bool
        As of `function`.

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


# ---- other operations on functions -----------------------------------------------------------------------------------


def maker_of(function: Function) -> FunctionMaker:
    return _maker_of(function, "maker")


def _maker_of(function: Function, what: str) -> FunctionMaker:
    maker: FunctionMaker | None = function._maker
    if maker is None:
        raise NotImplementedError(f"{what}: not available for a function compiled by eval()")
    return maker


def loaded(recipe: Recipe) -> Function | None:
    """The function that pickle has stored; None where config.unpickle_function is off."""
    return recipe.make() if config.unpickle_function else None


def reduce_function(function: Function) -> tuple[Any, ...]:
    return loaded, (_maker_of(function, "pickling").recipe,)


def deep_copy_function(function: Function, memo: dict[int, Any]) -> Function:
    recipe = _maker_of(function, "deepcopy").recipe
    own = copy.deepcopy({name: getattr(recipe, name) for name in ("inputs", "outputs", "updates", "givens")}, memo)
    return dataclasses.replace(recipe, **own).make()


def _check_swap(function: Function, swap: dict[Any, Any]) -> None:
    known = set(function.get_shared())
    for before, after in swap.items():
        for one in (before, after):
            if not isinstance(one, SharedVariable):
                raise TypeError(f"copy: swap: expected shared variables, got {one!r}")
        if before not in known:
            raise ValueError(f"copy: swap: the function does not use the shared variable {before}")
        if before.type != after.type:
            raise TypeError(f"copy: swap: {before} is {before.type}, but {after} is {after.type}")


def copy_function(
    function: Function,
    share_memory: bool = False,
    swap: Any = None,
    delete_updates: bool = False,
    name: str | None = None,
    profile: bool | str | None = None,
) -> Function:
    """See Function.copy. TypeError or ValueError for a swap of what is not shared, not used, or of another type."""
    maker = _maker_of(function, "copy")
    recipe = maker.recipe
    swap = dict(_core.pairs_of(swap, "swap"))
    _check_swap(function, swap)
    inputs = [copy.copy(given) for given in recipe.inputs]
    for given in inputs:
        is_own = given.value is not None and not isinstance(given.value, (SharedVariable, Container))
        if given.container is not None and is_own and not share_memory:
            given.value, given.container = given.container.value, None
        elif given.container is not None and given.container.variable in swap:
            given.container = Container(swap[given.container.variable])
        if delete_updates:
            given.update = None
        elif given.update is not None:
            (given.update,) = replaced([given.update], swap)
    changes: dict[str, Any] = {
        "inputs": [given.stored() for given in inputs],
        "name": name if name is not None else recipe.name,
        "trust_input": function.trust_input,
    }
    wanted = wants_profile(profile)
    is_profiled = function.profile is not None or wanted or (wanted is None and config.profile)
    if not (swap or delete_updates or is_profiled):
        return maker._with(**changes).create()
    return dataclasses.replace(
        recipe,
        **changes,
        outputs=recipe.outputs.replaced(swap),
        updates=[] if delete_updates else _swapped_pairs(recipe.updates, swap),
        givens=_swapped_pairs(recipe.givens, swap),
        profile=wanted,
        # The expression of an update may have been the only one that uses an input.
        on_unused_input="ignore" if delete_updates else recipe.on_unused_input,
    ).make()


def _swapped_pairs(pairs: list[tuple[Any, Any]], swap: dict[Any, Any]) -> list[tuple[Any, Any]]:
    values = replaced([after for _, after in pairs], swap)
    return [(swap.get(before, before), after) for (before, _), after in zip(pairs, values)]


class Containers(Mapping[Any, Container]):
    """The containers of a function: of inputs that have one, and of shared variables; by name, variable or position."""

    def __init__(self, function: Function):
        self._inputs: list[In] = function._maker.inputs if function._maker is not None else []
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
                if (name == key if isinstance(key, str) else variable is key or (container and container.variable is key))
            ]
        if len(found) == 1 and found[0] is not None:
            return found[0]
        if not found:
            raise KeyError(f"{self._label}: no input or shared variable is {key}; there are {', '.join(map(str, self))}")
        raise KeyError(f"{self._label}: " + (f"several are called {key}" if len(found) > 1 else f"{key} has no value of its own"))

    def __iter__(self) -> Iterator[Any]:
        return iter(name or variable for name, variable, container in self._all if container is not None)

    def __len__(self) -> int:
        return sum(container is not None for _, _, container in self._all)


def containers_of(function: Function) -> Containers:
    return Containers(function)


def get_input(function: Function, key: Any) -> Any:
    return Containers(function)[key].value


def set_input(function: Function, key: Any, value: Any) -> None:
    Containers(function)[key].value = value
