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
    "ComplexEigh", "ComplexLUFactor", "ComplexQR", "ComplexQZ", "ComplexSLogDet", "ComplexSVD", "ComplexSchur", "Eig",
    "LUFactorTridiagonal", "Nonzero", "PdbBreakpoint", "Print", "QZ", "RandomRows", "SolveBanded",
    "SolveContinuousARE", "SolveDiscreteARE", "SolveLUFactorTridiagonal",
}  # fmt: skip

# What decides about lengths is an input of all samples.
LENGTHS_FROM_VALUES = {"IRFFT"}

TOLERANCE = {"float64": (1e-6, 1e-10), "float32": (2e-5, 2e-7), "float16": (2e-3, 2e-5)}


def same(wanted, got):
    if not isinstance(got, np.ndarray):  # the state of a stream
        return wanted == got
    rtol, atol = TOLERANCE.get(str(wanted.dtype), (0, 0))
    return wanted.dtype == got.dtype and wanted.shape == got.shape and np.allclose(wanted, got, rtol, atol, equal_nan=True)


# Eigenvectors and singular vectors, whose signs are LAPACK's: what they make with the values.
MADE_OF_VECTORS = {
    "Eigh": lambda w, v: [w, np.abs(v), (v * w) @ v.T],
    "SVD": lambda *usv: usv if len(usv) == 1 else [np.abs(usv[0]), usv[1], np.abs(usv[2]), product(*usv)],
}


def product(u, s, vt):
    k = len(s)
    return (u[:, :k] * s) @ vt[:k]


@pytest.mark.parametrize("name", _core.op_names())
def test_samples_of(name):
    made = 0
    for inputs, outputs, values, note in _core.op_samples(name):
        by_jax = bt.function(inputs, outputs, mode=JAX)
        try:
            wanted = bt.function(inputs, outputs, mode=INTERPRETER)(*values)
        except Exception as error:
            with pytest.raises((type(error), NotImplementedError)):
                by_jax(*values)
            continue
        try:
            got = by_jax(*values)
        except NotImplementedError as error:
            assert "StableHLO" in str(error), f"{name} ({note}): the message does not say what is missing: {error}"
            continue
        made += 1
        if name in MADE_OF_VECTORS:
            wanted, got = MADE_OF_VECTORS[name](*wanted), MADE_OF_VECTORS[name](*got)
        if note not in KNOWN:
            assert all(map(same, wanted, got)), f"{name} ({note}): {wanted} != {got}"
    assert bool(made) == (name not in WITHOUT_FORM | LENGTHS_FROM_VALUES), f"{name}: {made} samples have a form in StableHLO"
