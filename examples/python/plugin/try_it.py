"""A program that uses the package in this folder: each mode and linker computes the same, with its rewriters and without them."""

import importlib.util

import numpy as np

import bitale as bt
import bitale.tensor as pt
from smoothing import LeftOver, Smooth, TextLinker, left_over

x = pt.dvector("x")
soft = Smooth(0.5)
step, reflected, logarithm = soft(x), soft(-x), pt.log(soft(x))
slope = bt.grad(step.sum(), x)
values = np.array([-1.0, 0.0, 2.0])
expected = 1 / (1 + np.exp(-values / 0.5))

# The feature, on a graph that a program changes.
feature = LeftOver()
graph = bt.FunctionGraph([x], [step + reflected], features=[feature])
assert feature.count == 2
graph.replace(graph.outputs[0], graph.inputs[0])
assert feature.count == 0

# Every mode, and the linker, compute the same.
linker = TextLinker()
modes = {name: name for name in ("FAST_RUN", "FAST_COMPILE", "C", "VM", "CVM", "DebugMode")}
if importlib.util.find_spec("jax"):
    modes["JAX"] = "JAX"
modes["TextLinker"] = bt.Mode(linker, "fast_run")
modes["TextLinker without rewrites"] = bt.Mode(linker, None)
for name, mode in modes.items():
    f = bt.function([x], [step, reflected, slope], mode=mode)
    y, from_right, dy = f(values)
    np.testing.assert_allclose(y, expected)
    np.testing.assert_allclose(from_right, 1 - expected)
    np.testing.assert_allclose(dy, expected * (1 - expected) / 0.5)
    uses = {rule: n for rule, n in f.rewrite_report.uses.items() if "smooth" in rule}
    print(f"{name}: {uses}, {left_over.counts[-1]} left over")
rewritten, as_built = linker.texts
assert "step(" not in rewritten and "step(" in as_built
print(as_built)

# The logarithm of a step that underflows is found because of `log_of_smooth`.
far = np.array([-2000.0])
print("log", bt.function([x], logarithm)(far))
without = bt.get_mode("FAST_RUN").excluding("smoothing")
print("without", bt.function([x], logarithm, mode=without)(far))
assert bt.function([x], logarithm)(far)[0] == -4000
assert bt.function([x], logarithm, mode=without)(far)[0] == -np.inf
# Derivatives are taken of the stable form, too.
print("slope", bt.function([x], bt.grad(logarithm.sum(), x))(far))
bt.verify_grad(soft, [values])
