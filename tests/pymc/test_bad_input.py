"""User errors: they raise a clear error and do not end the process."""

from __future__ import annotations

import signal
import subprocess
import sys
import textwrap

import numpy as np
import pymc as pm
import pytensor
import pytensor.tensor as pt
import pytest
from pytensor.compile.builders import OpFromGraph
from pytensor.graph.basic import Apply
from pytensor.graph.op import Op

import bitale.pytensor
from bitale.pytensor import ConversionError
from compare import as_op
from new_process import environment, output_of

v, s = pt.dvector("v"), pt.dscalar("s")


class Unknown(Op):
    __props__ = ("factor",)

    def __init__(self, factor):
        self.factor = factor

    def make_node(self, x):
        return Apply(self, [x], [x.type()])

    def perform(self, node, inputs, output_storage):
        output_storage[0][0] = np.asarray(inputs[0] * self.factor)


class Foreign(Unknown):
    pass


class Strange(Unknown):
    pass


class Failing(Unknown):
    def perform(self, node, inputs, output_storage):
        if np.any(np.asarray(inputs[0]) > 1):
            raise ArithmeticError("a likelihood that fails")
        output_storage[0][0] = np.asarray(inputs[0])


def test_strict_names_all_ops_including_inner_graphs():
    block = OpFromGraph([v], [Foreign(2)(v)])
    steps = pytensor.scan(
        lambda e, p: p + Strange(3)(e),
        sequences=v,
        outputs_info=[np.float64(0)],
        return_updates=False,
    )
    with pytest.raises(ConversionError) as error:
        bitale.pytensor.function([v], [Unknown(1)(v), block(v), steps], strict=True)
    assert {name.split("{")[0] for name in error.value.reasons} == {"Unknown", "Foreign", "Strange"}
    assert all(name in str(error.value) for name in ("Unknown", "Foreign", "Strange"))


def test_unknown_ops_in_inner_graphs_are_called_back():
    block = OpFromGraph([v], [Foreign(2)(v)])
    steps = pytensor.scan(
        lambda e, p: p + Strange(3)(e),
        sequences=v,
        outputs_info=[np.float64(0)],
        return_updates=False,
    )
    with pytest.warns(UserWarning, match="called back") as warned:
        f = pytensor.function([v], [block(v), steps], mode="BITALE")
    # the line that compiles, not one inside a package
    assert {w.filename for w in warned if "called back" in str(w.message)} == {__file__}
    assert f.maker.linker.report().interpreted is None
    doubled, sums = f([1.0, 2.0])
    np.testing.assert_allclose(doubled, [2, 4])
    np.testing.assert_allclose(sums, [3, 9])


@pytest.mark.parametrize("dtype", ["float64", "float16", "complex64"])
@pytest.mark.parametrize("method", ["set", "inc"])
def test_values_of_rows_are_not_repeated(method, dtype):
    """PyTensor raises where a length is found to be 1 and its type does not say so, if one vector of integers selects the rows."""
    x, y = (pt.matrix(name, dtype=dtype) for name in "xy")
    rows = pt.lvector("rows")
    for index in (rows, [1, 7, 3]):
        f = pytensor.function(
            [x, y, rows], getattr(x[index], method)(y), mode="BITALE", on_unused_input="ignore"
        )
        assert f.maker.linker.report().is_native
        arguments = np.zeros((10, 5), dtype), [1, 7, 3]
        assert f(arguments[0], np.ones((3, 5), dtype), arguments[1]).sum() == 15
        for shape in ((1, 5), (3, 1), (1, 1)):
            with pytest.raises(ValueError):
                f(arguments[0], np.ones(shape, dtype), arguments[1])
    row = pytensor.function(
        [x, y], getattr(x[[1, 7, 3]], method)(pt.specify_broadcastable(y, 0)), mode="BITALE"
    )
    assert row(np.zeros((10, 5), dtype), np.ones((1, 5), dtype)).sum() == 15


@pytest.mark.parametrize(
    "specified", [lambda: pt.specify_shape(v, (3,)), lambda: pt.specify_broadcastable(v, 0)]
)
def test_specified_shapes_are_assertions(specified):
    """As in PyTensor, and shape errors as in Bitale."""
    f = pytensor.function([v], specified(), mode="BITALE")
    for kind in (AssertionError, ValueError):
        with pytest.raises(kind, match="SpecifyShape: expected length"):
            f([1.0, 2.0])


