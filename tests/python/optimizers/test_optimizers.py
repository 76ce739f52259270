"""Optimisers against the published recurrences over 100 steps, in both forms; chains, states, dtypes and errors."""

import numpy as np
import pytest
from recurrences import CASES

import bitale as bt
import bitale.tensor as pt
from bitale import optimizers

STEPS = 100
TOLERANCE = {"float64": 1e-12, "float32": 2e-5}


def start(dtype):
    return np.random.default_rng(0).normal(size=7).astype(dtype)


def gradient(p, data):
    """Of sum(data * sin(p) + p**2 / 2)."""
    return data * np.cos(p) + p


def loss_of(w, data):
    return (data * pt.sin(w) + w**2 / 2).sum()


def noise(dtype):
    return np.random.default_rng(1).normal(size=(STEPS, 7)).astype(dtype)


def table(recurrence, dtype, settings=()):
    """The parameters after each step."""
    steps = recurrence(start(dtype), *settings)
    p = next(steps)
    out = []
    for data in noise(dtype):
        p = steps.send(gradient(p, data))
        out.append(p)
    return np.array(out)


def shared_steps(update, dtype):
    """The same by a function of shared variables; `update` gives the updates of loss and w."""
    w, data = bt.shared(start(dtype), "w"), pt.vector("data", dtype=dtype)
    step = bt.function([data], [], updates=update(loss_of(w, data), w))
    out = []
    for row in noise(dtype):
        step(row)
        out.append(w.get_value())
    return np.array(out)


def scanned_steps(optimizer, dtype):
    """The same by a loop."""
    w = pt.vector("w", dtype=dtype)
    state = optimizer.init(w)
    keys = list(state)

    def step(data, w, *values):
        g = bt.grad(loss_of(w, data), w)
        moved, following = optimizer.update(g, dict(zip(keys, values)), w)
        return [moved, *(following[key] for key in keys)]

    rows = pt.matrix("rows", dtype=dtype)
    results = bt.scan(step, rows, [w, *state.values()], return_updates=False)
    results = results if isinstance(results, list) else [results]
    return bt.function([w, rows], results)(start(dtype), noise(dtype))


def test_every_optimiser_has_a_case():
    named = set()
    for name in set(optimizers.__all__) - {"Optimizer", "Schedule", "Updates", "chain"}:
        try:
            getattr(optimizers, name)().init(pt.dvector())
            named.add(name)
        except (
            TypeError,
            ValueError,
        ):  # schedules have no defaults, and clipping alone is not an optimiser
            pass
    assert named == set(CASES)


@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize("name", CASES)
def test_shared_variables_follow_the_recurrence(name, dtype):
    recurrence, settings = CASES[name]
    function = getattr(optimizers, name)
    for given in ({}, settings):
        found = shared_steps(lambda loss, w: function(loss, w, **given), dtype)
        wanted = table(recurrence, dtype, given.values())
        assert found.dtype == wanted.dtype == dtype
        np.testing.assert_allclose(found, wanted, rtol=TOLERANCE[dtype], atol=TOLERANCE[dtype])


@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize("name", CASES)
def test_a_loop_of_pure_steps_is_the_same(name, dtype):
    recurrence, settings = CASES[name]
    found, *states = scanned_steps(getattr(optimizers, name)(**settings), dtype)
    wanted = table(recurrence, dtype, settings.values())
    assert found.dtype == dtype
    np.testing.assert_allclose(found, wanted, rtol=TOLERANCE[dtype], atol=TOLERANCE[dtype])
    assert all(state.dtype in (dtype, "int64") for state in states)


def test_the_first_steps_of_adam_by_hand():
    """With one gradient of 2 throughout, both means are exact after their corrections: each step is the learning rate."""
    w = bt.shared(np.array([1.0]), "w")
    updates = optimizers.adam([pt.constant(np.array([2.0]))], [w], learning_rate=0.5, eps=0.0)
    step = bt.function([], [], updates=updates)
    for k in range(1, 4):
        step()
        np.testing.assert_allclose(w.get_value(), [1 - 0.5 * k], rtol=1e-13, atol=1e-13)
        assert updates.state["count"].get_value() == k
        np.testing.assert_allclose(updates.state["mu"][0].get_value(), [2 * (1 - 0.9**k)])
        np.testing.assert_allclose(updates.state["nu"][0].get_value(), [4 * (1 - 0.999**k)])


