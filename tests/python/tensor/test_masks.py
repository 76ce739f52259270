"""Boolean masks and the positions of nonzero elements, against NumPy."""

import numpy as np
import pytest

import bitale as bt
import bitale.tensor as pt

S = np.s_
SHAPE = (4, 5, 3)
X = np.random.default_rng(0).integers(-20, 20, SHAPE) / 4.0
DTYPES = [*"bBhHiIqQfd?"]


@pytest.fixture(params=["FAST_COMPILE", "py", "vm", "jit", "c"])
def every(request):
    """Runs a test with every linker, unlike `mode`."""
    return request.param if request.param == "FAST_COMPILE" else bt.Mode(linker=request.param)


def some(shape, how="some", seed=0):
    if how == "none":
        return np.zeros(shape, bool)
    if how == "all":
        return np.ones(shape, bool)
    return np.random.default_rng(seed).random(shape) < {"some": 0.5, "few": 0.05}[how]


def mask(name, ndim):
    return pt.TensorType("bool", (None,) * ndim)(name)


# Indices that contain a mask, which is an array or a variable, and the number of dimensions of the mask.
INDICES = {
    "x[m]": (1, lambda m: m),
    "x[m, :2]": (1, lambda m: S[m, :2]),
    "x[m, ..., 1:]": (1, lambda m: S[m, ..., 1:]),
    "x[m, 1]": (1, lambda m: S[m, 1]),
    "x[m, -1, 0]": (1, lambda m: S[m, -1, 0]),
    "x[None, m]": (1, lambda m: S[None, m]),
    "x[m, None]": (1, lambda m: S[m, None]),
    "x[m, :, 1]": (1, lambda m: S[m, :, 1]),
    "x[m, [3]]": (1, lambda m: S[m, [3]]),
    "x[m, [[3], [1]]]": (1, lambda m: S[m, [[3], [1]]]),
    "x[m2]": (2, lambda m: m),
    "x[m2, 1:]": (2, lambda m: S[m, 1:]),
    "x[m2, ::-1]": (2, lambda m: S[m, ::-1]),
    "x[m2, 1]": (2, lambda m: S[m, 1]),
    "x[m2, None]": (2, lambda m: S[m, None]),
    "x[..., m2, 0]": (2, lambda m: S[..., m, 0]),
    "x[m3]": (3, lambda m: m),
    "x[None, m3]": (3, lambda m: S[None, m]),
}


@pytest.mark.parametrize("how", ["some", "all", "none"])
@pytest.mark.parametrize("name", INDICES)
def test_leading_masks(name, how, mode):
    ndim, index = INDICES[name]
    x, m = pt.dtensor3("x"), mask("m", ndim)
    value = some(SHAPE[:ndim], how)
    expected = X[index(value)]
    symbolic, known = x[index(m)], x[index(value)]
    assert symbolic.ndim == known.ndim == expected.ndim
    a, b = bt.function([x, m], [symbolic, known], mode=mode)(X, value)
    np.testing.assert_array_equal(a, expected)
    np.testing.assert_array_equal(b, expected)


# The same with the dimensions that the mask covers.
TRAILING = {
    "x[:, m]": (1, slice(1, 2), lambda m: S[:, m]),
    "x[1, m]": (1, slice(1, 2), lambda m: S[1, m]),
    "x[:2, m, 1:]": (1, slice(1, 2), lambda m: S[:2, m, 1:]),
    "x[1, m, 0]": (1, slice(1, 2), lambda m: S[1, m, 0]),
    "x[..., m]": (1, slice(2, 3), lambda m: S[..., m]),
    "x[::2, ..., m]": (1, slice(2, 3), lambda m: S[::2, ..., m]),
    "x[1, :, m]": (1, slice(2, 3), lambda m: S[1, :, m]),
    "x[:, m2]": (2, slice(1, 3), lambda m: S[:, m]),
    "x[1:, m2]": (2, slice(1, 3), lambda m: S[1:, m]),
    "x[2, m2]": (2, slice(1, 3), lambda m: S[2, m]),
    "x[:, None, m2]": (2, slice(1, 3), lambda m: S[:, None, m]),
}


