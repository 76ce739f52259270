"""Functions in mode JAX: values, updates, errors, lengths, the exported module."""

import numpy as np
import pytest

import bitale as bt
import bitale.tensor as pt


def both(inputs, outputs, *values):
    return bt.function(inputs, outputs)(*values), bt.function(inputs, outputs, mode="JAX")(*values)


def test_a_gradient():
    x, w = pt.dmatrix("x"), pt.dvector("w")
    loss = pt.log1p(pt.exp(-(x @ w))).mean()
    rng = np.random.default_rng(0)
    values = rng.normal(size=(5, 3)), rng.normal(size=3)
    for expected, got in zip(*both([x, w], [loss, *bt.grad(loss, [x, w])], *values)):
        np.testing.assert_allclose(got, expected, rtol=1e-12)


def test_a_module_per_combination_of_lengths():
    x = pt.fvector("x")
    f = bt.function([x], x[::-1].cumsum(), mode="JAX")
    for n in (0, 1, 2, 7, 7, 2):
        np.testing.assert_allclose(f(np.arange(n, dtype="float32")), np.arange(n)[::-1].cumsum())
    assert f.dprint("stablehlo", file="str").count("func.func public @main") == 4


def test_updates_and_random_streams():
    state = bt.shared(np.zeros(3), "state")
    f = bt.function([], state.sum(), updates={state: state * 0.5 + 1}, mode="JAX")
    assert [float(f()) for _ in range(3)] == [0.0, 3.0, 4.5]
    draws = []
    for mode in ("JAX", None):
        rng = bt.shared(bt.random.stream(7), name="rng")
        after, numbers = pt.random.normal(size=(4, 3), rng=rng).owner.outputs
        draw = bt.function([], numbers, updates={rng: after}, mode=mode)
        draws.append([draw() for _ in range(2)])
    np.testing.assert_allclose(draws[0], draws[1], rtol=1e-12)


def test_loops_and_their_gradients():
    x, decay = pt.dvector("x"), pt.dscalar("decay")
    trace = bt.scan(
        lambda e, s, d: d * s + pt.sin(e),
        sequences=x,
        outputs_info=np.float64(0.0),
        non_sequences=decay,
        return_updates=False,
    )
    (value, *slopes), (got, *got_slopes) = both(
        [x, decay], [trace[-1], *bt.grad((trace**2).sum(), [x, decay])], np.linspace(0, 2, 20), 0.7
    )
    np.testing.assert_allclose(got, value, rtol=1e-12)
    for a, b in zip(slopes, got_slopes):
        np.testing.assert_allclose(b, a, rtol=1e-10)


def test_complex_numbers():
    z, w = pt.zvector("z"), pt.zvector("w")
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(2, 4)) + 1j * rng.normal(size=(2, 4))
    outputs = [
        z * w + 2j,
        pt.exp(z),
        (z.conj() * w).sum(),
        pt.abs(z),
        pt.concatenate([z, w])[::2],
        z.real,
    ]
    for expected, got in zip(*both([z, w], outputs, a, b)):
        assert got.dtype == expected.dtype
        np.testing.assert_allclose(got, expected, rtol=1e-12)
    cost = (pt.abs(z * w) ** 2).sum()
    for expected, got in zip(*both([z, w], bt.grad(cost, [z, w]), a, b)):
        np.testing.assert_allclose(got, expected, rtol=1e-11)
    state = bt.shared(np.zeros(2, "complex64"), "state")
    step = bt.function([], state, updates={state: state + np.complex64(1 + 2j)}, mode="JAX")
    step(), step()
    np.testing.assert_array_equal(state.get_value(), np.full(2, 2 + 4j, "complex64"))


