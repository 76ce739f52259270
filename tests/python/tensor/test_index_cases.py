"""Indexing against NumPy: every kind of index in every position, extreme integers, and random cases."""

import itertools
import os

import numpy as np
import pytest

import bitale as bt
import bitale.tensor as pt
from index_cases import Case, Generator, Item, LARGEST, LEAST, difference
from sampling import part_of

S = np.s_
MODES = ["FAST_COMPILE", "FAST_RUN"]
SEEDS = part_of(range(int(os.environ.get("BITALE_TEST_INDEX_CASES", 250))))  # of each kind


@pytest.fixture(autouse=True)
def strict():
    """Turns an exception in a rewrite rule into an error."""
    with bt.config.change_flags(on_opt_error="raise"):
        yield


def check(cases, mode):
    wrong = [f"{case}\n  {text}" for case in cases if (text := difference(case, mode))]
    assert not wrong, f"{len(wrong)} differ from NumPy\n" + "\n".join(wrong[:10])


def table(shape, items, kinds=("read", "set", "inc")):
    """Cases of this index for an array of this shape: constant and symbolic, with known and unknown lengths."""
    x = np.arange(1.0, 1 + np.prod(shape)).reshape(shape)
    for kind, known, symbolic in itertools.product(kinds, [True, False], [True, False]):
        own = []
        for value in items:
            item = Item(value)
            if isinstance(value, slice):
                item.symbolic = (symbolic,) * 3
            elif symbolic and value is not None and value is not Ellipsis:
                item = Item(
                    np.asarray(value), type=np.shape(value) if known else (None,) * np.ndim(value)
                )
            own.append(item)
        y = None if kind == "read" else np.float64(-1.0)
        yield Case(x, shape if known else (None,) * len(shape), own, kind, y)


NUMBERS = [
    None,
    0,
    1,
    2,
    7,
    8,
    -1,
    -2,
    -7,
    -8,
    2**31,
    -(2**31),
    LARGEST,
    LARGEST - 1,
    LEAST,
    LEAST + 1,
]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("length", [0, 1, 7])
def test_bounds_of_slices(length, mode):
    """A random sample of combinations of start, stop and step, and each step with open bounds."""
    random = np.random.default_rng(length)
    chosen = [S[a:b:c] for a, b, c in itertools.product(NUMBERS, NUMBERS, NUMBERS) if c != 0]
    for k in random.choice(len(chosen), 60, replace=False):
        check(table((length,), [chosen[k]], kinds=["read", "set"]), mode)
    for step in NUMBERS[2:]:
        check(table((length,), [S[::step]]), mode)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("index", [0, 2, 3, -3, -4, LARGEST, LEAST, 2**32, 2**70, -(2**70)])
def test_integers(index, mode):
    if LEAST <= index <= LARGEST:
        check(table((3,), [index]), mode)
        check(table((2, 3), [S[:], index], kinds=["read", "set"]), mode)
        check(table((0,), [index], kinds=["read", "set"]), mode)
    else:
        with pytest.raises(IndexError):
            pt.dvector()[index]
        x = pt.dvector()
        np.testing.assert_array_equal(
            bt.function([x], x[:index], mode=mode)([1.0, 2.0]), np.r_[1.0, 2.0][:index]
        )


ARRAYS = [
    [[0, 7]], [[3, 5]], [[-4]], [[2, 1, 0]], [[0, 1, 2]], [[-1, -2]], [np.arange(3, 7)], [[[0, 1], [2, 2]]], [[]], [()],
    [np.array(1)], [np.array(3)], [np.zeros((2, 0), int)], [[0, 1], [0]], [[0, 1], [0, 1, 2]], [[[0], [1]], [0, 2]],
    [0, S[:], [0, 1]], [[0, 1], S[:], 0], [[0, 1], None, 0], [[0], Ellipsis, 0], [[0, 1], Ellipsis, [1, 1], S[:]],
    [True], [False], [np.array(False)], [True, [0, 1]], [S[:], False], [None, True], [[True, False, True]],
    [[True, False]], [S[:], [True, True]], [[False, True, False], [0, 1]], [[True, True, False], [0]],
    [np.ones((3, 2), bool)], [np.ones((2, 3), bool)], [[True, True, True], Ellipsis, [0]], [S[:], ()], [Ellipsis, ()],
]  # fmt: skip


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("index", ARRAYS, ids=str)
def test_arrays_and_masks(index, mode):
    items = [
        np.array(i, int)
        if isinstance(i, tuple)
        else np.asarray(i)
        if isinstance(i, (list, bool)) and i != []
        else i
        for i in index
    ]
    items = [np.zeros(0, int) if isinstance(i, list) else i for i in items]
    check(table((3, 2, 2), items), mode)


