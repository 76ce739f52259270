"""Formulas of the registry's ops, and the evaluation of any graph by them: as built, rewritten, or of a gradient.

`table` has one entry per op; a test compares its names with the registry's. An entry takes the op's attributes, the
node's inputs as Vals and the node, and returns the value of each output.
"""

from __future__ import annotations

import copy
from typing import Any, Callable, Iterable

import numpy as np

from . import arrays, elementwise, linalg, loops, random, signal, streams
from .values import Val

Formula = Callable[[dict[str, Any], list[Val], Any], list[Val]]
table: dict[str, Formula] = {}


def op(*names: str) -> Callable[[Formula], Formula]:
    def decorate(function: Formula) -> Formula:
        table.update(dict.fromkeys(names, function))
        return function

    return decorate


# ---- elementwise, reductions -----------------------------------------------------------------------------------------


def scalar_function(name: str) -> Callable[..., Val]:
    """The formula of an entry of the table of elementwise functions."""
    if name.startswith("cast_"):
        return lambda x: elementwise.cast(x, name.removeprefix("cast_"))
    if name == "random_normal":
        return random.standard_normal
    return elementwise.table[name if name in elementwise.table else name + "_"]


@op("Elemwise")
def _elemwise(attributes: dict[str, Any], inputs: list[Val], node: Any) -> list[Val]:
    _check_lengths(inputs, node)
    return [scalar_function(attributes["scalar_op"])(*inputs)]


def _check_lengths(inputs: list[Val], node: Any) -> None:
    """Raises unless lengths agree; a length of 1 broadcasts only where it is static."""
    for axis in range(inputs[0].ndim):
        lengths = {
            x.shape[axis]
            for x, variable in zip(inputs, node.inputs)
            if variable.type.shape[axis] != 1
        }
        if len(lengths) > 1:
            raise ValueError(f"lengths {sorted(lengths)} in dimension {axis}")


@op("CAReduce")
def _reduce(attributes: dict[str, Any], inputs: list[Val], node: Any) -> list[Val]:
    axis, name = attributes.get("axis"), attributes["name"]
    if name == "supremum":  # of no elements, too
        return [arrays.keep(inputs[0], lambda a: np.max(a, axis=axis, initial=-np.inf))]
    if "dtype" in attributes:
        return [arrays.table[name](inputs[0], axis=axis, dtype=attributes["dtype"])]
    return [arrays.table[name](inputs[0], axis=axis)]


@op("Argmax")
def _argmax(attributes: dict[str, Any], inputs: list[Val], node: Any) -> list[Val]:
    axis = attributes.get("axis")
    return [(arrays.argmin if attributes["smallest"] else arrays.argmax)(inputs[0], axis=axis)]


@op("CumOp")
def _running(attributes: dict[str, Any], inputs: list[Val], node: Any) -> list[Val]:
    return [
        (arrays.cumsum if attributes["mode"] == "add" else arrays.cumprod)(
            inputs[0], axis=attributes["axis"]
        )
    ]


@op("SortOp")
def _sort(attributes: dict[str, Any], inputs: list[Val], node: Any) -> list[Val]:
    return [arrays.sort(inputs[0])]


@op("ArgSortOp")
def _argsort(attributes: dict[str, Any], inputs: list[Val], node: Any) -> list[Val]:
    return [arrays.argsort(inputs[0])]


@op("SearchSorted")
def _search_sorted(attributes: dict[str, Any], inputs: list[Val], node: Any) -> list[Val]:
    return [
        Val(np.asarray(np.searchsorted(inputs[0].array, inputs[1].array, side=attributes["side"])))
    ]


@op("Dot")
def _dot(attributes: dict[str, Any], inputs: list[Val], node: Any) -> list[Val]:
    return [arrays.dot(*inputs)]


@op("BatchedDot")
def _batched_dot(attributes: dict[str, Any], inputs: list[Val], node: Any) -> list[Val]:
    return [arrays.matmul(*inputs)]


@op("Cholesky")
def _cholesky(attributes: dict[str, Any], inputs: list[Val], node: Any) -> list[Val]:
    return [arrays.cholesky(inputs[0], lower=attributes["lower"], on_error=attributes["on_error"])]


