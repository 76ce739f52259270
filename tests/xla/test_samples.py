"""Every sample of the registry in mode JAX, against the interpreter. Ops without a StableHLO form are rejected by
name."""

import jax
import numpy as np
import pytest

import bitale as bt
from bitale import _core

JAX, INTERPRETER = bt.Mode("jax", "None"), bt.Mode("vm", "None")

# Inputs for which XLA computes -inf: it flushes subnormal numbers to zero on CPUs.
KNOWN = {
    "log: special values, f64": 5e-324,
    "log2: special values, f64": 5e-324,
    "log10: special values, f64": 5e-324,
}

# Ops for which no sample has a StableHLO form (yet).
WITHOUT_FORM = {
    "ComplexQZ", "ComplexSolveContinuousARE", "ComplexSolveDiscreteARE", "LUFactorTridiagonal", "Nonzero", "PdbBreakpoint", "Print", "QZ", "RandomRows",
    "SolveBanded", "SolveContinuousARE", "SolveDiscreteARE", "SolveLUFactorTridiagonal", "SparseCholesky", "SparseCholeskyDerivative", "SparseCholeskyGradient", "SparseCholeskyOrder", "SparseLuOrder",
    "SparseInverseDerivative", "SparseLogDeterminant", "SparseLu", "SparseLuComplexSign", "SparseLuDeterminant", "SparseLuInverseDerivative", "SparseLuSelectedInverse", "SparseLuSolve", "SparseRealForm", "SparseSelectedInverse", "SparseSolve", "SparseSolveTriangular",
}  # fmt: skip

# Ops whose result lengths are an input in all samples.
LENGTHS_FROM_VALUES = {"IRFFT"}

TOLERANCE = {
    "complex128": (1e-6, 1e-10),
    "complex64": (2e-5, 2e-5),
    "float64": (1e-6, 1e-10),
    "float32": (2e-5, 2e-7),
    "float16": (2e-3, 2e-5),
}


def same(expected, got):
    if not isinstance(got, np.ndarray):  # the state of a stream
        return expected == got
    rtol, atol = TOLERANCE.get(str(expected.dtype), (0, 0))
    return (
        expected.dtype == got.dtype
        and expected.shape == got.shape
        and np.allclose(expected, got, rtol, atol, equal_nan=True)
    )


def without_known(note, values, expected, got):
    """The results, with the interpreter's values in place of the known differences."""
    if note not in KNOWN:
        return got
    (x,) = values
    is_known = (x == KNOWN[note]) & (np.signbit(x) == np.signbit(KNOWN[note]))
    assert is_known.sum() == 1
    return [np.where(is_known & (got[0] == -np.inf), expected[0], got[0])]


# Functions of eigenvectors and singular vectors that do not depend on the signs and phases that LAPACK chooses. Of
# singular vectors without a singular value only the space that they span is determined.
MADE_OF_VECTORS = {
    "Eigh": lambda w, v: [w, np.abs(v), (v * w) @ v.T],
    "SVD": lambda *usv: usv if len(usv) == 1 else of_singular_vectors(*usv),
    "ComplexEigh": lambda w, *v: [
        w,
        *(np.abs(each) for each in map(numbers, v)),
        *((v * w) @ v.conj().T for v in map(numbers, v)),
    ],
    "ComplexSVD": lambda *usv: (
        usv if len(usv) == 1 else MADE_OF_VECTORS["SVD"](numbers(usv[0]), usv[1], numbers(usv[2]))
    ),
    "Eig": lambda w, *v: [w, *(np.abs(numbers(each)) for each in v)],
}


def of_singular_vectors(u, s, vt):
    k = len(s)
    rest_left, rest_right = u[:, k:], vt[k:]
    spaces = [rest_left @ rest_left.conj().T, rest_right.conj().T @ rest_right]
    return [np.abs(u[:, :k]), s, np.abs(vt[:k]), product(u, s, vt), *spaces]


def numbers(pairs):
    return pairs[..., 0] + 1j * pairs[..., 1]


def product(u, s, vt):
    k = len(s)
    return (u[:, :k] * s) @ vt[:k]


def leaves_open(name, values):
    """Whether elements are set that are set again: on processors the last one stays, elsewhere any."""
    integers = [
        np.asarray(v)
        for v in values
        if isinstance(v, np.ndarray) and v.dtype.kind in "iu" and v.ndim == 1
    ]
    return (
        name == "AdvancedIncSubtensor"
        and jax.default_backend() != "cpu"
        and any(len(np.unique(v % len(values[0]))) < v.size for v in integers)
    )


# Number of samples compiled as one function, since compilation dominates the run time.
TOGETHER = 24
GROUPS = [
    (name, first)
    for name in _core.op_names()
    for first in range(0, len(_core.op_samples(name)), TOGETHER)
]


def by_interpreter(inputs, outputs, values, note):
    """The results, or the exception."""
    try:
        return bt.function(inputs, outputs, mode=INTERPRETER)(*values)
    except Exception as error:
        return error


def each_by_jax(samples):
    """The results of each sample, or the exception."""
    for inputs, outputs, values, _ in samples:
        try:
            yield bt.function(inputs, outputs, mode=JAX)(*values)
        except Exception as error:
            yield error


def by_jax(samples, expected):
    """The same, but first tries all samples that have results in a single function."""
    fine = [sample for sample, each in zip(samples, expected) if not isinstance(each, Exception)]
    try:
        f = bt.function([x for s in fine for x in s[0]], [y for s in fine for y in s[1]], mode=JAX)
        results = iter(f(*(value for s in fine for value in s[2])))
    except Exception:
        return list(each_by_jax(samples))
    others = iter(
        list(
            each_by_jax(
                [sample for sample, each in zip(samples, expected) if isinstance(each, Exception)]
            )
        )
    )
    return [
        next(others) if isinstance(each, Exception) else [next(results) for _ in sample[1]]
        for sample, each in zip(samples, expected)
    ]


@pytest.mark.parametrize("name, first", GROUPS)
def test_samples_of(name, first):
    made, needs_lapack = 0, False
    samples = _core.op_samples(name)[first : first + TOGETHER]
    reference = [by_interpreter(*sample) for sample in samples]
    for (_, _, values, note), expected, got in zip(
        samples, reference, by_jax(samples, reference), strict=True
    ):
        if isinstance(expected, Exception):
            assert isinstance(got, (type(expected), NotImplementedError)), (
                f"{name} ({note}): {got!r}"
            )
            continue
        if isinstance(got, NotImplementedError):
            assert "StableHLO" in str(got), (
                f"{name} ({note}): the message does not say what is missing: {got}"
            )
            needs_lapack |= "LAPACK" in str(got)
            continue
        if isinstance(got, Exception):
            raise got
        made += 1
        if name in MADE_OF_VECTORS:
            expected, got = MADE_OF_VECTORS[name](*expected), MADE_OF_VECTORS[name](*got)
        if leaves_open(name, values):
            continue
        got = without_known(note, values, expected, got)
        assert all(map(same, expected, got)), f"{name} ({note}): {expected} != {got}"
    if needs_lapack and jax.default_backend() != "cpu":
        return
    if first == 0 or made:  # an elementwise function without a form may be alone in a group
        assert bool(made) == (name not in WITHOUT_FORM | LENGTHS_FROM_VALUES), (
            f"{name}: {made} samples have a form in StableHLO"
        )
