"""Your own rewrite rule: written as an equation, checked numerically, and watched as it is applied."""

import bitale as bt
import bitale.tensor as pt

x, y = pt.dscalars("x", "y")

# The logarithm of a product of numbers that may both be negative is more than the sum of two logarithms says.
careless = bt.rewrite.equation("sum_of_logs", pt.log(x) + pt.log(y), pt.log(x * y), register=False)
print(bt.rewrite.check(careless, on_failure="return"), "\n")

# It holds for positive numbers whose product neither overflows nor vanishes: it is applied where a graph shows that.
rule = bt.rewrite.equation(
    "sum_of_logs",
    pt.log(x) + pt.log(y),
    pt.log(x * y),
    tags=["specialize"],
    assume=[x > 0.001, y > 0.001, x < 1000, y < 1000],
)
print(bt.rewrite.check(rule), "\n")


# What an equation can't say is a function from a node to what replaces it.
@bt.rewrite.register_specialize
@bt.rewrite.node_rewriter([pt.sin], samples=[pt.sin(pt.arcsin(x))])
def sin_of_arcsin(fgraph, node):
    """sin(arcsin(x)) is x where |x| <= 1; elsewhere it is nan, as it was."""
    inner = node.inputs[0].owner
    if inner is None or str(inner.op) != str(pt.arcsin(x).owner.op):
        return False
    inside = inner.inputs[0]
    return [pt.switch(pt.abs(inside) <= 1, inside, float("nan"))]


print(bt.rewrite.check(sin_of_arcsin), "\n")

# Every function compiled from here on has them.
rate, scale = pt.dvectors("rate", "scale")
known_rate, known_scale = pt.clip(rate, 0.01, 100), pt.clip(scale, 0.01, 100)
total = (pt.log(known_rate) + pt.log(known_scale) + pt.sin(pt.arcsin(rate))).sum()
print(bt.rewrite.trace_text(total))
f = bt.function([rate, scale], total)
bt.dprint(f, provenance=True)
print()
print(f.explain())
print("value", f([0.5, 0.25], [3.0, 4.0]))
assert f.rewrite_report.hits("sum_of_logs") == 1
assert f.rewrite_report.hits("sin_of_arcsin") == 1