@pytest.mark.parametrize("mode", ["full", "valid", "same"])
@pytest.mark.parametrize(
    "lengths",
    [
        ((7,), (3,)),
        ((2,), (5,)),
        ((3, 7), (3, 4)),
        ((3, 7), (1, 4)),
        ((1, 7), (3, 4)),
        ((0, 7), (0, 2)),
    ],
)
def test_convolutions_and_their_gradients(mode, lengths):
    rng = np.random.default_rng(0)
    x, y = (
        pt.tensor(name, shape=tuple(1 if n == 1 else None for n in shape), dtype="float64")
        for name, shape in zip("xy", lengths)
    )
    made = pt.signal.convolve1d(x, y, mode=mode)
    outputs = [made, *bt.grad((made**2).sum(), [x, y])]
    for expected, got in zip(
        *both([x, y], outputs, *(rng.normal(size=shape) for shape in lengths))
    ):
        np.testing.assert_allclose(got, expected, rtol=1e-10, atol=1e-12)


def test_a_convolution_of_planes():
    x, y = pt.fmatrix("x"), pt.fmatrix("y")
    rng = np.random.default_rng(0)
    values = [rng.normal(size=shape).astype("float32") for shape in ((6, 5), (3, 2))]
    made = pt.signal.convolve2d(x, y, mode="same")
    for expected, got in zip(*both([x, y], [made, *bt.grad((made**2).sum(), [x, y])], *values)):
        np.testing.assert_allclose(got, expected, rtol=2e-5, atol=2e-5)


@pytest.mark.parametrize(
    "convolve, lengths",
    [
        ("convolve1d", ((7,), (3,))),
        ("convolve1d", ((2, 7), (2, 3))),
        ("convolve2d", ((5, 7), (2, 3))),
        ("convolve2d", ((4, 5, 7), (4, 1, 3))),
    ],
)
def test_convolutions_of_integers_where_xla_has_none(convolve, lengths):
    """As modules for GPUs have them, run here."""
    from bitale.jax import linker

    rng = np.random.default_rng(0)
    values = [rng.integers(-9, 9, size=shape) for shape in lengths]
    x, y = (
        pt.tensor(name, shape=(None,) * value.ndim, dtype="int64")
        for name, value in zip("xy", values)
    )
    made = getattr(pt.signal, convolve)(x, y, mode="same")
    text, results, _ = bt.function([x, y], made, mode="JAX").stablehlo(
        [value.shape for value in values], checks=False
    )
    assert "stablehlo.convolution" not in text
    (got,) = linker.compile_module(text, [("int64", value.shape) for value in values], results, ())(
        *values
    )
    np.testing.assert_array_equal(got, bt.function([x, y], made)(*values))


def test_only_the_selected_branch_is_checked():
    x, i, c = pt.dvector("x"), pt.lscalar("i"), pt.bscalar("c")
    f = bt.function([x, i, c], bt.ifelse(c, x[i] * 2, pt.exp(x).sum()), mode="JAX")
    assert float(f([1.0, 2.0], 1, 1)) == 4.0
    assert np.isclose(float(f([0.0, 0.0], 7, 0)), 2.0)
    with pytest.raises(IndexError):
        f([0.0, 0.0], 7, 1)


def test_a_check_in_a_loop_fails():
    x, at = pt.dvector("x"), pt.lvector("at")
    picked = bt.scan(lambda k, all: all[k], sequences=at, non_sequences=x, return_updates=False)
    f = bt.function([x, at], picked.sum(), mode="JAX")
    assert float(f([1.0, 2.0], [0, 1, -1])) == 5.0
    with pytest.raises(IndexError):
        f([1.0, 2.0], [0, 5])


def test_errors_are_those_of_the_interpreter():
    x, i = pt.dvector("x"), pt.lvector("i")
    f = bt.function([x, i], x[i], mode="JAX")
    np.testing.assert_array_equal(f([1.0, 2.0, 3.0], [2, -1]), [3.0, 3.0])
    with pytest.raises(IndexError, match="out of bounds|out of range"):
        f([1.0, 2.0, 3.0], [3])
    m = pt.dmatrix("m")
    factor = bt.function([m], pt.linalg.cholesky(m), mode="JAX")
    with pytest.raises(np.linalg.LinAlgError, match="positive definite"):
        factor(-np.eye(2))
    y = pt.dvector("y")
    with pytest.raises(ValueError):
        bt.function([x, y], x + y, mode="JAX")([1.0, 2.0], [1.0, 2.0, 3.0])