@pytest.mark.parametrize("how", ["some", "all", "none"])
@pytest.mark.parametrize("name", TRAILING)
def test_trailing_masks(name, how, mode):
    ndim, covered, index = TRAILING[name]
    x, m = pt.dtensor3("x"), mask("m", ndim)
    value = some(SHAPE[covered], how)
    expected = X[index(value)]
    a, b = bt.function([x, m], [x[index(m)], x[index(value)]], mode=mode)(X, value)
    np.testing.assert_array_equal(a, expected)
    np.testing.assert_array_equal(b, expected)


def updated(x, index, how, y):
    out = x.copy()
    if how == "set":
        out[index] = y
    else:
        np.add.at(out, index, np.broadcast_to(y, out[index].shape))  # as in oracle/arrays.py
    return out


@pytest.mark.parametrize("how", ["some", "all", "none"])
@pytest.mark.parametrize("name", [*INDICES, *TRAILING])
def test_updates(name, how, mode):
    ndim, index = INDICES.get(name) or TRAILING[name][::2]
    covered = slice(0, ndim) if name in INDICES else TRAILING[name][1]
    x, y, m = pt.dtensor3("x"), None, mask("m", ndim)
    value = some(SHAPE[covered], how, seed=3)
    region = X[index(value)]
    y_value = np.random.default_rng(1).normal(size=region.shape)
    y = pt.TensorType("float64", (None,) * region.ndim)("y")
    symbolic, known = x[index(m)], x[index(value)]
    f = bt.function(
        [x, y, m],
        [
            symbolic.set(y),
            symbolic.inc(y),
            symbolic.set(2.5),
            symbolic.inc(2.5),
            known.set(y),
            known.inc(y),
            known.set(2.5),
            pt.set_subtensor(symbolic, symbolic * 2 + 1),
            pt.inc_subtensor(known, -known),
        ],
        mode=mode,
    )
    outs = f(X, y_value, value)
    at = index(value)
    # If an index array beside the mask repeats positions, the order of writes is unspecified by NumPy.
    reference = [
        updated(X, at, "set", y_value),
        updated(X, at, "inc", y_value),
        updated(X, at, "set", 2.5),
        updated(X, at, "inc", 2.5),
        updated(X, at, "set", y_value),
        updated(X, at, "inc", y_value),
        updated(X, at, "set", 2.5),
        updated(X, at, "set", region * 2 + 1),
        updated(X, at, "inc", -region),
    ]
    for out, expected in zip(outs, reference):
        np.testing.assert_array_equal(out, expected)


@pytest.mark.parametrize("how", ["some", "few", "all", "none"])
@pytest.mark.parametrize("length", [0, 1, 63, 64, 65, 1000])
def test_lengths(length, how, every):
    x, m = pt.dvector("x"), pt.vector("m", dtype="bool")
    given, value = np.arange(float(length)), some(length, how, length)
    f = bt.function(
        [x, m],
        [x[m], pt.flatnonzero(m), x[m].set(-1.0), x[m].sum(), x[m].inc(x[m][::-1]), m.nonzero()[0]],
        mode=every,
    )
    a, b, c, d, e, g = f(given, value)
    np.testing.assert_array_equal(a, given[value])
    np.testing.assert_array_equal(b, np.flatnonzero(value))
    np.testing.assert_array_equal(c, np.where(value, -1, given))
    np.testing.assert_allclose(d, given[value].sum())
    np.testing.assert_array_equal(e, updated(given, value, "inc", given[value][::-1]))
    np.testing.assert_array_equal(g, np.flatnonzero(value))
    assert b.dtype == g.dtype == np.int64


