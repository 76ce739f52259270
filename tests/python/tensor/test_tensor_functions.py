"""Functions that rearrange, create, search and contract, against NumPy: values, dtypes, static shapes, errors,
gradients."""

import numpy as np
import pytest

import bitale as bt
import bitale.tensor as pt

A = np.arange(12.0).reshape(3, 4) * 0.7 - 2
V = np.array([0.3, -1.5, 2.0, 2.0, -0.25])
B = np.linspace(-1, 2, 24).reshape(2, 3, 4)


def check(build, numpy, *arrays, mode="FAST_RUN", dtype=None, rtol=1e-13, gradient=True):
    """Checks that `build` gives for variables of known and unknown lengths the result of `numpy` for the arrays."""
    with np.errstate(all="ignore"):
        expected = np.asarray(numpy(*arrays))
    for known in (False, True):
        inputs = [
            pt.tensor(dtype=a.dtype, shape=a.shape if known else (None,) * a.ndim)
            for a in map(np.asarray, arrays)
        ]
        out = build(*inputs)
        assert out.ndim == expected.ndim
        assert all(n in (None, m) for n, m in zip(out.type.shape, expected.shape))
        assert out.dtype == (dtype or expected.dtype)
        value = bt.function(inputs, out, mode=mode, on_unused_input="ignore")(*arrays)
        assert value.shape == expected.shape
        np.testing.assert_allclose(value, expected, rtol=rtol, atol=1e-14)
    if (
        gradient
        and mode == "FAST_RUN"
        and all(np.asarray(a).dtype == np.float64 for a in arrays)
        and out.dtype == "float64"
    ):
        bt.verify_grad(build, list(arrays))


MOVED = {
    "flip": [(lambda x: pt.flip(x), np.flip, A), (lambda x: pt.flip(x, 1), lambda x: np.flip(x, 1), A),
             (lambda x: pt.flip(x, (0, -1)), lambda x: np.flip(x, (0, -1)), B)],
    "rot90": [(lambda x, k=k: pt.rot90(x, k), lambda x, k=k: np.rot90(x, k), A) for k in range(-1, 5)]
             + [(lambda x: pt.rot90(x, 1, (2, 0)), lambda x: np.rot90(x, 1, (2, 0)), B)],
    "roll": [(lambda x: pt.roll(x, 2), lambda x: np.roll(x, 2), A), (lambda x: pt.roll(x, -7, 1), lambda x: np.roll(x, -7, 1), A),
             (lambda x: pt.roll(x, 1, 0), lambda x: np.roll(x, 1, 0), np.empty((0, 2)))],
    "tile": [(lambda x: pt.tile(x, 2), lambda x: np.tile(x, 2), V), (lambda x: pt.tile(x, (2, 3)), lambda x: np.tile(x, (2, 3)), V),
             (lambda x: pt.tile(x, (2, 1, 3)), lambda x: np.tile(x, (2, 1, 3)), A), (lambda x: pt.tile(x, (2,)), lambda x: np.tile(x, (2,)), B),
             (lambda x: pt.tile(x, (0, 2)), lambda x: np.tile(x, (0, 2)), A)],
    "repeat": [(lambda x: pt.repeat(x, 3), lambda x: np.repeat(x, 3), A), (lambda x: pt.repeat(x, 2, 0), lambda x: np.repeat(x, 2, 0), A),
               (lambda x: x.repeat([1, 0, 2], axis=0), lambda x: np.repeat(x, [1, 0, 2], 0), A),
               (lambda x: pt.repeat(x, [2, 0, 0, 1, 3]), lambda x: np.repeat(x, [2, 0, 0, 1, 3]), V)],
    "join_dims": [(lambda x: pt.join_dims(x), lambda x: x.reshape(-1), B), (lambda x: pt.join_dims(x, 1), lambda x: x.reshape(2, 12), B),
                  (lambda x: pt.join_dims(x, 0, 2), lambda x: x.reshape(6, 4), B),
                  (lambda x: pt.join_dims(x, 1, 0), lambda x: x.reshape(3, 1, 4), A), (lambda x: pt.join_dims(x, -1, 1), lambda x: x, A)],
    "split_dims": [(lambda x: pt.split_dims(x, (2, 2), 1), lambda x: x.reshape(3, 2, 2), A),
                   (lambda x: pt.split_dims(x, (3, -1), -1), lambda x: x.reshape(3, 4), A.reshape(-1)),
                   (lambda x: pt.split_dims(x, 3), lambda x: x, A)],
    "split": [(lambda x: pt.split(x, [1, 3], axis=1)[1], lambda x: np.split(x, [1], 1)[1], A),
              (lambda x: pt.split(x, [2, 0, 3])[2], lambda x: np.split(x, [2, 2])[2], V)],
    "broadcast_arrays": [(lambda x, y: sum(pt.broadcast_arrays(x.dimshuffle(0, "x"), y)), lambda x, y: x[:, None] + y, V, A[0])],
    "take_along_axis": [(lambda x: pt.take_along_axis(x, pt.argsort(x, axis=0), axis=0), lambda x: np.sort(x, 0), -A),
                        (lambda x: pt.take_along_axis(x, np.array([[0, -1]]), axis=1), lambda x: np.take_along_axis(x, np.array([[0, -1]]), 1), A[:1])],
    "nan_to_num": [(lambda x: pt.nan_to_num(x), np.nan_to_num, np.array([1, np.nan, np.inf, -np.inf])),
                   (lambda x: pt.nan_to_num(x, 1, 2, 3), lambda x: np.nan_to_num(x, nan=1, posinf=2, neginf=3), np.array([1, np.nan, np.inf, -np.inf], "f4"))],
    "fill_diagonal": [(lambda x: pt.fill_diagonal(x, 5), lambda x: np.where(np.eye(3, 4), 5.0, x), A),
                      (lambda x: pt.fill_diagonal(x, 5), lambda x: np.where(np.eye(4, 3), 5.0, x), A.T),
                      (lambda x: pt.fill_diagonal_offset(x, 5, -1), lambda x: np.where(np.eye(3, 4, -1), 5.0, x), A),
                      (lambda x: pt.fill_diagonal_offset(x, 5, 2), lambda x: np.where(np.eye(3, 4, 2), 5.0, x), A)],
    "permute_row_elements": [(lambda x: pt.permute_row_elements(x, [2, 0, 1, 3]), lambda x: x[:, [2, 0, 1, 3]], A),
                             (lambda x: pt.permute_row_elements(x, [2, 0, 1, 3], inverse=True), lambda x: x[:, [1, 2, 0, 3]], A)],
    "kron": [(lambda x: pt.linalg.kron(x, x), lambda x: np.kron(x, x), A[:2, :3]), (lambda x, y: pt.linalg.kron(x, y), np.kron, V, A)],
    "cov": [(lambda x: pt.cov(x), np.cov, A**2), (lambda x: pt.cov(x, rowvar=False, ddof=0), lambda x: np.cov(x, rowvar=False, ddof=0), A**2),
            (lambda x, y: pt.cov(x, y), np.cov, A**2, A[0]),
            (lambda x: pt.cov(x, fweights=[1, 2, 1, 3], aweights=[0.5, 1, 2, 1]), lambda x: np.cov(x, fweights=[1, 2, 1, 3], aweights=[0.5, 1, 2, 1]), A**2)],
    "median": [(lambda x, a=a: pt.median(x, a), lambda x, a=a: np.median(x, a), B**2) for a in (None, 0, 1, (0, 2), -1)]
              + [(lambda x: pt.median(x, 0), lambda x: np.median(x, 0), np.array([[1, np.nan], [2, 3.0]]))],
    "quantile": [(lambda x: pt.quantile(x, 0.3, axis=1), lambda x: np.quantile(x, 0.3, axis=1), A**2),
                 (lambda x: pt.quantile(x, [0.0, 0.25, 1.0]), lambda x: np.quantile(x, [0.0, 0.25, 1.0]), V),
                 (lambda x: pt.percentile(x, [10, 60], axis=(0, 2), keepdims=True), lambda x: np.percentile(x, [10, 60], axis=(0, 2), keepdims=True), B**2)],
    "tensordot": [(lambda x, y: pt.tensordot(x, y, 1), lambda x, y: np.tensordot(x, y, 1), A, A.T), (lambda x, y: pt.tensordot(x, y), np.tensordot, B, A),
                  (lambda x, y: pt.tensordot(x, y, [[2, 1], [1, 0]]), lambda x, y: np.tensordot(x, y, [[2, 1], [1, 0]]), B, A),
                  (lambda x, y: pt.tensordot(x, y, 0), lambda x, y: np.tensordot(x, y, 0), V, V)],
    "products": [(pt.vecdot, lambda x, y: (x * y).sum(-1), V, V), (lambda x: pt.vecdot(x, A), lambda x: (x * A).sum(-1), B),
                 (lambda x, y: pt.matvec(x, y), lambda x, y: x @ y, B, A[0]), (lambda x, y: pt.vecmat(x, y), lambda x, y: x @ y, A[:, 0], B)],
}  # fmt: skip