@op("CholeskyGradient")
def _cholesky_gradient(attributes: dict[str, Any], inputs: list[Val], node: Any) -> list[Val]:
    return [linalg.cholesky_gradient(*inputs)]


@op("SolveTriangular")
def _solve_triangular(attributes: dict[str, Any], inputs: list[Val], node: Any) -> list[Val]:
    return [arrays.solve_triangular(*inputs, **attributes)]


@op("Solve")
def _solve(attributes: dict[str, Any], inputs: list[Val], node: Any) -> list[Val]:
    return [
        arrays.solve(
            *inputs,
            transposed=attributes["trans"],
            b_ndim=attributes["b_ndim"],
            on_error=attributes["on_error"],
        )
    ]


@op("Det")
def _det(attributes: dict[str, Any], inputs: list[Val], node: Any) -> list[Val]:
    return [arrays.det(inputs[0])]


@op("SLogDet")
def _slogdet(attributes: dict[str, Any], inputs: list[Val], node: Any) -> list[Val]:
    return arrays.slogdet(inputs[0])


@op("Eigvalsh")
def _eigvalsh(attributes: dict[str, Any], inputs: list[Val], node: Any) -> list[Val]:
    return [linalg.eigvalsh(inputs[0], lower=attributes["lower"])]


@op("Eigh")
def _eigh(attributes: dict[str, Any], inputs: list[Val], node: Any) -> list[Val]:
    return linalg.eigh(inputs[0], lower=attributes["lower"])


@op("LUFactor")
def _lu_factor(attributes: dict[str, Any], inputs: list[Val], node: Any) -> list[Val]:
    return linalg.lu_factor(inputs[0])


@op("PivotToPermutations")
def _pivot_to_permutation(attributes: dict[str, Any], inputs: list[Val], node: Any) -> list[Val]:
    return [linalg.pivot_to_permutation(inputs[0], inverse=attributes["inverse"])]


@op("MatrixPinv")
def _pinv(attributes: dict[str, Any], inputs: list[Val], node: Any) -> list[Val]:
    return [linalg.pinv(inputs[0], rcond=attributes["rcond"])]


@op("Lstsq")
def _lstsq(attributes: dict[str, Any], inputs: list[Val], node: Any) -> list[Val]:
    return linalg.lstsq(*inputs, rcond=attributes["rcond"])


@op("Expm")
def _expm(attributes: dict[str, Any], inputs: list[Val], node: Any) -> list[Val]:
    return [linalg.expm(inputs[0])]


@op("ExpmDerivative")
def _expm_derivative(attributes: dict[str, Any], inputs: list[Val], node: Any) -> list[Val]:
    """The last block of exp([[N, I x E], [0, N]]), where N starts as A; directions are divided by their largest elements."""
    n = inputs[0].shape[-1]

    def of_one(a: np.ndarray, directions: np.ndarray) -> np.ndarray:
        size, blocks = 1.0, a
        for k, direction in enumerate(directions):
            most = np.abs(direction).max(initial=0) or 1.0
            beside = np.kron(np.eye(2**k), direction / most)
            blocks, size = np.block([[blocks, beside], [0 * blocks, blocks]]), size * most
        return linalg.expm(blocks)[:n, blocks.shape[1] - n :] * size

    batch = np.broadcast_shapes(inputs[0].shape[:-2], inputs[1].shape[:-3])
    a, e = (np.broadcast_to(x, batch + x.shape[x.ndim - core :]) for x, core in zip(inputs, (2, 3)))
    out = np.empty(a.shape, np.result_type(a, e))
    for at in np.ndindex(batch):
        out[at] = of_one(a[at], e[at])
    return [out]


@op("SolveSylvester")
def _solve_sylvester(attributes: dict[str, Any], inputs: list[Val], node: Any) -> list[Val]:
    return [linalg.solve_sylvester(*inputs)]


@op("SolveDiscreteARE")
def _solve_discrete_are(attributes: dict[str, Any], inputs: list[Val], node: Any) -> list[Val]:
    return [linalg.solve_discrete_are(*inputs)]


@op("SolveContinuousARE")
def _solve_continuous_are(attributes: dict[str, Any], inputs: list[Val], node: Any) -> list[Val]:
    return [linalg.solve_continuous_are(*inputs)]


