"""The steps of function(): the graph, rewriting, linking, and the callable."""

from __future__ import annotations

import copy
import dataclasses
from typing import Any, Iterable, Mapping, Sequence

from bitale import _core
from bitale._core import Function, FunctionGraph, Mode, UnusedInputError, Variable
from bitale.compile.mode import get_mode
from bitale.compile.io import Container, In, Out, refuse
from bitale._geography import finder


def wrap_in(given: Any) -> In:
    """The input as an In."""
    if isinstance(given, In):
        return given
    if isinstance(given, Variable):
        return In(given)
    raise TypeError(f"function: expected variables as inputs, got {given!r}")


def wants_profile(profile: Any) -> bool | None:
    """Whether calls are measured; None: as the config says."""
    if profile is None or isinstance(profile, bool):
        return profile
    if isinstance(profile, str):
        return True
    raise TypeError(f"function: profile is True, False, None or a text, got {profile!r}")


class Outputs:
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
        self.specs = [Out(one) if isinstance(one, Variable) else one for one in found]

    @property
    def expressions(self) -> list[Any]:
        return [one.variable if isinstance(one, Out) else one for one in self.specs]

    def replaced(self, replacements: dict[Any, Any]) -> Outputs:
        """The same of other expressions."""
        made = copy.copy(self)
        made.specs = [Out(after) if isinstance(after, Variable) else after for after in replaced(self.expressions, replacements)]
        return made


@dataclasses.dataclass
class Recipe:
    """What a function is made from: the arguments of function(), with containers for the values of inputs."""

    inputs: list[In]
    outputs: Outputs
    mode: Mode | None = None
    updates: list[tuple[Any, Any]] = dataclasses.field(default_factory=list)
    givens: list[tuple[Any, Any]] = dataclasses.field(default_factory=list)
    name: str | None = None
    allow_input_downcast: bool | None = None
    profile: bool | None = None
    on_unused_input: str | None = None
    trust_input: bool = False
    threads: int | None = None

    def make(self) -> Function:
        """Compiles, by the maker of the mode."""
        mode = self.mode if self.mode is not None else _core.get_default_mode()
        maker: FunctionMaker = mode.function_maker(**{field.name: getattr(self, field.name) for field in dataclasses.fields(self)})
        return maker.create()


def replaced(expressions: list[Any], replacements: dict[Any, Any]) -> list[Any]:
    """Copies of expressions in which the replacements are made; what is no variable stays."""
    indices = [i for i, one in enumerate(expressions) if isinstance(one, Variable)]
    out = list(expressions)
    if replacements:
        for index, one in zip(indices, _core.clone_replace([out[i] for i in indices], replacements)):
            out[index] = one
    return out


def steps_of(recipe: Recipe) -> _core.FunctionSteps:
    """The steps of making the function, none taken yet but the first: its graph, as it was given."""
    explicit = [given for given in recipe.inputs if not given.implicit]
    held: dict[Any, Any] = {given.variable: given.container.variable for given in recipe.inputs if given.implicit and given.container}
    if len(held) + len(explicit) != len(recipe.inputs) or any(given.variable in held for given in explicit):
        raise UnusedInputError("function: a variable is given as an input twice")
    givens = recipe.givens
    if held:
        values = replaced([after for _, after in givens], held)
        givens = [(before, after) for (before, _), after in zip(givens, values)] + list(held.items())
    own_updates = [(given.container.variable, given.update) for given in recipe.inputs if given.container and given.update is not None]
    variables: list[Any] = [given.variable for given in explicit]
    return _core.make_steps(
        variables,
        recipe.outputs.expressions,
        recipe.updates + own_updates,
        givens,
        recipe.mode,
        recipe.name or "",
        recipe.on_unused_input or "",
        recipe.profile,
        recipe.threads,
    )


def std_fgraph(
    input_specs: Sequence[Variable | In],
    output_specs: Any,
    accept_inplace: bool = False,
) -> tuple[FunctionGraph, dict[int, int]]:
    """The graph that function() compiles, before rewriting, and which of its outputs is the new value of which input.

    Its inputs are copies of those that are given, then of the shared variables; its outputs those that are given, then the
    updates of inputs. Errors are those of function(); NotImplementedError for accept_inplace.

    >>> x = pt.dscalar("x")
    >>> fgraph, updates = bt.compile.std_fgraph([x], pt.exp(x))
    >>> fgraph.outputs, updates
    ([Exp.0], {})
    """
    maker = FunctionMaker(input_specs, output_specs, accept_inplace=accept_inplace, no_fgraph_prep=True)
    return maker.fgraph, maker.update_mapping