@pytest.mark.parametrize("dtype", DTYPES)
def test_dtypes(dtype, mode):
    given = np.random.default_rng(0).integers(0, 3, (30, 4)).astype(dtype)
    x = pt.matrix("x", dtype=given.dtype)
    one = np.ones((), dtype)
    f = bt.function(
        [x],
        [
            x[x > 0],
            x[pt.eq(x[:, 0], 0)],
            x[pt.eq(x, 0)].set(one),
            pt.nonzero_values(x),
            pt.flatnonzero(x),
            x[x > 0].sum(),
            *x.nonzero(),
        ],
        mode=mode,
    )
    outs = f(given)
    expected = [
        given[given > 0],
        given[given[:, 0] == 0],
        np.where(given == 0, one, given),
        given[given != 0],
        np.flatnonzero(given),
        given[given > 0].sum(),
        *np.nonzero(given),
    ]
    for out, reference in zip(outs, expected):
        np.testing.assert_array_equal(out, reference)
    assert outs[0].dtype == outs[2].dtype == outs[3].dtype == given.dtype


def test_layouts(every):
    x, m = pt.dmatrix("x"), mask("m", 2)
    f = bt.function([x, m], [x[m], x[m].set(0.5), x[:, m[0]], x[m[:, 0]], *m.nonzero()], mode=every)
    base, bits = np.random.default_rng(0).normal(size=(40, 60)), some((40, 60))
    views = [S[:20, :30], S[::2, ::2], S[::-2, ::-2], S[5:25, 7:37], S[39:19:-1, ::2]]
    for a in views:
        for b in views:
            for given, value in [
                (base[a], bits[b]),
                (base[a].T, bits[b].T),
                (base[a], np.asfortranarray(bits[b])),
            ]:
                outs = f(given, value)
                expected = [
                    given[value],
                    np.where(value, 0.5, given),
                    given[:, value[0]],
                    given[value[:, 0]],
                    *np.nonzero(value),
                ]
                for out, reference in zip(outs, expected):
                    np.testing.assert_array_equal(out, reference)


def test_bytes_that_are_neither_0_nor_1(every):
    x, m = pt.dvector("x"), pt.vector("m", dtype="bool")
    value = np.array([2, 0, 255, 0, 1] * 30, "u1").view(bool)
    given = np.arange(150.0)
    a, b, c = bt.function([x, m], [x[m], x[m].set(-1.0), x[m].sum()], mode=every)(given, value)
    selected = value.view("u1") != 0
    np.testing.assert_array_equal(a, given[selected])
    np.testing.assert_array_equal(b, np.where(selected, -1, given))
    assert c == given[selected].sum()


def test_two_masks(mode):
    x, m, n = pt.dmatrix("x"), mask("m", 1), mask("n", 1)
    given, a, b = X[:, :, 0], np.array([1, 0, 1, 1], bool), np.array([0, 1, 1, 0, 1], bool)
    f = bt.function([x, m, n], [x[m, n], x[m][:, n], x[m, n].set(0.5)], mode=mode)
    for out, expected in zip(
        f(given, a, b), [given[a, b], given[a][:, b], updated(given, (a, b), "set", 0.5)]
    ):
        np.testing.assert_array_equal(out, expected)
    with pytest.raises(IndexError, match="broadcast"):
        f(given, a, ~b)


def test_masks_of_selections(every):
    x, m, n = pt.dvector("x"), mask("m", 1), mask("n", 1)
    part = x[m]
    f = bt.function(
        [x, m, n],
        [part[part > 3], part[n], part[n].set(0.5), part[n].sum(), x[m].inc(part * n)],
        mode=every,
    )
    given, a, b = np.arange(6.0), np.array([1, 0, 1, 1, 0, 1], bool), np.array([0, 1, 1, 0], bool)
    picked = given[a]
    for out, expected in zip(
        f(given, a, b),
        [
            picked[picked > 3],
            picked[b],
            updated(picked, b, "set", 0.5),
            picked[b].sum(),
            updated(given, a, "inc", picked * b),
        ],
    ):
        np.testing.assert_array_equal(out, expected)
    for short in (2, 3, 5):
        for out in [part[n], part[n].set(0.5), part[n].sum()]:
            with pytest.raises(IndexError) as error:
                bt.function([x, m, n], out, mode=every)(given, a, some(short))
            assert message(0, 4, short) in str(error.value)