def test_corrections_keep_their_digits_in_float32():
    """1 - 0.999 has four digits in float32; the first step of Adam is the learning rate in all of them."""
    w = bt.shared(np.zeros(3, "float32"), "w")
    step = bt.function(
        [],
        [],
        updates=optimizers.adam([pt.constant(np.float32([1, 3, 1e-2]))], [w], learning_rate=1.0),
    )
    step()
    np.testing.assert_allclose(w.get_value(), -1, rtol=3e-6)


def test_adadelta_without_a_learning_rate():
    recurrence, _ = CASES["adadelta"]
    found = shared_steps(lambda loss, w: optimizers.adadelta(loss, w), "float64")
    np.testing.assert_allclose(found, table(recurrence, "float64"), rtol=1e-12)


# ---- forms of parameters ---------------------------------------------------------------------------------------------


def test_parameters_in_nested_forms():
    params = {
        "W": bt.shared(np.ones((2, 3)), "W"),
        "rest": [bt.shared(np.zeros(3), "b"), (bt.shared(2.0, "c"),)],
    }
    W, b, c = params["W"], params["rest"][0], params["rest"][1][0]
    loss = ((pt.ones(2) @ W + b) ** 2).sum() * c
    updates = optimizers.momentum(loss, params)
    assert isinstance(updates, dict) and list(updates)[:3] == [W, b, c]
    trace = updates.state["trace"]
    assert list(trace) == ["W", "rest"] and isinstance(trace["rest"][1], tuple)
    assert trace["W"].name == "W.trace" and trace["W"].get_value().shape == (2, 3)
    before = [v.get_value() for v in (W, b, c)]
    gradients = bt.function([], bt.grad(loss, [W, b, c]))()
    bt.function([], [], updates=updates)()
    for variable, value, g in zip((W, b, c), before, gradients):
        np.testing.assert_allclose(variable.get_value(), value - 0.01 * g)
    for variable, g in zip((trace["W"], trace["rest"][0], trace["rest"][1][0]), gradients):
        np.testing.assert_allclose(variable.get_value(), g)


def test_gradients_in_the_order_of_their_keys():
    params = {"a": bt.shared(np.zeros(2), "a"), "b": bt.shared(np.zeros(2), "b")}
    updates = optimizers.sgd({"b": pt.ones(2), "a": 2 * pt.ones(2)}, params, learning_rate=1.0)
    bt.function([], [], updates=updates)()
    assert params["a"].get_value().tolist() == [-2, -2] and params["b"].get_value().tolist() == [
        -1,
        -1,
    ]


def test_deep_forms():
    form = w = bt.shared(np.ones(2), "w")
    for _ in range(100):
        form = [form]
    updates = optimizers.sgd((w**2).sum(), form)
    assert list(updates) == [w]


def test_the_pure_form_keeps_the_form():
    o = optimizers.adam(learning_rate=0.1)
    params = {"W": pt.dmatrix("W"), "rest": [pt.fvector("b")]}
    state = o.init(params)
    assert list(state) == ["count", "mu", "nu"] and list(state["mu"]) == ["W", "rest"]
    assert state["mu"]["rest"][0].type == params["rest"][0].type
    gradients = {"rest": [pt.fvector("g")], "W": pt.dmatrix("G")}
    moved, following = o.update(gradients, state, params)
    assert moved["W"].dtype == "float64" and moved["rest"][0].dtype == "float32"
    assert list(following) == list(state) and isinstance(following["nu"]["rest"], list)


def test_init_of_values_gives_values():
    o = optimizers.adagrad(initial_accumulator_value=0.25)
    state = o.init({"W": np.ones((2, 2), "float32"), "b": np.zeros(3)})
    assert list(state) == ["sum_of_squares"]
    assert (
        state["sum_of_squares"]["W"].dtype == "float32"
        and (state["sum_of_squares"]["W"] == 0.25).all()
    )
    state = optimizers.chain(optimizers.adam(), optimizers.parameter_ema()).init(
        [np.array([1.0, 2.0])]
    )
    assert state["count"] == 0 and state["ema"][0].tolist() == [1, 2] and not state["mu"][0].any()


def test_a_state_as_inputs_of_a_function():
    """The expressions of init() stand for a state: a function takes and returns its values."""
    o = optimizers.adam(learning_rate=0.1)
    w = pt.dvector("w")
    state = o.init(w)
    moved, following = o.update(2 * w, state, w)
    step = bt.function([w, *state.values()], [moved, *following.values()])
    value, values = np.array([1.0, -2.0]), list(o.init(np.zeros(2)).values())
    steps = CASES["adam"][0](value, 0.1)
    wanted = next(steps)
    for _ in range(10):
        value, *values = step(value, *values)
        wanted = steps.send(2 * wanted)
        np.testing.assert_allclose(value, wanted, rtol=1e-12)
    assert values[0] == 10


