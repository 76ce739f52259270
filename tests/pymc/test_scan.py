"""PyTensor's Scan, and its gradients, run natively as loops of Bitale, with PyTensor's values."""

from __future__ import annotations

import numpy as np
import pytensor
import pytensor.tensor as pt
import pytest
from pytensor.ifelse import ifelse
from pytensor.scan.utils import until

import bitale.pytensor  # noqa: F401
from bitale.pytensor import lengths
from compare import ORACLE

x, v, w, s, n = pt.dmatrix("x"), pt.dvector("v"), pt.dvector("w"), pt.dscalar("s"), pt.lscalar("n")
VALUES = {
    x: np.random.default_rng(1).normal(size=(6, 3)),
    v: np.random.default_rng(0).normal(size=6),
    w: np.array([0.1, 0.2, 0.3]),
    s: np.array(0.7),
    n: np.array(4),
}


def scan(*arguments, **options):
    return pytensor.scan(*arguments, return_updates=False, **options)


def squares(y, by):
    return pytensor.grad((y**2).sum(), by)


smooth = scan(lambda e, p, s: p * s + e, sequences=v, outputs_info=[s], non_sequences=s)
second_order = scan(
    lambda e, a, b: pt.tanh(a * 0.3 + b * 0.5 + e),
    sequences=v,
    outputs_info=[dict(initial=w[:2], taps=[-2, -1])],
)
third_order = scan(
    lambda e, a, b: pt.tanh(a * 0.3 + b * 0.5 + e * s),
    sequences=v,
    outputs_info=[dict(initial=w, taps=[-3, -1])],
)
neighbours = scan(lambda a, b: a * b, sequences=[dict(input=v, taps=[-1, 1])])
recurrent = scan(lambda e, h: pt.tanh(h @ pt.eye(3) * 0.4 + e), sequences=x, outputs_info=[w])
two_results = scan(lambda e, p: (p * s + e, p - e), sequences=v, outputs_info=[s, None])
doubling = scan(lambda p: (p * 2, until(p > n)), outputs_info=[s], n_steps=50)
large_alone = scan(lambda e: (e * 2, until(e > 0.6)), sequences=v)
nested = scan(
    lambda row, h: scan(lambda e, p: p * s + e, sequences=row, outputs_info=[h])[-1],
    sequences=x,
    outputs_info=[s],
)
counted = scan(lambda p: p * s, outputs_info=[s], n_steps=n)
backwards = scan(lambda e, p: p * s + e, sequences=v, outputs_info=[s], go_backwards=True)
truncated = scan(
    lambda e, p, s: p * s + e, sequences=v, outputs_info=[s], non_sequences=s, truncate_gradient=3
)
branches = scan(lambda e, p: ifelse(e > 0, p + e, p * 2), sequences=v, outputs_info=[s])
narrow = scan(
    lambda e, p: pt.cast(p + e, "float32"),
    sequences=pt.cast(v, "float32"),
    outputs_info=[pt.cast(s, "float32")],
)
integers = scan(lambda p, q: (p + q, p), outputs_info=[n, n + 1], n_steps=5)

GRAPHS = {
    "one state": [smooth, smooth[-1], smooth[-3:], smooth[2]],
    "last step alone": [smooth[-1]],
    "last three alone": [smooth[-3:]],
    "one state, gradient": squares(smooth, [v, s]),
    "one state, second derivative": [pytensor.grad(squares(smooth, s), s)],
    "taps -1 and -2": [second_order, second_order[-1], second_order[-2:]],
    "taps -1 and -2, last": [second_order[-1]],
    "taps -1 and -2, gradient": squares(second_order, [v, w]),
    "taps -1 and -3": [third_order, *squares(third_order, [v, w, s])],
    "taps -1 and -3, last, gradient": pytensor.grad(third_order[-1], [v, w, s]),
    "taps of sequences": [neighbours, *squares(neighbours, [v])],
    "vector state": [recurrent, *squares(recurrent, [x, w])],
    "vector state, last": pytensor.grad((recurrent[-1] ** 2).sum(), [x, w]),
    "two results": [*two_results, *pytensor.grad((two_results[0] * two_results[1]).sum(), [v, s])],
    "until": [doubling, doubling[-1], doubling.shape[0]],
    "until, last alone": [doubling[-1]],
    "until, gradient": pytensor.grad(doubling[-1], [s]),
    "until without a state": [large_alone, large_alone.shape],
    "nested": [nested, *squares(nested, [x, s])],
    "symbolic number of steps": [counted, counted[-1], *squares(counted, [s])],
    "backwards": [backwards, *squares(backwards, [v])],
    "truncated gradient": pytensor.grad(truncated.sum(), [v, s]),
    "branches": [branches, *squares(branches, [v])],
    "float32": [narrow],
    "integers": list(integers),
}