@op("SolveDefinite")
def _solve_definite(attributes: dict[str, Any], inputs: list[Val], node: Any) -> list[Val]:
    factor = arrays.cholesky(inputs[0], lower=attributes["lower"], on_error=attributes["on_error"])
    return [arrays.cho_solve((factor, attributes["lower"]), inputs[1], b_ndim=attributes["b_ndim"])]


@op("SolveStructured")
def _solve_structured(attributes: dict[str, Any], inputs: list[Val], node: Any) -> list[Val]:
    return [
        arrays.solve(
            *inputs, transposed=attributes["trans"], b_ndim=2, on_error=attributes["on_error"]
        )
    ]


@op("SolveBanded")
def _solve_banded(attributes: dict[str, Any], inputs: list[Val], node: Any) -> list[Val]:
    return [
        linalg.solve_banded(
            (attributes["below"], attributes["above"]), *inputs, b_ndim=2, trans=attributes["trans"]
        )
    ]


@op("LUFactorTridiagonal")
def _tridiagonal_lu_factor(attributes: dict[str, Any], inputs: list[Val], node: Any) -> list[Val]:
    return linalg.tridiagonal_factors(*inputs)


@op("SolveLUFactorTridiagonal")
def _tridiagonal_lu_solve(attributes: dict[str, Any], inputs: list[Val], node: Any) -> list[Val]:
    return [
        linalg.tridiagonal_lu_solve(inputs[:5], inputs[5], b_ndim=2, transposed=attributes["trans"])
    ]


@op("SolveTridiagonal")
def _solve_tridiagonal(attributes: dict[str, Any], inputs: list[Val], node: Any) -> list[Val]:
    return [linalg.solve_tridiagonal(*inputs)]


@op("Blockwise")
def _blockwise(attributes: dict[str, Any], inputs: list[Val], node: Any) -> list[Val]:
    attributes = dict(attributes)
    core, _ = table[attributes.pop("core")], attributes.pop("signature")
    return core(attributes, inputs, node)  # the formulas handle batches


# ---- shapes ----------------------------------------------------------------------------------------------------------


@op("DimShuffle")
def _dimshuffle(attributes: dict[str, Any], inputs: list[Val], node: Any) -> list[Val]:
    return [
        arrays.dimshuffle(
            inputs[0], tuple("x" if axis < 0 else axis for axis in attributes["new_order"])
        )
    ]


@op("Reshape")
def _reshape(attributes: dict[str, Any], inputs: list[Val], node: Any) -> list[Val]:
    return [arrays.reshape(inputs[0], inputs[1])]


@op("Shape")
def _shape(attributes: dict[str, Any], inputs: list[Val], node: Any) -> list[Val]:
    return [arrays.shape(inputs[0])]


@op("Shape_i")
def _shape_i(attributes: dict[str, Any], inputs: list[Val], node: Any) -> list[Val]:
    return [arrays.shape_i(inputs[0], attributes["i"])]


@op("SpecifyShape")
def _specify_shape(attributes: dict[str, Any], inputs: list[Val], node: Any) -> list[Val]:
    x, expected = inputs[0], [None] * inputs[0].ndim
    for axis, length in zip(attributes["axes"], inputs[1:]):
        expected[axis] = length
    return [arrays.specify_shape(x, expected)]


@op("SpecifyAssumptions")
def _specify_assumptions(attributes: dict[str, Any], inputs: list[Val], node: Any) -> list[Val]:
    return [inputs[0]]


@op("RuntimeBroadcast")
def _runtime_broadcast(attributes: dict[str, Any], inputs: list[Val], node: Any) -> list[Val]:
    x, shape = inputs[0], list(inputs[0].shape)
    for axis, length in zip(attributes["axes"], inputs[1:]):
        if shape[axis] not in (1, arrays.number(length)):
            raise (IndexError if attributes["of_index"] else ValueError)(
                f"length {shape[axis]} in dimension {axis}"
            )
        shape[axis] = arrays.number(length)
    return [arrays.broadcast_to(x, shape)]


@op("Alloc")
def _alloc(attributes: dict[str, Any], inputs: list[Val], node: Any) -> list[Val]:
    return [arrays.alloc(inputs[0], tuple(inputs[1:]))]