# ---- schedules and settings that change ----------------------------------------------------------------------------------


def test_a_learning_rate_that_is_shared_can_be_set():
    rate, w = bt.shared(1.0, "rate"), bt.shared(np.zeros(2), "w")
    step = bt.function([], [], updates=optimizers.sgd([pt.ones(2)], [w], learning_rate=rate))
    step()
    rate.set_value(0.25)
    step()
    assert w.get_value().tolist() == [-1.25, -1.25]


@pytest.mark.parametrize(
    "make", [lambda: optimizers.linear_schedule(1.0, 0.0, 4), lambda: lambda step: 1 - step / 4]
)
def test_a_scheduled_learning_rate_counts_steps(make):
    w = bt.shared(np.zeros(1), "w")
    updates = optimizers.sgd([pt.ones(1)], [w], learning_rate=make())
    assert list(updates.state) == ["count"]
    step = bt.function([], [], updates=updates)
    moves = []
    for _ in range(4):
        before = w.get_value()[0]
        step()
        moves.append(before - w.get_value()[0])
    assert moves == [1, 0.75, 0.5, 0.25] and updates.state["count"].get_value() == 4


def test_sgd_alone_has_no_state():
    w = bt.shared(np.zeros(1), "w")
    updates = optimizers.sgd([pt.ones(1)], [w])
    assert updates.state == {} and list(updates) == [w] and optimizers.sgd().init(w) == {}


# ---- chains ----------------------------------------------------------------------------------------------------------


def one_step(optimizer, gradients, values):
    params = [bt.shared(value, f"w{i}") for i, value in enumerate(values)]
    bt.function([], [], updates=optimizer.updates([pt.constant(g) for g in gradients], params))()
    return [p.get_value() - value for p, value in zip(params, values)]


def test_clipping_by_value():
    chain = optimizers.chain(optimizers.clip_by_value(0.5), optimizers.sgd(1.0))
    (moved,) = one_step(chain, [np.array([0.25, -3.0, np.nan])], [np.zeros(3)])
    np.testing.assert_array_equal(moved, [-0.25, 0.5, np.nan])


@pytest.mark.parametrize("norm", [1.0, 13.0, 20.0])
def test_clipping_by_the_norm_of_all(norm):
    gradients = [np.array([3.0, 4.0]), np.array([[12.0]])]  # of norm 13
    chain = optimizers.chain(optimizers.clip_by_global_norm(norm), optimizers.sgd(1.0))
    for moved, g in zip(one_step(chain, gradients, [np.zeros(2), np.zeros((1, 1))]), gradients):
        np.testing.assert_allclose(moved, -g * min(1, norm / 13), rtol=1e-15)
    assert optimizers.global_norm(gradients).eval() == 13


def test_clipping_gradients_of_zero():
    chain = optimizers.chain(optimizers.clip_by_global_norm(1.0), optimizers.sgd(1.0))
    assert one_step(chain, [np.zeros(2)], [np.ones(2)])[0].tolist() == [0, 0]


def test_weight_decay_before_an_optimiser():
    chain = optimizers.chain(optimizers.add_decayed_weights(0.5), optimizers.sgd(0.1))
    np.testing.assert_allclose(
        one_step(chain, [np.array([1.0])], [np.array([2.0])])[0], [-0.1 * (1 + 0.5 * 2)]
    )


def test_averages_of_parameters():
    chain = optimizers.chain(
        optimizers.adam(learning_rate=0.1),
        optimizers.parameter_average(),
        optimizers.parameter_ema(0.9),
        optimizers.parameter_ema(0.5),
    )
    states = {}

    def update(loss, w):
        updates = chain.updates(loss, w)
        states.update(updates.state)
        return updates

    found = shared_steps(update, "float64")
    np.testing.assert_allclose(found, table(CASES["adam"][0], "float64", [0.1]), rtol=1e-12)
    assert list(states) == ["count", "mu", "nu", "average", "ema", "ema_2"]
    np.testing.assert_allclose(states["average"].get_value(), found.mean(axis=0), rtol=1e-12)
    for name, decay in (("ema", 0.9), ("ema_2", 0.5)):
        ema = start("float64")
        for p in found:
            ema = decay * ema + (1 - decay) * p
        np.testing.assert_allclose(states[name].get_value(), ema, rtol=1e-12)


