"""Functions of sparse matrices: function() compiles one of their tensors, and values are converted from and to SciPy's."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from bitale import _core
from bitale._core import Constant, SparseVariable, Variable
from bitale.compile.function import function, register_compiler
from bitale.compile.io import In, Out
from bitale.compile.wrapped import WrappedFunction
from bitale.graph.traversal import ancestors
from bitale.sparse.type import pattern_of, scipy_array

__all__ = ["SparseFunction", "evaluate", "sparse_function"]


def _bare(given: Any) -> Any:
    return given.variable if isinstance(given, (In, Out)) else given


def _is_known(variable: Variable) -> bool:
    """Whether it has a value already, so that no call gives it."""
    return _core.is_shared(variable) or isinstance(variable, Constant)


def _parts(matrix: SparseVariable) -> dict[str, Any]:
    """The tensors that make a matrix, inputs or computed ones, without a length that follows from the others."""
    if matrix.is_static:
        return {"data": matrix.data}
    parts = _tensors(matrix)
    if matrix.indptr in set(ancestors([parts["major"]], blockers=[matrix.indptr])):
        del parts["major"]
    return parts


def _tensors(matrix: SparseVariable) -> dict[str, Any]:
    major, minor = matrix.lengths if matrix.format == "csr" else matrix.lengths[::-1]
    return {
        "data": matrix.data,
        "indices": matrix.indices,
        "indptr": matrix.indptr,
        "minor": minor,
        "major": major,
    }


class _SparseInput:
    """An input that is a sparse matrix: the tensors that a call gives instead."""

    def __init__(self, matrix: SparseVariable):
        self.matrix = matrix
        self.name = matrix.name
        parts = _parts(matrix)
        self.parts = {key: variable for key, variable in parts.items() if not _is_known(variable)}
        self.known = {key: variable for key, variable in parts.items() if key not in self.parts}
        if "data" not in self.parts:
            raise TypeError(
                f"function: expected a sparse matrix without a value as an input, got {matrix!r}; givens replace those "
                "that are shared"
            )
        if matrix.is_static:
            self.pattern = pattern_of(matrix)

    def values(self, given: Any, who: str) -> dict[str, Any]:
        """The tensors of a value. TypeError or ValueError for one that does not fit."""
        label = f"{who}: input {self.name or self.matrix!r}"
        try:
            array = scipy_array(given, self.matrix.format)
        except (TypeError, ValueError) as error:
            raise type(error)(f"{label}: {error}") from None
        for axis, (expected, got) in enumerate(zip(self.matrix.static_shape, array.shape)):
            if expected is not None and expected != got:
                raise ValueError(
                    f"{label}: expected length {expected} along axis {axis}, got {got}"
                )
        if self.matrix.is_static:
            if not all(
                np.array_equal(x, y) for x, y in zip(self.pattern, (array.indices, array.indptr))
            ):
                raise ValueError(
                    f"{label}: the matrix stores other positions than the pattern that the function was compiled for; "
                    "a type without pattern= takes any"
                )
            return {"data": array.data}
        major, minor = array.shape if self.matrix.format == "csr" else array.shape[::-1]
        dtype = np.dtype(self.matrix.indices.dtype)
        if max(array.nnz, minor) > np.iinfo(dtype).max:
            raise ValueError(
                f'{label}: positions up to {max(array.nnz, minor)} do not fit {dtype}; make the type with index_dtype="int64"'
            )
        values = {
            "data": array.data,
            "indices": array.indices.astype(dtype, copy=False),
            "indptr": array.indptr.astype(dtype, copy=False),
            "minor": minor,
            "major": major,
        }
        for part, variable in self.known.items():
            value = variable.get_value(borrow=True) if _core.is_shared(variable) else variable.data
            if not np.array_equal(value, values[part]):
                raise ValueError(f"{label}: {_differs(part)} those that its expression has")
        return values


def _differs(part: str) -> str:
    return f"the matrix has other {'lengths' if part in ('minor', 'major') else 'positions'} than"


class _SparseOutput:
    """An output that is a sparse matrix: its tensors, and the SciPy array that they make."""

    def __init__(self, matrix: SparseVariable):
        self.format, self.text = matrix.format, repr(matrix)
        self.pattern: tuple[Any, ...] | None = None
        self.expressions = [matrix.data]
        if matrix.is_static:
            self.pattern, self.shape = pattern_of(matrix), matrix.static_shape
        else:
            self.expressions += [matrix.indices, matrix.indptr, *matrix.lengths]

    def value(self, results: list[Any]) -> Any:
        import scipy.sparse

        if self.pattern is not None:
            lengths: Sequence[Any] = self.shape
            data, (indices, indptr) = results[0], (x.copy() for x in self.pattern)
        else:
            data, indices, indptr, *lengths = results
        kind = scipy.sparse.csr_array if self.format == "csr" else scipy.sparse.csc_array
        return kind((data, indices, indptr), shape=tuple(int(n) for n in lengths))


# An input by its name: the variable, or what a sparse matrix is made from, with the keyword of each part that is used.
_Described = tuple[str, Any, list[tuple[str, str]]]


class SparseFunction(WrappedFunction):
    """A compiled function of which inputs or outputs are sparse. It takes and returns SciPy's arrays.

    `function` is the function of their tensors, which has all other methods: dprint, profile, export_c, ...
    """

    _own = ("_inputs", "_outputs", "_form", "_keys")

    def __init__(
        self,
        function: Any,
        inputs: list[_Described],
        outputs: list[_SparseOutput | None],
        form: str,
        keys: list[Any],
    ):
        self.function, self._inputs, self._outputs, self._form, self._keys = (
            function,
            inputs,
            outputs,
            form,
            keys,
        )

    def __call__(self, *given: Any, **named: Any) -> Any:
        who = self.function.name or "function"
        if len(given) > len(self._inputs):
            raise TypeError(f"{who}: expected {len(self._inputs)} inputs, got {len(given)}")
        arguments: dict[str, Any] = {}
        for (name, one, used), value in zip(self._inputs, given):
            self._take(arguments, name, one, used, value, who)
        for key, value in named.items():
            found = [
                each
                for each in self._inputs
                if key == (each[1].name if isinstance(each[1], _SparseInput) else each[0])
            ]
            if found and (found[0] in self._inputs[: len(given)]):
                raise TypeError(f"{who}: input {key} is given twice")
            if found:
                self._take(arguments, *found[0], value, who)
            else:
                arguments[key] = value
        for name, one, used in self._inputs:
            if isinstance(one, _SparseInput) and used and used[0][1] not in arguments:
                raise TypeError(f"{who}: input {one.name or name} is missing")
        results = self.function(**arguments)
        made = []
        at = 0
        for output in self._outputs:
            if output is None:
                made.append(results[at])
                at += 1
            else:
                count = len(output.expressions)
                made.append(output.value(results[at : at + count]))
                at += count
        if self._form == "single":
            return made[0]
        if self._form == "dict":
            return dict(zip(self._keys, made))
        return made if self._form == "list" else None

    def _swapped(self, swap: Any) -> Any:
        return None if swap is None else dict(_expanded_pairs(swap, "copy: swap"))

    def _described(self) -> list[str]:
        """A line for each sparse matrix among inputs and outputs."""
        lines = [
            f"input {one.matrix!r}" for _, one, _ in self._inputs if isinstance(one, _SparseInput)
        ]
        return lines + [f"output {one.text}" for one in self._outputs if one is not None]

    @staticmethod
    def _take(
        arguments: dict[str, Any],
        name: str,
        one: Any,
        used: list[tuple[str, str]],
        value: Any,
        who: str,
    ) -> None:
        if not isinstance(one, _SparseInput):
            arguments[name] = value
            return
        values = one.values(value, who)
        for part, keyword in used:
            if keyword in arguments and not np.array_equal(arguments[keyword], values[part]):
                raise ValueError(
                    f"{who}: input {one.name or name}: {_differs(part)} another input, from which it is computed"
                )
            arguments[keyword] = values[part]


def _widened(value: Any, like: Any) -> Any:
    """Positions in the dtype of others that are stored in more bits."""
    is_wider = like.dtype == "int64" and value.dtype == "int32"
    return _core.cast(value, "int64") if is_wider else value


def _expanded_pairs(given: Any, what: str) -> list[tuple[Any, Any]]:
    """Pairs of tensors in place of pairs of sparse matrices."""
    out: list[tuple[Any, Any]] = []
    for before, after in (
        [] if given is None else given.items() if isinstance(given, Mapping) else given
    ):
        if not isinstance(before, SparseVariable):
            out.append((before, after))
            continue
        if not isinstance(after, SparseVariable):
            from bitale.sparse.basic import as_sparse_variable

            after = as_sparse_variable(after, format=before.format)
        if before.same_pattern(after):
            out.append((before.data, after.data))
        elif before.format == after.format and not before.is_static:
            values = _tensors(after)
            out += [
                (x, _widened(values[part], x))
                for part, x in _parts(before).items()
                if not isinstance(x, Constant) and x is not values[part]
            ]
        else:
            raise ValueError(
                f"function: {what}: {before!r} and {after!r} don't have the same positions"
            )
    return out


def sparse_function(
    inputs: Any,
    outputs: Any,
    updates: Any,
    givens: Any,
    on_unused_input: str | None,
    **options: Any,
) -> SparseFunction:
    """function() where a sparse matrix is among inputs, outputs, updates or givens."""
    if isinstance(outputs, Mapping):
        form, keys, found = "dict", list(outputs), list(outputs.values())
    elif isinstance(outputs, (list, tuple)):
        form, keys, found = "list", [], list(outputs)
    else:
        form, keys, found = ("none", [], []) if outputs is None else ("single", [], [outputs])
    made = [
        _SparseOutput(_bare(one)) if isinstance(_bare(one), SparseVariable) else None
        for one in found
    ]
    expressions = [
        x for one, output in zip(found, made) for x in (output.expressions if output else [one])
    ]
    pairs, replaced = _expanded_pairs(updates, "updates"), _expanded_pairs(givens, "givens")
    matrices = {x: _SparseInput(x) for x in inputs if isinstance(x, SparseVariable)}
    given_parts = {x: "" for matrix in matrices.values() for x in matrix.parts.values()}
    needed = set(
        ancestors(
            [_bare(x) for x in expressions]
            + [after for _, after in [*pairs, *replaced] if isinstance(after, Variable)],
            blockers=list(given_parts),
        )
    )

    plain: list[Any] = []
    described: list[_Described] = []
    taken = {_bare(one).name for one in inputs if not isinstance(_bare(one), SparseVariable)}
    for position, one in enumerate(inputs):
        if not isinstance(one, SparseVariable):
            given = one if isinstance(one, In) else In(one)
            name = given.name or f"_input_{position}"
            plain.append(
                given
                if given.name
                else In(given.variable, name=name)
                if not isinstance(one, In)
                else one
            )
            described.append((name, one, []))
            continue
        expanded = matrices[one]
        used = []
        for part, variable in expanded.parts.items():
            if part != "data" and variable not in needed:
                continue
            if (
                part == "data"
                and variable not in needed
                and any(x in needed for x in expanded.parts.values())
            ):
                continue  # only the positions are used
            if given_parts[variable]:  # it belongs to two matrices
                used.append((part, given_parts[variable]))
                continue
            keyword = f"{one.name or f'_input_{position}'}_{part}"
            while keyword in taken:
                keyword += "_"
            taken.add(keyword)
            given_parts[variable] = keyword
            used.append((part, keyword))
            plain.append(In(variable, name=keyword))
        described.append((one.name or f"_input_{position}", expanded, used))
    compiled = function(
        plain,
        expressions,
        updates=pairs,
        givens=replaced,
        on_unused_input=on_unused_input,
        **options,
    )
    return SparseFunction(compiled, described, made, form, keys)


def evaluate(matrix: SparseVariable, given: Any = None) -> Any:
    """The value of a sparse matrix, given those of the variables that it is computed from."""
    values = dict(given or {})
    return function(list(values), matrix)(*values.values())


register_compiler(SparseVariable, sparse_function)
