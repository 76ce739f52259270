"""Every sample of the registry in mode JAX, against the interpreter. What has no form in StableHLO is refused by name."""

import numpy as np
import pytest

import bitale as bt
from bitale import _core

JAX, INTERPRETER = bt.Mode("jax", "None"), bt.Mode("vm", "None")

# XLA's own rounding: subnormal numbers are zero on a processor, and its lgamma and digamma keep few digits near 1, where
# they are 0, and the sign of the pole at -0.0.
KNOWN = {"log: special values, f64", "log2: special values, f64", "log10: special values, f64", "psi: special values, f64",
         "psi: special values, f32", "gammaln: bool", "gammaln: special values, f32"}  # fmt: skip

# Ops of which no sample has a form, or none yet.
WITHOUT_FORM = {
    "ComplexQZ", "LUFactorTridiagonal", "Nonzero", "PdbBreakpoint", "Print", "QZ", "RandomRows", "SolveBanded",
    "SolveContinuousARE", "SolveDiscreteARE", "SolveLUFactorTridiagonal",
}  # fmt: skip

# What decides about lengths is an input of all samples.
LENGTHS_FROM_VALUES = {"IRFFT"}

TOLERANCE = {"complex128": (1e-6, 1e-10), "complex64": (2e-5, 2e-5), "float64": (1e-6, 1e-10), "float32": (2e-5, 2e-7), "float16": (2e-3, 2e-5)}


def same(wanted, got):
    if not isinstance(got, np.ndarray):  # the state of a stream
        return wanted == got
    rtol, atol = TOLERANCE.get(str(wanted.dtype), (0, 0))
    return wanted.dtype == got.dtype and wanted.shape == got.shape and np.allclose(wanted, got, rtol, atol, equal_nan=True)


# Eigenvectors and singular vectors, whose signs and phases are LAPACK's: what they make with the values. Of singular vectors without a
# value only the space is defined.
MADE_OF_VECTORS = {
    "Eigh": lambda w, v: [w, np.abs(v), (v * w) @ v.T],
    "SVD": lambda *usv: usv if len(usv) == 1 else of_singular_vectors(*usv),
    "ComplexEigh": lambda w, *v: [w, *(np.abs(each) for each in map(numbers, v)), *((v * w) @ v.conj().T for v in map(numbers, v))],
    "ComplexSVD": lambda *usv: usv if len(usv) == 1 else MADE_OF_VECTORS["SVD"](numbers(usv[0]), usv[1], numbers(usv[2])),
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


# Many samples are compiled as one function: compiling is what takes time.
TOGETHER = 24
GROUPS = [(name, first) for name in _core.op_names() for first in range(0, len(_core.op_samples(name)), TOGETHER)]


def by_interpreter(inputs, outputs, values, note):
    """The results, or the error."""
    try:
        return bt.function(inputs, outputs, mode=INTERPRETER)(*values)
    except Exception as error:
        return error


def each_by_jax(samples):
    """The results of each, or the error."""
    for inputs, outputs, values, _ in samples:
        try:
            yield bt.function(inputs, outputs, mode=JAX)(*values)
        except Exception as error:
            yield error


def by_jax(samples, wanted):
    """The same; at first of all samples that have results in one function."""
    fine = [sample for sample, each in zip(samples, wanted) if not isinstance(each, Exception)]
    try:
        f = bt.function([x for s in fine for x in s[0]], [y for s in fine for y in s[1]], mode=JAX)
        results = iter(f(*(value for s in fine for value in s[2])))
    except Exception:
        return list(each_by_jax(samples))
    others = iter(list(each_by_jax([sample for sample, each in zip(samples, wanted) if isinstance(each, Exception)])))
    return [next(others) if isinstance(each, Exception) else [next(results) for _ in sample[1]] for sample, each in zip(samples, wanted)]


@pytest.mark.parametrize("name, first", GROUPS)
def test_samples_of(name, first):
    made = 0
    samples = _core.op_samples(name)[first : first + TOGETHER]
    wanted = [by_interpreter(*sample) for sample in samples]
    for (_, _, _, note), expected, got in zip(samples, wanted, by_jax(samples, wanted), strict=True):
        if isinstance(expected, Exception):
            assert isinstance(got, (type(expected), NotImplementedError)), f"{name} ({note}): {got!r}"
            continue
        if isinstance(got, NotImplementedError):
            assert "StableHLO" in str(got), f"{name} ({note}): the message does not say what is missing: {got}"
            continue
        if isinstance(got, Exception):
            raise got
        made += 1
        if name in MADE_OF_VECTORS:
            expected, got = MADE_OF_VECTORS[name](*expected), MADE_OF_VECTORS[name](*got)
        if note not in KNOWN:
            assert all(map(same, expected, got)), f"{name} ({note}): {expected} != {got}"
    if first == 0 or made:  # an elementwise function without a form may have a group of its own
        assert bool(made) == (name not in WITHOUT_FORM | LENGTHS_FROM_VALUES), f"{name}: {made} samples have a form in StableHLO"