@op("ARange")
def _arange(attributes: dict[str, Any], inputs: list[Val], node: Any) -> list[Val]:
    return [arrays.arange(*inputs, dtype=attributes["dtype"])]


@op("MakeVector")
def _make_vector(attributes: dict[str, Any], inputs: list[Val], node: Any) -> list[Val]:
    return [arrays.make_vector(*inputs, dtype=attributes["dtype"])]


@op("Join")
def _join(attributes: dict[str, Any], inputs: list[Val], node: Any) -> list[Val]:
    return [arrays.concatenate(inputs, axis=attributes["axis"])]


# ---- indexing --------------------------------------------------------------------------------------------------------


def basic_index(text: str, values: Iterable[Val]) -> tuple[Any, ...]:
    """The index that a text such as "start:stop, i, ::step" denotes."""
    rest, items = iter(values), []
    for entry in filter(None, map(str.strip, text.split(","))):
        if ":" in entry:
            items.append(
                slice(
                    *(next(rest) if part.strip() else None for part in (*entry.split(":"), "")[:3])
                )
            )
        else:
            items.append(next(rest))
    return tuple(items)


def advanced_index(axes: tuple[int, ...], indices: list[Val]) -> tuple[Any, ...]:
    items: list[Any] = [slice(None)] * (max(axes) + 1)
    for axis, each in zip(axes, indices):
        items[axis] = each
    return tuple(items)


def _changed(attributes: dict[str, Any], x: Val, index: tuple[Any, ...], y: Val) -> list[Val]:
    part = arrays.get_item(x, index)
    return [
        (arrays.set_subtensor if attributes["set_instead_of_inc"] else arrays.inc_subtensor)(
            part, y
        )
    ]


@op("Subtensor")
def _subtensor(attributes: dict[str, Any], inputs: list[Val], node: Any) -> list[Val]:
    return [arrays.get_item(inputs[0], basic_index(attributes["idx_list"], inputs[1:]))]


@op("IncSubtensor")
def _inc_subtensor(attributes: dict[str, Any], inputs: list[Val], node: Any) -> list[Val]:
    return _changed(
        attributes, inputs[0], basic_index(attributes["idx_list"], inputs[2:]), inputs[1]
    )


@op("AdvancedSubtensor")
def _advanced_subtensor(attributes: dict[str, Any], inputs: list[Val], node: Any) -> list[Val]:
    return [arrays.get_item(inputs[0], advanced_index(attributes["axes"], inputs[1:]))]


@op("AdvancedIncSubtensor")
def _advanced_inc_subtensor(attributes: dict[str, Any], inputs: list[Val], node: Any) -> list[Val]:
    return _changed(
        attributes, inputs[0], advanced_index(attributes["axes"], inputs[2:]), inputs[1]
    )


@op("Nonzero")
def _nonzero(attributes: dict[str, Any], inputs: list[Val], node: Any) -> list[Val]:
    return [arrays.flatnonzero(inputs[0])]


@op("CheckMask")
def _check_mask(attributes: dict[str, Any], inputs: list[Val], node: Any) -> list[Val]:
    x, mask_length, length = inputs
    if arrays.number(mask_length) != arrays.number(length):
        raise IndexError(f"mask of length {mask_length} for {length} elements")
    return [x]


# ---- what passes its inputs on ---------------------------------------------------------------------------------------


@op("ZeroGrad", "DisconnectedGrad", "UndefinedGrad", "GradScale", "GradClip", "Print")
def _identity(attributes: dict[str, Any], inputs: list[Val], node: Any) -> list[Val]:
    return [inputs[0]]


@op("CheckAndRaise")
def _check_and_raise(attributes: dict[str, Any], inputs: list[Val], node: Any) -> list[Val]:
    if not all(condition.array.all() for condition in inputs[1:]):
        raise AssertionError(attributes["msg"])
    return [inputs[0]]


@op("PdbBreakpoint")
def _breakpoint(attributes: dict[str, Any], inputs: list[Val], node: Any) -> list[Val]:
    return inputs[1:]


@op("IfElse")
def _if_else(attributes: dict[str, Any], inputs: list[Val], node: Any) -> list[Val]:
    count, sides = attributes["n_outs"], inputs[1:]
    chosen = sides[:count] if inputs[0].array != 0 else sides[count:]
    return [Val(each.array, output.dtype) for each, output in zip(chosen, node.outputs)]


