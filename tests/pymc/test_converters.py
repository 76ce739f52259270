"""Each converter on small graphs: the values equal those of PyTensor's Python linker, and the graph runs natively
unless the table says otherwise."""

from __future__ import annotations

import inspect
import warnings

import numpy as np
import pytensor
import pytensor.sparse
import pytensor.tensor as pt
import pytest
import scipy.sparse
from pymc.distributions.dist_math import i0e, i1e
from pytensor.compile.builders import OpFromGraph
from pytensor.graph.basic import Apply
from pytensor.graph.op import Op
from pytensor.graph.replace import vectorize_graph
from pytensor.ifelse import ifelse
from pytensor.raise_op import Assert
from pytensor.tensor import linalg

import bitale.pytensor
from bitale.pytensor import ConversionError, converts, from_pytensor
from compare import ORACLE

x, y, v, w, s, t = (
    pt.dmatrix("x"),
    pt.dmatrix("y"),
    pt.dvector("v"),
    pt.dvector("w"),
    pt.dscalar("s"),
    pt.tensor3("t"),
)
n, i, k = pt.lscalar("n"), pt.lvector("i"), pt.lmatrix("k")
b = pt.matrix("b", dtype="bool")
rng = np.random.default_rng(3)
VALUES = {
    x: rng.normal(size=(3, 4)),
    y: rng.normal(size=(3, 4)),
    v: rng.normal(size=4),
    w: rng.normal(size=4),
    s: np.array(0.7),
    t: rng.normal(size=(2, 3, 3)),
    n: np.array(2),
    i: np.array([2, 0, -1, 2]),
    k: np.array([[1, 0], [2, 2]]),
    b: rng.normal(size=(3, 4)) > 0,
}
z, c, h = pt.zmatrix("z"), pt.matrix("c", dtype="complex64"), pt.matrix("h", dtype="float16")
VALUES |= {
    z: rng.normal(size=(3, 3)) + 1j * rng.normal(size=(3, 3)),
    c: (rng.normal(size=(3, 3)) + 1j).astype("complex64"),
    h: rng.normal(size=(3, 3)).astype("float16"),
}
positive = t @ t.mT + pt.eye(3)