@pytest.mark.parametrize(
    "converter, found",
    [
        (lambda op, node, x: x.sum(), "returned: "),
        (lambda op, node, x: [x, x], "returned: .*, .*"),
        (lambda op, node, x: [], "returned: none"),
        (lambda op, node, x: None, "returned: NoneType"),
        (lambda op, node, x: 3.0, "returned: float"),
    ],
)
def test_a_converter_that_returns_a_wrong_type(converter, found):
    class Converted(Unknown):
        pass

    bitale.pytensor.converts(Converted)(converter)
    with pytest.raises(
        TypeError,
        match=f"the converter .*<lambda> of Converted.* must return a Bitale variable for each output.*{found}",
    ):
        pytensor.function([v], Converted(1)(v), mode="BITALE")


def test_an_error_in_a_converter_is_propagated():
    class Converted(Unknown):
        pass

    @bitale.pytensor.converts(Converted)
    def convert(op, node, x):
        return x @ "no vector"

    with pytest.warns(UserWarning, match="called back"):  # since Bitale rejects the operand
        pytensor.function([v], Converted(1)(v), mode="BITALE")

    @bitale.pytensor.converts(Converted)
    def fail(op, node, x):
        raise LookupError("of the converter")

    with pytest.raises(LookupError, match="of the converter"):
        pytensor.function([v], Converted(1)(v), mode="BITALE")


@pytest.mark.parametrize(
    "wrong",
    [np.zeros((2, 2)), np.float64(1), np.zeros(3, dtype="complex128"), np.array(["a"]), "text"],
)
def test_shared_variables_of_another_dtype_or_rank(wrong):
    data = pytensor.shared(np.arange(3.0), "data")
    f = pytensor.function([s], (data * s).sum(), mode="BITALE")
    with pytest.raises((TypeError, ValueError)):
        data.set_value(wrong)
    assert f(2.0) == 6.0
    data.container.storage[0] = wrong  # bypasses PyTensor's check
    with pytest.raises((TypeError, ValueError, NotImplementedError)):
        f(2.0)
    data.set_value(np.arange(4.0))
    assert f(2.0) == 12.0


@pytest.mark.parametrize("dtype", ["float32", "int64", "uint8"])
def test_values_of_a_dtype_that_converts_safely(dtype):
    """If PyTensor's check is bypassed, values of a dtype that converts safely to the variable's are accepted."""
    data = pytensor.shared(np.arange(3.0), "data")
    f = pytensor.function([v], (data * v).sum(), mode="BITALE")
    f.trust_input = True
    data.container.storage[0] = np.array([5, 1, 2], dtype=dtype)
    assert f(np.array([1, 2, 3], dtype=dtype)) == 13.0


def test_arguments_of_another_dtype_or_rank():
    f = pytensor.function([v], v.sum(), mode="BITALE")
    f.trust_input = True  # disables PyTensor's checks
    for wrong in (np.zeros((2, 2)), np.float64(1), None, "text", np.zeros(3, dtype="complex64")):
        with pytest.raises((TypeError, ValueError, NotImplementedError)):
            f(wrong)
    assert f(np.ones(3)) == 3.0


@pytest.mark.parametrize(
    "declared, factor, message",
    [
        (pt.dvector, 1j, "expected float64, got an array of complex128"),
        (pt.lvector, 1.5, "expected int64, got an array of float64"),
    ],
)
def test_results_of_another_kind_than_declared(declared, factor, message):
    x = pt.dvector("x")
    f = pytensor.function(
        [x], as_op([pt.dvector], [declared])(lambda x: x * factor)(x), mode="BITALE"
    )
    with pytest.raises(TypeError, match=message):
        f(np.array([1.0, 2.0]))


def test_an_op_that_fails_in_a_chain():
    @as_op([pt.dscalar], [pt.dscalar])
    def fails(value):
        raise ArithmeticError("a likelihood that fails")

    f = pytensor.function([s], pt.exp(Failing(1)(s)) + 1, mode="BITALE")
    for _ in range(3):
        with pytest.raises(ArithmeticError, match="a likelihood that fails"):
            f(2.0)
        assert f(0.0) == 2.0
    f = pytensor.function([s], pt.log(fails(s)), mode="BITALE")
    with pytest.raises(ArithmeticError):
        f(2.0)


@pytest.mark.parametrize("start", [np.nan, np.inf, -np.inf])
def test_non_finite_starting_points(start):
    with pm.Model() as model:
        a = pm.Normal("a")
        pm.Normal("y", a, pm.HalfNormal("sigma"), observed=[1.0, 2.0])
    with model, pytest.raises(pm.exceptions.SamplingError):
        pm.sample(
            5,
            tune=5,
            chains=1,
            backend="BITALE",
            initvals={"a": start},
            progressbar=False,
            compute_convergence_checks=False,
        )
    nutpie = pytest.importorskip("nutpie")
    compiled = bitale.pytensor.nutpie.compile_model(
        model, initial_points={"a": np.asarray(start)}, jitter_rvs=set()
    )
    with pytest.raises(RuntimeError):
        nutpie.sample(compiled, draws=5, tune=5, chains=1, progress_bar=False)
    with model:  # the process and the model are still usable
        pm.sample(
            5,
            tune=5,
            chains=1,
            backend="BITALE",
            progressbar=False,
            compute_convergence_checks=False,
        )