@op("OpFromGraph")
def _from_graph(attributes: dict[str, Any], inputs: list[Val], node: Any) -> list[Val]:
    return evaluate(node.op.inner_outputs, dict(zip(node.op.inner_inputs, inputs)))


@op("Scan")
def _scan(attributes: dict[str, Any], inputs: list[Val], node: Any) -> list[Val]:
    leaves, results = attributes["graph"][1]
    count, state_count = attributes["sequences"], attributes["states"]
    length = int(inputs[0].array)
    sequences, states, constants = (
        inputs[1 : 1 + count],
        inputs[1 + count : 1 + count + state_count],
        inputs[1 + count + state_count :],
    )
    if any(len(each.array) != length for each in sequences):
        raise ValueError("a sequence is not as long as the loop")

    def step(elements: list[Val]) -> list[Val]:
        return evaluate(results, dict(zip(leaves, [*elements, *states, *constants])))

    rows, made, stops = None, 0, False
    traces: list[list[Val]] = []
    while made < length and not stops:
        out = step([loops.element(x, made) for x in sequences])
        stops = attributes["until"] and bool(out.pop().array)
        if any(a.shape != b.shape for a, b in zip(states, out)):
            raise ValueError("a state changes its shape")
        states, rows = out[:state_count], out[state_count:]
        traces.append(rows)
        made += 1
    if rows is None:
        rows = step([loops.dummy(x) for x in sequences])[
            state_count : len(results) - attributes["until"]
        ]
    stacks = [
        loops.stacked([each[k] for each in traces], row, length) for k, row in enumerate(rows)
    ]
    return [*states, *stacks, *([Val(np.int64(made))] if attributes["until"] else [])]


# ---- random variables: the value of a generator is a numpy.random.Generator, or a Stream ------------------------------------


@op("RandomBits")
def _random_bits(attributes: dict[str, Any], inputs: list[Any], node: Any) -> list[Any]:
    state, size = inputs[0], tuple(int(each.array) for each in inputs[1:])
    bits = streams.words(state.key, state.drawn, size, attributes["word"])
    form = {"bits": lambda x: x, "unit": streams.unit, "open": streams.open_unit}[
        attributes["form"]
    ]
    return [type(state)(state.key, state.drawn + 1), Val(form(bits))]


@op("RandomChild")
def _random_child(attributes: dict[str, Any], inputs: list[Any], node: Any) -> list[Any]:
    state, number = inputs[0], int(inputs[1].array)
    return [
        type(state)(streams.child_key(state.key, state.drawn, number)),
        type(state)(state.key, state.drawn + 1),
    ]


@op("RandomDomain")
def _random_domain(attributes: dict[str, Any], inputs: list[Any], node: Any) -> list[Any]:
    if not inputs[-1].array:
        raise ValueError(f"parameters of {attributes['distribution']}")
    return inputs[:-1]


@op("RFFT")
def _rfft(attributes: dict[str, Any], inputs: list[Val], node: Any) -> list[Val]:
    return [signal.rfft_rows(inputs[0])]


@op("IRFFT")
def _irfft(attributes: dict[str, Any], inputs: list[Val], node: Any) -> list[Val]:
    return [signal.irfft_rows(*inputs)]


@op("FFT")
def _fft(attributes: dict[str, Any], inputs: list[Val], node: Any) -> list[Val]:
    return [signal.fft_rows(inputs[0], inverse=attributes["inverse"])]


@op("Convolve")
def _convolve(attributes: dict[str, Any], inputs: list[Val], node: Any) -> list[Val]:
    numbers = [int(each.array) for each in inputs[2:]]
    dims = attributes["dims"]
    return [signal.convolved(inputs[0], inputs[1], tuple(numbers[:dims]), tuple(numbers[dims:]))]