@pytest.mark.parametrize(
    "name,k", [(name, k) for name, cases in MOVED.items() for k in range(len(cases))]
)
def test_as_numpy(name, k, mode):
    build, numpy, *arrays = MOVED[name][k]
    rough = {"median", "quantile", "nan_to_num"}
    check(
        build, numpy, *arrays, mode=mode, gradient=name not in rough and all(a.size for a in arrays)
    )


@pytest.mark.parametrize("width", [0, 2, (1, 2), ((1, 0), (2, 5))], ids=str)
@pytest.mark.parametrize(
    "pad_mode",
    [
        "constant",
        "edge",
        "linear_ramp",
        "maximum",
        "minimum",
        "mean",
        "median",
        "wrap",
        "symmetric",
        "reflect",
    ],
)
def test_pad(pad_mode, width, mode):
    check(
        lambda x: pt.pad(x, width, mode=pad_mode),
        lambda x: np.pad(x, width, mode=pad_mode),
        A,
        mode=mode,
    )
    if pad_mode == "constant":
        check(
            lambda x: pt.pad(x, width, constant_values=(2, 3)),
            lambda x: np.pad(x, width, constant_values=(2, 3)),
            A,
            mode=mode,
        )
    if pad_mode == "linear_ramp":
        check(
            lambda x: pt.pad(x, width, pad_mode, end_values=(2, 3)),
            lambda x: np.pad(x, width, pad_mode, end_values=(2, 3)),
            A,
            mode=mode,
        )
    if pad_mode in ("symmetric", "reflect"):
        check(
            lambda x: pt.pad(x, width, pad_mode, reflect_type="odd"),
            lambda x: np.pad(x, width, pad_mode, reflect_type="odd"),
            A,
            mode=mode,
        )
    if pad_mode in ("maximum", "mean"):
        check(
            lambda x: pt.pad(x, width, pad_mode, stat_length=2),
            lambda x: np.pad(x, width, pad_mode, stat_length=2),
            A,
            mode=mode,
        )


