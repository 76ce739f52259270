"""Schedules against their closed forms, and the errors of what they are made of."""

import numpy as np
import pytest

import bitale as bt
import bitale.tensor as pt
from bitale import optimizers

STEPS = np.arange(14)


def values(schedule, steps=STEPS):
    step = pt.lscalar("step")
    f = bt.function([step], schedule(step), on_unused_input="ignore")
    return np.array([f(each) for each in steps])


def test_constant():
    np.testing.assert_array_equal(values(optimizers.constant_schedule(0.3)), 0.3)


def test_linear():
    wanted = 2.0 + (0.5 - 2.0) * np.clip((STEPS - 3) / 8, 0, 1)
    np.testing.assert_allclose(
        values(optimizers.linear_schedule(2.0, 0.5, 8, transition_begin=3)), wanted, rtol=1e-15
    )


@pytest.mark.parametrize("staircase", [False, True])
def test_exponential(staircase):
    time = np.maximum(STEPS - 2, 0) / 4
    wanted = 0.8 * 0.5 ** (np.floor(time) if staircase else time)
    make = optimizers.exponential_decay
    np.testing.assert_allclose(values(make(0.8, 4, 0.5, 2, staircase)), wanted, rtol=1e-14)
    bounded = values(make(0.8, 4, 0.5, 2, staircase, end_value=0.3))
    np.testing.assert_allclose(bounded, np.maximum(wanted, 0.3), rtol=1e-14)
    growing = values(make(0.8, 4, 2.0, 2, staircase, end_value=1.5))
    np.testing.assert_allclose(
        growing, np.minimum(0.8 * 2.0 ** (np.floor(time) if staircase else time), 1.5), rtol=1e-14
    )


def test_cosine():
    share = np.minimum(STEPS / 10, 1)
    wanted = 0.2 * ((1 - 0.1) * (0.5 * (1 + np.cos(np.pi * share))) ** 1.5 + 0.1)
    found = values(optimizers.cosine_decay_schedule(0.2, 10, alpha=0.1, exponent=1.5))
    np.testing.assert_allclose(found, wanted, rtol=1e-13, atol=1e-16)
    assert optimizers.cosine_decay is optimizers.cosine_decay_schedule


def test_warm_up():
    wanted = np.where(
        STEPS < 4,
        0.1 + 0.9 * STEPS / 4,
        0.2 + 0.8 * 0.5 * (1 + np.cos(np.pi * np.minimum((STEPS - 4) / 6, 1))),
    )
    found = values(optimizers.warmup_cosine_decay_schedule(0.1, 1.0, 4, 10, end_value=0.2))
    np.testing.assert_allclose(found, wanted, rtol=1e-13)
    assert not values(optimizers.warmup_cosine_decay_schedule(0.0, 0.0, 4, 10)).any()


def test_joined():
    parts = [
        optimizers.constant_schedule(1.0),
        optimizers.linear_schedule(2.0, 0.0, 4),
        lambda step: 10 + step,
    ]
    wanted = np.where(
        STEPS < 3, 1.0, np.where(STEPS < 9, 2 - 2 * np.clip((STEPS - 3) / 4, 0, 1), 10 + STEPS - 9)
    )
    np.testing.assert_allclose(values(optimizers.join_schedules(parts, [3, 9])), wanted)


def test_symbolic_parameters():
    peak = pt.fscalar("peak")
    schedule = optimizers.linear_schedule(0.0, peak, 4)
    value = schedule(np.int64(2))
    assert value.dtype == "float64" and value.eval({peak: np.float32(3)}) == 1.5


def test_errors():
    o = optimizers
    for make, error, text in (
        (lambda: o.cosine_decay_schedule(0.1, 0), ValueError, "cosine_decay_schedule: decay_steps: expected at least 1, got 0.0"),
        (lambda: o.linear_schedule(0.1, pt.dvector("v"), 3), TypeError, "linear_schedule: end_value: expected a real scalar, got v"),
        (lambda: o.exponential_decay(0.1, 3, 0.0), ValueError, "exponential_decay: decay_rate: expected a number above 0"),
        (lambda: o.warmup_cosine_decay_schedule(0, 1, 5, 5), ValueError, "decay_steps includes the steps of the warm-up"),
        (lambda: o.join_schedules([o.constant_schedule(1)], [3]), ValueError, "one boundary fewer than schedules, got 1 schedules and 1"),
        (lambda: o.join_schedules([1.0], []), TypeError, "join_schedules: expected schedules, got 1.0"),
        (lambda: o.constant_schedule(1)(pt.dscalar("t")), TypeError, "expected an integer scalar as the step, got t"),
    ):  # fmt: skip
        with pytest.raises(error, match=text):
            make()
