"""What PyTensor deprecates works, and warns of it at the line of the caller."""

import warnings

import numpy as np
import pytest

import bitale as bt
import bitale.tensor as pt
from bitale.tensor import index_lists, xlogx
from bitale.tensor.pytensor_functions import extract_constant

x = pt.dvector("x")
m = pt.dmatrix("m")

DEPRECATED = {
    "Lop": (lambda: bt.Lop(x**2, x, pt.ones_like(x)), "pullback"),
    "Rop": (lambda: bt.Rop(x**2, x, pt.ones_like(x)), "pushforward"),
    "as_op": (lambda: bt.as_op([pt.dvector], [pt.dvector])(np.sort)(x), "wrap_py"),
    "sgn": (lambda: pt.sgn(x), "sign"),
    "extract_diag": (lambda: pt.extract_diag(m), "diagonal"),
    "complex_from_polar": (lambda: pt.complex_from_polar(x, x), "complex"),
    "matrix_dot": (lambda: pt.linalg.matrix_dot(m, m), "matmul"),
    "extract_constant": (
        lambda: pt.as_tensor(extract_constant(pt.constant(3))),
        "get_underlying_scalar_constant_value",
    ),
    "advanced_subtensor1": (lambda: index_lists.advanced_subtensor1(x, [0]), "ilist"),
    "advanced_set_subtensor1": (lambda: index_lists.advanced_set_subtensor1(x, 1.0, [0]), "set"),
    "advanced_inc_subtensor1": (lambda: index_lists.advanced_inc_subtensor1(x, 1.0, [0]), "inc"),
    "xlogx": (lambda: xlogx.xlogx(x), "xlogy"),
    "xlogy0": (lambda: xlogx.xlogy0(x, x), "xlogy"),
    "lop_overrides": (
        lambda: bt.OpFromGraph([x], [pt.exp(x)], lop_overrides=lambda i, o, g: [g[0]])(x),
        "pullback",
    ),
    "rop_overrides": (
        lambda: bt.OpFromGraph([x], [pt.exp(x)], rop_overrides=lambda i, t: [t[0]])(x),
        "pushforward",
    ),
    "rate": (lambda: pt.random.gamma(2.0, rate=3.0), "scale"),
}


@pytest.mark.parametrize("name", DEPRECATED)
def test_deprecated_names_warn(name):
    make, instead = DEPRECATED[name]
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        assert isinstance(make(), bt.Variable)
    assert [(each.category, each.filename) for each in seen] == [(FutureWarning, __file__)]
    assert name in str(seen[0].message) and instead in str(seen[0].message)
    with warnings.catch_warnings(), pytest.raises(FutureWarning):
        warnings.simplefilter("error")
        make()


def test_replacements_do_not_warn():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        bt.pullback(x**2, x, pt.ones_like(x)), bt.pushforward(x**2, x, pt.ones_like(x))
        bt.wrap_py([pt.dvector], [pt.dvector])(np.sort)
        pt.sign(x), pt.diagonal(m), m @ m, pt.random.gamma(2.0, scale=3.0)
        bt.OpFromGraph([x], [pt.exp(x)], pullback=lambda i, o, g: [g[0]])