GRAPHS = {
    "arithmetic": [
        x + y,
        x - v,
        x * s,
        x / y,
        x // y,
        x % y,
        x**2,
        -x,
        abs(x),
        pt.sign(x),
        pt.sqr(x),
        pt.reciprocal(x),
    ],
    "integers": [
        k + 1,
        k * k,
        k // 2,
        k % 2,
        k / 2,
        -k,
        pt.exp(k),
        k**2,
        k & 1,
        k | 1,
        k ^ 1,
        ~k,
        pt.cast(k, "int8") + pt.cast(k, "uint8"),
    ],
    "comparisons": [
        x < y,
        x <= y,
        x > y,
        x >= y,
        pt.eq(k, 2),
        pt.neq(k, 2),
        pt.isnan(x),
        pt.isinf(x),
        ~b,
        b & (x > 0),
        b | (x > 0),
    ],
    "rounding": [
        pt.floor(x),
        pt.ceil(x),
        pt.trunc(x),
        pt.round(x * 4),
        pt.round(x * 4, mode="half_away_from_zero"),
    ],
    "selection": [
        pt.switch(b, x, y),
        pt.clip(x, -0.5, s),
        pt.maximum(x, y),
        pt.minimum(x, v),
        pt.cast(x, "float32"),
        pt.second(x, s),
    ],
    "logarithms": [
        pt.log(abs(x)),
        pt.log1p(abs(x)),
        pt.log2(abs(x)),
        pt.log10(abs(x)),
        pt.exp(x),
        pt.expm1(x),
        pt.sqrt(abs(x)),
        pt.log1mexp(-abs(x)),
    ],
    "trigonometry": [
        pt.sin(x),
        pt.cos(x),
        pt.tan(x),
        pt.arctan(x),
        pt.arcsin(pt.tanh(x)),
        pt.arctan2(x, y),
        pt.sinh(x),
        pt.cosh(x),
        pt.arcsinh(x),
    ],
    "special": [
        pt.erf(x),
        pt.erfc(x),
        pt.erfcx(x),
        pt.gammaln(abs(x)),
        pt.psi(abs(x)),
        pt.sigmoid(x),
        pt.softplus(x),
        pt.gamma(abs(x) + 1),
    ],
    "reductions": [
        x.sum(),
        x.sum(axis=0),
        x.prod(axis=1),
        x.max(axis=0),
        x.min(),
        b.all(axis=0),
        b.any(),
        x.mean(axis=1),
        k.sum(),
        x.argmax(axis=1),
    ],
    "searching": [
        pt.searchsorted(pt.sort(v), w),
        pt.searchsorted(v, w, side="right", sorter=pt.argsort(v)),
        pt.repeat(v, i**2),
        pt.repeat(x, 2, axis=0),
    ],
    "distinct": [pt.unique(i), *pt.unique(i, return_inverse=True, return_counts=True)],
    "cumulative": [pt.cumsum(x, axis=1), pt.cumprod(v), pt.cumsum(x)],
    "sorting": [pt.sort(x, axis=0), pt.argsort(v), pt.sort(x, axis=None)],
    "gradient of softmax": [
        pytensor.grad((pt.special.softmax(x, axis=axis) * y).sum(), x) for axis in (None, 0, -1)
    ],
    "softmax": [
        pt.special.softmax(x, axis=-1),
        pt.special.log_softmax(x, axis=0),
        pt.logsumexp(x, axis=1),
        pt.logsumexp(x),
        pt.logaddexp(x, y),
    ],
    "dimensions": [
        x.T,
        v.dimshuffle("x", 0),
        pt.squeeze(x[:1], axis=0),
        t.dimshuffle(2, 0, 1),
        pt.moveaxis(t, 0, 2),
    ],
    "shapes": [
        x.reshape((2, 6)),
        x.reshape((-1,)),
        t.reshape((t.shape[0], -1)),
        x.shape,
        pt.specify_shape(x, (3, None)),
        x.flatten(),
        v.reshape((n, 2)),
    ],
    "dims": [pt.join_dims(t, 0, 2), pt.split_dims(v, axis=0, shape=(2, 2))],
    "making": [
        pt.alloc(s, 2, n),
        pt.ones((n, 3)),
        pt.arange(n),
        pt.arange(0, 1, 0.3),
        pt.eye(n, 3, 1),
        pt.stack([s, s * 2]),
        pt.zeros_like(x),
        pt.full((2,), s),
    ],
    "joining": [
        pt.concatenate([x, y], axis=1),
        pt.join(0, x, k[:, 0].dimshuffle(0, "x") * x[:2]),
        *pt.split(v, [1, 3]),
        *pt.split(v, pt.stack([n, n]), n_splits=2),
    ],
    "diagonals": [
        pt.diagonal(x),
        pt.diagonal(t, 1, 1, 2),
        pt.diag(v),
        pt.diag(v, -1),
        linalg.trace(t[0]),
        pt.basic.alloc_diag(x, 1, 0, 2),
    ],
    "triangles": [pt.tril(x), pt.triu(x, 1), pt.tri(3, 4)],
    "slices": [x[0], x[1:, ::2], x[:, -1], v[::-1], x[n], x[:n], t[..., 0], v[n:], x[None]],
    "advanced indices": [
        v[i],
        x[:, i],
        t[k[0] - 1],
        x[k[:, 0], k[:, 1]],
        x[b],
        x[i - 1],
        t[:, k],
        v[pt.constant([0, 1])],
    ],
    "complex numbers": [
        z + s,
        z * 2j,
        z / t[0],
        -z,
        z**2,
        abs(z),
        pt.real(z),
        pt.imag(z),
        pt.conj(z),
        pt.angle(z),
        pt.complex(x, y),
        pt.complex_from_polar(abs(x), y),
        pt.complex_from_polar(s, s),
    ],
    "functions of complex numbers": [
        pt.exp(z),
        pt.log(z),
        pt.sqrt(z),
        pt.sin(z),
        pt.sqr(z),
        z.sum(axis=0),
        z.prod(),
        z.mean(axis=1),
        z @ z,
        z @ t[0],
        pt.outer(z[0], z[1]),
        pt.isnan(z),
    ],
    "complex arrays": [
        z.T,
        z[1:],
        z[::-1, 0],
        z.reshape((9,)),
        pt.stack([z, z]),
        z[[0, 2]],
        z[0].set(1j),
        z[[0, 0]].inc(2.0),
        pt.cumsum(z, axis=0),
        pt.cast(z, "complex64"),
        pt.switch(t[0] > 0, z, 0),
    ],
    "branches of complex numbers": [
        *ifelse(n > 1, [z, s], [z * 2, s + 1]),
        OpFromGraph([z], [z * 2j])(z),
    ],
    "half precision": [h * 2, pt.abs(h), h.sum(), h.astype("float64"), pt.maximum(h, 0)],
    "changed diagonals": [
        pt.fill_diagonal(x, s),
        pt.fill_diagonal(x.T, s),
        pt.fill_diagonal_offset(x, s, n),
        pt.fill_diagonal_offset(x, s, -n),
    ],
    "index arithmetic": [
        *pt.unravel_index(abs(i), (2, 3)),
        *pt.unravel_index(k, (2, n + 1), order="F"),
        pt.ravel_multi_index((k[:, 0], k[:, 1]), (3, 4)),
        pt.ravel_multi_index((i, i), (2, 3), mode="wrap", order="F"),
    ],
    "choices": [
        pt.choose(abs(k), pt.stack([k, k * 2]), mode="wrap"),
        pt.basic.permute_row_elements(x, pt.constant([2, 0, 3, 1])),
        pt.bartlett(n + 3),
    ],
    "convolutions": [
        pt.signal.convolve1d(v, w),
        pt.signal.convolve1d(v, w[:2], mode="valid"),
        pt.signal.convolve2d(x, t[0, :2], mode="valid"),
    ],
    "exponentially scaled": [i0e(x), i1e(x)],
    "changes": [
        x[0].set(v),
        x[1:, 0].inc(1.0),
        v[i].inc(w),
        v[i].set(s),
        x[b].set(0.0),
        x[k[:, 0], k[:, 1]].inc(2.0),
        pt.set_subtensor(v[n], s),
    ],
    "masks": [b.nonzero()[0], pt.nonzero(x > 0)[1]],
    "products": [
        x @ y.T,
        x @ v,
        v @ w,
        pt.outer(v, w),
        t @ t,
        pt.tensordot(t, t, axes=[[0], [0]]),
        pt.batched_dot(t, t) if hasattr(pt, "batched_dot") else t @ t,
    ],
    "factors": [
        linalg.cholesky(positive),
        linalg.cholesky(positive[0], lower=False),
        linalg.cholesky(-positive[0]),
    ],
    "equations": [
        linalg.solve_triangular(positive[0] * pt.arange(3), t[0], lower=True),
        linalg.solve(positive[0], t[0]),
        linalg.solve(positive, t),
        linalg.solve_triangular(positive[0], t[0], lower=True),
        linalg.solve_triangular(positive, t[:, :, 0], lower=False, b_ndim=1),
        linalg.cho_solve((positive[0], True), t[0]),
        linalg.solve(positive[0], t[0], assume_a="sym"),
        linalg.solve(positive[0], t[0], assume_a="pos"),
    ],
    "inverses": [linalg.inv(positive[0]), linalg.det(positive[0]), *linalg.slogdet(positive[0])],
    "branches": [ifelse(n > 1, x, y), ifelse(n > 5, s, s * 2)],
    "checks": [Assert("n is positive")(x, n > 0)],
    "graphs in ops": [
        OpFromGraph([x, y], [x * y + 1])(x, y),
        pt.einsum("ij,kj->ik", x, y),
        pt.pad(x, 1),
    ],
    "gradients": [
        pytensor.grad((pt.log1p(x**2) * v).sum(), [x])[0],
        pytensor.grad(linalg.cholesky(positive).sum(), t),
        pytensor.grad(v[i].prod(), v),
    ],
}
if hasattr(linalg, "block_diag"):  # elsewhere in PyTensor 2.38
    GRAPHS["blocks"] = [linalg.block_diag(x, t[0])]