def test_reductions(mode):
    x, y, m = pt.dmatrix("x"), pt.fvector("y"), mask("m", 1)
    f = bt.function(
        [x, y, m],
        [
            x[m].sum(0),
            x[m].sum(1),
            x[m].sum(),
            x[m].prod(0),
            (x[m] > 0).all(),
            (x[m] > 0).any(0),
            (x[m] > 0).sum(),
            x[m].max(0),
            y[m].sum(),
            (y[m] * x[m, 0]).sum(),
            x[m].mean(0),
            (x[m] ** 2 - y[m][:, None]).sum(),
        ],
        mode=mode,
    )
    for how in ("some", "all"):
        given, other, value = X[:, :, 0], X[:, 0, 1].astype("f"), some(4, how)
        part, rest = given[value], other[value]
        expected = [
            part.sum(0),
            part.sum(1),
            part.sum(),
            part.prod(0),
            (part > 0).all(),
            (part > 0).any(0),
            (part > 0).sum(),
            part.max(0),
            rest.sum(),
            (rest * part[:, 0]).sum(),
            part.mean(0),
            (part**2 - rest[:, None]).sum(),
        ]
        for out, reference in zip(f(given, other, value), expected):
            assert out.dtype == reference.dtype and out.shape == reference.shape
            np.testing.assert_allclose(out, reference, rtol=1e-12)
    with pytest.raises(ValueError):
        bt.function([x, m], x[m].max(), mode=mode)(X[0], some(5, "none"))
    np.testing.assert_array_equal(
        bt.function([x, m], x[m].sum(0), mode=mode)(X[0], some(5, "none")), np.zeros(3)
    )


def test_lists_of_bools(mode):
    x = pt.dmatrix("x")
    given = X[:, :, 0]
    f = bt.function(
        [x], [x[[True, False, True, True]], x[:, [False, True, False, False, True]]], mode=mode
    )
    for out, expected in zip(f(given), [given[[0, 2, 3]], given[:, [1, 4]]]):
        np.testing.assert_array_equal(out, expected)


def test_masks_without_dimensions(mode):
    x, b = pt.dmatrix("x"), pt.scalar("b", dtype="bool")
    given = X[:, :, 0]
    f = bt.function(
        [x, b],
        [x[b], x[:, b], x[b].set(7.0), x[np.True_], x[np.False_], x[..., np.True_]],
        mode=mode,
    )
    for value in (True, False):
        expected = [
            given[value],
            given[:, value],
            updated(given, value, "set", 7.0),
            given[True],
            given[False],
            given[..., True],
        ]
        for out, reference in zip(f(given, value), expected):
            assert out.shape == reference.shape
            np.testing.assert_array_equal(out, reference)


def test_known_masks_give_known_lengths():
    x = pt.tensor("x", dtype="float64", shape=(4, None))
    known = x[np.array([True, False, True, True])]
    assert known.type.shape == (3, None)
    assert x[:, np.array([True, False, True])].type.shape == (4, 2)
    assert pt.flatnonzero(np.array([[1, 0], [2, 0]])).type.shape == (2,)
    # A contiguous range of positions becomes a slice.
    f = bt.function([x], x[[False, True, True, True]])
    assert not any(
        type(node.op).__name__.startswith("Advanced") for node in f.maker.fgraph.apply_nodes
    )


# ---- lengths that differ -----------------------------------------------------------------------


def message(dimension, length, mask_length):
    return (
        f"boolean index did not match indexed array along dimension {dimension}; dimension is {length} "
        f"but corresponding boolean dimension is {mask_length}"
    )


