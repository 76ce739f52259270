"""Large products of matrices that are computed a block of rows at a time, with what reads their rows: values as NumPy's, in every way of running,
for numbers of rows that blocks do not divide and for none."""

import numpy as np
import pytest

import bitale as bt
import bitale.tensor as pt

ROWS, COLUMNS, INNER = 1511, 1201, 7


def softmax(x):
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


CASES = {
    "least": (lambda q, k, v: pt.min(q @ k.T, axis=1), lambda q, k, v: (q @ k.T).min(axis=1)),
    "position": (lambda q, k, v: pt.argmax(q @ k.T + v[:, 0], axis=1), lambda q, k, v: (q @ k.T + v[:, 0]).argmax(axis=1)),
    "sum of rows": (lambda q, k, v: pt.sum(pt.logsumexp(q @ k.T, axis=1)), lambda q, k, v: np.log(np.exp(q @ k.T).sum(axis=1)).sum()),
    "sum of all": (lambda q, k, v: pt.sum(pt.sin(q @ k.T) * v[:, 0]), lambda q, k, v: (np.sin(q @ k.T) * v[:, 0]).sum()),
    "columns": (lambda q, k, v: pt.max(pt.tanh(q @ k.T), axis=0), lambda q, k, v: np.tanh(q @ k.T).max(axis=0)),
    "attention": (lambda q, k, v: pt.special.softmax(q @ k.T, axis=1) @ v, lambda q, k, v: softmax(q @ k.T) @ v),
    "vector": (lambda q, k, v: pt.exp(-((q @ k.T) ** 2)) @ v[:, 1], lambda q, k, v: np.exp(-((q @ k.T) ** 2)) @ v[:, 1]),
    "transposed": (lambda q, k, v: pt.min((q.T[:, ::-1]).T @ k.T, axis=1), lambda q, k, v: (q[::-1] @ k.T).min(axis=1)),
    "two products": (lambda q, k, v: pt.sum((q @ k.T) * ((2 * q) @ (k + 1).T), axis=1), lambda q, k, v: ((q @ k.T) * (2 * q @ (k + 1).T)).sum(axis=1)),
    "by rows and whole": (lambda q, k, v: pt.min(q @ k.T, axis=1) + pt.sum(pt.min(q @ k.T, axis=1)), lambda q, k, v: (q @ k.T).min(axis=1) + (q @ k.T).min(axis=1).sum()),
}  # fmt: skip


def arrays(rows, dtype="float64"):
    rng = np.random.default_rng(3)
    return [
        rng.normal(size=shape).astype(dtype)
        for shape in ((rows, INNER), (COLUMNS, INNER), (COLUMNS, 3))
    ]


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("known", [True, False])
def test_products_in_blocks(name, known):
    expression, expected = CASES[name]
    variables = [
        pt.matrix(n, dtype="float64", shape=a.shape if known else (None, None))
        for n, a in zip("qkv", arrays(ROWS))
    ]
    functions = {
        threads: bt.function(
            variables, expression(*variables), on_unused_input="ignore", threads=threads
        )
        for threads in (1, 2)
    }
    text = functions[1].dprint("program", file="str")
    assert "for b in" in text, text
    if known:
        assert f"f64[{ROWS}, {COLUMNS}]" not in text, text
    for rows in (ROWS,) if known else (ROWS, 3, 1, 0):
        values = arrays(rows)
        if rows == 0 and name in ("columns",):
            continue  # no element is the largest of none
        results = [f(*values) for f in functions.values()]
        np.testing.assert_array_equal(*results)
        np.testing.assert_allclose(results[0], expected(*values), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_stacks_in_blocks(dtype):
    """Attention of several heads: the blocks are heads."""
    rng = np.random.default_rng(4)
    values = [rng.normal(size=(9, 301, n)).astype(dtype) for n in (8, 8, 5)]
    q, k, v = (
        pt.tensor(n, dtype=dtype, shape=(None, None, a.shape[2])) for n, a in zip("qkv", values)
    )
    f = bt.function([q, k, v], pt.special.softmax(q @ k.transpose((0, 2, 1)), axis=-1) @ v)
    assert "for b in" in f.dprint("program", file="str")
    expected = (
        softmax(values[0].astype("float64") @ values[1].astype("float64").transpose(0, 2, 1))
        @ values[2]
    )
    np.testing.assert_allclose(
        f(*values), expected, rtol=1e-4 if dtype == "float32" else 1e-9, atol=1e-6
    )


def test_checks_between_product_and_reader():
    """An index is checked before the loop that reads by it, also where that loop reads a product."""
    q, k = pt.dmatrix("q", shape=(ROWS, INNER)), pt.dmatrix("k", shape=(COLUMNS, INNER))
    at = pt.lvector("at")
    f = bt.function([q, k, at], pt.sum((q @ k.T)[:, at] ** 2, axis=1))
    a, b, _ = arrays(ROWS)
    np.testing.assert_allclose(
        f(a, b, np.array([3, -1, 1200])), ((a @ b.T)[:, [3, -1, 1200]] ** 2).sum(axis=1), rtol=1e-10
    )
    with pytest.raises(IndexError):
        f(a, b, np.array([3, 1201]))
