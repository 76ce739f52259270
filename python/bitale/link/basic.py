"""Linkers under PyTensor's names, and what is needed to write one: a class that makes a thunk from a graph.

Linkers of the library run in C++, described by their names. A class that defines `make_thunk`,
`make_all` or `schedule`, and a `JITLinker`, run the graph with what their methods return.
"""

from __future__ import annotations

import copy
import functools
from collections.abc import Callable, Sequence
from typing import Any

from bitale import _core
from bitale._core import Apply, FunctionGraph, Variable
from bitale.configuration import config
from bitale.link.utils import gc_helper, map_storage, raise_with_op, streamline

__all__ = [
    "Container",
    "DualLinker",
    "JITLinker",
    "Linker",
    "LocalLinker",
    "OpWiseCLinker",
    "PerformLinker",
    "WrapLinker",
    "WrapLinkerMany",
]


class _IsContainer(type):
    def __instancecheck__(cls, instance: Any) -> bool:
        return type.__instancecheck__(cls, instance) or isinstance(instance, _core.Container)


class Container(metaclass=_IsContainer):
    """A cell with the type of the values that it accepts (PyTensor's pytensor.link.basic.Container).

    r: a variable or a type. storage: the cell, a list whose first element is the value. readonly: whether a value can be set
    only through the cell. strict, allow_downcast: as for inputs of functions. The containers of compiled functions
    (`f.container`) are instances, too.
    """

    def __init__(
        self,
        r: Any,
        storage: list[Any],
        *,
        readonly: bool = False,
        strict: bool = False,
        allow_downcast: bool | None = None,
        name: str | None = None,
    ) -> None:
        if not isinstance(storage, list) or not storage:
            raise TypeError(f"Container: expected a list of one value, got {storage!r}")
        self.type = r.type if isinstance(r, Variable) else r
        self.name = getattr(r, "name", None) if name is None else name
        self.storage = storage
        self.readonly = readonly
        self.strict = strict
        self.allow_downcast = allow_downcast

    @property
    def data(self) -> Any:
        """The value. Setting it converts, or raises a TypeError."""
        return self.storage[0]

    @data.setter
    def data(self, value: Any) -> None:
        if self.readonly:
            raise TypeError(f"Container: the value of {self.name!r} can only be read")
        if value is not None:
            options: dict[str, Any] = {"strict": True} if self.strict else {}
            if self.allow_downcast is not None:
                options["allow_downcast"] = self.allow_downcast
            try:
                value = self.type.filter(value, **options)
            except Exception as error:
                if hasattr(error, "add_note"):  # from Python 3.11 on
                    error.add_note(f"  container     {self.name!r}")
                raise
        self.storage[0] = value

    value = data

    def __repr__(self) -> str:
        return f"<{self.storage[0]!r}>"

    def __str__(self) -> str:
        return f"<{self.storage[0]}>"

    def __deepcopy__(self, memo: dict[int, Any]) -> Container:
        return type(self)(
            self.type,
            copy.deepcopy(self.storage, memo),
            readonly=self.readonly,
            strict=self.strict,
            allow_downcast=self.allow_downcast,
            name=self.name,
        )


def _containers(
    fgraph: FunctionGraph, inputs: Sequence[list[Any]], outputs: Sequence[list[Any]]
) -> tuple[list[Container], list[Container]]:
    return (
        [Container(variable, cell) for variable, cell in zip(fgraph.inputs, inputs)],
        [Container(v, cell, readonly=True) for v, cell in zip(fgraph.outputs, outputs)],
    )


