"""Names of PyTensor's modules that are not exported from bitale.tensor: BLAS, grids, diagonals, dtype lists, static
shapes."""

import numpy as np
import pytest

import bitale as bt
import bitale.tensor as pt
from bitale.tensor import blas, utils
from bitale.tensor.basic import alloc_diag, extract_constant, infer_static_shape, ix_
from bitale.tensor.subtensor import (
    advanced_inc_subtensor,
    advanced_set_subtensor,
    advanced_subtensor,
)
from bitale.tensor.type import (
    all_dtypes,
    discrete_dtypes,
    values_eq_approx,
    values_eq_approx_remove_inf,
    values_eq_approx_remove_nan,
)

rng = np.random.default_rng(3)


def test_blas():
    z, x, y = rng.normal(size=(2, 3)), rng.normal(size=(2, 4)), rng.normal(size=(4, 3))
    assert np.allclose(blas.gemm(z, 2.0, x, y, 0.5).eval(), 0.5 * z + 2 * x @ y)
    assert np.allclose(
        blas.gemv(z[:, 0], 2.0, x, y[:, 0], 0.5).eval(), 0.5 * z[:, 0] + 2 * x @ y[:, 0]
    )
    assert np.allclose(blas.ger(z, 2.0, x[:, 0], y[0]).eval(), z + 2 * np.outer(x[:, 0], y[0]))
    assert (
        blas.gemm(z.astype("float32"), 0.1, x.astype("float32"), y.astype("float32"), 1.0).dtype
        == "float32"
    )
    with pytest.raises(TypeError, match="a matrix as z"):
        blas.gemm(z[0], 1.0, x, y, 1.0)
    with pytest.raises(TypeError, match="one float dtype"):
        blas.gemm(z.astype("float32"), 1.0, x, y, 1.0)


@pytest.mark.parametrize("offset", [0, 1, -2])
def test_alloc_diag(offset):
    v, m = rng.normal(size=3), rng.normal(size=(2, 3))
    assert np.array_equal(alloc_diag(v, offset).eval(), np.diag(v, offset))
    assert np.array_equal(
        alloc_diag(m, offset, -2, -1).eval(), np.stack([np.diag(row, offset) for row in m])
    )
    assert np.array_equal(
        alloc_diag(m, offset).eval(),
        np.moveaxis(np.stack([np.diag(row, offset) for row in m]), 0, -1),
    )
    x = pt.dvector("x")
    assert bt.function([x], bt.grad((alloc_diag(x, offset) ** 2).sum(), x))(v) == pytest.approx(
        2 * v
    )


def test_grids_and_indexing():
    x = rng.normal(size=(4, 5))
    for indices in (([0, 2], [1, 3, 4]), ([True, False, True, False], [0, 0])):
        assert np.array_equal(pt.constant(x)[ix_(*indices)].eval(), x[np.ix_(*indices)])
    with pytest.raises(ValueError, match="expected vectors"):
        ix_([[0, 1]])
    i = np.array([1, 1, 3])
    assert np.array_equal(advanced_subtensor(x, i).eval(), x[i])
    changed = x.copy()
    changed[i] = 2.0
    assert np.array_equal(advanced_set_subtensor(x, 2.0, i).eval(), changed)
    added = x.copy()
    np.add.at(added, i, 2.0)
    assert np.allclose(advanced_inc_subtensor(x, 2.0, i).eval(), added)


def test_constants_static_shapes_and_dtypes():
    n = pt.lscalar("n")
    assert extract_constant(pt.constant(3.0)) == 3 and extract_constant(n) is n
    lengths, known = infer_static_shape(pt.dmatrix().shape)
    assert len(lengths) == 2 and known == (None, None) and infer_static_shape(3)[1] == (3,)
    with pytest.raises(TypeError, match="integers as lengths"):
        infer_static_shape((1.5,))
    assert set(discrete_dtypes) < set(all_dtypes) and len(all_dtypes) == 14
    a, b = np.array([1.0, np.inf, np.nan]), np.array([1.0, 2.0, np.nan])
    assert (
        not values_eq_approx(a, b)
        and values_eq_approx_remove_inf(a, b)
        and not values_eq_approx_remove_nan(a, b)
    )
    assert values_eq_approx_remove_nan(b, np.array([1.0, 2.0, 7.0])) and not values_eq_approx(
        a, a.astype("float32")
    )
    assert (
        "FAST_RUN" in bt.compile.predefined_modes
        and bt.compile.mode.predefined_modes["VM"].linker == "vm"
    )


def test_utilities():
    x, y = pt.dmatrix("x"), pt.dvector("y")
    z = (x[1:] * y).sum(axis=0)
    shapes = utils.shape_of_variables(
        bt.graph.FunctionGraph([x, y], [z], clone=False), {x: (5, 3), y: (3,)}
    )
    assert shapes[x] == (5, 3) and shapes[z] == (3,) and len(shapes) > 4
    with pytest.raises(ValueError, match="the shape of the input y"):
        utils.shape_of_variables(bt.graph.FunctionGraph([x, y], [z], clone=False), {x: (5, 3)})
    assert (
        utils.import_func_from_string("numpy.linalg.norm") is np.linalg.norm
        and utils.import_func_from_string("numpy.no_such") is None
    )
    with pytest.raises(bt.tensor.ShapeError):
        utils.broadcast_static_dim_lengths((2, 3))
    assert utils.normalize_reduce_axis(None, 3) is None and utils.normalize_reduce_axis(
        (-1, 0), 3
    ) == (0, 2)
    for axis, error in ((3, np.exceptions.AxisError), ((0, 0), ValueError), (1.5, TypeError)):
        with pytest.raises(error):
            utils.normalize_reduce_axis(axis, 3)
    m = rng.normal(size=(2, 3))
    assert (
        utils.hash_from_ndarray(m)
        == utils.hash_from_ndarray(m.copy())
        != utils.hash_from_ndarray(m.T)
    )
    assert list(utils.faster_ndindex((2, 2))) == list(
        np.ndindex(2, 2)
    ) and utils.faster_broadcast_to(m, (4, 2, 3)).shape == (4, 2, 3)
    f = pt.vectorize(lambda a, b: a @ b, utils.safe_signature([2, 1], [1]))
    assert f(pt.dtensor3(), pt.dvector()).ndim == 2


def test_errors_show_the_users_line():
    """Not a line in functools, which wraps functions of the package."""
    s = bt.shared(np.ones(2), "s")
    with pytest.raises(bt.MissingInputError) as caught:
        bt.compile.OpFromGraph([], [s * 2], strict=True)
    assert "functools" not in str(caught.value) and "test_errors_show_the_users_line" in str(
        caught.value
    )


def test_modules_of_random_variables():
    from bitale.tensor.random.op import RandomVariable
    from bitale.tensor.random.type import RandomGeneratorType, random_generator_type
    from bitale.tensor.random.utils import RandomStream

    assert RandomStream is pt.random.RandomStream and RandomVariable is pt.random.RandomVariable
    assert isinstance(random_generator_type, RandomGeneratorType)
