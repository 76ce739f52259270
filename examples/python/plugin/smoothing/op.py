"""The op: a smooth step from 0 to 1."""

import numpy as np

import bitale.tensor as pt
from bitale.graph import Apply, Op


class Smooth(Op):
    """1 / (1 + exp(-x / width))."""

    __props__ = ("width",)

    def __init__(self, width=1.0):
        self.width = float(width)

    def make_node(self, x):
        x = pt.as_tensor_variable(x)
        if x.dtype != "float64":
            raise TypeError(f"Smooth: expected float64, got {x.type}")
        return Apply(self, [x], [x.type()])

    def perform(self, node, inputs, output_storage):
        with np.errstate(over="ignore"):
            output_storage[0][0] = np.asarray(1 / (1 + np.exp(-inputs[0] / self.width)))

    def infer_shape(self, fgraph, node, input_shapes):
        return input_shapes

    def pullback(self, inputs, outputs, cotangents):
        [y], [cotangent] = outputs, cotangents
        return [cotangent * y * (1 - y) / self.width]
