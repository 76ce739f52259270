"""A first expression: as written and as compiled, its values, and its gradient."""

import numpy as np

import bitale as bt
import bitale.tensor as pt

a = pt.dvector("a")
b = a + a**10
print("b =", bt.pprint(b))
print("\nas written:")
bt.dprint(b)

f = bt.function([a], b)
print("\nas compiled:")
bt.dprint(f)

g = bt.function([a], bt.grad(b.sum(), a))
print("\nthe gradient of its sum:")
bt.dprint(g)

point = np.array([0.0, 1.0, 2.0])
print(f"\nat {point}:")
print("  b           ", f(point))
print("  d sum(b)/d a", g(point))

np.testing.assert_allclose(f(point), [0, 2, 1026])
np.testing.assert_allclose(g(point), [1, 11, 5121])
