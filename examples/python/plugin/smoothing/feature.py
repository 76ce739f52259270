"""A feature: it counts the steps in a graph while the graph changes."""

from bitale.graph.features import Bookkeeper

from smoothing.op import Smooth


class LeftOver(Bookkeeper):
    """How many nodes of Smooth there are."""

    def __init__(self):
        super().__init__()
        self.count = 0

    def on_import(self, fgraph, node, reason):
        self.count += isinstance(node.op, Smooth)

    def on_prune(self, fgraph, node, reason):
        self.count -= isinstance(node.op, Smooth)