@pytest.mark.parametrize("pad_mode", ["symmetric", "reflect"])
@pytest.mark.parametrize("dtype", ["int8", "uint8", "int64", "float16", "float32", "float64"])
def test_pad_by_points(pad_mode, dtype, mode):
    """Also if the padding is longer than the array, and for infinities, which must not affect elements that do not
    depend on them."""
    for n in (1, 2, 5):
        values = np.arange(3, 3 + n).astype(dtype) ** 2
        x = pt.TensorType(dtype, (None,))("x")
        before, after = pt.lscalars("before", "after")
        f = bt.function(
            [x, before, after], pt.pad(x, (before, after), pad_mode, reflect_type="odd"), mode=mode
        )
        for widths in ((0, 0), (3, 1), (0, 11), (14, 2)):
            np.testing.assert_array_equal(
                f(values, *widths), np.pad(values, widths, pad_mode, reflect_type="odd")
            )
    if np.dtype(dtype).kind == "f":
        for values in (
            np.array([1, np.inf, 2], dtype),
            np.array([1, 2, np.inf], dtype),
            np.array([np.inf], dtype),
        ):
            with np.errstate(invalid="ignore"):
                np.testing.assert_array_equal(
                    f(values, 1, 2), np.pad(values, (1, 2), pad_mode, reflect_type="odd")
                )
    with pytest.raises(NotImplementedError, match="bools"):
        pt.pad(pt.TensorType("bool", (None,))(), 1, pad_mode, reflect_type="odd")
    with pytest.raises(ValueError, match="reflect_type"):
        pt.pad(x, 1, pad_mode, reflect_type="strange")


@pytest.mark.parametrize(
    "subscripts,arrays",
    [("ij,jk->ik", [A, A.T]), ("ij,jk", [A, A.T]), ("ii", [A[:, :3]]), ("ii->i", [A[:, :3]]), ("ij->ji", [A]), ("ij->", [A]),
     ("i,j->ij", [V, V]), ("i,i", [V, V]), ("i,i->i", [V, V]), ("bij,bjk->bik", [B, B.transpose(0, 2, 1)]), ("...ij,jk->...ik", [B, A.T]),
     ("...i->...", [B]), ("...,...", [B, A]), ("bij,kj,k->bi", [B, A, V[:3]]), ("ij,kl,jl->ik", [A, A, A[:, :1] * A[0]]) if False else ("ij,kj,lk->il", [A, A, A[:2, :3]]),
     ("ijk,jk,k->i", [B, A, A[0]]), ("aab->ba", [np.arange(18.0).reshape(3, 3, 2)]), (" i j , j -> i ", [A, A[0]]), ("i,->i", [V, np.float64(2.0)]),
     ("ba,b", [A, V[:3]]), ("ij,ij,ij->j", [A, A, A]), ("ij,ij->i", [A, A])],
    ids=str,
)  # fmt: skip
def test_einsum(subscripts, arrays, mode):
    arrays = [np.asarray(a) for a in arrays]
    check(
        lambda *xs: pt.einsum(subscripts, *xs),
        lambda *xs: np.einsum(subscripts, *xs),
        *arrays,
        mode=mode,
    )


def test_einsum_of_batched_vector_products_is_a_loop():
    x, y = pt.dmatrix("x"), pt.dmatrix("y")
    f = bt.function([x, y], pt.einsum("ij,ij->i", x, y))
    assert not any("Dot" in str(node.op) for node in f.maker.fgraph.toposort())


def test_einsum_contracts_the_smallest_operands_first():
    x, y, z = (
        pt.tensor("x", shape=(500, 2)),
        pt.tensor("y", shape=(2, 500)),
        pt.tensor("z", shape=(500, 3)),
    )
    f = bt.function([x, y, z], pt.einsum("ij,jk,kl->il", x, y, z))
    shapes = [node.outputs[0].type.shape for node in f.maker.fgraph.toposort()]
    assert (500, 500) not in shapes


@pytest.mark.parametrize(
    "subscripts,count,message",
    [
        ("ij,jk->ik", 1, "operands"),
        ("ijk", 1, "dimensions"),
        ("i1", 1, "letters"),
        ("ij->iij", 1, "twice"),
        ("ij->k", 1, "no operand"),
        ("i.j", 1, "letters"),
    ],
)
def test_invalid_einsum(subscripts, count, message):
    with pytest.raises(ValueError, match=message):
        pt.einsum(subscripts, *[pt.dmatrix() for _ in range(count)])


@pytest.mark.parametrize(
    "subscripts, position",
    [
        ("ij, jk -> iz", "           ^"),
        ("i$,jk->ik", " ^"),
        ("ij,jk->ii", "        ^"),
        ("ij,jkl->ik", "   ^^^"),
        ("ij,j1->i", "    ^"),
        ("ij,j.k->i", "    ^"),
    ],
)
def test_errors_of_einsum_point_at_the_letter(subscripts, position):
    with pytest.raises(ValueError) as caught:
        pt.einsum(subscripts, pt.dmatrix(), pt.dmatrix())
    shown, arrows = str(caught.value).splitlines()[1:3]
    assert shown.removeprefix("  where    ") == subscripts and arrows[11:] == position


@pytest.mark.parametrize(
    "subscripts, shapes, arrows",
    [
        ("ij,jk->ik", [(2, 3), (4, 2)], " ^ ^    "),
        ("ii->i", [(2, 3)], "^^  ^"),
        ("i,i,i->", [(2,), (2,), (3,)], "^ ^ ^  "),
        ("...i,...i", [(2, 3), (3, 3)], "^^^  ^^^ "),
    ],
)
def test_runtime_length_errors_of_einsum_point_at_the_letter(subscripts, shapes, arrows):
    variables = [
        pt.tensor(f"x{k}", dtype="float64", shape=(None,) * len(shape))
        for k, shape in enumerate(shapes)
    ]
    f = bt.function(variables, pt.einsum(subscripts, *variables))
    with pytest.raises(ValueError, match="einsum.*lengths that must be equal differ") as caught:
        f(*(np.ones(shape) for shape in shapes))
    shown, found = str(caught.value).splitlines()[1:3]
    assert (
        shown.removeprefix("  where    ") == subscripts and found[11:].rstrip() == arrows.rstrip()
    )