@pytest.mark.parametrize("mode", MODES)
def test_random_cases(mode):
    check((Generator(seed).case() for seed in SEEDS), mode)


@pytest.mark.parametrize("mode", MODES)
def test_random_chains(mode):
    check((Generator(seed).chain() for seed in SEEDS), mode)


@pytest.mark.parametrize("linker", ["py", "vm", "jit", "c"])
def test_linkers(linker):
    generator = Generator(1)
    check((generator.case() for _ in range(20 if linker == "c" else 60)), bt.Mode(linker=linker))


# ---- special cases --------------------------------------------------------------------------------------------------


def test_indices_are_checked_before_memory_is_read(mode):
    """The mask selects fewer positions than the index array beside it has."""
    x, b = pt.dmatrix(), pt.tensor(dtype="bool", shape=(2,))
    many = np.arange(200_000) % 3
    for out in (x[many, b], x[many, b].inc(1.0), x[many, b].sum()):
        with pytest.raises(IndexError):
            bt.function([x, b], out, mode=mode)(np.ones((3, 2)), [True, True])
    lengths, v = pt.lvector(), pt.dvector()
    at = lengths[pt.argmax(v) * 2**28]
    for out in (pt.zeros(at) + 1, v[at:], v[at], pt.arange(at)):
        with pytest.raises(IndexError):
            bt.function([lengths, v], out, mode=mode)([1, 2], [1.0, 2.0])


def test_masks_with_one_element_broadcast(mode):
    x, b = pt.dmatrix(), pt.tensor(dtype="bool", shape=(1,))
    many, ones = np.arange(1000) % 3, np.ones((3, 1))
    a, c = bt.function([x, b], [x[many, b], x[many, b].inc(1.0)], mode=mode)(ones, [True])
    np.testing.assert_array_equal(a, ones[many, [True]])
    np.testing.assert_array_equal(c, [[335.0], [334.0], [334.0]])


def test_lengths_of_1_in_gradients(mode):
    x, y, i, j = pt.dmatrix(), pt.dvector(), pt.lvector(), pt.lvector()
    weight = np.arange(1.0, 13).reshape(3, 4)
    cost = (x[i, j].set(y) * weight).sum()
    f = bt.function([x, y, i, j], pt.grad(cost, [x, y]), mode=mode)
    given = np.ones((3, 4))
    for rows, columns, values in [
        ([0, 2], [1, 3], [1.0, 2.0]),
        ([0, 2], [1], [5.0]),
        ([1], [0, 3], [5.0, 6.0]),
        ([], [1], [2.0]),
    ]:
        dx, dy = f(given, values, rows, columns)
        rest = weight.copy()
        rest[rows, columns] = 0
        np.testing.assert_array_equal(dx, rest)
        at = np.broadcast_to(
            weight[np.array(rows, int), columns],
            np.broadcast_shapes(np.shape(rows), np.shape(columns)),
        )
        np.testing.assert_array_equal(dy, [at.sum()] if len(values) == 1 else at)
    s = pt.dvector()
    g = bt.function([x, s], pt.grad((x[1:, ::2].inc(s) * weight).sum(), s), mode=mode)
    np.testing.assert_array_equal(g(given, [1.0, 2.0]), weight[1:, ::2].sum(0))
    np.testing.assert_array_equal(g(given, [1.0]), [weight[1:, ::2].sum()])


