"""What functions return is typed: none of these is Any, which assert_type would refuse."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from typing_extensions import assert_type

import bitale as bt
import bitale.tensor as pt
from bitale.tensor import TensorSharedVariable, TensorVariable
from bitale.typing import SharedUpdates

Array = npt.NDArray[Any]


def results_of_calls(x: TensorVariable) -> None:
    assert_type(bt.function([x], x)(1.0), Array)
    assert_type(bt.function([x], [x, x + 1])(1.0), list[Array])
    assert_type(bt.function([x], {"x": x})(1.0), dict[str, Array])
    assert_type(bt.function([bt.In(x, value=1.0)], bt.Out(x))(), Array)
    assert_type(x.eval({x: 1.0}), Array)


def derivatives(x: TensorVariable) -> None:
    assert_type(bt.grad(x.sum(), x), TensorVariable)
    assert_type(bt.grad(x.sum(), [x]), list[TensorVariable])
    assert_type(bt.jacobian(x, x), TensorVariable)


def variables(a: TensorVariable) -> None:
    assert_type(bt.shared(np.zeros(3)), TensorSharedVariable)
    assert_type(pt.linalg.qr(a), tuple[TensorVariable, TensorVariable])
    assert_type(pt.linalg.qr(a, mode="r"), TensorVariable)
    assert_type(bt.ifelse(a.sum() > 0, a, -a), TensorVariable)
    assert_type(pt.random.normal(0.0, 1.0, size=3), TensorVariable)


def loops(x: TensorVariable) -> None:
    def step(before: TensorVariable) -> TensorVariable:
        return before * 2

    def steps(before: TensorVariable) -> list[TensorVariable]:
        return [before * 2, before + 1]

    assert_type(bt.scan(step, outputs_info=x, n_steps=3), tuple[TensorVariable, SharedUpdates])
    assert_type(bt.scan(step, outputs_info=x, n_steps=3, return_updates=False), TensorVariable)
    assert_type(
        bt.scan(steps, outputs_info=[x, None], n_steps=3, return_list=True, return_updates=False),
        list[TensorVariable],
    )
    assert_type(bt.map(step, x, return_updates=False), TensorVariable)


def solutions(cost: TensorVariable, x: TensorVariable) -> None:
    assert_type(pt.optimize.minimize(cost, x)[0], TensorVariable)
    assert_type(pt.optimize.minimize(cost, [x])[0], list[TensorVariable])


def directional_derivatives(y: TensorVariable, x: TensorVariable) -> None:
    assert_type(bt.Lop(y, x, y), TensorVariable)
    assert_type(bt.Rop(y, [x], [x]), TensorVariable)
    assert_type(bt.Rop([y], x, x), list[TensorVariable])
    assert_type(next(bt.graph.traversal.walk([x], lambda v: None)), TensorVariable)


def profiles(x: TensorVariable) -> None:
    profile = bt.function([x], x + 1, profile=True).profile
    assert profile is not None
    assert_type(profile.compile_time, float)