def test_length_errors_of_einsum_name_the_letter():
    with pytest.raises(ValueError, match='einsum, "j": lengths 3 and 2'):
        pt.einsum("ij,jk", pt.tensor(shape=(2, 3)), pt.tensor(shape=(2, 2)))
    with pytest.raises(ValueError, match='einsum, "i": lengths 2 and 3'):
        pt.einsum("ii", pt.tensor(shape=(2, 3)))


@pytest.mark.parametrize("endpoint", [True, False])
@pytest.mark.parametrize("num", [0, 1, 2, 7])
def test_sequences(num, endpoint, mode):
    start, stop = np.array([1.0, 0.1]), np.array([10.0, 4.0])
    for name in ("linspace", "geomspace", "logspace"):
        ours, numpys = getattr(pt, name), getattr(np, name)
        check(
            lambda a, b: ours(a, b, num, endpoint=endpoint),
            lambda a, b: numpys(a, b, num, endpoint=endpoint),
            start,
            stop,
            mode=mode,
            gradient=num > 2 and name == "linspace",
            rtol=1e-12,
        )
        check(
            lambda: ours(2, 10, num, endpoint=endpoint),
            lambda: numpys(2, 10, num, endpoint=endpoint),
            mode=mode,
            rtol=1e-12,
        )
    check(
        lambda a, b: pt.linspace(a, b, num, axis=-1),
        lambda a, b: np.linspace(a, b, num, axis=-1),
        start,
        stop,
        mode=mode,
    )
    check(
        lambda: pt.linspace(0, 9, num, dtype="int32"),
        lambda: np.linspace(0, 9, num, dtype="int32"),
        mode=mode,
    )
    n = pt.lscalar("n")
    values, step = pt.linspace(0.0, 5.0, n, retstep=True)
    got = bt.function([n], [values, step], mode=mode)(max(num, 2))
    expected = np.linspace(0.0, 5.0, max(num, 2), retstep=True)
    np.testing.assert_allclose(got[0], expected[0])
    np.testing.assert_allclose(got[1], expected[1])


def test_triangles_and_grids(mode):
    check(lambda: pt.tri(3, 5, k=-1), lambda: np.tri(3, 5, k=-1), mode=mode)
    check(lambda: pt.bartlett(7), lambda: np.bartlett(7), mode=mode)
    for k in (-1, 0, 2):
        for ours, numpys in (
            (pt.tril_indices, np.tril_indices),
            (pt.triu_indices, np.triu_indices),
        ):
            for got, expected in zip(ours(4, k, 3), numpys(4, k, 3)):
                np.testing.assert_array_equal(got.eval(), expected)
    for got, expected in zip(pt.mgrid[0:3, 1:2:4j], np.mgrid[0:3, 1:2:4j]):
        np.testing.assert_allclose(got.eval(), expected)
    for got, expected in zip(pt.ogrid[0:3, 1:6:2], np.ogrid[0:3, 1:6:2]):
        np.testing.assert_allclose(got.eval(), expected)


@pytest.mark.parametrize("dtype", ["float64", "float32", "int8", "uint64", "bool"])
@pytest.mark.parametrize("side", ["left", "right"])
def test_searchsorted(dtype, side, mode):
    rng = np.random.default_rng(0)
    x = np.sort(rng.integers(0, 9, 40)).astype(dtype)
    v = rng.integers(0, 10, (5, 7)).astype(dtype)
    check(
        lambda a, b: pt.searchsorted(a, b, side),
        lambda a, b: np.searchsorted(a, b, side),
        x,
        v,
        mode=mode,
    )
    check(
        lambda b: pt.searchsorted([1.0, 2.0, 5.0], b, side),
        lambda b: np.searchsorted([1.0, 2.0, 5.0], b, side),
        v,
        mode=mode,
    )
    unsorted = rng.permutation(x)
    order = np.argsort(unsorted)
    check(
        lambda a: a.searchsorted(3, side, order),
        lambda a: np.searchsorted(a, 3, side, order),
        unsorted,
        mode=mode,
    )


def test_searchsorted_in_batches(mode):
    x, v = pt.dvector("x"), pt.dmatrix("v")
    xs, vs = pt.dmatrix("xs"), pt.dtensor3("vs")
    out = bt.graph.vectorize_graph(pt.searchsorted(x, v), {x: xs, v: vs})
    rng = np.random.default_rng(1)
    a, b = np.sort(rng.normal(size=(3, 9)), 1), rng.normal(size=(3, 2, 4))
    np.testing.assert_array_equal(
        bt.function([xs, vs], out, mode=mode)(a, b), [np.searchsorted(i, j) for i, j in zip(a, b)]
    )


def test_digitize(mode):
    x = np.array([-1.0, 0.0, 0.5, 1.0, 2.0, 9.0])
    for bins in (np.array([0.0, 1.0, 2.0]), np.array([2.0, 1.0, 0.0]), np.array([1.0])):
        for right in (False, True):
            check(
                lambda a, b: pt.digitize(a, b, right),
                lambda a, b: np.digitize(a, b, right),
                x,
                bins,
                mode=mode,
            )


