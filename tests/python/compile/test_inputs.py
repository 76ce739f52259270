"""The values that functions accept as inputs: dtypes, downcasts, lists, layouts, byte orders."""

import threading

import numpy as np
import pytest

import bitale as bt
import bitale.tensor as pt


def identity(dtype, ndim, mode="FAST_COMPILE", **options):
    x = pt.tensor("x", dtype=dtype, shape=(None,) * ndim)
    return bt.function([x], x + pt.zeros((), dtype=dtype), mode=mode, **options)


LAYOUTS = {
    "contiguous": lambda a: a,
    "transposed": lambda a: np.ascontiguousarray(a.T).T,
    "reversed": lambda a: a[::-1, ::-1].copy()[::-1, ::-1],
    "strided": lambda a: np.repeat(np.repeat(a, 3, 0), 2, 1)[::3, ::2],
    "broadcast": lambda a: np.broadcast_to(a[:1], a.shape),
    "fortran": np.asfortranarray,
    "big endian": lambda a: a.astype(a.dtype.newbyteorder(">")),
    "empty": lambda a: a[:0],
    "memory map": lambda a: np.asarray(memoryview(a)),
}


def misaligned(a):
    buffer = bytearray(a.nbytes + 1)
    view = np.frombuffer(buffer, dtype=np.uint8)[1:].view(a.dtype).reshape(a.shape)
    view[...] = a
    assert not view.flags.aligned or a.dtype.itemsize == 1
    return view


def read_only(a):
    a = a.copy()
    a.flags.writeable = False
    return a


@pytest.mark.parametrize("layout", [*LAYOUTS, "misaligned", "read-only"])
@pytest.mark.parametrize("dtype", ["float64", "float32", "int64", "int8", "bool"])
def test_layouts(layout, dtype, mode):
    make = {**LAYOUTS, "misaligned": misaligned, "read-only": read_only}[layout]
    given = make((np.arange(12).reshape(3, 4) % 5).astype(dtype))
    x = pt.tensor("x", dtype=dtype, shape=(None, None))
    f = bt.function([x], [x * x if dtype != "bool" else x & x, x.T, x[1:]], mode=mode)
    before = given.copy()
    for result, expected in zip(f(given), [given * given, given.T, given[1:]]):
        np.testing.assert_array_equal(result, expected)
        assert result.flags.writeable
    np.testing.assert_array_equal(given, before)


def test_no_copies_of_inputs(mode):
    """Inputs are read in place, without a copy: changes between calls have an effect."""
    x = pt.dvector("x")
    f = bt.function([x], x.sum(), mode=mode)
    given = np.ones(1000)
    assert f(given) == 1000
    given[0] = 2
    assert f(given) == 1001


@pytest.mark.parametrize(
    "given",
    [
        [1, 2, 3],
        (1.0, 2.0, 3.0),
        range(1, 4),
        np.array([1, 2, 3], "int8"),
        np.array([1, 2, 3], "float32"),
        [np.float64(1), np.int8(2), 3],
    ],
)
def test_array_likes(given, mode):
    np.testing.assert_array_equal(identity("float64", 1, mode)(given), [1.0, 2.0, 3.0])


@pytest.mark.parametrize(
    "given",
    [
        1,
        1.0,
        True,
        np.float64(1),
        np.float32(1),
        np.int32(1),
        np.array(1.0),
        np.array(1),
        np.bool_(True),
    ],
)
def test_scalar_likes(given, mode):
    result = identity("float64", 0, mode)(given)
    assert result == 1.0 and result.dtype == np.float64 and result.shape == ()