def test_value_dependent_shapes_are_rejected_by_name():
    x = pt.dvector("x")
    with pytest.raises(
        NotImplementedError,
        match="Nonzero can't be expressed in StableHLO: only values tell .* pad to it",
    ):
        bt.function([x], x[x > 0], mode="JAX")([1.0, -1.0])
    n = pt.lscalar("n")
    with pytest.raises(NotImplementedError, match="lengths must be known"):
        bt.function([n], pt.zeros(n) + 1, mode="JAX")(3)
    with pytest.raises(NotImplementedError, match="bt_gammaincinv"):
        bt.function([x], pt.gammaincinv(x, x), mode="JAX")([1.0])


def test_the_exported_module(tmp_path):
    jax = pytest.importorskip("jax")
    x = pt.dvector("x")
    f = bt.function([x], pt.exp(x).sum(), name="total")
    path = bt.export_stablehlo(f, tmp_path, [(3,)])
    assert path.endswith("total.mlir")
    from jax._src.interpreters import mlir
    from jax._src.lib.mlir import ir

    with mlir.make_ir_context():
        assert ir.Module.parse(open(path).read()).operation.verify()
    with pytest.raises(ValueError, match="not known"):
        bt.export_stablehlo(f, tmp_path)
    with pytest.raises(ValueError, match="1 lengths"):
        bt.export_stablehlo(f, tmp_path, [(3, 4)])
    assert jax.devices()


def test_threads_share_a_function():
    from concurrent.futures import ThreadPoolExecutor

    x = pt.dvector("x")
    f = bt.function([x], (x**2).sum(), mode="JAX")
    with ThreadPoolExecutor(4) as pool:
        assert [float(y) for y in pool.map(lambda n: f(np.ones(n % 5)), range(40))] == [
            n % 5 for n in range(40)
        ]


def test_indices_of_calls_are_checked_before_the_module_runs():
    x, i, k = pt.dmatrix("x"), pt.lvector("i"), pt.lscalar("k")
    f = bt.function([x, i, k], [x[i], x[:, k], x[pt.arange(i.shape[0]), i]], mode="JAX")
    rows = np.arange(12.0).reshape(4, 3)
    for got, expected in zip(
        f(rows, [0, -1, 2], -1),
        [rows[[0, -1, 2]], rows[:, -1], rows[[0, 1, 2], [0, -1, 2]]],
        strict=True,
    ):
        assert got.tolist() == expected.tolist()
    assert "tensor<1xi1>" not in f._text("stablehlo")  # no check is a result
    for wrong, index in (
        [[0, 4, 1], 0],
        [[0, -5, 1], 0],
        [[0, 3, 1], 0],
        [[0, -4, 1], 0],
        [[0, 1, 2], 3],
        [[0, 1, 2], -4],
    ):
        with pytest.raises(IndexError, match="out of bounds"):
            f(rows, wrong, index)
    taken = bt.function([x, i, k], bt.ifelse(k > 0, x[i].sum(), x.sum()), mode="JAX")
    assert taken(rows, [9, 9, 9], 0) == rows.sum()  # the other side needs no index
    with pytest.raises(IndexError, match="index 9"):
        taken(rows, [9, 9, 9], 1)
    u = pt.vector("u", dtype="uint64")
    with pytest.raises(IndexError):
        bt.function([x, u], x[u], mode="JAX")(rows, np.array([2**63 + 1], dtype="uint64"))
    shared = bt.shared(np.array([0, 1, 5]))
    with pytest.raises(IndexError, match="index 5"):
        bt.function([x], x[shared], mode="JAX")(rows)