if hasattr(pt, "ndtri_exp"):
    GRAPHS["inverse of the normal distribution function"] = [pt.ndtri_exp(-pt.exp(x))]
if "initial" in inspect.signature(pt.max).parameters:  # missing in PyTensor 2.38
    GRAPHS["initial"] = [pt.max(x, axis=0, initial=-np.inf), pt.max(x[:0], axis=0, initial=-np.inf)]
BY_CALLBACK = {
    "complex and called back": [linalg.inv(z), pt.sort(z, axis=0), abs(linalg.eig(t[0])[0])],
    "called back": [
        pt.special.betaln(1, s),
        pt.gammainc(s, abs(x)),
        linalg.svd(x)[1],
        pt.unique(k, axis=0),
    ],
}


def _both(outputs):
    inputs = [a for a in VALUES if a in pytensor.graph.traversal.ancestors(outputs)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ours = pytensor.function(inputs, outputs, mode="BITALE")
        theirs = pytensor.function(inputs, outputs, mode=ORACLE)
    values = [VALUES[a] for a in inputs]
    for found, expected, output in zip(ours(*values), theirs(*values), outputs):
        assert found.dtype == output.dtype
        np.testing.assert_allclose(
            found,
            expected,
            rtol=1e-12 if output.dtype != "float32" else 1e-6,
            atol=1e-14,
            err_msg=str(output),
        )
    return ours.maker.linker.report()


@pytest.mark.parametrize("name", GRAPHS)
def test_native(name):
    report = _both(GRAPHS[name])
    assert report.is_native, str(report)


@pytest.mark.parametrize("name", BY_CALLBACK)
def test_called_back(name):
    _both(BY_CALLBACK[name])


@pytest.mark.parametrize("batched", [{0}, {1}, {2}, {0, 1}, {1, 2}, {0, 1, 2}])
def test_ranges_of_a_batch(batched):
    """Also where not all of start, stop and step are batches."""
    parts, batches = pt.lscalars("start", "stop", "step"), pt.lvectors("starts", "stops", "steps")
    ranges = vectorize_graph(pt.arange(*parts), {parts[k]: batches[k] for k in batched})
    inputs = [batches[k] if k in batched else parts[k] for k in range(3)]
    f = pytensor.function(inputs, ranges, mode="BITALE")
    found = f(*([value] * 3 if k in batched else value for k, value in enumerate((1, 9, 2))))
    np.testing.assert_array_equal(found, [[1, 3, 5, 7]] * 3)
    assert f.maker.linker.report().is_native


class Doubled(Op):
    """An op that defines only perform."""

    __props__ = ()

    def make_node(self, a):
        return Apply(self, [a], [a.type()])

    def perform(self, node, inputs, output_storage):
        if inputs[0].sum() > 100:
            raise ZeroDivisionError("too much")
        output_storage[0][0] = 2 * inputs[0]


class Tripled(Doubled):
    def perform(self, node, inputs, output_storage):
        output_storage[0][0] = 3 * inputs[0]


def test_ops_without_converter_are_called_back_with_one_warning():
    with pytest.warns(UserWarning, match="Doubled"):
        f = pytensor.function([v], pt.exp(Doubled()(v)), mode="BITALE")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        pytensor.function([v], Doubled()(v), mode="BITALE")
    np.testing.assert_allclose(f([1.0, 2.0]), np.exp([2.0, 4.0]))
    assert f.maker.linker.report().callbacks["Doubled"][0] == 1
    with pytest.raises(ZeroDivisionError, match="too much"):
        f([1000.0])


@pytest.mark.parametrize(
    "store",
    [
        lambda x: x[::-1],
        lambda x: x,
        lambda x: x.astype("float32"),
        lambda x: x.astype(int),
        lambda x: list(x),
        lambda x: x.reshape(1, -1)[0],
    ],
    ids=["view", "input", "float32", "int", "list", "view of a view"],
)
def test_results_of_callbacks_are_converted_or_copied(store):
    class Loose(Op):
        __props__ = ()
        itypes, otypes = [pt.dvector], [pt.dvector]

        def perform(self, node, inputs, output_storage):
            output_storage[0][0] = store(inputs[0])

    f = pytensor.function([v], [Loose()(v), v + 1], mode="BITALE")
    given = np.array([1.0, 2.0, 4.0])
    for _ in range(2):
        found, more = f(given)
        np.testing.assert_array_equal(found, np.asarray(store(given), dtype="float64"))
        assert (
            found.dtype == "float64"
            and found.flags.writeable
            and not np.may_share_memory(found, given)
        )
        found[:] = 7
        np.testing.assert_array_equal(given, [1.0, 2.0, 4.0])


def test_strict_names_all_ops_at_once():
    with pytest.raises(ConversionError) as error:
        bitale.pytensor.function([v], Doubled()(Tripled()(v)), strict=True)
    assert set(error.value.reasons) == {"Doubled", "Tripled"}


def test_converters_can_be_added():
    class Fourfold(Doubled):
        pass

    @converts(Fourfold)
    def _fourfold(op, node, a):
        return 4 * a

    f = bitale.pytensor.function([v], Fourfold()(v), strict=True)
    assert f([2.0]).tolist() == [8.0]


def test_from_pytensor_keeps_names_and_static_shapes():
    import bitale as bt

    a, shared = (
        pt.tensor("a", shape=(None, 3), dtype="float32"),
        pytensor.shared(np.arange(3.0), "shared"),
    )
    product = a * shared
    product.name = "product"
    known = {}
    total = from_pytensor(product.sum(), known)
    assert known[a].name == "a" and known[a].type.shape == (None, 3) and known[a].dtype == "float32"
    f = bt.function([known[a]], total)
    assert f(np.ones((2, 3), "float32")) == 6.0
    assert "product" in f.dprint(file="str") or "product" in bt.dprint(total, file="str")


def test_long_chains():
    out = v
    for _ in range(5000):
        out = pt.sin(out)
    f = from_pytensor(out)
    assert f.ndim == 1


@pytest.mark.parametrize("kind", ["gen", "sym", "pos", "lower triangular", "upper triangular"])
def test_singular_systems_are_nan(kind):
    a, b = pt.dmatrix(), pt.dmatrix()
    f = pytensor.function([a, b], pt.linalg.solve(a, b, assume_a=kind), mode="BITALE")
    assert np.isnan(f(np.zeros((2, 2)), np.eye(2))).all()
    np.testing.assert_allclose(f(2 * np.eye(2), np.eye(2)), np.eye(2) / 2)


def test_draws_from_one_shared_state_warn_as_pymc_does():
    rng = pytensor.shared(np.random.default_rng(1))
    draws = [pt.random.normal(0, 1, rng=rng, size=size) for size in (2, 3)]
    with pytest.warns(UserWarning, match="not independent"):
        f = pytensor.function([], draws, mode="BITALE")
    for found, expected in zip(f(), pytensor.function([], draws, mode="FAST_COMPILE")()):
        np.testing.assert_array_equal(found, expected)


def test_traces_beside_the_states_of_a_generator():
    rng = pytensor.shared(np.random.default_rng(1))
    outputs, updates = pytensor.scan(
        lambda r: pt.random.normal(0, 1, rng=r).owner.outputs, outputs_info=[rng, None], n_steps=4
    )
    doubled = pytensor.scan(lambda x: x * 2, sequences=[outputs[1]])[0]
    expected = 2 * np.random.default_rng(1).normal(size=4)
    np.testing.assert_array_equal(
        pytensor.function([], doubled, mode="BITALE", updates=updates)(), expected
    )


@pytest.mark.parametrize("bounds", [(-1.0, 1.0), (1.0, -1.0), (0.5, 0.5)])
@pytest.mark.parametrize("are_constant", [True, False])
def test_clip_looks_at_the_lower_bound_first(bounds, are_constant):
    x, low, high = pt.dvector("x"), pt.dscalar("low"), pt.dscalar("high")
    clipped = pt.clip(x, *bounds) if are_constant else pt.clip(x, low, high)
    values = np.array([-3.0, -1.0, 0.0, 0.7, 3.0, np.nan, -np.inf])
    f, expected = (
        pytensor.function([x, low, high], clipped, mode=mode, on_unused_input="ignore")
        for mode in ("BITALE", "FAST_COMPILE")
    )
    np.testing.assert_array_equal(f(values, *bounds), expected(values, *bounds))


def test_sparse_constants_as_results():
    matrix = scipy.sparse.csr_matrix(np.eye(3))
    f = pytensor.function([], pytensor.sparse.as_sparse_variable(matrix), mode="BITALE")
    assert (f() != matrix).nnz == 0 and "no counterpart" in f.maker.linker.report().interpreted


def test_symbolic_ops_that_hold_an_op_that_is_called_back():
    class Twice(Op):
        def make_node(self, x):
            return Apply(self, [x], [x.type()])

        def perform(self, node, inputs, outputs):
            outputs[0][0] = inputs[0] * 2

    SymbolicOp = pytest.importorskip("pytensor.compile.builders").__dict__.get("SymbolicOp")
    if SymbolicOp is None:
        pytest.skip("this version of PyTensor has no SymbolicOp")

    class Odd(SymbolicOp):
        def build_inner_graph(self, x):
            return [Twice()(x) + 1]

    x = pt.dvector("x")
    np.testing.assert_array_equal(
        pytensor.function([x], Odd()(x), mode="BITALE")([1.0, 2.0]), [3, 5]
    )


def test_sums_of_a_number_over_an_axis():
    """NumPy allows them, and the Jacobians of PyMC's transforms have them before PyTensor rewrites the graph."""
    x = pt.dscalar("x")
    known = {}
    total, largest = bitale.pytensor.from_pytensor(
        [pt.sum(x, axis=0), pt.max(x, axis=-1)], known, strict=True
    )
    np.testing.assert_array_equal(bitale.function([known[x]], [total, largest])(2.5), [2.5, 2.5])