class Linker(_core.Linker):
    """How a compiled graph is run.

    name: one of `linker_names()`, or a linker to copy. node_linkers, wrapper, on_input: for linkers
    that go node by node, see `WrapLinker` and `VMLinker`. allow_gc: whether values are released as
    soon as no node needs them; default: config.allow_gc. scheduler: a function from a FunctionGraph
    to the list of its nodes in the order in which they are to run.

    A subclass that defines `make_thunk` runs graphs with it.
    """

    required_rewrites: tuple[str, ...] = ()
    incompatible_rewrites: tuple[str, ...] = ()

    def __init__(
        self,
        name: str | _core.Linker = "jit",
        node_linkers: Sequence[str] = (),
        wrapper: Callable[..., Any] | None = None,
        on_input: Callable[..., Any] | None = None,
        allow_gc: bool | None = None,
        scheduler: Callable[[FunctionGraph], Sequence[Apply]] | None = None,
    ) -> None:
        super().__init__(name, node_linkers, wrapper, on_input, allow_gc)
        self.fgraph: Any = None
        self.no_recycling: Sequence[Variable] = ()
        self._scheduler = scheduler

    def clone(self, allow_gc: bool | None = None) -> Any:
        """Return a linker of the same kind for other graphs, with another `allow_gc` if one is given."""
        members = {**vars(self), "fgraph": None}
        return rebuilt(type(self), _core.Linker(self._plain(), allow_gc=allow_gc), members)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({repr(self.name) if type(self) is Linker else ''})"

    def __eq__(self, other: object) -> bool:
        if links_graphs(self):
            return self is other or (isinstance(other, str) and other == type(self).__name__)
        return super().__eq__(other)

    def __hash__(self) -> int:
        return hash(type(self).__name__ if links_graphs(self) else self.name)

    def __copy__(self) -> Any:
        return self.clone()

    def __reduce__(self) -> tuple[Any, ...]:
        return rebuilt, (type(self), self._plain(), {**vars(self), "fgraph": None})

    def _plain(self) -> _core.Linker:
        """What the library knows of the linker."""
        if links_graphs(self):
            return _core.Linker("vm", allow_gc=self.allow_gc)
        return _core.Linker(self)

    def accept(
        self,
        fgraph: FunctionGraph,
        no_recycling: Sequence[Variable] | None = None,
        profile: Any = None,
    ) -> Any:
        """Bind the linker to a graph, and return it, or a copy if it is bound to another graph."""
        if self.fgraph is not None and self.fgraph is not fgraph:
            return self.clone().accept(fgraph, no_recycling, profile)
        self.fgraph = fgraph
        self.no_recycling = no_recycling or ()
        return self

    def schedule(self, fgraph: FunctionGraph) -> list[Apply]:
        """Return the nodes in the order in which they are to run."""
        return list(fgraph.toposort() if self._scheduler is None else self._scheduler(fgraph))

    def make_thunk(
        self,
        input_storage: Sequence[list[Any]] | None = None,
        output_storage: Sequence[list[Any]] | None = None,
        storage_map: dict[Variable, list[Any]] | None = None,
        **kwargs: Any,
    ) -> tuple[Callable[[], Any], list[Any], list[Any]]:
        """Return a function without arguments that runs the graph of `accept`, the containers of its inputs, from which it
        takes their values, and those of its outputs."""
        fgraph = self._accepted("make_thunk")
        inputs, outputs, cells = map_storage(fgraph, [], input_storage, output_storage, storage_map)
        run = _core.link_graph(self, fgraph)

        def thunk() -> list[Any]:
            for cell, value in zip(outputs, run([cell[0] for cell in inputs])):
                cell[0] = value
            return [cell[0] for cell in outputs]

        function: Any = thunk
        function.inputs, function.outputs, function.storage_map = inputs, outputs, cells
        return thunk, *_containers(fgraph, inputs, outputs)

    def _accepted(self, method: str) -> FunctionGraph:
        if self.fgraph is None:
            raise ValueError(
                f"{type(self).__name__}.{method}: there is no graph; call accept(fgraph) first"
            )
        return self.fgraph  # type: ignore[no-any-return]


def rebuilt(kind: type[Linker], plain: _core.Linker, members: dict[str, Any]) -> Linker:
    """A linker of that class with the attributes of another one."""
    made = kind.__new__(kind)
    _core.Linker.__init__(made, plain)
    vars(made).update(members)
    return made


