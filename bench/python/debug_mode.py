"""The digits step in DebugMode, which checks every node, against the same as it is compiled by default."""

import functools
import json

import bitale as bt
import bitale.tensor as pt
from digits import symbolic
from measure import in_turn


def main():
    rivals, compiling = {}, {}
    for name in ("FAST_RUN", "DebugMode"):
        function = functools.partial(bt.function, mode=name)
        rivals[name], compiling[name] = symbolic(pt, bt.shared, bt.grad, function)
    print(json.dumps({"step": in_turn(rivals, min_seconds=0.05, rounds=5), "compile": compiling}))


if __name__ == "__main__":
    main()