@pytest.mark.parametrize("name", GRAPHS)
def test_scan(name):
    arguments = dict(on_unused_input="ignore")
    ours = pytensor.function(list(VALUES), GRAPHS[name], mode="BITALE", **arguments)
    theirs = pytensor.function(list(VALUES), GRAPHS[name], mode=ORACLE, **arguments)
    assert ours.maker.linker.report().is_native, ours.maker.linker.report()
    for found, expected in zip(ours(*VALUES.values()), theirs(*VALUES.values())):
        assert found.dtype == expected.dtype and found.shape == expected.shape
        np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("size", [1, 2, 5, 9])
def test_buffers_of_any_length(size):
    """A buffer for fewer steps keeps the last ones; a buffer for more steps is padded with zeros."""
    from pytensor.scan.op import Scan, ScanInfo

    p, e = pt.dscalar(), pt.dscalar()
    info = ScanInfo(1, (), (), (), ((-1,),), 1, 0, 0, False)
    op = Scan([e, p], [p * 0.5 + e, p - e], info, mode=ORACLE)
    start, length = pt.dvector(), pt.lscalar()
    outputs = op(n, v, start, length, return_list=True)
    values = [np.array(4), VALUES[v], np.linspace(1, 2, size), np.array(size)]
    ours = pytensor.function([n, v, start, length], outputs, mode="BITALE")
    assert ours.maker.linker.report().is_native
    # The expected values are computed by a Python loop, which rolls its buffers in the same way.
    state, trace, other = values[2][0], [], []
    for element in VALUES[v][:4]:
        trace.append(state * 0.5 + element)
        other.append(state - element)
        state = trace[-1]
    whole = [values[2][0], *trace]
    expected = [
        (whole + [0.0] * size)[:size] if size > 5 else whole[-size:],
        (other + [0.0] * size)[:size] if size > 4 else other[-size:],
    ]
    for found, reference in zip(ours(*values), expected):
        np.testing.assert_allclose(found, reference, rtol=1e-14)


def test_a_sequence_that_is_too_short_is_an_error():
    f = pytensor.function(
        [v, n],
        scan(lambda e, p: p + e, sequences=v, outputs_info=[np.float64(0)], n_steps=n),
        mode="BITALE",
    )
    with pytest.raises(ValueError):
        f(VALUES[v], 7)
    assert f(VALUES[v], 6).shape == (6,)


def test_symbolic_lengths_are_compared():
    at = lengths.length(pt.zeros((v.shape[0] + 1,))[1:], 0)
    assert lengths.difference(at, lengths.length(v, 0)) == 0
    assert (
        lengths.difference(lengths.length(v[1:], 0), lengths.length(v, 0)) is None
    )  # None, since v may be empty
    assert lengths.number(lengths.value(pt.constant(np.int64(3)) + 4)) == 7


a, b, z = pt.dvector("a"), pt.dvector("b"), pt.dmatrix("z")
LOOPS = {
    "gammainc": lambda: pytensor.grad(pt.gammainc(a, b).sum(), [a, b]),
    "gammaincc": lambda: pytensor.grad(pt.gammaincc(a, b).sum(), [a, b]),
    "betainc": lambda: pytensor.grad(pt.betainc(a, b, z).sum(), [a, b, z]),
    "hyp2f1": lambda: [
        pt.hyp2f1(a, b, b + 1.5, z - 0.4),
        *pytensor.grad(pt.hyp2f1(a, b, b + 1.5, z - 0.4).sum(), [a, b, z]),
    ],
    "scalars": lambda: pytensor.grad(pt.gammainc(a[0], b[0]), [a, b]),
}


@pytest.mark.parametrize("name", LOOPS)
def test_scalar_loops(name):
    """Derivatives of these functions are series that PyTensor sums with ScalarLoop, until each element has
    converged."""
    outputs, values = (
        LOOPS[name](),
        [
            np.array([0.7, 2.5, 9.0]),
            np.array([1.2, 0.4, 11.0]),
            np.array([[0.2, 0.5, 0.7], [0.6, 0.1, 0.3]]),
        ],
    )
    ours = pytensor.function([a, b, z], outputs, mode="BITALE", on_unused_input="ignore")
    theirs = pytensor.function([a, b, z], outputs, mode=ORACLE, on_unused_input="ignore")
    assert ours.maker.linker.report().is_native, ours.maker.linker.report()
    for found, expected in zip(ours(*values), theirs(*values)):
        np.testing.assert_allclose(found, expected, rtol=1e-11, atol=1e-14)


def test_a_scalar_loop_without_a_stop_condition():
    import pytensor.scalar as ps
    from pytensor.scalar.loop import ScalarLoop
    from pytensor.tensor.elemwise import Elemwise

    x0, c = ps.float64("x0"), ps.float64("c")
    power = Elemwise(ScalarLoop(init=[x0], update=[x0 * c + 1], constant=[c]))
    k = pt.lvector("k")
    f = pytensor.function([k, a], power(k, np.float64(1), a), mode="BITALE")
    assert f.maker.linker.report().is_native
    expected = np.ones(3)
    for i, (steps, factor) in enumerate([(3, 0.5), (0, 2.0), (5, 1.5)]):
        for _ in range(steps):
            expected[i] = expected[i] * factor + 1
    np.testing.assert_allclose(f([3, 0, 5], [0.5, 2.0, 1.5]), expected)