@pytest.mark.parametrize(
    "array",
    [
        np.array([3, 1, 1, 7, 3]),
        np.array([[2.0, np.nan], [np.nan, -1.0]]),
        np.empty(0),
        np.array([True, False]),
    ],
    ids=str,
)
def test_unique(array, mode):
    x = pt.tensor(dtype=array.dtype, shape=(None,) * array.ndim)
    got = bt.function([x], pt.unique(x, True, True, True), mode=mode)(array)
    expected = np.unique(array, True, True, True)
    for g, e in zip(got, expected):
        np.testing.assert_array_equal(g, np.asarray(e).reshape(g.shape))
    assert got[2].shape == array.shape


def test_counts(mode):
    x = np.array([1, 4, 1, 0])
    check(lambda a: pt.bincount(a), np.bincount, x, mode=mode)
    check(
        lambda a: pt.bincount(a, minlength=9), lambda a: np.bincount(a, minlength=9), x, mode=mode
    )
    check(lambda a, w: pt.bincount(a, w), np.bincount, x, V[:4], mode=mode)
    check(lambda a: pt.bincount(a), np.bincount, x[:0], mode=mode)
    i = pt.lvector()
    with pytest.raises(ValueError, match="negative"):
        bt.function([i], pt.bincount(i), mode=mode)([1, -1])


def test_choices_and_indices(mode):
    which = np.array([2, 0, 1, 2])
    choices = [np.arange(4), np.arange(4) * 10, np.full(4, -1)]
    check(lambda a: pt.choose(a, choices), lambda a: np.choose(a, choices), which, mode=mode)
    for how in ("clip", "wrap"):
        check(
            lambda a: pt.choose(a, choices, how),
            lambda a: np.choose(a, choices, mode=how),
            which * 3 - 2,
            mode=mode,
        )
    i = pt.lvector()
    for bad in ([3, 0, 0, 0], [-1, 0, 0, 0]):
        with pytest.raises(IndexError):
            bt.function([i], pt.choose(i, choices), mode=mode)(bad)
        with pytest.raises(ValueError, match="out of range"):
            bt.function([i], pt.ravel_multi_index([i, i], (3, 3)), mode=mode)(bad)
    a, b = pt.dvectors("a", "b")
    f = bt.function([i, a, b], pt.choose(i, [a, b]), mode=mode)
    for lengths in ((3, 2, 3), (3, 3, 2), (2, 3, 3)):
        with pytest.raises(ValueError, match="length|shape"):
            f(*(np.zeros(n, v.dtype) for n, v in zip(lengths, (i, a, b))))
    check(
        lambda a: pt.ravel_multi_index((a, a), (3, 4)),
        lambda a: np.ravel_multi_index((a, a), (3, 4)),
        which,
        mode=mode,
    )
    for k in range(2):
        check(
            lambda a: pt.unravel_index(a, (3, 4))[k],
            lambda a: np.unravel_index(a, (3, 4))[k],
            which * 5,
            mode=mode,
        )
    check(
        lambda a: pt.inverse_permutation(a),
        lambda a: np.argsort(a),
        np.array([2, 0, 3, 1]),
        mode=mode,
    )


def test_pack_and_unpack(mode):
    x, y = pt.dmatrix("x"), pt.dtensor3("y")
    packed, shapes = pt.pack(x, y, keep_axes=-1)
    back = pt.unpack(packed, [[3], [2, 3]], keep_axes=-1)
    got = bt.function([x, y], [packed, *shapes, *back], mode=mode)(A, B)
    np.testing.assert_array_equal(got[0], np.concatenate([A, B.reshape(-1, 4)]))
    assert got[1].tolist() == [3] and got[2].tolist() == [2, 3]
    np.testing.assert_array_equal(got[3], A)
    np.testing.assert_array_equal(got[4], B)
    flat, shapes = pt.pack(x, 2.0)
    for got, expected in zip(bt.function([x], pt.unpack(flat, shapes), mode=mode)(A), (A, 2.0)):
        np.testing.assert_array_equal(got, expected)


def test_batches_of_expressions_of_a_shape(mode):
    """A length is the same for all elements of a batch, also if it is an element of `x.shape`."""
    x, many = pt.dmatrix("x"), pt.dtensor3("many")
    outputs = [
        pt.eye(x.shape[0]) @ x,
        pt.zeros(x.shape) + x[0],
        x.reshape((x.shape[1], x.shape[0])),
        pt.arange(x.shape[1]) * x,
        x[: x.shape[0] - 1],
        x.shape,
    ]
    values = A.reshape(2, -1, 2)
    single = bt.function([x], outputs, mode=mode)
    got = bt.function([many], bt.vectorize_graph(outputs, {x: many}), mode=mode)(values)
    for of_batch, singles in zip(got, zip(*(single(each) for each in values))):
        np.testing.assert_array_equal(of_batch, singles)


def test_vectorize():
    x = pt.dtensor3("x")
    norm = pt.vectorize(lambda v: pt.sqrt((v**2).sum()), "(n)->()")
    np.testing.assert_allclose(bt.function([x], norm(x))(B), np.linalg.norm(B, axis=-1))
    outer = pt.vectorize(lambda a, b: pt.outer(a, b), "(m),(n)->(m,n)")
    np.testing.assert_allclose(
        bt.function([x], outer(x, x[:, :, :2]))(B), np.einsum("...i,...j->...ij", B, B[..., :2])
    )
    with pytest.raises(ValueError, match="signature"):
        pt.vectorize(lambda v: v, "(n->()")
    with pytest.raises(ValueError, match="dimensions"):
        norm(pt.dscalar())


