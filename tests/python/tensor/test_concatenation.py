"""Concatenations, prefix scans and reductions of one another, compiled to native code, against NumPy.

A concatenation is computed segment by segment, a reduction over a leading axis accumulates in memory, and a prefix scan
reads elements that an earlier iteration wrote. Every combination must give NumPy's values.
"""

import numpy as np
import pytest

import bitale as bt
import bitale.tensor as pt

rng = np.random.default_rng(0)


@pytest.fixture(autouse=True)
def same_numbers_in_any_order():
    rng.bit_generator.state = np.random.default_rng(0).bit_generator.state


def check(inputs, output, values, expected, **kwargs):
    got = bt.function(inputs, output, on_unused_input="ignore", **kwargs)(*values)
    np.testing.assert_allclose(got, expected, rtol=1e-13, strict=True)


REDUCTIONS = "sum prod max min mean var argmax argmin".split()


def axes_of(reduction, ndim):
    several = [(0, 1), (0, ndim - 1)] if not reduction.startswith("arg") else []
    return [None, *range(ndim), *several]


@pytest.mark.parametrize("reduction", REDUCTIONS)
@pytest.mark.parametrize("lengths", [(4, 4), (4, 1), (1, 4, 3), (0, 4), (2, 2, 2, 2)])
@pytest.mark.parametrize("axis", [0, 1, 2])
@pytest.mark.parametrize("static", [False, True])
def test_reduction_of_concatenation(reduction, lengths, axis, static):
    shapes = [[3, 4, 5] for _ in lengths]
    for shape, length in zip(shapes, lengths):
        shape[axis] = length
    parts = [pt.tensor(dtype="float64", shape=tuple(s) if static else (None,) * 3) for s in shapes]
    values = [rng.normal(size=s) for s in shapes]
    whole, expected = pt.concatenate(parts, axis=axis), np.concatenate(values, axis=axis)
    for over in axes_of(reduction, 3):
        check(
            parts,
            getattr(pt, reduction)(whole, axis=over),
            values,
            getattr(np, reduction)(expected, axis=over),
        )


@pytest.mark.parametrize("reduction", REDUCTIONS)
@pytest.mark.parametrize("axis", [0, 1, 2])
def test_reduction_of_stack_of_one_matrix(reduction, axis):
    x, value = pt.dmatrix(), rng.normal(size=(3, 4))
    for over in axes_of(reduction, 3):
        expected = getattr(np, reduction)(np.stack([value, value], axis=axis), axis=over)
        check(
            [x], getattr(pt, reduction)(pt.stack([x, x], axis=axis), axis=over), [value], expected
        )


@pytest.mark.parametrize("scan", ["cumsum", "cumprod"])
@pytest.mark.parametrize("ndim", [1, 2, 3, 4])
@pytest.mark.parametrize("threads", [1, 2])
def test_prefix_scan_inside_an_expression(scan, ndim, threads):
    x, value = (
        pt.tensor(dtype="float64", shape=(None,) * ndim),
        rng.normal(size=(3, 4, 2, 5)[:ndim]),
    )
    for axis in range(ndim):
        expected = getattr(np, scan)(value * 2, axis=axis) + 1
        check([x], getattr(pt, scan)(x * 2, axis=axis) + 1, [value], expected, threads=threads)


@pytest.mark.parametrize("scan", ["cumsum", "cumprod"])
@pytest.mark.parametrize("join", ["concatenate", "stack"])
@pytest.mark.parametrize("ndim", [1, 2, 3])
def test_prefix_scan_of_join(scan, join, ndim):
    x, y = (pt.tensor(dtype="float64", shape=(None,) * ndim) for _ in range(2))
    values = [rng.normal(size=(3, 4, 2)[:ndim]) for _ in range(2)]
    for axis in range(ndim + (join == "stack")):
        for parts, of_parts in (([x, y], values), ([x, x], values[:1] * 2)):
            joined, expected = (
                getattr(pt, join)(parts, axis=axis),
                getattr(np, join)(of_parts, axis=axis),
            )
            for along in range(expected.ndim):
                of_scan = getattr(np, scan)(expected, axis=along)
                check([x, y], getattr(pt, scan)(joined, axis=along), values, of_scan)
                check(
                    [x, y],
                    (getattr(pt, scan)(joined, axis=along) + 1).sum(axis=0),
                    values,
                    (of_scan + 1).sum(axis=0),
                )


@pytest.mark.parametrize("count", [2, 3, 4])
@pytest.mark.parametrize("length", [None, 5])
def test_slice_of_concatenation(count, length):
    v, value = pt.tensor(dtype="float64", shape=(length,)), rng.normal(size=5)
    whole, expected = pt.concatenate([v] * count), np.concatenate([value] * count)
    bounds = [(i, j) for i in range(5 * count) for j in range(i + 1, 5 * count + 1)]
    got = bt.function([v], [whole[i:j] for i, j in bounds])(value)
    for (i, j), part in zip(bounds, got):
        np.testing.assert_array_equal(part, expected[i:j], err_msg=f"[{i}:{j}]", strict=True)


def test_concatenation_with_a_part_of_computed_length():
    v, m = pt.dvector(), pt.vector(dtype="bool")
    value, mask, constant = (
        rng.normal(size=5),
        np.array([1, 0, 1, 1, 0], bool),
        np.array([1.0, 2.0, 3.0]),
    )
    f = bt.function(
        [v, m],
        [
            pt.concatenate([v, v[m]]),
            pt.constant(constant),
            pt.concatenate([pt.constant(constant), v[m]]),
        ],
    )
    first, second, third = f(value, mask)
    np.testing.assert_array_equal(first, np.concatenate([value, value[mask]]))
    np.testing.assert_array_equal(second, constant)
    np.testing.assert_array_equal(third, np.concatenate([constant, value[mask]]))
