"""A value and its derivative share what both compute, though only the derivative's graph is stabilised before it is differentiated."""

import numpy as np
import pytest

import bitale as bt
import bitale.tensor as pt


def count(function, name):
    return sum(name in str(node.op) for node in function.maker.fgraph.toposort())


def by_logaddexp(a, b):
    return pt.logaddexp(a, b)


def by_logsumexp(a, b):
    return pt.logsumexp(pt.stack([a, b]), axis=0)


@pytest.mark.parametrize("combined, op", [(by_logaddexp, "Maximum"), (by_logsumexp, "Max{")])
def test_a_mixture_is_computed_once(combined, op):
    """log(sigmoid(t)) and log1p(-sigmoid(t)) have stable forms below a view, of which sums become differences."""
    t, m, y = pt.dscalar("t"), pt.dvector("m"), np.linspace(-1, 1, 5)
    share = pt.sigmoid(t)
    logs = pt.log(share), pt.log1p(-share)
    total = combined(*(log + (-0.5 * (y - m[k]) ** 2 - 0.9) for k, log in enumerate(logs))).sum()
    function = bt.function([t, m], [total, *bt.grad(total, [t, m])])
    assert count(function, op) == 1
    assert count(function, "Softplus") <= 3  # of -t, of t, and the logarithm of the sum of two