def test_parts_of_real_numbers(mode):
    x = np.array([-2.0, 0.0, 3.0])
    for name in ("real", "imag", "conj", "conjugate", "angle"):
        check(getattr(pt, name), getattr(np, name), x, mode=mode, gradient=False)


def test_static_shapes():
    assert pt.get_vector_length(pt.as_tensor([1, 2, 3])) == 3
    with pytest.raises(ValueError):
        pt.get_vector_length(pt.dvector())
    assert pt.get_underlying_scalar_constant_value(pt.as_tensor([2.0, 2.0])) == 2
    assert pt.get_scalar_constant_value(pt.as_tensor(3) + 4) == 7
    with pytest.raises(bt.NotScalarConstantError):
        pt.get_scalar_constant_value(pt.dscalar())
    assert pt.is_flat(pt.dvector()) and not pt.is_flat(pt.dmatrix())


@pytest.mark.parametrize("build,error", [
    (lambda x: pt.flip(x, 5), IndexError), (lambda x: pt.roll(x, 1, 5), IndexError), (lambda x: pt.rot90(x, 1, (0, 0)), ValueError),
    (lambda x: pt.pad(x, -1), ValueError), (lambda x: pt.pad(x, 1, mode="upside"), ValueError), (lambda x: pt.pad(x, 1, end_values=2), ValueError),
    (lambda x: pt.join_dims(x, 0, 3), ValueError), (lambda x: pt.take_along_axis(x, np.array([1])), ValueError),
    (lambda x: pt.take_along_axis(x, x), TypeError), (lambda x: pt.quantile(x, 1.5), ValueError), (lambda x: pt.tensordot(x, x, 3), ValueError),
    (lambda x: pt.tensordot(pt.ones((2, 3)), pt.ones((2, 3)), 1), ValueError), (lambda x: pt.searchsorted(x, 1), ValueError),
    (lambda x: pt.repeat(x, 1.5), TypeError), (lambda x: pt.split(x, [-1, 2]), ValueError), (lambda x: pt.matvec(x[0], x), ValueError),
    (lambda x: pt.fill_diagonal(x[0], 1), ValueError), (lambda x: pt.bincount(x), TypeError), (lambda x: pt.linspace(0, 1, -1), ValueError),
])  # fmt: skip
def test_wrong_arguments(build, error):
    with pytest.raises(error):
        build(pt.dmatrix("x"))


def test_runtime_length_mismatches_are_errors(mode):
    x, y, n = pt.dmatrix("x"), pt.dmatrix("y"), pt.lvector("n")
    with pytest.raises(ValueError):
        bt.function([x, y], pt.tensordot(x, y, 1), mode=mode)(A, A)
    with pytest.raises(ValueError):
        bt.function([x, y], pt.einsum("ij,jk", x, y), mode=mode)(A, A)
    with pytest.raises(ValueError):
        bt.function([x], pt.einsum("ii", x), mode=mode)(A)
    with pytest.raises(ValueError):
        bt.function([x, n], pt.repeat(x, n, axis=0), mode=mode)(A, [1, 2])
    with pytest.raises(ValueError, match="negative"):
        bt.function([x, n], pt.repeat(x, n, axis=0), mode=mode)(A, [1, 2, -1])
    with pytest.raises(ValueError):
        bt.function([x, n], pt.split(x, [n[0], n[1]])[0], mode=mode)(A, [1, 1])


def test_constants_have_values():
    c = pt.constant([2.0, 2.0])
    assert (
        c.value is not None and c.unique_value == 2 and pt.constant([1.0, 2.0]).unique_value is None
    )
    assert (
        c.signature()
        == pt.constant(np.array([2.0, 2.0])).signature()
        != pt.constant([2.0, 2.5]).signature()
    )
    assert hash(c.signature()) == hash(pt.constant([2.0, 2.0]).signature())
    assert (
        c.equals(pt.constant([2.0, 2.0]))
        and c.equals(np.array([2.0, 2.0]))
        and not c.equals([2, 2])
        and not c.equals(pt.dvector())
    )
    assert pt.constant(np.nan).equals(pt.constant(np.nan))


@pytest.mark.parametrize("L", [0, 1, 2, 3.5, np.inf, -np.inf])
def test_norm_of_a_variable(L, mode):
    check(lambda x: x.norm(L), lambda x: np.linalg.norm(x, L), V, mode=mode, gradient=L in (2, 3.5))
    check(
        lambda x: x.norm(L, axis=1, keepdims=True),
        lambda x: np.linalg.norm(x, L, axis=1, keepdims=True),
        A,
        mode=mode,
        gradient=False,
    )


def test_parts_of_variables():
    x = pt.dvector("x")
    assert x.real is x and x.conj() is x and x.transfer("cpu") is x
    np.testing.assert_array_equal(x.imag.eval({x: V}), 0 * V)
    with pytest.raises(ValueError, match="cpu"):
        x.transfer("cuda")
    assert (pt.as_tensor(3) + 4).get_underlying_scalar_constant() == 7


def test_gradient_transformations(mode):
    x = pt.dvector("x")
    for control, expected in (
        (lambda v: bt.gradient.grad_scale(v, -2.0), -4 * V),
        (lambda v: bt.gradient.grad_clip(v, -1, 2), np.clip(2 * V, -1, 2)),
    ):
        value, gradient = bt.function(
            [x], [control(x) + 0, bt.grad((control(x) ** 2).sum(), x)], mode=mode
        )(V)
        np.testing.assert_array_equal(value, V)
        np.testing.assert_allclose(gradient, expected)
    with pytest.raises(bt.NullTypeGradError, match="declared undefined"):
        bt.grad(bt.gradient.undefined_grad(x).sum(), x)
    with pytest.raises(ValueError, match="lower"):
        bt.gradient.grad_clip(x, 2, 1)


