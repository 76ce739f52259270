"""A linker: it runs the graph as a Python function, whose source can be read."""

import numpy as np

from bitale.link.basic import JITLinker
from bitale.link.utils import fgraph_to_python

from smoothing.op import Smooth


def function_of(op, node, **kwargs):
    """What computes a node: a formula of NumPy for the op of this package, and `perform` for others."""

    def step(x):
        return np.asarray(1 / (1 + np.exp(-x / op.width)))

    def perform(*values):
        cells = [[None] for _ in node.outputs]
        op.perform(node, list(values), cells)
        results = [cell[0] for cell in cells]
        return results[0] if len(results) == 1 else results

    return step if isinstance(op, Smooth) else perform


class TextLinker(JITLinker):
    """Compiled functions of it have the rewritten graph as text: `linker.texts`."""

    incompatible_rewrites = ("inplace",)

    def __init__(self):
        super().__init__()
        self.texts = []

    def fgraph_convert(self, fgraph, order, input_storage, output_storage, storage_map, **kwargs):
        return fgraph_to_python(
            fgraph, function_of, order=order, storage_map=storage_map, fgraph_name="smoothed"
        )

    def jit_compile(self, fn):
        self.texts.append(fn.__source__)
        return fn

    def create_thunk_inputs(self, storage_map):
        return [storage_map[variable] for variable in self.fgraph.inputs]