@pytest.mark.parametrize(
    "dtype, given",
    [
        ("int8", 300),
        ("int8", [1, 300]),
        ("uint8", -1),
        ("uint64", [-1]),
        ("int64", 1.5),
        ("int64", [2**63]),
        ("int32", np.int64(2**40)),
        ("float32", [0.1]),
        ("bool", 2),
        ("int64", float("nan")),
        ("int64", float("inf")),
        ("int8", np.array([1, 2])),
        ("float32", np.array([1.0])),
        ("int64", np.array([1.0])),
        ("float32", np.float64(0.1)),
        ("float32", 0.1),
        ("bool", np.array([1])),
    ],
)
def test_conversions_that_would_change_values(dtype, given):
    ndim = np.ndim(given)
    with pytest.raises(TypeError, match="x"):
        identity(dtype, ndim)(given)
    as_cast = pt.cast(pt.constant(given), dtype).eval()
    converted = identity(dtype, ndim, allow_input_downcast=True)(given)
    assert converted.dtype == dtype and converted.tobytes() == as_cast.tobytes()


@pytest.mark.parametrize(
    "given", [np.ones(2, "float16"), np.ones(2, np.longdouble), np.longdouble(1), np.float16(1)]
)
@pytest.mark.parametrize("dtype", ["int8", "float32", "float64"])
def test_downcasting_accepts_all_real_numbers(given, dtype):
    result = identity(dtype, np.ndim(given), allow_input_downcast=True)(given)
    assert result.dtype == dtype and (result == 1).all()


@pytest.mark.parametrize(
    "given", [1j, np.ones(2, "complex64"), "a", None, [1, "a"], np.datetime64("2020-01-01"), b"3"]
)
def test_downcasting_rejects_non_numbers(given):
    with pytest.raises((TypeError, ValueError, NotImplementedError)):
        identity("float64", np.ndim(given), allow_input_downcast=True)(given)


def test_ints_beyond_64_bits_become_floats():
    assert identity("float64", 0)(-(2**70)) == -(2.0**70)
    assert identity("float64", 0)(2**64) == 2.0**64
    assert identity("float32", 0)(2**100) == np.float32(2.0**100)
    with pytest.raises(TypeError, match="would change"):
        identity("float64", 0, allow_input_downcast=False)(10**40 + 1)
    assert identity("float64", 0, allow_input_downcast=True)(10**40 + 1) == 1e40
    with pytest.raises((OverflowError, ValueError)):
        identity("float64", 0)(10**400)
    with pytest.raises(TypeError):
        identity("int64", 0)(2**64)


def test_ints_are_range_checked(mode):
    assert identity("int8", 0, mode)(100) == 100
    assert identity("int8", 0, mode)(np.int64(100)) == 100
    assert identity("float32", 0, mode)(3) == 3


def test_float_literals():
    with bt.config.change_flags(floatX="float32"):
        x = pt.scalar("x")
        f = bt.function([x], x * 1)
        assert f(0.1) == np.float32(0.1)
        assert f(np.float64(0.1)) == np.float32(0.1)
        with pytest.raises(TypeError):
            f(np.array(0.1))
        with pytest.raises(TypeError):
            bt.function([x], x * 1, allow_input_downcast=False)(0.1)
        with pytest.raises(TypeError):
            identity("float32", 1)([0.1])


@pytest.mark.parametrize(
    "given",
    [
        np.array(["a"]),
        np.array([None]),
        np.zeros(1, [("a", float)]),
        np.array(["2020-01-01"], "datetime64[D]"),
        np.ones(1, np.longdouble),
        [[1.0], [1.0, 2.0]],
        "abc",
        b"abc",
        {},
        {1.0},
        lambda: 0,
    ],
)
def test_non_numbers_are_rejected(given):
    with pytest.raises((TypeError, ValueError)):
        identity("float64", 1)(given)


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_complex_numbers_are_rejected_for_real_inputs(dtype):
    for downcast in (False, None, True):
        for given in (np.ones(1, dtype), [1j]):
            with pytest.raises(TypeError, match="complex"):
                identity("float64", 1, allow_input_downcast=downcast)(given)
    assert identity(dtype, 1)(np.ones(1, "float32")).dtype == dtype