@pytest.mark.parametrize("bits", ["none", "all"])
@pytest.mark.parametrize("wrong", [2, 4, 6, 0])
def test_wrong_lengths(wrong, bits, every):
    x, m, y = pt.dmatrix("x"), mask("m", 1), pt.dvector("y")
    given, value = np.ones((3, 5)), some(wrong, bits)
    for out in [
        x[m],
        x[m].set(1.0),
        x[m].inc(x[m]),
        x[m].sum(),
        x[m, :2],
        pt.exp(x)[m],
        x[m].set(y),
        pt.grad(x[m].sum(), x),
        pt.grad((x[m] ** 2).sum(), x),
    ]:
        f = bt.function([x, m, y], out, mode=every, on_unused_input="ignore")
        with pytest.raises(IndexError) as error:
            f(given, value, np.ones(5))
        assert message(0, 3, wrong) in str(error.value)
    f = bt.function([x, m], x[:, m], mode=every)
    if wrong != 5:
        with pytest.raises(IndexError) as error:
            f(given, value)
        assert message(1, 5, wrong) in str(error.value) and "CheckMask" in str(error.value)


@pytest.mark.parametrize("wrong", [(3, 4), (2, 5), (5, 3), (3, 0), (1, 15), (15, 1), (1, 1)])
def test_wrong_shapes(wrong, every):
    x, m = pt.dmatrix("x"), mask("m", 2)
    for out in [x[m], x[m].set(1.0), x[m].sum(), pt.grad(x[m].sum(), x)]:
        with pytest.raises(IndexError, match="boolean index did not match"):
            bt.function([x, m], out, mode=every, on_unused_input="ignore")(
                np.ones((3, 5)), some(wrong)
            )


@pytest.mark.parametrize("wrong", [2, 4])  # one of length 0 selects nothing
def test_wrong_lengths_of_known_masks(wrong, every):
    x, value = pt.dmatrix("x"), some(wrong, "all")
    for out in [
        x[value],
        x[value].set(1.0),
        x[value].inc(x[value]),
        x[value].sum(),
        pt.grad(x[value].sum(), x),
    ]:
        with pytest.raises(IndexError) as error:
            bt.function([x], out, mode=every, on_unused_input="ignore")(np.ones((3, 5)))
        # The gradient writes at the positions before the mask itself is checked.
        assert message(0, 3, wrong) in str(
            error.value
        ) or "index 3 at position (3,) is out of bounds" in str(error.value)


def test_wrong_static_lengths():
    x, m = pt.tensor("x", shape=(3, None)), pt.tensor("m", dtype="bool", shape=(2,))
    for index in [m, np.array([True, False]), [True, False], S[m, 1], S[..., m, :]]:
        with pytest.raises(IndexError) as error:
            x[index]
        assert message(0, 3, 2) in str(error.value)
    with pytest.raises(IndexError, match="too many indices"):
        x[mask("m", 3)]
    with pytest.raises(IndexError, match="too many indices"):
        x[mask("m", 2), 0]


def test_no_broadcasting_of_masks(every):
    x, m = pt.dvector("x"), pt.tensor("m", dtype="bool", shape=(1,))
    f = bt.function([x, m], [x[m], x[m].set(2.0)], mode=every)
    np.testing.assert_array_equal(f(np.ones(1), [True])[1], [2])
    with pytest.raises(IndexError, match="boolean dimension is 1"):
        f(np.ones(3), [True])


# ---- functions ---------------------------------------------------------------------------------


@pytest.mark.parametrize("shape", [(7,), (3, 5), (2, 3, 4), (0,), (0, 4), (4, 0), (3, 1)])
def test_nonzero(shape, mode):
    given = np.random.default_rng(0).integers(0, 2, shape) * 1.5
    x = pt.TensorType("float64", (None,) * len(shape))("x")
    f = bt.function(
        [x],
        [
            pt.nonzero(x, return_matrix=True),
            pt.flatnonzero(x),
            pt.nonzero_values(x),
            x.nonzero_values(),
            x.nonzero(return_matrix=True),
            *pt.nonzero(x),
            *x.nonzero(),
        ],
        mode=mode,
    )
    where = np.nonzero(given)
    expected = [
        np.array(where),
        np.flatnonzero(given),
        given[where],
        given[where],
        np.array(where),
        *where,
        *where,
    ]
    for out, reference in zip(f(given), expected):
        assert out.shape == reference.shape and out.dtype == reference.dtype
        np.testing.assert_array_equal(out, reference)


