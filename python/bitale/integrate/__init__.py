"""Solutions of differential equations.

>>> import bitale as bt, bitale.tensor as pt
>>> rate = pt.dscalar("rate")
>>> y = bt.integrate.odeint(lambda y, t: -rate * y, 1.0, [0.0, 1.0])
>>> bt.grad(y[1], rate).eval({rate: 2.0}).round(6)
array(-0.135335)
"""

from bitale._core import odeint

__all__ = ["odeint"]