def test_ragged_and_recursive_lists():
    loop = [1.0]
    loop.append(loop)
    for bad in (loop, [[1.0, 2.0], [3.0]]):
        with pytest.raises((TypeError, ValueError, RecursionError)):
            pt.constant(bad)
        with pytest.raises((TypeError, ValueError, RecursionError)):
            identity("float64", 1)(bad)
    loop.append(pt.dscalar())
    with pytest.raises((TypeError, ValueError, RecursionError)):
        pt.as_tensor(loop)


def test_static_lengths():
    x = pt.tensor("x", shape=(2, None))
    f = bt.function([x], x * 2)
    assert f(np.ones((2, 5))).shape == (2, 5)
    with pytest.raises(TypeError, match="2"):
        f(np.ones((3, 5)))


def test_subclasses_and_protocols():
    class Holder:
        def __array__(self, dtype=None, copy=None):
            return np.array([1.0, 2.0])

    np.testing.assert_array_equal(identity("float64", 1)(Holder()), [1.0, 2.0])
    assert (pt.dvector("x") + Holder()).ndim == 1
    np.testing.assert_array_equal(identity("float64", 2)(np.matrix([[1.0, 2.0]])), [[1.0, 2.0]])


def test_inputs_may_be_freed_before_results():
    f = identity("float64", 1)
    x = pt.dvector("x")
    view = bt.function([x], x[::2])(np.arange(1000.0))
    np.testing.assert_array_equal(view, np.arange(0, 1000.0, 2))
    assert f(np.arange(3.0)).tolist() == [0, 1, 2]


def test_repeated_calls_with_other_strides(mode):
    """Other layouts are copied in the first calls and later read in place; many threads call; errors are the same."""
    x, y = pt.dmatrix("x"), pt.dmatrix("y")
    f = bt.function([x, y], [x * 2 + y, (x * y).sum()], mode=mode)
    big = np.random.default_rng(0).normal(size=(500, 1000))
    views = [
        big.T,
        big[:, ::2],
        big[::-1, 7:500],
        np.broadcast_to(big[3], big.shape),
        big[:, :1].T,
        big[::5, ::7],
    ]
    wrong = []

    def work(view):
        other = np.ones(view.shape)
        for _ in range(40):
            doubled, total = f(view, other)
            if not (np.array_equal(doubled, view * 2 + 1) and np.isclose(total, view.sum())):
                wrong.append(view.strides)

    threads = [threading.Thread(target=work, args=(view,)) for view in views]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
    for view in views:
        with pytest.raises(ValueError, match="x|y|shape|length"):
            f(view, np.ones((3, 3)))


# ---- out= -----------------------------------------------------------------------------------------------------------


def swapped(a):
    return a.astype(a.dtype.newbyteorder())


OUT_LAYOUTS = {
    "contiguous": np.zeros_like,
    "strided": lambda a: np.zeros((6, 12))[::2, ::3],
    "reversed": lambda a: np.zeros_like(a)[::-1, ::-1],
    "by columns": lambda a: np.zeros_like(a, order="F"),
    "misaligned": lambda a: misaligned(np.zeros_like(a)),
    "big endian": lambda a: swapped(np.zeros_like(a)),
}


@pytest.mark.parametrize("layout", OUT_LAYOUTS)
def test_out(layout, mode):
    x = pt.dmatrix("x")
    given = np.arange(12.0).reshape(3, 4)
    out = OUT_LAYOUTS[layout](given)
    double = bt.function([x], x * 2, mode=mode)
    assert double(given, out=out) is out
    np.testing.assert_array_equal(out, given * 2)
    assert double(given, out=(out,)) is out and double(out=[out], x=given) is out
    several = bt.function([x], [x + 1, x.sum(), x.T], mode=mode)
    plus, total, transposed = several(given, out=(out, None, None))
    assert plus is out and total == 66 and transposed.shape == (4, 3)
    np.testing.assert_array_equal(out, given + 1)
    assert bt.function([x], {"a": x}, mode=mode)(given, out=[out])["a"] is out