class LocalLinker(Linker):
    """The base of linkers that have a thunk for each node. A subclass defines `make_all`."""

    def make_thunk(
        self,
        input_storage: Sequence[list[Any]] | None = None,
        output_storage: Sequence[list[Any]] | None = None,
        storage_map: dict[Variable, list[Any]] | None = None,
        **kwargs: Any,
    ) -> tuple[Callable[[], Any], list[Any], list[Any]]:
        """Return the first three results of `make_all`."""
        return self.make_all(
            input_storage=input_storage, output_storage=output_storage, storage_map=storage_map
        )[:3]

    def make_all(
        self,
        input_storage: Sequence[list[Any]] | None = None,
        output_storage: Sequence[list[Any]] | None = None,
        storage_map: dict[Variable, list[Any]] | None = None,
    ) -> tuple[Any, list[Any], list[Any], list[Any], list[Apply]]:
        """Return a function that runs the graph, the containers of its inputs and outputs, the thunks of its nodes in the
        order in which they run, and the nodes in this order."""
        raise NotImplementedError(f"{type(self).__name__} has no make_all")


class PerformLinker(LocalLinker):
    """Runs each op's perform.

    allow_gc: release a value as soon as no node needs it; default: config.allow_gc. schedule: a
    function from a FunctionGraph to the list of its nodes in the order in which they are to run.
    """

    def __init__(
        self,
        allow_gc: bool | None = None,
        schedule: Callable[[FunctionGraph], Sequence[Apply]] | None = None,
    ):
        super().__init__("vm", allow_gc=allow_gc, scheduler=schedule)

    def make_all(
        self,
        input_storage: Sequence[list[Any]] | None = None,
        output_storage: Sequence[list[Any]] | None = None,
        storage_map: dict[Variable, list[Any]] | None = None,
    ) -> tuple[Any, list[Any], list[Any], list[Any], list[Apply]]:
        """See `LocalLinker.make_all`; each thunk is made by the `make_thunk` of the node's op."""
        fgraph = self._accepted("make_all")
        order = self.schedule(fgraph)
        inputs, outputs, cells = map_storage(
            fgraph, order, input_storage, output_storage, storage_map
        )
        compute_map = {variable: [variable.owner is None] for variable in cells}
        thunks = [self._thunk(node, cells, compute_map) for node in order]
        does_gc = config.allow_gc if self.allow_gc is None else self.allow_gc
        computed, last_user = gc_helper(order)
        kept = set(fgraph.outputs)
        freed = [
            [
                cells[variable]
                for variable in dict.fromkeys(node.inputs)
                if does_gc and variable in computed - kept and last_user[variable] is node
            ]
            for node in order
        ]
        run: Any = streamline(
            fgraph,
            thunks,
            order,
            post_thunk_old_storage=freed,
            no_recycling=[
                cells[variable] for variable in self.no_recycling if variable.owner is not None
            ],
            output_storage=outputs,
        )
        run.allow_gc, run.storage_map = does_gc, cells
        return run, *_containers(fgraph, inputs, outputs), thunks, order

    def _thunk(
        self, node: Apply, cells: dict[Variable, list[Any]], compute_map: dict[Variable, list[bool]]
    ) -> Any:
        thunk = node.op.make_thunk(node, cells, compute_map, self.no_recycling, "py")
        thunk.inputs = [cells[variable] for variable in node.inputs]
        thunk.outputs = [cells[variable] for variable in node.outputs]
        return thunk


class OpWiseCLinker(PerformLinker):
    """Native code for each node where there is some, and the op's perform elsewhere (PyTensor's "c|py").

    Outside compiled functions, its thunks run perform.
    """

    def __init__(
        self,
        allow_gc: bool | None = None,
        schedule: Callable[[FunctionGraph], Sequence[Apply]] | None = None,
    ):
        LocalLinker.__init__(self, "opwise", allow_gc=allow_gc, scheduler=schedule)