def _output_after_sigint(body: str) -> str:
    """The output of a process that receives SIGINT (as from ctrl-C) after it has printed "ready"."""
    script = textwrap.dedent(
        """
        import signal; signal.signal(signal.SIGINT, signal.default_int_handler)  # processes in the background may ignore it
        import warnings; warnings.simplefilter("ignore")
        import numpy as np, pymc as pm, pytensor, pytensor.tensor as pt
        import bitale.pytensor
        as_op = getattr(pytensor, "wrap_py", None) or pytensor.compile.ops.as_op
        """
    ) + textwrap.dedent(body)
    process = subprocess.Popen(
        [sys.executable, "-u", "-c", script], stdout=subprocess.PIPE, text=True, env=environment()
    )
    try:
        assert process.stdout.readline().strip() == "ready"
        process.send_signal(signal.SIGINT)
        output, _ = process.communicate(timeout=120)
    finally:
        process.kill()
    assert process.returncode == 0
    return output


def test_an_interrupt_while_pymc_samples():
    output = _output_after_sigint(
        """
        with pm.Model():
            a = pm.Normal("a", shape=50)
            def ready(trace, draw):
                if draw.draw_idx == 20:
                    print("ready", flush=True)
            try:
                pm.sample(10**7, tune=10, chains=1, cores=1, backend="BITALE", progressbar=False, callback=ready, compute_convergence_checks=False)
                print("returned")
            except KeyboardInterrupt:
                print("interrupted")
        x = pt.dscalar("x")
        print(pytensor.function([x], x + 1, mode="BITALE")(1.0))
        """
    )
    assert output.split()[0] in ("returned", "interrupted") and output.split()[-1] == "2.0"


def test_an_interrupt_in_an_op_written_in_python():
    output = _output_after_sigint(
        """
        import time
        @as_op([pt.dscalar], [pt.dscalar])
        def slow(value):
            if value > 0:
                print("ready", flush=True)
                time.sleep(100)
            return np.asarray(value)
        x = pt.dscalar("x")
        f = pytensor.function([x], pt.exp(slow(x)), mode="BITALE")
        try:
            f(1.0)
        except KeyboardInterrupt:
            print("interrupted", f(0.0))
        """
    )
    assert output.split() == ["interrupted", "1.0"]


def test_an_interrupt_in_a_scan():
    output = _output_after_sigint(
        """
        n, x = pt.lscalar("n"), pt.dscalar("x")
        steps = pytensor.scan(lambda s: s * 0.5 + pt.sin(s), outputs_info=[x], n_steps=n, return_updates=False)[-1]
        f = pytensor.function([n, x], steps, mode="BITALE")
        before = f(100, 1.0)
        try:
            print("ready", flush=True)
            f(10**12, 1.0)
        except KeyboardInterrupt:
            print("interrupted", f(100, 1.0) == before)
        """
    )
    assert output.split() == ["interrupted", "True"]


def test_old_or_missing_pytensor(monkeypatch):
    monkeypatch.setattr("importlib.metadata.version", lambda name: "2.20.1")
    with pytest.raises(ImportError, match=r"needs PyTensor \d+\.\d+ or newer, and this is 2.20.1"):
        bitale.pytensor._versions.check()
    monkeypatch.undo()
    monkeypatch.setitem(sys.modules, "pytensor", None)
    with pytest.raises(
        ImportError, match=r"needs PyTensor \d+\.\d+ or newer, and there is none: pip install"
    ):
        bitale.pytensor._versions.check()


@pytest.mark.parametrize("package, needed", [("pymc", "PyMC 5.28"), ("nutpie", "nutpie 0.16")])
def test_missing_packages_of_nutpie_models(monkeypatch, package, needed):
    monkeypatch.delattr(bitale.pytensor, "nutpie")
    monkeypatch.delitem(sys.modules, "bitale.pytensor.nutpie")
    monkeypatch.setattr(
        "importlib.metadata.version", lambda name: "0.9.3" if name == package else "99.0"
    )
    with pytest.raises(ImportError, match=rf"needs {needed}.* or newer, and this is 0.9.3"):
        bitale.pytensor.nutpie.compile_model(None)
    monkeypatch.setattr("importlib.metadata.version", lambda name: "99.0")
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(
        ImportError, match=rf"needs {needed}.* or newer, and there is none: pip install"
    ):
        bitale.pytensor.nutpie.compile_model(None)


def test_the_import_uses_nothing_deprecated():
    script = "import warnings, pytensor.tensor.linalg; warnings.simplefilter('error'); import bitale.pytensor"
    output_of("-c", script)