def test_out_that_overlaps_an_input(mode):
    x = pt.dvector("x")
    f = bt.function([x], x[::-1] + 0, mode=mode)
    for make_out in (
        lambda a: a,
        lambda a: a[::-1],
        lambda a: np.roll(a, 0)[:],
        lambda a: a.view(),
    ):
        given = np.arange(10.0)
        np.testing.assert_array_equal(f(given, out=make_out(given)), np.arange(10.0)[::-1])
    memory = np.arange(10.0)
    f(memory[:8], out=memory[2:])
    np.testing.assert_array_equal(memory[2:], np.arange(8.0)[::-1])
    two = bt.function([x], [x, x + 1], mode=mode)
    with pytest.raises(ValueError, match="overlapping"):
        two(np.ones(3), out=(memory[:3], memory[2:5]))


def test_out_of_shared_memory(mode):
    s = bt.shared(np.arange(4.0), borrow=True)
    f = bt.function([], s[::-1] * 1, mode=mode)
    np.testing.assert_array_equal(f(out=s.get_value(borrow=True)), [3.0, 2, 1, 0])


@pytest.mark.parametrize(
    "out, error",
    [
        (np.zeros(4), ValueError),
        (np.zeros((3, 1)), ValueError),
        (np.zeros(3, "float32"), TypeError),
        (np.zeros(3, "int64"), TypeError),
        (read_only(np.zeros(3)), ValueError),
        ([0.0, 0.0, 0.0], ValueError),
        ("abc", TypeError),
        ((np.zeros(3), np.zeros(3)), ValueError),
        ((), ValueError),
        (("a",), TypeError),
        (1.0, TypeError),
        (np.ma.masked, ValueError),
    ],
)
def test_bad_out(out, error, mode):
    x = pt.dvector("x")
    f = bt.function([x], x * 2, mode=mode)
    with pytest.raises(error):
        f(np.ones(3), out=out)
    with pytest.raises(TypeError):
        bt.function([x], [x, x], mode=mode)(np.ones(3), out=np.ones(3))
    np.testing.assert_array_equal(f(np.ones(3), out=None), [2.0, 2, 2])


def test_failed_calls_leave_out_unchanged(mode):
    x, i = pt.dvector("x"), pt.lvector("i")
    f = bt.function([x, i], [x * 2, x[i]], mode=mode)
    out = (np.full(3, -1.0), np.full(2, -1.0))
    with pytest.raises(IndexError):
        f(np.ones(3), np.array([0, 7]), out=out)
    with pytest.raises(ValueError):
        f(np.ones(3), np.array([0, 1, 2]), out=out)
    assert (out[0] == -1).all() and (out[1] == -1).all()


def test_an_input_named_out(mode):
    out = pt.dscalar("out")
    assert bt.function([out], out * 2, mode=mode)(out=2.0) == 4.0


@pytest.mark.parametrize("length", [0, 1])
def test_short_lengths(length, mode):
    """Lengths 0 and 1 in every layout, with and without `out`."""
    x, m = pt.dvector("x"), pt.dmatrix("m")
    f = bt.function([x, m], [x[::-1] * 2, m.T + 1, m + x, pt.sum(m, axis=0)], mode=mode)
    v, a = np.arange(float(length)), np.ones((3, length))
    expected = [v[::-1] * 2, a.T + 1, a + v, a.sum(0)]
    for left in (v, v[::-1], v[::2], np.broadcast_to(np.float64(0.0), (length,)), read_only(v)):
        for right in (
            a,
            np.asfortranarray(a),
            a[::-1, ::-1],
            np.broadcast_to(np.float64(1.0), (3, length)),
        ):
            fresh = f(left, right)
            into = f(left, right, out=[np.empty_like(e) for e in expected])
            for got, again, reference in zip(fresh, into, expected):
                np.testing.assert_array_equal(got, reference)
                np.testing.assert_array_equal(again, reference)