class FunctionMaker:
    """Makes functions, step by step; function() is ``FunctionMaker(...).create()``.

    Making one builds the graph (create_fgraph) and rewrites it (prepare_fgraph); create() links it (link) and wraps the
    result with its containers. A subclass may do any step in another way: it may look at the graph or change it, up to
    link(). ``mode.with_function_maker(cls)`` is a mode whose functions are made by it; a subclass of Mode may have an
    attribute ``function_maker`` instead.

    Arguments are those of function(); no_fgraph_prep: the graph is not rewritten. Attributes: inputs (In), outputs (Out),
    mode, linker, fgraph, update_mapping.
    """

    def __init__(
        self,
        inputs: Sequence[Variable | In],
        outputs: Any = None,
        mode: str | Mode | None = None,
        accept_inplace: bool = False,
        updates: Mapping[Variable, Any] | Iterable[tuple[Variable, Any]] | None = None,
        givens: Mapping[Variable, Any] | Iterable[tuple[Variable, Any]] | None = None,
        name: str | None = None,
        allow_input_downcast: bool | None = None,
        profile: Any = None,
        on_unused_input: str | None = None,
        trust_input: bool = False,
        threads: int | None = None,
        no_fgraph_prep: bool = False,
        no_default_updates: Any = False,
    ):
        refuse("function", {"accept_inplace": accept_inplace})
        if not isinstance(inputs, (list, tuple)):
            raise TypeError(f"function: inputs must be a list, even of one variable; got {inputs!r}")
        from bitale.compile.default_updates import with_default_updates

        given_outputs = outputs if isinstance(outputs, Outputs) else Outputs(outputs)
        self.recipe = Recipe(
            inputs=[wrap_in(given).stored() for given in inputs],
            outputs=given_outputs,
            mode=mode if mode is None or isinstance(mode, Mode) else get_mode(mode),
            updates=with_default_updates(
                given_outputs.expressions, _core.pairs_of(updates, "updates"), no_default_updates
            ),
            givens=_core.pairs_of(givens, "givens"),
            name=profile if name is None and isinstance(profile, str) else name,
            allow_input_downcast=allow_input_downcast,
            profile=wants_profile(profile),
            on_unused_input=on_unused_input,
            trust_input=bool(trust_input),
            threads=threads,
        )
        self._steps = steps_of(self.recipe)
        self._made_of = self.recipe.inputs  # the compiled code refers to its containers
        self.fgraph: FunctionGraph = self.create_fgraph()
        if not no_fgraph_prep:
            self.prepare_fgraph(self.fgraph)

    @property
    def inputs(self) -> list[In]:
        return self.recipe.inputs

    @property
    def outputs(self) -> list[Out]:
        return self.recipe.outputs.specs

    @property
    def mode(self) -> Mode:
        return self.recipe.mode if self.recipe.mode is not None else self._steps.mode

    @property
    def linker(self) -> str:
        """The linker's name."""
        return self.mode.linker

    @property
    def update_mapping(self) -> dict[int, int]:
        """Which output of fgraph is the new value of which of its inputs."""
        return dict(self._steps.updates)

    def create_fgraph(self) -> FunctionGraph:
        """The graph: copies of the inputs and the shared variables; the outputs, and the new values of updates."""
        return self._steps.fgraph

    def prepare_fgraph(self, fgraph: FunctionGraph) -> None:
        """Rewrites the graph as the mode says."""
        self._steps.rewrite()

    def link(self, fgraph: FunctionGraph) -> None:
        """Makes what runs the graph, which can't change any more. Happens once, whatever create() makes of it."""
        self._steps.link()

    def create(self, input_storage: Sequence[Any] | None = None) -> Function:
        """The callable.

        input_storage: for each input None (its own container, if it has one), a Container or shared variable to use
        instead, or a value to start with. TypeError for what does not fit the input, ValueError for another number of
        entries. Functions of one maker share code, and the containers that are not given.
        """
        if not self._steps.linked:
            self.link(self.fgraph)
            self._steps.link()
        maker = self if input_storage is None else self._with(inputs=self._holding(list(input_storage)))
        recipe = maker.recipe
        made = self._steps.create(
            maker._storage(),
            recipe.name or "",
            recipe.outputs.form,
            recipe.outputs.keys,
            [
                (
                    given.name or "",
                    given.container.variable if given.container else None,
                    given.strict,
                    recipe.allow_input_downcast if given.allow_downcast is None else given.allow_downcast,
                )
                for given in recipe.inputs
                if not given.implicit
            ],
        )
        made._maker = maker
        made.trust_input = recipe.trust_input
        return made

    def _with(self, **changes: Any) -> FunctionMaker:
        """The same maker, of the same code, with another recipe: other containers, another name."""
        out = object.__new__(type(self))  # copy.copy() would compile again
        out.__dict__.update(self.__dict__)
        out.recipe = dataclasses.replace(self.recipe, **changes)
        return out

    def _holding(self, storage: list[Any]) -> list[In]:
        if len(storage) != len(self.inputs):
            raise ValueError(f"create: expected storage for {len(self.inputs)} inputs, got {len(storage)}")
        return [one if value is None else one.holding(value) for one, value in zip(self.inputs, storage)]

    def _storage(self) -> list[tuple[Any, Any]]:
        """Which shared variables stand in for those that the code knows."""
        known = set(self._steps.shared)
        pairs = [(a.container.variable, b.container.variable) for a, b in zip(self._made_of, self.inputs) if a.container and b.container]
        return [(before, after) for before, after in pairs if before is not after and before in known]

    def __reduce__(self) -> tuple[Any, ...]:
        return _maker_of_stored, (type(self), self.recipe)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.recipe.name or ''}>"


def _maker_of_stored(kind: type[FunctionMaker], recipe: Recipe) -> FunctionMaker:
    return kind(**{field.name: getattr(recipe, field.name) for field in dataclasses.fields(recipe)})


__getattr__ = finder(__name__, "compile.function")
