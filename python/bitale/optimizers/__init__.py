"""Optimisers and schedules: steps of gradient descent and its relatives, on shared variables or as pure functions.

>>> import bitale as bt, numpy as np
>>> w = bt.shared(np.zeros(2), "w")
>>> loss = ((w - [1.0, -2.0]) ** 2).sum()
>>> train = bt.function([], loss, updates=bt.optimizers.adam(loss, w, learning_rate=0.1))
>>> for _ in range(300):
...     value = train()
>>> w.get_value().round(3)
array([ 1., -2.])
"""

from bitale._core import (
    Optimizer,
    Schedule,
    Updates,
    adadelta,
    adagrad,
    adam,
    adamw,
    add_decayed_weights,
    chain,
    clip_by_global_norm,
    clip_by_value,
    constant_schedule,
    cosine_decay_schedule,
    exponential_decay,
    global_norm,
    join_schedules,
    linear_schedule,
    lion,
    momentum,
    nadam,
    nesterov,
    parameter_average,
    parameter_ema,
    rmsprop,
    sgd,
    warmup_cosine_decay_schedule,
)

__all__ = [
    "Optimizer",
    "Schedule",
    "Updates",
    "adadelta",
    "adagrad",
    "adam",
    "adamw",
    "add_decayed_weights",
    "chain",
    "clip",
    "clip_by_global_norm",
    "clip_by_value",
    "constant_schedule",
    "cosine_decay",
    "cosine_decay_schedule",
    "exponential_decay",
    "global_norm",
    "join_schedules",
    "linear_schedule",
    "lion",
    "momentum",
    "nadam",
    "nesterov",
    "parameter_average",
    "parameter_ema",
    "rmsprop",
    "sgd",
    "warmup_cosine_decay_schedule",
]

for _class in (Optimizer, Schedule, Updates):
    _class.__module__ = __name__
del _class

# optax's name, and a shorter one.
clip = clip_by_value
cosine_decay = cosine_decay_schedule