def test_verify_grad_accepts_pytensors_arguments():
    bt.gradient.verify_grad(
        lambda x: x**2, [V], n_tests=1, rng=np.random.default_rng(0), eps=1e-6, mode="FAST_COMPILE"
    )


def test_flags_without_effect_keep_their_value():
    assert (
        bt.config.openmp is False
        and "num_threads" in bt.config.note("openmp")
        and bt.config.note("floatX") is None
    )
    with bt.config.change_flags(openmp=True, floatX="float32"):
        assert bt.config.openmp is True and bt.config.floatX == "float32"
    assert bt.config.openmp is False and bt.config.floatX == "float64"
    bt.config.on_shape_error = "raise"
    with pytest.raises(AttributeError):
        bt.config.no_such_flag


@pytest.mark.parametrize("name", ["max", "min"])
@pytest.mark.parametrize(
    "shape, axis",
    [((0,), None), ((3,), 0), ((0, 0), None), ((2, 0), 1), ((0, 3), 0), ((2, 3), -1), ((), None)],
)
def test_extrema_with_an_initial_value(name, shape, axis):
    x, value = (
        pt.tensor("x", dtype="float64", shape=(None,) * len(shape)),
        np.arange(np.prod(shape)).reshape(shape) - 2.5,
    )
    for initial in (-0.5, -np.inf if name == "max" else np.inf):
        got = bt.function([x], getattr(pt, name)(x, axis=axis, keepdims=True, initial=initial))(
            value
        )
        np.testing.assert_array_equal(
            got, getattr(np, name)(value, axis=axis, keepdims=True, initial=initial)
        )


def test_initial_values_out_of_range_of_the_dtype():
    x = pt.bvector("x")
    assert bt.function([x], pt.max(x, initial=-3))(np.array([], "int8")) == -3
    for initial in (2.5, 300, np.inf):
        with pytest.raises(TypeError, match="initial: int8"):
            pt.max(x, initial=initial)
    with pytest.raises(TypeError, match="does not hold -1"):
        pt.max(pt.tensor("u", dtype="uint8", shape=(None,)), initial=-1)
    with pytest.raises(ValueError, match="initial: expected a scalar"):
        pt.min(x, initial=[1, 2])


def test_arguments_of_functions_as_in_pytensor():
    x = pt.dvector("x")
    value = np.array([-2.5, 0.5, np.inf])
    for got, expected in [
        (pt.sum(input=x, axis=0), np.sum(value)),
        (pt.isnan(a=x), np.isnan(value)),
        (pt.isinf(a=x), np.isinf(value)),
        (pt.sgn(a=x), np.sign(value)),
        (pt.round(a=x, mode="half_away_from_zero"), [-3.0, 1.0, np.inf]),
        (pt.round(x), [-2.0, 0.0, np.inf]),
        (pt.take(a=x, indices=[2, 0]), value[[2, 0]]),
        (pt.logaddexp(x, 1.0, x), np.logaddexp(np.logaddexp(value, 1.0), value)),
        (pt.logaddexp(x), value),
        (pt.special.softmax(c=x[:2], axis=0).sum(), 1.0),
        (pt.set_subtensor(x[0], 1.0, inplace=True), [1.0, 0.5, np.inf]),
        (pt.inc_subtensor(x[[0, 0]], [1.0, 2.0], ignore_duplicates=True), [-0.5, 0.5, np.inf]),
        (pt.inc_subtensor(x[[0, 0]], [1.0, 2.0], set_instead_of_inc=True), [2.0, 0.5, np.inf]),
        (x[[0, 0]].inc([1.0, 2.0], ignore_duplicates=True), [-0.5, 0.5, np.inf]),
    ]:
        np.testing.assert_allclose(bt.function([x], got)(value), expected, rtol=1e-15)
    with pytest.raises(ValueError, match="round: mode"):
        pt.round(x, mode="up")
    with pytest.raises(TypeError, match="logaddexp: expected one operand"):
        pt.logaddexp()


@pytest.mark.parametrize("axis", [0, 1, -1])
@pytest.mark.parametrize("dtype", ["float64", "int8"])
def test_unique_slices(axis, dtype):
    value = np.array(
        [[[1, 2], [0, 0], [1, 2]], [[1, 2], [0, 1], [1, 2]], [[1, 2], [0, 0], [1, 2]]], dtype
    )
    x = pt.tensor("x", dtype=dtype, shape=(None, 3, None))
    got = bt.function([x], pt.unique(x, True, True, True, axis=axis))(value)
    expected = np.unique(value, True, True, True, axis=axis)
    for ours, theirs in zip(got, expected):
        np.testing.assert_array_equal(ours, theirs.reshape(ours.shape))
    if dtype == "float64":
        slope = bt.function([x], bt.grad(pt.unique(x, axis=axis).sum(), x))(value)
        first = np.zeros_like(value)
        index = [slice(None)] * 3
        index[axis] = expected[1]
        first[tuple(index)] = 1
        np.testing.assert_array_equal(slope, first)
    with pytest.raises(IndexError, match="axis 3 is out of bounds"):
        pt.unique(x, axis=3)


