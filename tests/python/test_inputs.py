"""What a function takes as an input: dtypes, downcasts, lists, layouts, byte orders."""

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
    """A borrowed input is read in place: what is done to it between calls is seen."""
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
    "given", [1, 1.0, True, np.float64(1), np.float32(1), np.int32(1), np.array(1.0), np.array(1), np.bool_(True)]
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
def test_values_that_would_change(dtype, given):
    ndim = np.ndim(given)
    with pytest.raises(TypeError, match="x"):
        identity(dtype, ndim)(given)
    try:
        assert identity(dtype, ndim, allow_input_downcast=True)(given).dtype == dtype
    except ValueError as error:  # what does not fit at all is never silently wrapped
        assert "cannot convert" in str(error) and dtype != "float32"


def test_ints_are_checked_for_fit(mode):
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
def test_no_numbers(given):
    with pytest.raises((TypeError, ValueError)):
        identity("float64", 1)(given)


@pytest.mark.parametrize("dtype", ["float16", "complex64", "complex128"])
def test_dtypes_to_come_say_so(dtype):
    with pytest.raises(NotImplementedError, match=dtype):
        identity("float64", 1)(np.ones(1, dtype))
    with pytest.raises(NotImplementedError, match=dtype):
        pt.tensor("x", dtype=dtype, shape=())
    with pytest.raises(NotImplementedError, match=dtype):
        pt.constant(np.ones(1, dtype))


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


def test_arrays_can_go_before_results():
    f = identity("float64", 1)
    x = pt.dvector("x")
    view = bt.function([x], x[::2])(np.arange(1000.0))
    np.testing.assert_array_equal(view, np.arange(0, 1000.0, 2))
    assert f(np.arange(3.0)).tolist() == [0, 1, 2]
