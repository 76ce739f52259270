"""function(): the many forms of its arguments."""

from __future__ import annotations

import copy
import dataclasses
import operator
import pickle
from typing import Any, Iterable, Iterator, Mapping, Sequence

from bitale import _core
from bitale._core import Function, Mode, SharedVariable, TensorVariable, UnusedInputError, Variable
from bitale.compile.io import Container, In, Out, refuse

Function.__module__ = __name__


def _input(given: Any) -> In:
    if isinstance(given, In):
        return given
    if isinstance(given, TensorVariable):
        return In(given)
    raise TypeError(f"function: expected variables as inputs, got {given!r}")


_MOST_THREADS = 1024


def _thread_count(threads: Any) -> int | None:
    if threads is None:
        return None
    expected = f"function: threads is an integer from 1 to {_MOST_THREADS}, got {threads!r}"
    if isinstance(threads, bool) or not hasattr(threads, "__index__"):
        raise TypeError(expected)
    count = operator.index(threads)
    if not 1 <= count <= _MOST_THREADS:
        raise ValueError(expected)
    return count


def function(
    inputs: Sequence[TensorVariable | In],
    outputs: Any = None,
    mode: str | Mode | None = None,
    updates: Mapping[Variable, Any] | Iterable[tuple[Variable, Any]] | None = None,
    givens: Mapping[Variable, Any] | Iterable[tuple[Variable, Any]] | None = None,
    no_default_updates: bool = False,
    accept_inplace: bool = False,
    name: str | None = None,
    rebuild_strict: bool = True,
    allow_input_downcast: bool | None = None,
    profile: Any = None,
    on_unused_input: str | None = None,
    trust_input: bool = False,
    threads: int | None = None,
) -> Function:
    """Compiles outputs as a function of inputs.

    outputs: a variable, a list or a dict of them (the function then returns such), or None.
    updates: shared variables and the expressions whose values they get after each call.
    givens: variables and what to use instead of them.
    allow_input_downcast: None converts Python floats to config.floatX and else nothing that would lose precision;
    True converts whatever is given; False not even those floats.
    on_unused_input: "raise", "warn" or "ignore".
    trust_input: accepted and of no effect, as Function.trust_input says.
    profile: True measures what compiling and calls take, for `Function.profile`; so does a text, which is then the name
    of a function without one. None: what config.profile says, with which profiles are also printed at exit.
    threads: how many threads one call may use, from 1 to 1024; default: config.num_threads. Large loops are shared among
    them, of which there are never more than processors the process may run on; small ones run in the caller's thread.
    Results are the same, bit by bit, for any number. ValueError outside that range, TypeError for what is no integer.
    """
    refuse(
        "function",
        {
            "accept_inplace": accept_inplace,
            "no_default_updates": isinstance(no_default_updates, list) and no_default_updates,
            "rebuild_strict=False": not rebuild_strict,
        },
    )
    if not isinstance(inputs, (list, tuple)):
        raise TypeError(f"function: inputs must be a list, even of one variable; got {inputs!r}")
    return _compile(
        Recipe(
            inputs=[_input(given).stored() for given in inputs],
            outputs=_Outputs(outputs),
            mode=_core.get_mode(mode) if mode is not None else None,
            updates=_core.pairs_of(updates, "updates"),
            givens=_core.pairs_of(givens, "givens"),
            name=profile if name is None and isinstance(profile, str) else name,
            allow_input_downcast=allow_input_downcast,
            profile=_wants_profile(profile),
            on_unused_input=on_unused_input,
            trust_input=bool(trust_input),
            threads=_thread_count(threads),
        )
    )


def _wants_profile(profile: Any) -> bool | None:
    if profile is None or isinstance(profile, bool):
        return profile
    if isinstance(profile, str):
        return True
    raise TypeError(f"function: profile is True, False, None or a text, got {profile!r}")


class _Outputs:
    """What the function returns: one value, a list, a dict or nothing."""

    def __init__(self, given: Any):
        self.keys: list[Any] = []
        if given is None:
            self.form, found = "none", []
        elif isinstance(given, dict):
            self.form, self.keys, found = "dict", list(given), list(given.values())
        elif isinstance(given, (list, tuple)):
            self.form, found = "list", list(given)
        else:
            self.form, found = "single", [given]
        self.expressions = [one.variable if isinstance(one, Out) else one for one in found]


@dataclasses.dataclass
class Recipe:
    """What a function is made from: the arguments of function(), with containers for the values of inputs."""

    inputs: list[In]
    outputs: _Outputs
    mode: Mode | None
    updates: list[tuple[Any, Any]]
    givens: list[tuple[Any, Any]]
    name: str | None
    allow_input_downcast: bool | None
    profile: bool | None
    on_unused_input: str | None
    trust_input: bool
    threads: int | None