@op("RandomVariable")
def _random_variable(attributes: dict[str, Any], inputs: list[Any], node: Any) -> list[Any]:
    if not isinstance(inputs[0], np.random.Generator):
        state, ndim = inputs[0], attributes["ndim"]
        size = tuple(int(each.array) for each in inputs[1 : 1 + ndim])
        drawn = random.drawn(
            attributes["distribution"], state, size, [each.array for each in inputs[1 + ndim :]]
        )
        return [type(state)(state.key, state.drawn + 1), Val(drawn)]
    rng, ndim = copy.deepcopy(inputs[0]), attributes["ndim"]
    size = tuple(int(each.array) for each in inputs[1 : 1 + ndim])
    parameters = [each.array for each in inputs[1 + ndim :]]
    return [rng, Val(getattr(rng, attributes["distribution"])(*parameters, size=size))]


@op("ComposedDraw")
def _composed_draw(attributes: dict[str, Any], inputs: list[Any], node: Any) -> list[Any]:
    ndim = attributes["batch_ndim"]
    size = tuple(int(each.array) for each in inputs[1 : 1 + ndim])
    parameters = [each.array for each in inputs[1 + ndim :]]
    state, drawn = random.composed(
        attributes["distribution"], copy.deepcopy(inputs[0]), size, parameters
    )
    return [state, Val(np.asarray(drawn), node.outputs[1].dtype)]


@op("RandomRows")
def _random_rows(attributes: dict[str, Any], inputs: list[Any], node: Any) -> list[Any]:
    rng, ndim, name = copy.deepcopy(inputs[0]), attributes["batch_ndim"], attributes["distribution"]
    lengths = [int(each.array) for each in inputs[1 : 2 + ndim + name.endswith("choice")]]
    batch, length = tuple(lengths[:ndim]), lengths[ndim]
    parameters = [each.array for each in inputs[1 + len(lengths) :]]
    rows = []
    for index in np.ndindex(batch):
        own = [
            each[index] if variable.ndim > (k == len(parameters) - 1) else each
            for k, (each, variable) in enumerate(zip(parameters, node.inputs[1 + len(lengths) :]))
        ]
        if name == "permutation":
            rows.append(rng.permutation(length))
        elif name.endswith("choice"):
            rows.append(
                rng.choice(lengths[-1], size=length, replace=False, p=own[0] if own else None)
            )
        else:
            rows.append(getattr(rng, name)(*own))
    return [rng, Val(np.reshape(rows, (*batch, length)), node.outputs[1].dtype)]


# ---- graphs ----------------------------------------------------------------------------------------------------------


def evaluate(outputs: list[Any], given: dict[Any, Val]) -> list[Val]:
    """The values of variables for given values of the leaves. Raises KeyError for an op without a formula."""
    import bitale as bt
    from bitale import _core

    values: dict[Any, Val] = dict(given)

    def value(variable: Any) -> Val:
        if variable not in values:
            is_generator = isinstance(variable, _core.RandomGeneratorVariable)
            values[variable] = (
                bt.function([], variable)() if is_generator else Val(variable.data, variable.dtype)
            )
        return values[variable]

    for node in _core.toposort(list(outputs), list(given)):
        name, attributes = _core.stored_op(node.op)
        formula = table.get(name)
        if formula is None:
            raise KeyError(f"tests/oracle/ops.py has no formula for {name}")
        results = formula(
            {key: each for key, _, each in attributes}, [value(x) for x in node.inputs], node
        )
        for output, result in zip(node.outputs, results):
            if output not in values:
                values[output] = result
    return [value(output) for output in outputs]