def test_row_numbers_do_not_broadcast(mode):
    x, j = pt.dmatrix(), pt.lvector()
    f = bt.function([x, j], x[pt.arange(x.shape[0]), j], mode=mode)
    given = np.arange(6.0).reshape(3, 2)
    np.testing.assert_array_equal(f(given, [1, 0, 1]), given[np.arange(3), [1, 0, 1]])
    np.testing.assert_array_equal(f(given, [1]), given[:, 1])
    for rows, columns in [(given, [0, 1]), (given[:1], [0, 1])]:
        with pytest.raises(IndexError, match="mismatch"):
            f(rows, columns)


def test_rules_keep_errors(mode):
    """Out-of-range errors remain although rewriting would eliminate the access."""
    x, y, i = pt.dvector(), pt.dvector(), pt.lscalar()
    given, long = np.arange(3.0), np.arange(5.0)
    outs = [
        x[5].set(1.0)[5],
        x[5].set(1.0)[0],
        x[[0, 5]].set(1.0)[[0]],
        x[5].inc(0.0),
        x[1:2][1],
        x[:2][2],
        x[1:][-3],
        x[::2][i],
        pt.alloc(1.0, x.shape[0])[5],
        pt.alloc(1.0, x.shape[0])[[0, 5]],
        x[[0, 5]][0],
        x[[5]].inc(0.0),
        pt.zeros_like(x)[5].set(0.0),
        x[5].set(1.0)[5].set(2.0),
        x[pt.arange(1, i)],
        pt.zeros(3)[pt.arange(1, i)],
    ]
    for k, out in enumerate(outs):
        with pytest.raises(IndexError):
            print(k, bt.function([x, i], out, mode=mode, on_unused_input="ignore")(given, 5))
    for out in [
        x[:].set(y),
        x[:].set(y)[:2],
        x[:].inc(y),
        x[:].set(y)[:].set(1.0),
        x + pt.zeros_like(y)[:1].inc(1.0),
    ]:
        with pytest.raises(ValueError):
            print(bt.function([x, y], out, mode=mode)(given, long))


def test_values_of_other_dtypes(mode):
    k, f = pt.lvector(), pt.dvector()
    given, values = [10, 20, 30], [1.75, -2.75, 3.5]
    outs = bt.function(
        [k, f],
        [k[0].set(1.75), k[:].set(f), k[[0, 0]].inc(1.75), k[:].inc(f), pt.gt(k, 9)[0].set(0.5)],
        mode=mode,
    )(given, values)
    for out, expected in zip(
        outs, [[1, 20, 30], [1, -2, 3], [12, 20, 30], [11, 18, 33], [True] * 3]
    ):
        np.testing.assert_array_equal(out, expected)


@pytest.mark.parametrize("how", ["raise", "clip", "wrap"])
def test_take_modes(how, mode):
    x, i, k = pt.dmatrix(), pt.lvector(), pt.tensor(dtype="int8", shape=(None,))
    given, at = np.arange(12.0).reshape(3, 4), np.r_[0, 2, -1, 5, -7, LARGEST, LEAST]
    for axis in (None, 0, 1, -1):
        f = bt.function(
            [x, i, k], [x.take(i, axis=axis, mode=how), pt.take(x, k, axis, how)], mode=mode
        )
        inside = at if how != "raise" else at[:3]
        for out, positions in zip(
            f(given, inside, inside[:5].astype("int8")), [inside, inside[:5]]
        ):
            # NumPy wraps indices in this way
            positions = (
                positions % (given.size if axis is None else given.shape[axis])
                if how == "wrap"
                else positions
            )
            np.testing.assert_array_equal(out, given.take(positions, axis=axis, mode=how))
        if how == "raise":
            with pytest.raises(IndexError):
                f(given, at, np.zeros(1, "int8"))
        with pytest.raises(IndexError):
            bt.function([x, i], x[:0, :0].take(i, axis=axis, mode=how), mode=mode)(given, [0])
    with pytest.raises(ValueError, match="mode"):
        pt.take(x, i, mode="around")


