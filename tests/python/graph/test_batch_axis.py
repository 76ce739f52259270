"""vectorize_graph of batches along the last dimension: the same values as along the first one."""

import numpy as np
import pytest

import bitale as bt
import bitale.tensor as pt

rng = np.random.default_rng(0)
x, v, s = (
    pt.tensor("x", dtype="float64", shape=(4, 3)),
    pt.tensor("v", dtype="float64", shape=(3,)),
    pt.dscalar("s"),
)
count = 5
values = {
    x: rng.normal(size=(count, 4, 3)),
    v: rng.normal(size=(count, 3)),
    s: rng.normal(size=count),
}
rows, matrix = np.array([3, 0, 0, 2]), rng.normal(size=(5, 4))
i = pt.lscalar("i")

EXPRESSIONS = {
    "elementwise": pt.exp(x) * v + s / (1 + x**2),
    "reduced": pt.sum(x, axis=1) + pt.max(x) + pt.prod(v),
    "softmax": pt.softmax(x, axis=1) + pt.softmax(v),
    "dimensions": x.T[:, None] + v[:, None, None],
    "slices": x[1:, ::-1][:, :2] * x[2, 1] + v[i : i + 2],
    "gathered": x[rows, :][:, [2, 1]] * v[[0, 2]],
    "gathered at two indices": x[rows, [0, 1, 2, 0]] + s,
    "set": pt.set_subtensor(x[1], v) * pt.set_subtensor(pt.zeros(3)[:2], v[1:]),
    "added at indices": pt.inc_subtensor(pt.zeros((4, 3))[rows], v * s),
    "set at indices": pt.set_subtensor(x[[1, 3]], 2.0),
    "joined": pt.concatenate([x, x[:1] * s, np.ones((1, 3))]),
    "stacked": pt.stack([s, v[0], pt.constant(2.0)]),
    "reshaped": pt.reshape(x, (2, -1)) * s,
    "repeated": pt.alloc(v, 2, 3) + pt.alloc(s, 3),
    "asserted": bt.raise_op.Assert("positive")(x, pt.all(v**2 >= 0), s**2 >= 0),
    "sums from the first on": pt.cumsum(x, axis=1),
    "lengths": x * x.shape[0] + pt.arange(3) * v.size,
    "passed on": bt.gradient.disconnected_grad(x) + v,
    "matrix and batch of vectors": pt.dot(rng.normal(size=(2, 3)), v),
    "matrix and batch of matrices": pt.dot(matrix, x),
    "vector and batch of matrices": pt.dot(np.arange(4.0), x),
    "batch of vectors and matrix": pt.dot(v, rng.normal(size=(3, 2))),
    "batch of matrices and matrix": pt.dot(x, rng.normal(size=(3, 2))),
    "batch of matrices and vector": pt.dot(x, np.arange(3.0)),
    "batches of matrices": pt.dot(x, x.T),
    "batches of vectors": pt.dot(v, v) + pt.dot(x, v),
    "decompositions": pt.linalg.cholesky(pt.dot(x.T, x) + 3 * pt.eye(3)),
    "sorted": pt.sort(x, axis=0) + pt.argmax(x, axis=1)[:, None],
    "gathered at a batch of indices": v[pt.argmax(v)] + x[pt.argsort(x[:, 0])],
    "set at a batch of indices": pt.set_subtensor(x[pt.argmax(x[:, 1])], v)
    + pt.inc_subtensor(x[pt.argsort(x[:, 0])[:2]], s),
    "chosen": bt.ifelse(s > 0, x, -x),
    "steps": bt.scan(
        lambda row, last: last * 0.5 + row, sequences=[x], outputs_info=[v], return_updates=False
    ),
}


@pytest.mark.parametrize("name", EXPRESSIONS)
def test_values_and_gradients(name):
    expression = EXPRESSIONS[name]
    last = {u: pt.tensor(u.name, dtype="float64", shape=(*u.type.shape, None)) for u in values}
    batched = bt.vectorize_graph(expression, last, batch_axis=-1)
    assert batched.ndim == expression.ndim + 1
    slopes = bt.grad(
        (pt.sin(batched) * 1.5).sum(), list(last.values()), disconnected_inputs="ignore"
    )
    options = {"on_unused_input": "ignore"}
    function = bt.function([*last.values(), i], [batched, *slopes], **options)
    found = function(*(np.moveaxis(value, 0, -1) for value in values.values()), 1)
    own = bt.grad((pt.sin(expression) * 1.5).sum(), list(values), disconnected_inputs="ignore")
    one = bt.function([*values, i], [expression, *own], **options)
    for k in range(count):
        for a, b in zip(found, one(*(value[k] for value in values.values()), 1)):
            np.testing.assert_allclose(a[..., k], b, rtol=1e-12, atol=1e-13)


def test_a_batch_of_none():
    many = pt.tensor("many", dtype="float64", shape=(4, 3, None))
    function = bt.function(
        [many], bt.vectorize_graph([pt.reshape(x, (2, -1)), x.flatten()], {x: many}, batch_axis=-1)
    )
    assert [value.shape for value in function(np.zeros((4, 3, 0)))] == [(2, 6, 0), (12, 0)]


def test_a_loop_over_the_batch():
    """Where no op computes a batch at once: elements of one batch begin at different places."""
    at = pt.lvector("at")
    windows = bt.vectorize_graph(x[:, i : i + 2], {i: at}, batch_axis=-1)
    x_value, at_value = rng.normal(size=(4, 3)), np.array([0, 1, 0])
    found = windows.eval({x: x_value, at: at_value})
    assert found.shape == (4, 2, 3)
    for k, begin in enumerate(at_value):
        np.testing.assert_array_equal(found[..., k], x_value[:, begin : begin + 2])


def test_wrong_batches():
    with pytest.raises(ValueError, match="batch_axis must be 0 or -1, got 1"):
        bt.vectorize_graph(v.sum(), {v: pt.dmatrix("rows")}, batch_axis=1)
    with pytest.raises(ValueError, match="have one dimension, got 2"):
        bt.vectorize_graph(v.sum(), {v: pt.dtensor3("rows")}, batch_axis=-1)


def test_rows_over_a_row_of_divisors():
    above, row = pt.dmatrix("above"), pt.tensor("row", dtype="float64", shape=(1, None))
    mode = bt.get_mode(None).including("reciprocal_of_row").excluding("times_reciprocal")
    function = bt.function([above, row], above / row, mode=mode)
    assert "Reciprocal" in str(bt.dprint(function, file="str"))
    given = rng.normal(size=(6, 4)), rng.normal(size=(1, 4))
    np.testing.assert_allclose(function(*given), given[0] / given[1], rtol=1e-15)
