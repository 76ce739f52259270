"""The rewriters, in three phases, and a look at the graph after all of them."""

import bitale.tensor as pt
from bitale.compile.mode import optdb
from bitale.graph.rewriting.basic import GraphRewriter, PatternNodeRewriter, node_rewriter
from bitale.graph.rewriting.unify import OpPattern
from bitale.tensor.rewriting.basic import (
    register_canonicalize,
    register_specialize,
    register_stabilize,
)

from smoothing.feature import LeftOver
from smoothing.op import Smooth

# One form for equal expressions: the step of -x is 1 less the step of x.
smooth_of_neg = register_canonicalize(
    PatternNodeRewriter(
        (OpPattern(Smooth, width="width"), (pt.neg, "x")),
        lambda fgraph, node, found: 1 - node.op(found["x"]),
        name="smooth_of_neg",
    ),
    "smoothing",
)


@register_stabilize("smoothing")
@node_rewriter([pt.log])
def log_of_smooth(fgraph, node):
    """Where the step is too small to be a number, its logarithm is not."""
    inner = node.inputs[0].owner
    if inner is None or not isinstance(inner.op, Smooth):
        return False
    return [-pt.softplus(-inner.inputs[0] / inner.op.width)]


@register_specialize("smoothing")
@node_rewriter([Smooth])
def smooth_as_sigmoid(fgraph, node):
    """Native code, and XLA, have the function, so that no Python runs in a call."""
    return [pt.sigmoid(node.inputs[0] / node.op.width)]


class CountLeftOver(GraphRewriter):
    """Notes how many steps are left when all phases are done."""

    def __init__(self):
        self.counts = []

    def apply(self, fgraph):
        feature = LeftOver()
        fgraph.attach_feature(feature)
        self.counts.append(feature.count)
        fgraph.remove_feature(feature)


left_over = CountLeftOver()
optdb.register("count_left_over", left_over, "fast_run", "fast_compile", "smoothing", position=40)