def test_where_of_a_condition(mode):
    x = pt.dmatrix()
    given = np.array([[0.0, 1.0], [2.0, 0.0]])
    for out, expected in zip(
        bt.function([x], list(pt.where(x)), mode=mode)(given), np.where(given)
    ):
        np.testing.assert_array_equal(out, expected)
    with pytest.raises(ValueError):
        pt.where(x, x)


def test_axis_errors():
    from bitale._core import AxisError

    x = pt.dmatrix()
    assert issubclass(AxisError, IndexError) and issubclass(AxisError, ValueError)
    for axis in (2, -3, 10**6):
        for function in [
            x.sum,
            x.max,
            x.argmax,
            x.mean,
            x.cumsum,
            x.sort,
            x.argsort,
            lambda axis: x.take([0], axis=axis),
            lambda axis: pt.concatenate([x, x], axis=axis),
            lambda axis: pt.moveaxis(x, axis, 0),
            lambda axis: pt.swapaxes(x, 0, axis),
            lambda axis: pt.diff(x, axis=axis),
            lambda axis: pt.squeeze(x, axis),
        ]:
            with pytest.raises(AxisError):
                function(axis=axis)
        with pytest.raises(AxisError):
            pt.expand_dims(x, axis * 2)
        with pytest.raises(AxisError):
            pt.stack([x, x], axis=axis * 2)


def test_masked_arrays_are_rejected():
    x = pt.dvector()
    masked = np.ma.array([1.0, 2.0], mask=[False, True])
    for use in [
        lambda: pt.as_tensor_variable(masked),
        lambda: bt.function([x], x)(masked),
        lambda: x + masked,
        lambda: bt.shared(masked),
        lambda: x[np.ma.array([0, 1], mask=[0, 1])],
    ]:
        with pytest.raises(TypeError, match="mask"):
            use()


def test_empty_lists_and_unsigned_numbers(mode):
    x, u = pt.dmatrix(), pt.scalar(dtype="uint64")
    given = np.arange(6.0).reshape(2, 3)
    f = bt.function(
        [x, u], [x[:, ()], x[[]], x[[[], []]], x[np.array(False)], x[u:], x[:u]], mode=mode
    )
    for out, expected in zip(
        f(given, 2**64 - 1),
        [given[:, ()], given[[]], given[[[], []]], given[np.array(False)], given[2:], given],
    ):
        np.testing.assert_array_equal(out, expected)
        assert out.shape == expected.shape
    with pytest.raises(IndexError):
        bt.function([x, u], x[u], mode=mode)(given, 2**64 - 1)


def test_lengths_that_overflow(mode):
    for lengths in [(LARGEST, 2), (2**62, 4), (2**62,)]:
        with pytest.raises(MemoryError):
            bt.function([], pt.alloc(1.0, *lengths), mode=mode)()


AFTER_A_SCATTER = {
    "a slice": (lambda y, i: pt.zeros_like(y)[i].inc(y)[:1].set(0.0), [0.0, 3.0, 1.0]),
    "a slice of other numbers": (lambda y, i: y[i].inc(y)[:1].set(5.0), [5.0, 5.0, 4.0]),
    "a position": (lambda y, i: pt.zeros_like(y)[i].inc(y)[0].set(0.0), [0.0, 3.0, 1.0]),
    "everything": (lambda y, i: pt.zeros_like(y)[i].inc(y)[:].set(4.0), [4.0, 4.0, 4.0]),
    "in a loop": (
        lambda y, i: bt.scan(
            lambda q: q[i].inc(q)[:1].set(0.0), outputs_info=[y], n_steps=2, return_updates=False
        )[-1],
        [0.0, 9.0, 4.0],
    ),
}


@pytest.mark.parametrize("name", AFTER_A_SCATTER)
@pytest.mark.parametrize("mode", ["FAST_COMPILE", "FAST_RUN", "C"])
def test_constants_set_after_a_scatter(name, mode):
    """A store of a constant is the initial fill of a scatter only where nothing was written before."""
    y, i = pt.dvector("y"), pt.lvector("i")
    build, expected = AFTER_A_SCATTER[name]
    f = bt.function([y, i], build(y, i), mode=mode)
    np.testing.assert_array_equal(f([1.0, 2.0, 3.0], [2, 0, 1]), expected)