def test_nonzero_of_special_values(mode):
    x = pt.dvector("x")
    f = bt.function([x], pt.flatnonzero(x), mode=mode)
    np.testing.assert_array_equal(f([np.nan, 0.0, -0.0, np.inf, 5e-324]), [0, 3, 4])


def test_nonzero_of_scalars():
    for function in (pt.nonzero, pt.flatnonzero, pt.nonzero_values):
        with pytest.raises(ValueError, match="dimensions"):
            function(pt.dscalar("x"))


def test_selection_by_nonzero_positions(mode):
    x = pt.dmatrix("x")
    a, b = bt.function([x], [x[(x > 0).nonzero()], x[x > 0]], mode=mode)(X[0])
    np.testing.assert_array_equal(a, b)


def test_compress(mode):
    x, condition = pt.dmatrix("x"), pt.dvector("condition")
    given, chosen = X[:, :, 0], np.array([1.0, 0, 2, 0])
    f = bt.function(
        [x, condition],
        [
            pt.compress(condition, x, axis=0),
            x.compress([False, True, True], axis=1),
            x.compress(condition),
            pt.compress(condition, x, axis=-1),
        ],
        mode=mode,
    )
    expected = [
        given.compress(chosen, 0),
        given.compress([False, True, True], 1),
        given.compress(chosen),
        given.compress(chosen, -1),
    ]
    for out, reference in zip(f(given, chosen), expected):
        np.testing.assert_array_equal(out, reference)
    with pytest.raises(IndexError):
        f(given, np.ones(5))
    with pytest.raises(ValueError, match="compress"):
        pt.compress(x, x)


def test_take_converts_bools_to_integers(mode):
    x = pt.dvector("x")
    out = bt.function([x], pt.take(x, [True, False, True]), mode=mode)(np.array([3.0, 4, 5]))
    np.testing.assert_array_equal(out, [4, 3, 4])


# ---- derivatives -------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [*INDICES, *TRAILING])
def test_gradients(name, mode):
    ndim, index = INDICES.get(name) or TRAILING[name][::2]
    covered = slice(0, ndim) if name in INDICES else TRAILING[name][1]
    value = some(SHAPE[covered], seed=3)
    region = X[index(value)]
    random = np.random.default_rng(4)
    weights, y_value = random.normal(size=SHAPE), random.normal(size=region.shape)

    def cost(x, y, at):
        part = x[at]
        whole = pt.set_subtensor(part, y**2) * weights + part.inc(y * part) ** 2
        return whole.sum() + (pt.sin(part) * y).sum() + (part**2).sum()

    for at in (index(value), index(pt.constant(value) & pt.constant(some(value.shape, "all")))):
        bt.gradient.verify_grad(lambda x, y: cost(x, y, at), [X, y_value], mode=bt.get_mode(mode))


def test_gradient_with_a_mask_that_depends_on_inputs(mode):
    x, s = pt.dmatrix("x"), pt.dscalar("s")
    f = bt.function([x, s], bt.grad((x[x > s] * s).sum(), [x, s]), mode=mode)
    given = X[0]
    dx, ds = f(given, 0.5)
    np.testing.assert_array_equal(dx, np.where(given > 0.5, 0.5, 0))
    np.testing.assert_allclose(ds, given[given > 0.5].sum())


def test_unselected_elements_have_no_effect(every):
    x = pt.dvector("x")
    good = pt.isfinite(x)
    given = np.array([1.0, np.nan, 2.0, np.inf, -np.inf, 3.0])
    f = bt.function(
        [x],
        [
            x[good].sum(),
            (x[good] ** 2).sum(),
            x[good].prod(),
            x[~good].set(0.0),
            x[good].mean(),
            bt.grad((x[good] ** 2).sum(), x),
        ],
        mode=every,
    )
    for out, expected in zip(f(given), [6, 14, 6, [1, 0, 2, 0, 0, 3], 2, [2, 0, 4, 0, 0, 6]]):
        np.testing.assert_array_equal(out, expected)


