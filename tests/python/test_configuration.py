"""Configuration flags as attributes."""

import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import bitale as bt
import bitale.tensor as pt
from bitale.configparser import (
    BoolParam,
    ConfigAccessViolation,
    EnumStr,
    FloatParam,
    IntParam,
    StrParam,
)


def test_reading():
    assert bt.config.floatX in ("float64", "float32")
    assert isinstance(bt.config.optdb__max_use_ratio, float)
    assert bt.config.get("mode") == bt.config.mode
    assert "floatX" in dir(bt.config) and "floatX" in str(bt.config) and "floatX" in repr(bt.config)
    with pytest.raises(AttributeError, match="floatX"):
        bt.config.floatx
    with pytest.raises(KeyError):
        bt.config.get("nothing")


def test_changing():
    before = bt.config.floatX
    with bt.config.change_flags(floatX="float32"):
        assert pt.scalar().dtype == "float32"
        with bt.config.change_flags({"floatX": "float64"}):
            assert pt.scalar().dtype == "float64"
        assert pt.scalar().dtype == "float32"
    assert bt.config.floatX == before

    @bt.config.change_flags(floatX="float32")
    def inside():
        return pt.scalar().dtype

    assert inside() == inside() == "float32" and bt.config.floatX == before
    bt.config.on_unused_input = "ignore"
    try:
        bt.function([pt.dscalar("x")], pt.constant(1.0))
    finally:
        bt.config.on_unused_input = "raise"


def test_bad_changes():
    before = bt.config.floatX
    with pytest.raises(ValueError):
        bt.config.floatX = "float63"
    with pytest.raises(AttributeError):
        bt.config.nothing = 1
    with pytest.raises(KeyError):
        bt.config.change_flags(nothing=1)
    with pytest.raises(ValueError):
        with bt.config.change_flags(floatX="float32", mode="SLOW"):
            pass
    assert bt.config.floatX == before
    with pytest.raises((TypeError, ValueError)):
        bt.config.base_compiledir = "/tmp"