def test_a_learning_rate_alone():
    for given in (0.5, 1, np.float64(0.5), lambda step: 0.5):
        assert repr(optimizers.adam(given, b1=0.5)) == repr(
            optimizers.adam(learning_rate=given, b1=0.5)
        )


def test_texts():
    assert repr(optimizers.adam()) == "adam(learning_rate=0.001, b1=0.9, b2=0.999, eps=1e-08)"
    chain = optimizers.chain(
        optimizers.clip(2), optimizers.sgd(learning_rate=optimizers.cosine_decay(0.1, 10))
    )
    assert (
        repr(chain)
        == "chain(clip_by_value(max_delta=2.0), sgd(learning_rate=cosine_decay_schedule(...)))"
    )


# ---- dtypes ----------------------------------------------------------------------------------------------------------


def test_float16_is_computed_in_float32():
    w = bt.shared(np.ones(3, "float16"), "w")
    updates = optimizers.adam((w**2).sum(), w, learning_rate=0.25)
    assert updates.state["nu"].dtype == "float32" and updates[w].dtype == "float16"
    bt.function([], [], updates=updates)()
    np.testing.assert_array_equal(w.get_value(), np.float16([0.75] * 3))


def test_gradients_of_another_dtype():
    w = bt.shared(np.ones(3, "float32"), "w")
    updates = optimizers.sgd([pt.constant(np.array([1.0, 2, 3]))], [w], learning_rate=0.5)
    assert updates[w].dtype == "float32"
    moved, _ = optimizers.sgd(learning_rate=0.5).update([np.array([1, 2, 3])], {}, [np.zeros(3)])
    assert moved[0].eval().tolist() == [-0.5, -1, -1.5]


def test_numbers_do_not_depend_on_floatX():
    with bt.config.change_flags(floatX="float32"):
        found = shared_steps(lambda loss, w: optimizers.adam(loss, w, learning_rate=0.1), "float64")
    np.testing.assert_allclose(found, table(CASES["adam"][0], "float64", [0.1]), rtol=1e-12)


# ---- generated code --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", CASES)
def test_a_step_is_one_loop_for_each_parameter(name):
    params = [bt.shared(np.ones(5), "v"), bt.shared(np.ones((2, 3)), "w")]
    loss = sum((pt.cos(p) * p).sum() for p in params)
    step = bt.function([], [], updates=getattr(optimizers, name)(loss, params))
    program = step.dprint("program", file="str")
    loops = [
        line
        for line in program.splitlines()
        if line.lstrip().startswith("for ") and line.startswith("  for ")
    ]
    assert len(loops) == 2, program


# ---- errors ----------------------------------------------------------------------------------------------------------


def shared_vector(name="w", dtype="float64"):
    return bt.shared(np.ones(3, dtype), name)


def test_a_loss_that_is_not_a_scalar():
    w = shared_vector()
    with pytest.raises(TypeError, match="the cost must be a scalar"):
        optimizers.adam(w**2, w)


def test_a_parameter_without_influence():
    w, other = shared_vector(), shared_vector("other")
    with pytest.raises(bt.DisconnectedInputError, match="other"):
        optimizers.adam((w**2).sum(), [w, other])


def test_parameters_that_cannot_be_optimised():
    w = shared_vector()
    loss = (w**2).sum()
    for params, error, text in (
        ([], ValueError, "adam: expected parameters, got none"),
        ([w, w], ValueError, "adam: parameter 1 `w` is given twice"),
        (
            [w, shared_vector("n", "int64")],
            TypeError,
            "adam: parameter 1 `n`: expected a tensor of a float dtype, got ",
        ),
        ([shared_vector("z", "complex128")], TypeError, "`z`: expected a tensor of a float dtype"),
        (
            [w, pt.dvector("x")],
            TypeError,
            "adam: parameter 1 `x`: expected a shared variable, got x",
        ),
        ({"W": w, "b": [np.ones(3)]}, TypeError, r"params\['b'\]\[0\]: expected a variable"),
        (np.ones(3), TypeError, "params"),
    ):
        with pytest.raises(error, match=text):
            optimizers.adam(loss, params)
    with pytest.raises(
        TypeError, match="adam: parameter 0 `n`: expected a tensor of a float dtype"
    ):
        optimizers.adam().init(pt.lvector("n"))
    with pytest.raises(TypeError, match="expected a parameter of a float dtype, got one of int64"):
        optimizers.adam().init(np.arange(3))