def _replaced(expressions: list[Any], replacements: dict[Any, Any]) -> list[Any]:
    """Copies of expressions in which the replacements are made; what is no variable stays."""
    places = [i for i, one in enumerate(expressions) if isinstance(one, Variable)]
    out = list(expressions)
    if replacements:
        for place, one in zip(places, _core.clone_replace([out[i] for i in places], replacements)):
            out[place] = one
    return out


def _compile(recipe: Recipe) -> Function:
    explicit = [given for given in recipe.inputs if not given.implicit]
    held = {given.variable: given.container.variable for given in recipe.inputs if given.implicit}
    if len(held) + len(explicit) != len(recipe.inputs) or any(given.variable in held for given in explicit):
        raise UnusedInputError("function: a variable is given as an input twice")
    givens = recipe.givens
    if held:
        values = _replaced([after for _, after in givens], held)
        givens = [(before, after) for (before, _), after in zip(givens, values)] + list(held.items())
    made = _core.make_function(
        [given.variable for given in explicit],
        [
            (
                given.name or "",
                given.container.variable if given.container else None,
                given.strict,
                recipe.allow_input_downcast if given.allow_downcast is None else given.allow_downcast,
            )
            for given in explicit
        ],
        recipe.outputs.expressions,
        recipe.outputs.form,
        recipe.outputs.keys,
        recipe.updates + [(given.container.variable, given.update) for given in recipe.inputs if given.update is not None],
        givens,
        recipe.mode,
        recipe.name or "",
        recipe.on_unused_input or "",
        recipe.profile,
        recipe.threads,
    )
    made._recipe = recipe
    made.trust_input = recipe.trust_input
    return made


# ---- what functions do besides being called --------------------------------------------------------------------------


def _recipe_of(function: Function, what: str) -> Recipe:
    if function._recipe is None:
        raise NotImplementedError(f"{what}: of a function that eval() has made")
    return function._recipe


def reduce_function(function: Function) -> tuple[Any, ...]:
    return _compile, (_recipe_of(function, "pickling"),)


def deep_copy_function(function: Function, memo: dict[int, Any]) -> Function:
    return pickle.loads(pickle.dumps(function))


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
    profile: Any = None,
) -> Function:
    """See Function.copy. TypeError or ValueError for a swap of what is not shared, not used, or of another type."""
    recipe = _recipe_of(function, "copy")
    swap = dict(_core.pairs_of(swap, "swap"))
    _check_swap(function, swap)
    inputs = [copy.copy(given) for given in recipe.inputs]
    for given in inputs:
        own = given.container is not None and given.value is not None and not isinstance(given.value, (SharedVariable, Container))
        if own and not share_memory:
            given.value, given.container = given.container.value, None
        elif given.container is not None and given.container.variable in swap:
            given.container = Container(swap[given.container.variable])
        if delete_updates:
            given.update = None
        elif given.update is not None:
            (given.update,) = _replaced([given.update], swap)
    outputs = copy.copy(recipe.outputs)
    outputs.expressions = _replaced(outputs.expressions, swap)
    updates = [] if delete_updates else recipe.updates
    return _compile(
        dataclasses.replace(
            recipe,
            inputs=[given.stored() for given in inputs],
            outputs=outputs,
            updates=_swapped_pairs(updates, swap),
            givens=_swapped_pairs(recipe.givens, swap),
            name=name if name is not None else recipe.name,
            profile=_wants_profile(profile),
            trust_input=function.trust_input,
            # The expression of an update may have been all that asked for an input.
            on_unused_input="ignore" if delete_updates else recipe.on_unused_input,
        )
    )


def _swapped_pairs(pairs: list[tuple[Any, Any]], swap: dict[Any, Any]) -> list[tuple[Any, Any]]:
    values = _replaced([after for _, after in pairs], swap)
    return [(swap.get(before, before), after) for (before, _), after in zip(pairs, values)]


class Containers(Mapping[Any, Container]):
    """The containers of a function: of inputs that have one, and of shared variables; by name, variable or position."""

    def __init__(self, function: Function):
        recipe = function._recipe
        self._inputs = recipe.inputs if recipe is not None else []
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


class Maker:
    """What a function was made from: PyTensor's ``f.maker``."""

    def __init__(self, function: Function):
        self._function = function

    @property
    def fgraph(self) -> _core.FunctionGraph:
        """The graph after rewriting."""
        return self._function.fgraph

    @property
    def mode(self) -> Mode:
        return self._function.mode

    @property
    def inputs(self) -> list[TensorVariable]:
        return self._function.inputs