class JITLinker(PerformLinker):
    """The base of linkers that translate a whole graph for another compiler.

    A subclass defines `fgraph_convert`, which returns a function from the inputs' values to the
    list of the outputs' values; `jit_compile`, which compiles that function; and
    `create_thunk_inputs`, which returns the cells that it is called with.
    """

    def __init__(
        self,
        allow_gc: bool | None = None,
        scheduler: Callable[[FunctionGraph], Sequence[Apply]] | None = None,
    ):
        super().__init__(allow_gc, scheduler)

    def fgraph_convert(
        self,
        fgraph: FunctionGraph,
        order: Sequence[Apply],
        input_storage: Sequence[list[Any]],
        output_storage: Sequence[list[Any]],
        storage_map: dict[Variable, list[Any]],
        **kwargs: Any,
    ) -> Callable[..., Any]:
        """Return a function of the values of the thunk's inputs that returns those of the graph's outputs."""
        raise NotImplementedError(f"{type(self).__name__} has no fgraph_convert")

    def jit_compile(self, fn: Callable[..., Any]) -> Callable[..., Any]:
        """Return the function, compiled."""
        raise NotImplementedError(f"{type(self).__name__} has no jit_compile")

    def create_thunk_inputs(self, storage_map: dict[Variable, list[Any]]) -> list[list[Any]]:
        """Return the cells with whose values the function is called."""
        raise NotImplementedError(f"{type(self).__name__} has no create_thunk_inputs")

    def input_filter(self, inp: Any) -> Any:
        """Return what an input becomes."""
        return inp

    def output_filter(self, var: Variable, out: Any) -> Any:
        """Return the value of an output as one of its type."""
        return out

    def create_jitable_thunk(
        self,
        compute_map: dict[Variable, list[bool]],
        order: Sequence[Apply],
        input_storage: Sequence[list[Any]],
        output_storage: Sequence[list[Any]],
        storage_map: dict[Variable, list[Any]],
    ) -> tuple[list[Any], list[Apply], Callable[..., Any]]:
        """Return a list of one thunk, which runs the whole graph, one of a node that computes an output, and the compiled
        function."""
        fgraph = self._accepted("create_jitable_thunk")
        function = self.fgraph_convert(
            fgraph,
            order=order,
            input_storage=input_storage,
            output_storage=output_storage,
            storage_map=storage_map,
        )
        given = self.create_thunk_inputs(storage_map)
        results = [storage_map[variable] for variable in fgraph.outputs]
        compiled = self.jit_compile(function)
        nodes = [variable.owner for variable in fgraph.outputs if variable.owner is not None][:1]

        def thunk() -> None:
            try:
                values = compiled(*(cell[0] for cell in given))
            except Exception:
                if not nodes:
                    raise
                raise_with_op(fgraph, nodes[0], thunk)
            for variable, cell, value in zip(
                fgraph.outputs, results, () if values is None else values
            ):
                cell[0] = self.output_filter(variable, value)

        made: Any = thunk
        made.inputs, made.outputs, made.lazy = given, results, False
        return [thunk], nodes, compiled

    def make_all(
        self,
        input_storage: Sequence[list[Any]] | None = None,
        output_storage: Sequence[list[Any]] | None = None,
        storage_map: dict[Variable, list[Any]] | None = None,
    ) -> tuple[Any, list[Any], list[Any], list[Any], list[Apply]]:
        """See `LocalLinker.make_all`; there is one thunk, whose `jit_fn` is the compiled function."""
        fgraph = self._accepted("make_all")
        order = self.schedule(fgraph)
        inputs, outputs, cells = map_storage(
            fgraph, order, input_storage, output_storage, storage_map
        )
        compute_map = {variable: [variable.owner is None] for variable in cells}
        thunks, nodes, compiled = self.create_jitable_thunk(
            compute_map, order, inputs, outputs, cells
        )
        thunks[0].jit_fn, thunks[0].allow_gc, thunks[0].storage_map = compiled, self.allow_gc, cells
        return thunks[0], *_containers(fgraph, inputs, outputs), thunks, nodes


def _name(linker: str | _core.Linker) -> str:
    return linker.name if isinstance(linker, _core.Linker) else linker


