"""NumPy's and SciPy's functions on symbolic variables give the same values once compiled, or raise a TypeError; they
never return an object array or a wrong value."""

from pathlib import Path

import numpy as np
import pytest
import scipy.special

import bitale as bt
import bitale.tensor as pt
from bitale import _numpy_protocol

VALUES = {
    "float64": [
        np.array([0.3, 0.7, 1.4]),
        np.array([0.9, 0.2, 2.5]),
        np.array([0.4, 0.6, 0.8]),
        np.array([0.1, 0.5, 0.7]),
    ],
    "int64": [np.array([6, 3, 5]), np.array([2, 4, 1]), np.array([1, 2, 3]), np.array([1, 1, 2])],
    "bool": [np.array([True, False, True]), np.array([True, True, False])],
}
# NumPy's nextafter of bools is a float16. SciPy's kn truncates orders to integers; any x is a median of a gamma distribution of shape 0; NumPy's reciprocal of
# integers is an integer.
LEFT_OUT = {
    ("kn", "float64"),
    ("gammaincinv", "bool"),
    ("reciprocal", "int64"),
    ("reciprocal", "bool"),
    ("nextafter", "bool"),
}
# NumPy's ufuncs without a symbolic counterpart, and those of SciPy with one; all others of SciPy have none.
NUMPY_WITHOUT = set("bitwise_count fmax fmin frexp gcd isnat lcm ldexp modf spacing".split())
SCIPY_WITH = set(
    """beta betainc betaincinv betaln cbrt digamma erf erfc erfcinv erfcx erfinv exp2 expit expm1 gamma gammainc gammaincc
    gammainccinv gammaincinv gammaln hyp2f1 i0 i1 iv ive j0 j1 jn jv kn kv kve log1p log_ndtr logit ndtr ndtri_exp
    owens_t poch psi round xlog1py xlogy""".split()
)
OF_BOOL = {"positive", "sign"}  # defined for bool here, but not in NumPy
UFUNCS = [(np, n) for n in sorted(dir(np)) if isinstance(getattr(np, n), np.ufunc)] + [
    (scipy.special, n)
    for n in sorted(dir(scipy.special))
    if isinstance(getattr(scipy.special, n), np.ufunc)
]


def numbers(results, inputs, values):
    many = isinstance(results, (list, tuple))
    given = bt.function(list(inputs), list(results) if many else results, on_unused_input="ignore")(
        *values
    )
    return given if many else [given]


@pytest.mark.parametrize("module, name", UFUNCS, ids=lambda x: getattr(x, "__name__", x))
def test_every_ufunc(module, name):
    ufunc = getattr(module, name)
    if ufunc.signature and name not in ("matmul", "vecdot", "matvec", "vecmat"):
        pytest.skip("a generalised ufunc of another library")
    if name in NUMPY_WITHOUT if module is np else name not in SCIPY_WITH:
        for dtype in VALUES:
            with pytest.raises(TypeError, match="no symbolic counterpart"):
                ufunc(*(pt.tensor(dtype=dtype, shape=(None,)) for _ in range(ufunc.nin)))
        return
    answered = 0
    for dtype, arrays in VALUES.items():
        if (name, dtype) in LEFT_OUT:
            continue
        values = arrays[: ufunc.nin]
        if len(values) < ufunc.nin:
            continue
        if name in ("matvec", "vecmat"):
            square = np.outer(arrays[0], arrays[1]).astype(dtype)
            values = (
                [square, arrays[2 % len(arrays)]]
                if name == "matvec"
                else [arrays[2 % len(arrays)], square]
            )
        variables = [pt.tensor(dtype=v.dtype, shape=(None,) * v.ndim) for v in values]
        try:
            with np.errstate(all="ignore"):
                expected = ufunc(*values)
        except TypeError:
            if not (dtype == "bool" and name in OF_BOOL):
                with pytest.raises(TypeError):
                    ufunc(*variables)
            continue
        result = ufunc(*variables)
        answered += 1
        expected = list(expected) if isinstance(expected, tuple) else [expected]
        for got, reference in zip(numbers(result, variables, values), expected, strict=True):
            assert not isinstance(got, np.ndarray) or got.dtype != object
            # NumPy computes these functions of bool and int8 in float16
            rtol = 1e-3 if np.asarray(reference).dtype == np.float16 else 1e-6
            np.testing.assert_allclose(
                np.asarray(got, float), np.asarray(reference, float), rtol=rtol, atol=1e-12
            )
    assert answered


def test_methods_of_ufuncs():
    x, m = pt.dvector("x"), pt.dmatrix("m")
    values = np.array([3.0, 1.0, 2.0]), np.arange(6.0).reshape(2, 3)
    for call in (
        lambda x, m: np.add.reduce(m),
        lambda x, m: np.multiply.reduce(m, axis=1),
        lambda x, m: np.maximum.reduce(x),
        lambda x, m: np.add.reduce(m, axis=None),
        lambda x, m: np.minimum.reduce(m, axis=1, keepdims=True),
        lambda x, m: np.add.accumulate(x),
        lambda x, m: np.multiply.accumulate(m, axis=1),
        lambda x, m: np.subtract.outer(x, m),
        lambda x, m: np.add.outer(m, [1.0, 2.0]),
    ):
        np.testing.assert_allclose(numbers(call(x, m), (x, m), values)[0], call(*values))
    for refused in (
        lambda: np.add.reduceat(x, [0, 1]),
        lambda: np.add.at(np.ones(3), [0], x),
        lambda: np.add(x, 1, out=np.ones(3)),
        lambda: np.add(x, 1, where=np.array([True, False, True])),
        lambda: np.add(x, 1, dtype="float32"),
        lambda: np.subtract.reduce(x),
        lambda: np.frexp(x),
        lambda: np.frompyfunc(lambda a: a, 1, 1)(x),
    ):
        with pytest.raises(TypeError):
            refused()