def test_masks_of_whole_arrays_become_one_loop():
    x = pt.dmatrix("x")
    cost = (x[x > 0] ** 2).sum()
    f = bt.function([x], [cost, bt.grad(cost, x), x[x < 0].set(0.0)])
    names = {type(node.op).__name__ + str(node.op) for node in f.maker.fgraph.apply_nodes}
    assert not any("Nonzero" in name or "Advanced" in name for name in names)


def test_pprint():
    x = pt.dvector("x")
    assert bt.pprint(x[x > 0]) == "x[nonzero(x > 0)]"


def test_shared_variables(mode):
    state = bt.shared(np.arange(6.0), name="state")
    m = pt.vector("m", dtype="bool")
    step = bt.function([m], state[m], updates=[(state, state[m].inc(10.0))], mode=mode)
    value = np.array([1, 0, 0, 1, 0, 1], bool)
    np.testing.assert_array_equal(step(value), [0, 3, 5])
    np.testing.assert_array_equal(state.get_value(), [10, 1, 2, 13, 4, 15])


def test_batches(mode):
    x, m = pt.dmatrix("x"), pt.vector("m", dtype="bool")
    row = pt.dvector("row")
    whole = bt.graph.vectorize_graph(row[m], {row: x})
    value = some(5)
    np.testing.assert_array_equal(
        bt.function([x, m], whole, mode=mode)(X[:, :, 0], value), X[:, :, 0][:, value]
    )


def test_a_mismatched_mask_is_an_error_even_if_nothing_depends_on_it(mode):
    x, m = pt.tensor("x", dtype="float64", shape=(None, 1)), pt.vector("m", dtype="bool")
    f = bt.function([x, m], pt.neg(pt.reshape(x - x, (0,)))[m].inc(1), mode=mode)
    assert f(np.ones((0, 1)), np.ones(0, bool)).shape == (0,)
    with pytest.raises(IndexError):
        f(np.ones((0, 1)), [False])


@pytest.mark.parametrize("lengths", [(2, 6), (1, 4)])
def test_masks_over_dimensions_that_were_reshaped(lengths, mode):
    """A second reshape merges the mask's dimensions, after a reshape from as many dimensions of other lengths."""
    x = pt.TensorType("float64", (None, None, 1 if lengths[0] == 1 else None))("x")
    m = pt.TensorType("bool", (lengths[0], None))("m")
    y = x.reshape((x.shape[0], *lengths))
    f = bt.function([x, m], [pt.set_subtensor(y[:, m], 1.0), pt.sum(y[:, m])], mode=mode)
    values, bits = np.arange(2.0 * np.prod(lengths)).reshape(2, *lengths), some(lengths)
    updated, total = f(values.reshape(2, *lengths[::-1]), bits)
    assert total == values[:, bits].sum()
    values[:, bits] = 1
    np.testing.assert_array_equal(updated, values)


@pytest.mark.parametrize("shape", [(0,), (0, 5), (4, 0), (0, 5, 3), (4, 5, 0)])
def test_masks_that_are_known_to_be_empty_fit_any_length(shape, mode):
    empty = np.zeros(shape, bool)
    x, m = pt.dtensor3("x"), pt.TensorType("bool", shape)("m")
    selected = bt.function([x], [x[empty], x[empty].set(1.0), x[empty].sum()], mode=mode)(X)
    for found, expected in zip(selected, (X[empty], X, 0.0)):
        np.testing.assert_array_equal(found, expected)
    assert bt.function([x, m], x[m], mode=mode)(X, empty).shape == X[empty].shape
    np.testing.assert_array_equal(
        bt.function([x], bt.grad(x[empty].sum(), x), mode=mode)(X), np.zeros(SHAPE)
    )
    with pytest.raises(IndexError):
        X[np.zeros((0, 7), bool)]
    with pytest.raises(IndexError, match="dimension 1"):
        x_known = pt.specify_shape(x, SHAPE)
        x_known[np.zeros((0, 7), bool)]