def test_environment():
    program = "import bitale; print(bitale.config.floatX, bitale.tensor.vector().dtype)"
    environment = {
        **os.environ,
        "BITALE_FLAGS": "floatX=float32",
        "PYTHONPATH": os.pathsep.join(sys.path),
    }
    out = subprocess.run(
        [sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True
    ).stdout
    assert out.split() == ["float32", "float32"]


def test_dtypes_of_python_numbers_follow_the_cast_policy():
    b, f = pt.bvector("b"), pt.fvector("f")
    assert (b + 1).dtype == "int8" and (b + 1.5).dtype == "float32" and (f + 0.1).dtype == "float64"
    with bt.config.change_flags(cast_policy="numpy+floatX"):
        assert (
            (b + 1).dtype == "int64"
            and (b + 1.5).dtype == "float64"
            and (f + 1.5).dtype == "float64"
        )
        assert pt.constant(3).dtype == "int64" and pt.as_tensor(np.True_).dtype == "bool"
    with bt.config.change_flags(cast_policy="numpy+floatX", floatX="float32"):
        assert (
            (f + 0.1).dtype == "float32"
            and (b + 1.5).dtype == "float32"
            and pt.constant(0.1).dtype == "float32"
        )
        assert (f + np.float64(0.1)).dtype == "float64"  # NumPy scalars already have a dtype
        assert bt.function([b], b * 300)([2]).tolist() == [600]
    assert (b + 1).dtype == "int8"


def test_operations_on_nothing_but_literals_have_room():
    x, b = pt.dvector("x"), pt.bvector("b")
    cases = {
        "switch": (lambda: pt.switch(x > 0, 1, 0) * 100 + 100, [200, 100]),
        "product": (lambda: pt.as_tensor(100) * 2, 200),
        "sum": (lambda: pt.add(100, 100), 200),
        "square": (lambda: pt.sqr(100), 10000),
        "full": (lambda: pt.full((2,), 100) * 2, [200, 200]),
        "where": (lambda: pt.where(x > 0, 100, 27) + 100, [200, 127]),
        "stack": (lambda: pt.stack([100, 100]) * 2, [200, 200]),
        "choose": (lambda: pt.choose(pt.cast(x > 0, "int64"), [100, 27]) * 2, [54, 200]),
        "ifelse": (lambda: bt.ifelse(x[0] > 0, 100, 27) * 2, 200),
        "repeat": (lambda: pt.repeat(100, 2) * 2, [200, 200]),
        "alloc": (lambda: pt.alloc(100, 2) * 2, [200, 200]),
        "full_like": (lambda: pt.full_like(x, 100) * 2, [200, 200]),
        "tile": (lambda: pt.tile(100, (2,)) * 2, [200, 200]),
        "broadcast_to": (lambda: pt.broadcast_to(100, (2,)) * 2, [200, 200]),
        "expand_dims": (lambda: pt.expand_dims(100, 0) * 2, [200]),
        "reshape": (lambda: pt.reshape(100, (1,)) * 2, [200]),
        "atleast_1d": (lambda: pt.atleast_1d(100) * 2, [200]),
        "constant": (lambda: pt.constant(100) * 2, 200),
    }
    for name, (make, right) in cases.items():
        result = make()
        assert result.dtype == "int64", name
        assert result.eval({x: [1.0, -1.0]}, on_unused_input="ignore").tolist() == right, name
    powers = bt.scan(
        lambda s: s * 10, outputs_info=[pt.as_tensor(1)], n_steps=5, return_updates=False
    )[-1]
    assert (
        powers.dtype == "int64" and powers.eval() == 100000
    )  # with either policy, as numbers that begin a loop
    # Beside an operand with a dtype, a literal takes as few bits as it needs; what has a dtype keeps it.
    assert (pt.as_tensor(100) * b).dtype == "int8" and pt.switch(x > 0, b, 0).dtype == "int8"
    assert (pt.as_tensor(np.int8(100)) * 2).dtype == "int8"
    assert (
        pt.full((2,), 100, dtype="int8").dtype
        == (pt.cast(100, "int8") * 2).dtype
        == pt.full_like(x, 3, dtype="int8").dtype
        == "int8"
    )
    assert (
        pt.alloc(pt.cast(100, "int8"), 2).dtype
        == pt.expand_dims(pt.constant(100, dtype="int8"), 0).dtype
        == "int8"
    )
    assert pt.exp(pt.cast(0.5, "float32")).dtype == pt.sqrt(pt.cast(2, "int8")).dtype == "float32"
    with bt.config.change_flags(cast_policy="pytensor"):
        for name, (make, _) in cases.items():
            assert make().dtype in ("int8", "int16"), name


def test_functions_of_nothing_but_literals_are_computed_in_float64():
    x32, x64 = pt.fvector("x32"), pt.dvector("x64")
    cases = {
        "root": (lambda: pt.sqrt(2), np.sqrt(2.0)), "quotient": (lambda: pt.true_div(1, 3), 1 / 3), "exp": (lambda: pt.exp(0.5), np.exp(0.5)),
        "product": (lambda: pt.mul(0.1, 0.5), 0.1 * 0.5), "power": (lambda: pt.pow(2, 0.5), 2**0.5), "mixed": (lambda: pt.add(0.5, 1), 1.5),
        "logaddexp": (lambda: pt.logaddexp(1.0, 2), np.logaddexp(1.0, 2.0)), "logaddexp2": (lambda: pt.logaddexp2(1, 2.0), np.logaddexp2(1.0, 2.0)),
        "fmod": (lambda: pt.fmod(5.5, 3), 2.5), "degrees": (lambda: pt.deg2rad(90), np.pi / 2), "radians": (lambda: pt.rad2deg(0.5), np.rad2deg(0.5)),
        "elu": (lambda: pt.elu(-1.0), np.expm1(-1.0)), "silu": (lambda: pt.silu(1.0), 1 / (1 + np.exp(-1.0))), "gelu": (lambda: pt.gelu(0.5), 0.34573123063700656),
    }  # fmt: skip
    for name, (make, right) in cases.items():
        result = make()
        assert result.dtype == "float64" and result.eval() == pytest.approx(right, rel=1e-15), name
    assert bt.function([x64], x64 / pt.sqrt(2))([1.0])[0] == 1 / np.sqrt(2.0)
    # Beside an operand with a dtype a literal does not widen it, and a choice among literals has their values.
    assert (
        (x32 * 0.5).dtype == "float32"
        and pt.switch(x32 > 0, 1.0, 0.5).dtype == "float32"
        and pt.maximum(x32, 0.5).dtype == "float32"
    )
    assert {
        each.dtype
        for each in (
            pt.logaddexp(x32, 1.0),
            pt.logaddexp(0.5, x32),
            pt.fmod(x32, 0.5),
            pt.elu(x32),
            pt.elu(x32, 0.5),
            pt.gelu(x32),
        )
    } == {"float32"}
    assert (
        pt.as_tensor(0.5).dtype == "float32"
        and pt.sqrt(pt.as_tensor(np.float32(2))).dtype == "float32"
    )
    for flags in ({"cast_policy": "pytensor"}, {"floatX": "float32"}):
        with bt.config.change_flags(**flags):
            assert (
                pt.sqrt(2).dtype
                == pt.exp(0.5).dtype
                == pt.logaddexp(1.0, 2.0).dtype
                == pt.gelu(0.5).dtype
                == "float32"
            )


def test_one_setting_makes_an_optimiser_of_float32():
    def adam():
        x = pt.fmatrix("x")
        w, mean, square, steps = (bt.shared(np.zeros(n, "float32")) for n in (3, 3, 3, ()))
        cost = pt.sqr(x @ w - 1).mean()
        slope, t = bt.grad(cost, w), steps + 1
        updates = {
            mean: 0.9 * mean + 0.1 * slope,
            square: 0.999 * square + 0.001 * slope**2,
            steps: t,
        }
        updates[w] = w - 0.01 * (updates[mean] / (1 - 0.9**t)) / (
            pt.sqrt(updates[square] / (1 - 0.999**t)) + 1e-8
        )
        return bt.function([x], cost, updates=updates), w

    with pytest.raises(TypeError, match='config.floatX = "float32"'):
        adam()
    with bt.config.change_flags(floatX="float32"):
        f, w = adam()
        f(np.ones((2, 3), "float32"))
        assert w.get_value().dtype == "float32" and np.allclose(w.get_value(), 0.01)


@pytest.mark.parametrize(
    "name, good, bad",
    [("openmp", [True, False, "True", 0], ["yes", 2, None]), ("profiling__n_apply", [5, "7"], ["many", None, 2j]),
     ("optdb__position_cutoff", [1.5, "2.5"], ["far"]), ("cycle_detection", ["regular", "fast"], ["slow", 3]),
     ("check_stack_trace", ["off", "raise"], ["on"]), ("warn_float64", ["ignore", "pdb"], ["zzz"]), ("on_shape_error", ["warn", "raise"], ["zzz"]),
     ("mode", ["Mode", "FAST_RUN", "JAX", "CVM"], ["zzz"]), ("linker", ["py", "c|py", "c|py_nogc", "cvm", "cvm_nogc", "vm_nogc", "jax", "auto"], ["zzz", "vm_no"])],
)  # fmt: skip
def test_flags_validate_their_values(name, good, bad):
    for value in good:
        with bt.config.change_flags({name: value}):
            assert str(getattr(bt.config, name)) in (str(value), str(bool(value)))
    for value in bad:
        before = getattr(bt.config, name)
        with pytest.raises((ValueError, TypeError)):
            setattr(bt.config, name, value)
        assert getattr(bt.config, name) == before


def test_modes_and_linkers_are_listed_once():
    choices = {flag["name"]: flag["choices"] for flag in bt._core.config_flags()}
    assert choices["mode"] == bt.compile.mode.mode_names()
    assert set(bt.link.linker_names()) - {"wrap"} <= set(choices["linker"])
    assert set(choices["linker"]) - set(bt.compile.mode.predefined_linkers) <= {"jax"}


def test_functions_use_the_configured_linker():
    x = pt.dvector("x")
    for linker in ("py", "c|py", "c|py_nogc", "cvm", "cvm_nogc", "vm_nogc"):
        with bt.config.change_flags(linker=linker):
            assert bt.function([x], pt.exp(x).sum(), mode=bt.Mode(None))([0.0]) == 1
            assert bt.function([x], pt.exp(x).sum())([0.0]) == 1
    with bt.config.change_flags(mode="Mode", optimizer="o2", linker="vm"):
        assert (
            bt.compile.get_mode(None).linker == "vm"
            and bt.function([x], pt.exp(x).sum())([0.0]) == 1
        )


PASSES = "lanes promote blocks guard jam short forward collapse tile vectorize parallelize strips empty".split()


@pytest.mark.parametrize("left_out", PASSES)
def test_programs_mean_the_same_without_a_pass_of_the_lowering(left_out):
    x, c, y, a = pt.dmatrix("x"), pt.matrix("c", shape=(5, 2)), pt.dmatrix("y"), pt.dtensor3("a")
    least = pt.min(((x[:, None, :] - c[None]) ** 2).sum(axis=2), axis=1).sum()
    states = bt.scan(
        lambda s: pt.matmul(s, s) * 0.5, outputs_info=a, n_steps=3, return_updates=False
    )
    outputs = [bt.grad(least, c), pt.exp(y) + y.T, pt.dot(x, c.T).sum(axis=0), states[-1]]
    draw = np.random.default_rng(0).normal
    values = draw(size=(70, 2)), draw(size=(5, 2)), draw(size=(40, 40)), draw(size=(20, 3, 3))
    whole = bt.function([x, c, y, a], outputs)(*values)
    with bt.config.change_flags(lowering__excluding=left_out):
        without = bt.function([x, c, y, a], outputs)(*values)
    for one, other in zip(whole, without, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12)


def test_the_pass_that_is_left_out_is_one_that_a_program_can_do_without():
    x = pt.dvector("x")
    texts = []
    for name in ("", "vectorize"):
        with bt.config.change_flags(lowering__excluding=name):
            texts.append(bt.function([x], pt.exp(x)).dprint("program", file="str"))
    assert [", vector" in text for text in texts] == [True, False]
    table = (Path(__file__).parents[2] / "src/lowering/lower.cpp").read_text()
    table = table[table.index("passes_of_programs") :]
    assert [*PASSES, "memory"] == re.findall(r'^    \{"(\w+)",', table, re.M)
    for name in ("memory", "vectorise"):
        with bt.config.change_flags(lowering__excluding=name):
            with pytest.raises(ValueError, match=f"expected one of lanes, .*, empty; got `{name}`"):
                bt.function([x], pt.exp(x))


# ---- parameters and strings ------------------------------------------------------------------------------------------


@pytest.fixture
def graph():
    x, y = pt.dscalars("x", "y")
    a = pt.exp(x)
    b = a * y
    return x, y, a, b, b + 2.0


def test_strings(graph):
    x, y, a, b, z = graph
    assert [bt.printing.char_from_number(n) for n in (0, 25, 26, 51, 52, 702)] == [
        "A",
        "Z",
        "BA",
        "BZ",
        "CA",
        "BBA",
    ]
    text = bt.dprint(z, file="str")
    for name, node in (("A", z.owner), ("B", b.owner), ("D", x), ("E", y)):
        assert bt.printing.get_node_by_id(z, name) == node and f"[id {name}]" in text
    assert (
        bt.printing.get_node_by_id(z, "Q") is None
        and bt.printing.get_node_by_id([a, z], "1", "int") is x
    )
    assert bt.printing.get_node_by_id(bt.function([x], a), "A").op == a.owner.op
    with pytest.raises(ValueError):
        bt.printing.get_node_by_id(z, "A", "auto")
    with pytest.raises(TypeError):
        bt.printing.get_node_by_id(3, "A")
    assert bt.printing.min_informative_str(z).splitlines()[:4] == [
        "A. Add",
        " B. Mul",
        "  C. Exp",
        "   D. x",
    ]


def test_user_defined_flags():
    config = bt.config
    config.add("test__steps", "How many.", IntParam(10, lambda n: n > 0))
    config.add("test__on", "Whether.", BoolParam(lambda: "1"))
    config.add("test__rate", "How fast.", FloatParam("0.5"))
    config.add("test__kind", "Which.", EnumStr("a", ["b"]))
    config.add("test__fixed", "Always this.", StrParam("x", mutable=False))
    assert (
        config.test__steps,
        config.test__on,
        config.test__rate,
        config.test__kind,
        config.test__fixed,
    ) == (10, True, 0.5, "a", "x")
    with config.change_flags(test__steps="3", test__on=False, test__kind="b"):
        assert (config.test__steps, config.test__on, config.test__kind) == (3, False, "b")
    assert config.test__steps == 10 and "test__steps" in str(config) and "test__rate" in dir(config)
    for name, value in (("test__steps", -1), ("test__on", "maybe"), ("test__kind", "c")):
        with pytest.raises(ValueError, match=name):
            setattr(config, name, value)
    with pytest.raises(ConfigAccessViolation):
        config.test__fixed = "y"
    with pytest.raises(AttributeError, match="already"):
        config.add("floatX", "", StrParam(""))
    with pytest.raises(TypeError):
        config.add("test__none", "", 3)
    with pytest.raises(KeyError):
        config.change_flags(test__none=1)


def test_the_mode_may_be_an_object():
    class Mine(bt.Mode):
        pass

    x = bt.tensor.dscalar("x")
    config, mine = bt.config, Mine("vm", "fast_compile")
    with config.change_flags(mode=mine):
        assert config.mode is mine and bt.get_mode() is mine
        assert bt.compile.get_default_mode() is mine
        f = bt.function([x], x + 1)
        assert f.maker.mode is mine and f(1.0) == 2.0
        assert bt.tensor.exp(x).eval({x: 0.0}) == 1.0
        assert "fast_compile" in str(config).rpartition("\nmode = ")[2]
        with config.change_flags(mode="CVM"):
            assert config.mode == "CVM" and bt.function([x], x).maker.mode is not mine
        assert config.mode is mine
    assert config.mode == "FAST_RUN" and bt.function([x], x).maker.mode is not mine
    for wrong in (None, 3, "FAST"):
        with pytest.raises(ValueError, match="mode"):
            config.mode = wrong
    assert config.mode == "FAST_RUN"
