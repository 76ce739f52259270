"""Rewriting a log density and its gradient under the full query, the expression of bench/cpp/rewrite.cpp."""

import json
import statistics

import bitale as bt
import bitale.tensor as pt
from measure import clock, importable

TERMS = 5


def density(pt, grad):
    """With Bitale or with PyTensor, which share their interface: parameters, and the value with its gradient."""
    value, parameters = pt.as_tensor_variable(0.0), []
    for _ in range(TERMS):
        mean, log_scale, data = (pt.dvector(name) for name in ("mean", "log_scale", "data"))
        scale = pt.exp(log_scale)
        score = (data - mean) / scale
        normal = -0.5 * score * score - pt.log(scale) - 0.5 * 1.8378770664093453
        counts = data * pt.log(pt.exp(mean)) - pt.exp(mean)
        value = value + normal.sum() + counts.sum() + pt.log(1 / (1 + pt.exp(-mean))).sum()
        parameters += [mean, log_scale, data]
    return parameters, [value, *grad(value, parameters)]


def with_pytensor(pytensor):
    from pytensor.compile.mode import get_default_mode
    from pytensor.graph.fg import FunctionGraph

    parameters, outputs = density(importable("pytensor.tensor"), pytensor.grad)
    optimizer = (
        get_default_mode().excluding("fusion", "inplace").optimizer
    )  # which are not part of rewriting here
    return lambda: optimizer.rewrite(FunctionGraph(parameters, outputs, clone=True))


def seconds(call):
    before = clock()
    call()
    return clock() - before


_, outputs = density(pt, bt.grad)
rivals = {
    "Bitale": lambda: bt.rewrite.rewrite_graph(outputs, "fast_run")
}  # it copies first, as does PyTensor's
if pytensor := importable("pytensor"):
    rivals["PyTensor"] = with_pytensor(pytensor)
times = {name: [] for name in rivals}
for call in rivals.values():
    call()  # initializes what later calls share
for _ in range(7):
    for name, call in rivals.items():
        times[name].append(seconds(call))
print(json.dumps({name: statistics.median(values) for name, values in times.items()}))