# Ops that do not occur in these random graphs, and the tests that cover them.
without_formula = {
    "AsPairs": "of complex numbers: tests/python/tensor/test_complex.py",
    "Complex": "of complex numbers: tests/python/tensor/test_complex.py",
    "ComplexCholesky": "of complex numbers: tests/python/tensor/linalg/test_complex_linalg.py",
    "ComplexExpm": "of complex numbers: tests/python/tensor/linalg/test_expm.py",
    "ComplexExpmDerivative": "of complex numbers: tests/python/tensor/linalg/test_expm.py",
    "ComplexEigh": "phases are LAPACK's: tests/python/tensor/linalg/test_complex_linalg.py",
    "ComplexLUFactor": "of complex numbers: tests/python/tensor/linalg/test_complex_linalg.py",
    "ComplexLstsq": "of complex numbers: tests/python/tensor/linalg/test_complex_linalg.py",
    "ComplexPinv": "of complex numbers: tests/python/tensor/linalg/test_complex_linalg.py",
    "ComplexQR": "signs are LAPACK's: tests/python/tensor/linalg/test_complex_linalg.py",
    "ComplexSLogDet": "of complex numbers: tests/python/tensor/linalg/test_complex_linalg.py",
    "ComplexSVD": "phases are LAPACK's: tests/python/tensor/linalg/test_complex_linalg.py",
    "ComplexSolveContinuousARE": "of complex numbers: tests/python/tensor/linalg/test_complex_linalg.py",
    "ComplexSolveDiscreteARE": "of complex numbers: tests/python/tensor/linalg/test_complex_linalg.py",
    "ComplexSolve": "of complex numbers: tests/python/tensor/linalg/test_complex_linalg.py",
    "ComplexSolveSylvester": "of complex numbers: tests/python/tensor/linalg/test_complex_linalg.py",
    "ComplexSolveTriangular": "of complex numbers: tests/python/tensor/linalg/test_complex_linalg.py",
    "ComplexSchur": "order and phases are LAPACK's: tests/python/tensor/linalg/test_complex_linalg.py",
    "Eig": "order and phases are LAPACK's: tests/python/tensor/linalg/test_complex_linalg.py",
    "RandomBits": "words of Threefry: tests/python/tensor/random/test_random_stream.py",
    "RandomDomain": "domains of parameters: tests/python/tensor/random/test_random_stream.py",
    "QR": "signs are LAPACK's: tests/python/tensor/linalg/test_decompositions.py",
    "SVD": "signs are LAPACK's: tests/python/tensor/linalg/test_decompositions.py",
    "Eigh": "signs are LAPACK's, so that only gradients of eigvalsh hold it: tests/python/tensor/linalg/test_decompositions.py",
    "Schur": "signs and order are LAPACK's: tests/python/tensor/linalg/test_decompositions.py",
    "ComplexQZ": "signs and order are LAPACK's: tests/python/tensor/linalg/test_complex_linalg.py",
    "QZ": "signs and order are LAPACK's: tests/python/tensor/linalg/test_decompositions.py",
    "RandomRows": "draws are NumPy's: tests/python/tensor/random/test_random.py",
    "ExpmDerivative": "of derivatives: tests/python/tensor/linalg/test_expm.py",
    "SegmentScatter": "of sparse matrices: tests/python/sparse/test_sparse_blocks.py",
    "SegmentSum": "of sparse matrices: tests/python/sparse/test_sparse.py",
    "SparseCholesky": "of sparse matrices: tests/python/sparse/test_sparse_linalg.py",
    "SparseCholeskyDerivative": "of sparse matrices: tests/python/sparse/test_sparse_linalg.py",
    "SparseCholeskyOrder": "of sparse matrices: tests/python/sparse/test_sparse_patterns.py",
    "SparseLuOrder": "of sparse matrices: tests/python/sparse/test_sparse_patterns.py",
    "SparseCholeskyGradient": "of sparse matrices: tests/python/sparse/test_sparse_linalg.py",
    "SparseLogDeterminant": "of sparse matrices: tests/python/sparse/test_sparse_linalg.py",
    "SparseLu": "of sparse matrices: tests/python/sparse/test_sparse_lu.py",
    "SparseLuComplexSign": "of sparse matrices: tests/python/sparse/test_sparse_complex.py",
    "SparseLuDeterminant": "of sparse matrices: tests/python/sparse/test_sparse_lu.py",
    "SparseLuInverseDerivative": "of sparse matrices: tests/python/sparse/test_sparse_lu.py",
    "SparseLuSelectedInverse": "of sparse matrices: tests/python/sparse/test_sparse_lu.py",
    "SparseLuSolve": "of sparse matrices: tests/python/sparse/test_sparse_lu.py",
    "SparseInverseDerivative": "of sparse matrices: tests/python/sparse/test_sparse_linalg.py",
    "SparseRealForm": "of sparse matrices: tests/python/sparse/test_sparse_complex.py",
    "SparseSelectedInverse": "of sparse matrices: tests/python/sparse/test_sparse_linalg.py",
    "SparseSolve": "of sparse matrices: tests/python/sparse/test_sparse_linalg.py",
    "SparseSolveTriangular": "of sparse matrices: tests/python/sparse/test_sparse_linalg.py",
}