def test_dot_of_more_than_two_dimensions_agrees_with_numpy(mode):
    rng = np.random.default_rng(5)
    a, b = rng.normal(size=(2, 3, 4)), rng.normal(size=(5, 4, 2))
    for x, y in ((a, b), (a, b[0]), (a, b[0, :, 0]), (a[0, 0], b), (a[0], b)):
        u, v = (pt.tensor(dtype="float64", shape=(None,) * each.ndim) for each in (x, y))
        out = pt.dot(u, v)
        np.testing.assert_allclose(
            bt.function([u, v], out, mode=mode)(x, y), np.dot(x, y), rtol=1e-13
        )
    u, v = pt.dtensor3("u"), pt.dmatrix("v")
    bt.gradient.verify_grad(pt.dot, [a, b[0]], rng=np.random)
    with pytest.raises(ValueError):
        bt.function([u, v], pt.dot(u, v))(a, b[1, :3])


def test_products_of_scalars_are_rejected_as_in_numpy():
    x = pt.dvector("x")
    for product in (lambda: pt.matmul(x, 2.0), lambda: x @ pt.dscalar("s"), lambda: 2.0 @ x):
        with pytest.raises(ValueError, match="no dimension to sum over"):
            product()


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("indexing", ["xy", "ij"])
def test_meshgrid(mode, indexing, sparse):
    x, y, z = pt.dvector("x"), pt.lvector("y"), pt.dmatrix("z")
    values = [np.array([1.0, 2.0, 3.0]), np.array([10, 20]), np.array([[5.0, 6.0]])]
    for n in (1, 2, 3):
        made = pt.meshgrid(*[x, y, z][:n], indexing=indexing, sparse=sparse)
        expected = np.meshgrid(*values[:n], indexing=indexing, sparse=sparse)
        for got, reference in zip(
            bt.function([x, y, z][:n], made, mode=mode)(*values[:n]), expected, strict=True
        ):
            np.testing.assert_array_equal(got, reference)
            assert got.dtype == reference.dtype and got.shape == reference.shape
    assert pt.meshgrid() == [] and [g.eval().shape for g in pt.meshgrid(1.0, [])] == [
        (0, 1),
        (0, 1),
    ]
    slope = bt.grad((pt.meshgrid(x, y)[0] ** 2).sum(), x)
    np.testing.assert_allclose(slope.eval({x: values[0], y: values[1]}), 4 * values[0])
    with pytest.raises(ValueError, match="indexing"):
        pt.meshgrid(x, y, indexing="yx")


def test_counts_must_not_be_negative(mode):
    n, m = pt.lscalars("n", "m")
    with pytest.raises(ValueError, match="eye: .* at least 0, got -1"):
        pt.eye(-1)
    with pytest.raises(ValueError, match="eye: .* at least 0, got -2"):
        pt.eye(3, -2)
    square = bt.function([n, m], pt.eye(n, m, 1), mode=mode)
    np.testing.assert_array_equal(square(2, 3), np.eye(2, 3, 1))
    assert square(0, 3).shape == (0, 3)
    for bad in ((-1, 3), (3, -1)):
        with pytest.raises(ValueError, match="eye: .* negative"):
            square(*bad)
    for function in (pt.linspace, pt.logspace, pt.geomspace):
        with pytest.raises(ValueError, match="at least 0"):
            function(1.0, 2.0, -1)
        points = bt.function([n], function(1.0, 2.0, n), mode=mode)
        assert points(0).shape == (0,) and points(2).shape == (2,)
        with pytest.raises(ValueError, match="at least 0, got a negative one"):
            points(-2)
    x = pt.dvector("x")
    assert not any(
        "CheckAndRaise" in str(node.op)
        for node in bt.graph.toposort([pt.eye(x.shape[0] + 1), pt.linspace(0, 1, x.shape[0] * 2)])
    )


def test_dropped_dimensions_of_unknown_length_are_checked_at_run_time(mode):
    m = pt.dmatrix("m")
    f = bt.function([m], m.dimshuffle(1), mode=mode)
    np.testing.assert_array_equal(f([[1.0, 2.0]]), [1.0, 2.0])
    with pytest.raises(bt.ShapeError):
        f([[1.0], [2.0]])
    with pytest.raises(ValueError, match="can't be dropped"):
        pt.matrix("m", shape=(2, None)).dimshuffle(1)


def test_split_into_a_number_of_parts(mode):
    x, sizes = pt.dvector("x"), pt.lvector("sizes")
    f = bt.function([x, sizes], pt.split(x, sizes, n_splits=3), mode=mode)
    assert [each.tolist() for each in f([1.0, 2.0, 3.0], [2, 0, 1])] == [[1.0, 2.0], [], [3.0]]
    for wrong in ([3, 0], [1, 1, 2], [4, -1, 0]):
        with pytest.raises(ValueError):
            f([1.0, 2.0, 3.0], wrong)
    with pytest.raises(ValueError, match="n_splits is 2"):
        pt.split(x, [1, 1, 1], n_splits=2)


@pytest.mark.parametrize(
    "call",
    [
        lambda: pt.cast(1.0, "real"),
        lambda: pt.matrix("a", dtype="zz"),
        lambda: pt.zeros(3, dtype="object"),
    ],
)
def test_invalid_dtypes_are_type_errors(call):
    with pytest.raises(TypeError, match="dtype"):
        call()


def test_conversion_errors_state_the_expected_type():
    for nothing in (None, "text", object()):
        with pytest.raises(TypeError, match="expected a variable, a number or an array"):
            pt.as_tensor_variable(nothing)


def test_elementwise_ops_broadcast():
    x, s = pt.dmatrix("x"), pt.dvector("s")
    for op in (pt.add(x, x).owner.op, pt.elemwise.Elemwise("add")):
        np.testing.assert_array_equal(op(x, s).eval({x: [[1.0, 2.0]], s: [3.0, 4.0]}), [[4.0, 6.0]])
        assert op.make_node(s, 1.0).outputs[0].ndim == 1