def test_operators_with_arrays():
    x = pt.dvector("x")
    array, value = np.array([1.0, 2.0, 3.0]), np.array([0.5, 2.0, 4.0])
    for call in (
        lambda a, b: a + b,
        lambda a, b: a - b,
        lambda a, b: a * b,
        lambda a, b: a / b,
        lambda a, b: a // b,
        lambda a, b: a % b,
        lambda a, b: a**b,
        lambda a, b: a @ b,
        lambda a, b: a < b,
        lambda a, b: a >= b,
        lambda a, b: np.float64(2) * b,
        lambda a, b: np.array(2.0) - b,
        lambda a, b: np.float32(2) / b,
    ):
        result = call(array, x)
        assert isinstance(result, pt.TensorVariable)
        np.testing.assert_allclose(numbers(result, [x], [value])[0], call(array, value))
    with pytest.raises(TypeError, match="in-place"):
        array += x


_RANDOM = np.random.default_rng(0)
_R, _M = _RANDOM.normal(size=(3, 4)), _RANDOM.normal(size=(4, 4))
ARRAYS = {
    "v": np.array([0.3, -0.7, 1.4, 0.2, 2.5, -1.1]),
    "w": np.array([-0.5, 0.9, 0.1, 1.8, -2.2, 0.6]),
    "vn": np.array([0.3, -0.7, np.nan, 0.2, 2.5, -1.1]),
    "n": np.array([2, 0, 3, 1, 3]),
    "R": _R,
    "M": _M,
    "S": _M @ _M.T + np.eye(4),
    "T": _RANDOM.normal(size=(2, 3, 4)),
}
EXPRESSIONS = (Path(__file__).parent / "numpy_expressions.txt").read_text().splitlines()
PER_FUNCTION = 32


def results(expression, values):
    """What an expression gives, as a list: of tuples that contain others, all elements."""
    waiting, out = [eval(expression, {"np": np, **values})], []
    while waiting:
        value = waiting.pop(0)
        if isinstance(value, (list, tuple)):
            waiting[:0] = value
        else:
            out.append(value)
    return out


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("first", range(0, len(EXPRESSIONS), PER_FUNCTION))
def test_functions(first):
    """Functions of NumPy give the same of variables as of arrays: values, shapes, dtypes, one or several results."""
    expressions = EXPRESSIONS[first : first + PER_FUNCTION]
    variables = {
        name: pt.tensor(name, dtype=str(array.dtype), shape=(None,) * array.ndim)
        for name, array in ARRAYS.items()
    }
    symbolic = [
        [pt.as_tensor_variable(each) for each in results(expression, variables)]
        for expression in expressions
    ]
    f = bt.function(list(variables.values()), sum(symbolic, []), on_unused_input="ignore")
    given = iter(f(*ARRAYS.values()))
    for expression, own in zip(expressions, symbolic):
        expected = results(expression, ARRAYS)
        assert len(own) == len(expected), expression
        for array in map(np.asarray, expected):
            value = next(given)
            assert np.shape(value) == array.shape, expression
            assert np.asarray(value).dtype == array.dtype, expression
            np.testing.assert_allclose(value, array, rtol=1e-9, atol=1e-11, err_msg=expression)


def test_each_function_with_a_counterpart_is_compared():
    """Those left out: results are no numbers, or lengths must be known, or are in no particular order."""
    left_out = {"can_cast", "result_type", "unstack", "unique_values", "broadcast_arrays"}
    text = "\n".join(EXPRESSIONS)
    for module, prefix in ((np, "np."), (np.linalg, "np.linalg."), (np.fft, "np.fft.")):
        for name, function in vars(module).items():
            if type(function).__name__ != "_ArrayFunctionDispatcher" or name in left_out:
                continue
            if function is np.fill_diagonal or function is getattr(np.linalg, "tensordot", None):
                continue  # changes its array; is a function of three arguments by keyword
            if _numpy_protocol._counterpart(function) is not None:
                assert f"{prefix}{name}(" in text, f"{prefix}{name}"


def test_functions_without_a_counterpart():
    x, m = pt.dvector("x"), pt.dmatrix("m")
    for refused in (
        lambda: np.copyto(np.ones(3), x),
        lambda: np.sum(x, out=np.ones(())),
        lambda: np.array_split(x, 2),
        lambda: np.split(pt.vector("x", shape=(5,)), 2),
        lambda: np.split(x, x.shape[0]),
        lambda: np.fill_diagonal(m, 1.0),
        lambda: np.linalg.cond(m),
        lambda: np.sum(x, where=np.array([True])),
    ):
        with pytest.raises(
            (TypeError, ValueError, NotImplementedError), match="x|m|sum|cond|split"
        ):
            refused()
    assert np.ndim(m) == 2 and np.isrealobj(x) and not np.iscomplexobj(x)


def test_as_arrays():
    x, s = pt.dvector("x"), bt.shared(np.ones(2), "s")
    for refused in (
        lambda: np.asarray(x),
        lambda: np.array([x, x]),
        lambda: np.asarray(x + 1, dtype=float),
        lambda: np.ones(3).dot(x),
    ):
        with pytest.raises(TypeError, match="no value yet|no symbolic counterpart"):
            refused()
    with pytest.raises(TypeError, match="get_value"):
        np.asarray(s)
    constant = pt.constant([1.0, 2.0])
    assert (
        np.asarray(constant).tolist() == [1, 2]
        and np.asarray(constant, dtype="float32").dtype == "float32"
    )
    mine = np.array(constant)
    mine[0] = 5
    assert constant.data.tolist() == [1, 2]