def test_settings_that_are_not_numbers():
    for settings, error, text in (
        (
            {"learning_rate": pt.dvector("v")},
            TypeError,
            "adam: learning_rate: expected a real scalar, got v of type ",
        ),
        ({"learning_rate": np.ones(2)}, TypeError, "adam: learning_rate: expected a real scalar"),
        (
            {"learning_rate": "fast"},
            TypeError,
            "adam: learning_rate: expected a number, a scalar or a schedule, got 'fast'",
        ),
        ({"learning_rate": None}, TypeError, "adam: learning_rate: expected a number"),
        ({"learning_rate": True}, TypeError, "adam: learning_rate: expected a number"),
        (
            {"learning_rate": -0.1},
            ValueError,
            "adam: learning_rate: expected a number of at least 0, got -0.1",
        ),
        (
            {"learning_rate": float("nan")},
            ValueError,
            "adam: learning_rate: expected a number of at least 0, got nan",
        ),
        ({"b1": 1.0}, ValueError, "adam: b1: expected a number from 0 to 1, without 1, got 1.0"),
        (
            {"lr": 0.1},
            TypeError,
            "adam: there is no argument lr; expected loss, params, learning_rate",
        ),
        (
            {"learning_rat": 0.1},
            TypeError,
            "adam: there is no argument learning_rat; did you mean learning_rate?",
        ),
    ):
        with pytest.raises(error, match=text.replace("?", r"\?")):
            optimizers.adam(**settings)
    with pytest.raises(TypeError, match="argument loss is given twice"):
        optimizers.adam(pt.dscalar(), loss=pt.dscalar())
    with pytest.raises(
        TypeError,
        match=r"sgd: expected a loss with its params, got a loss alone(.|\n)*sgd\(learning_rate=",
    ):
        optimizers.sgd(pt.dscalar())
    with pytest.raises(TypeError, match="a schedule|the value: expected a real scalar"):
        optimizers.sgd(
            [pt.ones(1)], [shared_vector()], learning_rate=lambda step: step * pt.ones(2)
        )


def test_gradients_and_states_that_do_not_fit():
    o = optimizers.momentum()
    params = {"W": pt.dmatrix("W"), "b": pt.dvector("b")}
    state = o.init(params)
    for gradients, error, text in (
        ({"W": pt.dmatrix()}, ValueError, "gradients: the key 'b' is missing"),
        (
            {"W": pt.dmatrix(), "b": pt.dvector(), "c": pt.dvector()},
            ValueError,
            "gradients: there is no key 'c' among 'W', 'b'$",
        ),
        ([pt.dmatrix(), pt.dvector()], TypeError, "gradients: expected a dict with the keys"),
        (
            {"W": pt.dvector("g"), "b": pt.dvector()},
            bt.ShapeError,
            "gradient 0 `g`: expected 2 dimensions",
        ),
        (
            {"W": pt.zmatrix("g"), "b": pt.dvector()},
            TypeError,
            "gradient 0 `g`: expected a real tensor",
        ),
        ({"W": [pt.dmatrix()], "b": pt.dvector()}, bt.ShapeError, "expected 2 dimensions"),
    ):
        with pytest.raises(error, match=text):
            o.update(gradients, state, params)
    for wrong, error, text in (
        ({}, ValueError, "state: key 'trace' is missing"),
        ({**state, "mu": params}, ValueError, r"state: expected the keys \['trace'\], got 'mu'"),
        ({"trace": {"W": pt.dmatrix()}}, ValueError, r"state\['trace'\]: the key 'b' is missing"),
        (None, TypeError, r"state: expected a dictionary as returned by init\(\), got None"),
    ):
        with pytest.raises(error, match=text):
            o.update(params, wrong, params)


def test_chains_that_are_no_optimisers():
    with pytest.raises(ValueError, match="got sgd after adam"):
        optimizers.chain(optimizers.adam(), optimizers.sgd())
    with pytest.raises(ValueError, match="got clip_by_value after adam"):
        optimizers.chain(optimizers.adam(), optimizers.clip_by_value(1.0))
    with pytest.raises(ValueError, match=r"clip_by_value\(max_delta=1.0\) has no optimizer"):
        optimizers.clip_by_value(1.0).init(pt.dvector())
    with pytest.raises(TypeError, match="chain: expected optimizers, got 0.1"):
        optimizers.chain(0.1)
