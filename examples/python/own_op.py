"""Your own ops in Python: one computed by NumPy, one made from a function, and one that is a formula and is compiled."""

import numpy as np

import bitale as bt
import bitale.tensor as pt
from bitale.graph import Apply, Op, wrap_py


class Ranks(Op):
    """The rank of each element among all: 0 for the smallest."""

    __props__ = ("descending",)

    def __init__(self, descending=False):
        self.descending = descending

    def make_node(self, x):
        x = pt.as_tensor_variable(x)
        return Apply(self, [x], [pt.lvector()])

    def perform(self, node, inputs, output_storage):
        order = np.argsort(-inputs[0] if self.descending else inputs[0], kind="stable")
        ranks = np.empty(len(order), "int64")
        ranks[order] = np.arange(len(order))
        output_storage[0][0] = ranks

    def infer_shape(self, fgraph, node, input_shapes):
        return [input_shapes[0]]


@wrap_py(itypes=[pt.dvector], otypes=[pt.dscalar])
def spread(x):
    return np.ptp(x)


class LogCosh(Op):
    """log(cosh(x)) as a formula that does not overflow: it is compiled, fused and differentiated like any other."""

    __props__ = ()

    def make_node(self, x):
        x = pt.as_tensor_variable(x)
        return Apply(self, [x], [x.type()])

    def emit(self, node, x):
        return pt.abs(x) + pt.log1p(pt.exp(-2 * pt.abs(x))) - np.log(2.0)


x = pt.dvector("x")
point = np.array([3.0, -1.0, 2.0])

ranked = bt.function([x], [Ranks()(x), Ranks(descending=True)(x), spread(x)])
bt.dprint(ranked)
print("\nranks of", point, "are", *ranked(point)[:2], "and their spread is", ranked(point)[2])
assert ranked(point)[0].tolist() == [2, 0, 1]

loss = LogCosh()(x).sum()
f = bt.function([x], [loss, bt.grad(loss, x)])
print("\na formula is native:")
bt.dprint(f)
assert not any(isinstance(node.op, LogCosh) for node in f.fgraph.toposort())
value, gradient = f(point)
np.testing.assert_allclose(value, np.log(np.cosh(point)).sum())
np.testing.assert_allclose(gradient, np.tanh(point))
print("\nlog cosh of", point, "sums up to", value, "with the gradient", gradient)