class WrapLinker(Linker):
    """Runs node by node, each as the wrapper says.

    wrapper(fgraph, i, node, *thunks) is called instead of running node, the i-th; thunks[k]() runs
    it by linkers[k], and thunks[k].inputs and .outputs are lists of [value]. The call continues
    with the results of thunks[0]: ValueError if the wrapper has not run it. linkers: names or
    linkers, each of which runs the nodes one by one.
    """

    def __init__(self, linkers: Sequence[str | _core.Linker], wrapper: Callable[..., Any]):
        if isinstance(linkers, (str, _core.Linker)) or not linkers:
            raise ValueError(f"WrapLinker: expected a list of one linker or more, got {linkers!r}")
        self.linkers = list(linkers)
        self.wrapper = wrapper
        if self._has_own():
            super().__init__()
        else:
            super().__init__("wrap", [_name(linker) for linker in linkers], wrapper)

    def _has_own(self) -> bool:
        """Whether a linker, or `pre`, is written in Python."""
        return type(self).pre is not WrapLinker.pre or any(
            isinstance(linker, Linker) and links_graphs(linker) for linker in self.linkers
        )

    def clone(self, allow_gc: bool | None = None) -> Any:
        """Return a linker of copies of the linkers."""
        return type(self)(
            [
                linker.clone(allow_gc) if isinstance(linker, Linker) else linker
                for linker in self.linkers
            ],
            self.wrapper,
        )

    def pre(self, f: Any, inputs: list[Any], order: list[Apply], thunk_groups: list[Any]) -> None:
        """Called before the first node, for subclasses: the linker, the inputs' values, the nodes and their thunks."""

    def make_thunk(
        self,
        input_storage: Sequence[list[Any]] | None = None,
        output_storage: Sequence[list[Any]] | None = None,
        storage_map: dict[Variable, list[Any]] | None = None,
        **kwargs: Any,
    ) -> tuple[Callable[[], Any], list[Any], list[Any]]:
        """Return a function that calls the wrapper for each node, and the containers of the first linker.

        Linkers of the library run perform here.
        """
        fgraph = self._accepted("make_thunk")
        linkers = [
            (each if isinstance(each, LocalLinker) else PerformLinker()).accept(
                fgraph, self.no_recycling
            )
            for each in self.linkers
        ]
        made = [linkers[0].make_all(input_storage, output_storage, storage_map)]
        made += [linker.make_all() for linker in linkers[1:]]
        _, inputs, outputs, thunks, orders = zip(*made)
        if any(order != orders[0] for order in orders):
            raise ValueError("WrapLinker: the linkers run the nodes in different orders")
        groups = list(zip(*thunks))

        def run() -> None:
            for others in inputs[1:]:
                for first, other in zip(inputs[0], others):
                    other.storage[0] = copy.copy(first.storage[0])
            self.pre(self, [container.data for container in inputs[0]], orders[0], groups)
            for i, (group, node) in enumerate(zip(groups, orders[0])):
                try:
                    self.wrapper(fgraph, i, node, *group)
                except Exception:
                    raise_with_op(fgraph, node, group[0])

        run.thunk_groups = groups  # type: ignore[attr-defined]
        return run, inputs[0], outputs[0]


def WrapLinkerMany(
    linkers: Sequence[str | _core.Linker], wrappers: Sequence[Callable[..., Any]]
) -> WrapLinker:
    """WrapLinker with several wrappers, each called with the same arguments, one after the other."""
    return WrapLinker(linkers, functools.partial(_call_all, list(wrappers)))


def _call_all(wrappers: list[Callable[..., Any]], *arguments: Any) -> None:
    for wrapper in wrappers:
        wrapper(*arguments)


def DualLinker(
    first: str | _core.Linker = "vm",
    second: str | _core.Linker = "jit",
    checker: Callable[[Any, Any], bool] | None = None,
) -> Linker:
    """Both linkers run every node on the inputs that the first has computed (PyTensor's DualLinker).

    The first node whose results differ raises a DualLinkerError that shows the node, its inputs and
    both values. checker(a, b): whether two values count as equal; by default integers and bools
    must be equal, and floats equal up to 1e-9 (float32: 1e-4) of themselves and of the largest
    input.
    """
    return Linker(_core.make_dual_linker(_name(first), _name(second), checker))


_METHODS = ("accept", "make_all", "make_thunk", "schedule", "_thunk")


def links_graphs(linker: Linker) -> bool:
    """Whether a linker runs graphs by methods that are written in Python, not as its name says."""
    if linker._scheduler is not None or isinstance(linker, JITLinker):
        return True
    if isinstance(linker, WrapLinker) and linker._has_own():
        return True
    for kind in type(linker).__mro__:
        if kind.__module__.startswith("bitale.link"):
            return kind is LocalLinker
        if any(name in vars(kind) for name in _METHODS):
            return True
    return False
