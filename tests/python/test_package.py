"""The package as a whole: exported names, type stubs, documentation, robustness, and a program like the one in the
README."""

import ast
import copy
import importlib.machinery
import pathlib
import shutil
import subprocess
import sys

import numpy as np
import pytest

import bitale as bt
import bitale.tensor as pt
from bitale import _core
from bitale._failed_import import explanation

from sampling import part_of

FOLDER = pathlib.Path(bt.__file__).parent


def test_version():
    assert bt.__version__.count(".") == 2


def test_stubs():
    assert (FOLDER / "py.typed").exists()
    tree = ast.parse((FOLDER / "_core.pyi").read_text())
    declared = set()
    for node in tree.body:
        declared |= {node.name} if isinstance(node, (ast.FunctionDef, ast.ClassDef)) else set()
        declared |= {node.target.id} if isinstance(node, ast.AnnAssign) else set()
        declared |= {t.id for t in node.targets} if isinstance(node, ast.Assign) else set()
    assert set(_core.__all__) <= declared


def test_everything_is_documented():
    for name in _core.__all__:
        assert getattr(pt, name).__doc__, name
    for name in vars(_core.TensorVariable):
        if not name.startswith("_") and callable(getattr(_core.TensorVariable, name)):
            assert getattr(_core.TensorVariable, name).__doc__, name


def test_names_in_submodules():
    assert bt.graph.basic.Variable is bt.Variable is pt.Variable
    assert bt.ShapeError.__module__ == "bitale" and issubclass(bt.ShapeError, ValueError)
    assert bt.Variable.__module__ == "bitale.graph.basic"
    assert bt.compile.shared is bt.shared and bt.compile.function is bt.function


def test_errors_have_python_classes():
    for name, base in dict(
        MissingInputError=Exception,
        UnusedInputError=Exception,
        DisconnectedInputError=ValueError,
        NullTypeGradError=TypeError,
        InconsistencyError=Exception,
        InternalError=RuntimeError,
        GradientError=Exception,
        NotScalarConstantError=Exception,
    ).items():
        assert issubclass(getattr(bt, name), base)


def test_errors_show_the_users_line():
    x, y = pt.dvectors("x", "y")
    f = bt.function([x, y], pt.exp(x) + y)
    with pytest.raises(bt.ShapeError, match="test_package.py:[0-9]+"):
        f(np.ones(2), np.ones(3))


def test_softmax_regression_learns(mode):
    rng = np.random.default_rng(0)
    images, labels = rng.normal(size=(200, 8)), rng.integers(0, 3, 200)
    images[np.arange(200), labels] += 3
    X, y = pt.dmatrix("X"), pt.lvector("y")
    W, c = bt.shared(np.zeros((8, 3)), "W"), bt.shared(np.zeros(3), "c")
    logits = X @ W + c
    loss = -(logits - pt.logsumexp(logits, axis=1, keepdims=True))[pt.arange(y.shape[0]), y].mean()
    gW, gc = bt.grad(loss, [W, c])
    step = bt.function([X, y], loss, updates=[(W, W - 0.5 * gW), (c, c - 0.5 * gc)], mode=mode)
    losses = [float(step(images, labels)) for _ in range(50)]
    assert losses[0] == pytest.approx(np.log(3)) and losses[-1] < 0.3
    classify = bt.function([X], pt.argmax(logits, axis=1), mode=mode)
    assert np.mean(classify(images) == labels) > 0.9


# ---- robustness -----------------------------------------------------------------------------------------------------

UNINITIALIZED = [
    cls.__new__(cls)
    for cls in (
        _core.TensorVariable,
        _core.TensorConstant,
        _core.Apply,
        _core.TensorType,
        _core.FunctionGraph,
        _core.Mode,
    )
]
ODD = [
    None,
    True,
    -1,
    2**70,
    0.5,
    float("nan"),
    1j,
    "",
    "a",
    b"a",
    [],
    [[]],
    [None],
    ["a"],
    (),
    {},
    {1: 2},
    object(),
    slice(None),
    ...,
    np.zeros((0, 3)),
    np.ones(3, ">f8"),
    np.array("a"),
    np.array([None]),
    np.ones(2, complex),
    np.zeros((2,) * 10),
    pt.dscalar(),
    pt.lvector("v"),
    pt.tensor3(),
    [pt.dscalar(), 1],
    bt.shared(1.0),
    pt.dvector,
    pt.exp,
    bt.config,
    *UNINITIALIZED,
    type("EmptyOp", (bt.graph.Op,), {})(),
]


def attempts():
    for name in sorted(_core.__all__):
        if callable(getattr(_core, name)) and not isinstance(getattr(_core, name), type):
            yield name, getattr(_core, name)
    for name in (
        "function",
        "shared",
        "dprint",
        "grad",
        "jacobian",
        "hessian",
        "pullback",
        "pushforward",
        "clone_replace",
        "graph_replace",
        "vectorize_graph",
        "FunctionGraph",
        "In",
        "Out",
        "pprint",
        "get_mode",
        "Mode",
    ):
        yield name, getattr(bt, name)
    for name in (
        "ancestors",
        "graph_inputs",
        "toposort",
        "clone",
        "equal_computations",
        "node_count",
    ):
        yield name, getattr(bt.graph, name)
    for x in (
        pt.dscalar("x"),
        pt.dmatrix("X"),
        pt.irow("r"),
        pt.constant([1.0, 2.0]),
        bt.shared(np.ones((2, 2))),
    ):
        for name in dir(type(x)):
            if callable(getattr(type(x), name)) and name not in (
                "__class__",
                "__init_subclass__",
                "__new__",
                "__subclasshook__",
                "dprint",
                "__setattr__",
                "__delattr__",
                "set_value",
            ):
                yield name, getattr(x, name)

    class Copied(bt.graph.Op):
        itypes, otypes = [pt.dvector], [pt.dvector]

        def perform(self, node, inputs, output_storage):
            output_storage[0][0] = inputs[0].copy()

    yield "Apply", bt.graph.Apply
    for x in (pt.exp(pt.dvector()).owner.op, Copied(), bt.graph.Op):
        for name in dir(bt.graph.Op):
            if callable(getattr(x, name)) and name not in (
                "__class__",
                "__init_subclass__",
                "__subclasshook__",
                "__setattr__",
                "__delattr__",
            ):
                yield name, getattr(x, name)
    f = bt.function(
        [pt.dscalar("x"), pt.dmatrix("X")],
        [pt.constant(1.0)],
        on_unused_input="ignore",
        mode="FAST_COMPILE",
    )
    yield "a compiled function", f


@pytest.mark.filterwarnings("ignore")
def test_odd_arguments_raise_python_errors():
    expected = (
        TypeError,
        ValueError,
        IndexError,
        KeyError,
        AttributeError,
        NotImplementedError,
        OverflowError,
        RecursionError,
        MemoryError,
        bt.MissingInputError,
        bt.UnusedInputError,
        bt.NotScalarConstantError,
        bt.InconsistencyError,
    )
    rng = np.random.default_rng(0)
    for name, function in part_of(list(attempts())):
        for count in (0, 1, 1, 2, 2, 3):
            for _ in range(8):
                arguments = [ODD[i] for i in rng.integers(0, len(ODD), count)]
                try:
                    function(*arguments)
                except expected as error:
                    assert not isinstance(error, bt.InternalError), (name, arguments)


def test_copies():
    x = pt.dvector("x")
    assert copy.copy(x) is x and copy.deepcopy({"x": x})["x"] is x


def test_a_package_that_cannot_be_loaded_says_why(tmp_path):
    program = "import bitale"
    shutil.copytree(
        FOLDER, tmp_path / "bitale", ignore=shutil.ignore_patterns("_core*", "__pycache__")
    )
    for file, message in {
        None: "without its compiled part: this is a checkout that is not built",
        "_core.cpython-39-aarch64-linux-gnu.so": "is for another Python or processor: it has _core.cpython-39-aarch64",
        f"_core{importlib.machinery.EXTENSION_SUFFIXES[0]}": "can't be loaded by Python",
    }.items():
        if file:
            (tmp_path / "bitale" / file).write_bytes(b"no library")
        answer = subprocess.run(
            [sys.executable, "-S", "-c", program], cwd=tmp_path, capture_output=True, text=True
        )
        assert (
            answer.returncode == 1
            and "ImportError: bitale" in answer.stderr
            and message in answer.stderr
        ), answer.stderr
        if file:
            (tmp_path / "bitale" / file).unlink()


def test_two_releases_in_one_process():
    error = ImportError(
        "/a/_core.so: /b/libbitale.so: version `BITALE_9.9' not found (required by /a/_core.so)"
    )
    assert (
        "needs its own library, of release 9.9, but that of another release is loaded"
        in explanation(error, FOLDER)
    )


def test_a_second_import_in_one_process_says_so():
    program = (
        "import sys, bitale\n"
        "for name in [name for name in sys.modules if name.split('.')[0] == 'bitale']: del sys.modules[name]\n"
        "import bitale"
    )
    answer = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    last = answer.stderr.strip().splitlines()[-1]
    assert (
        answer.returncode == 1
        and last.startswith("ImportError: bitale")
        and "one copy can be used in a process" in last
    ), answer.stderr


def in_a_new_process(program):
    answer = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert answer.returncode == 0, answer.stderr
    return answer.stdout.strip()


def test_what_a_first_function_does_not_need_is_not_imported():
    program = (
        "import sys, bitale as bt, bitale.tensor as pt\n"
        "x = pt.dvector('x')\n"
        "assert bt.function([x], bt.grad((x**2).sum(), x))([1.0, 2.0]).tolist() == [2.0, 4.0]\n"
        "print(*sys.modules)"
    )
    rare = {"numpy.random", "hashlib", "json", "bitale.random", "bitale.tensor.random", "bitale.stats", "bitale.integrate", "bitale.optimizers", "bitale.tensor.optimize", "bitale.rewrite", "bitale.printing", "bitale.profile",
            "bitale.link", "bitale.raise_op", "bitale.typing", "bitale.compile.monitor", "bitale.scan.classes", "bitale.tensor.fft", "bitale.tensor.linalg", "bitale.tensor.op_classes", "numpy.typing"}  # fmt: skip
    assert rare & set(in_a_new_process(program).split()) == set()


def test_classes_have_their_names_before_their_modules_are_imported():
    program = (
        "import sys, bitale as bt, bitale.tensor as pt\n"
        "x = pt.dscalar('x')\n"
        "try: bt.function([x], pt.log(x), mode='NanGuardMode')(-1.0)\n"
        "except AssertionError as error: print(type(error).__module__, type(error).__qualname__)\n"
        "print('bitale.compile.monitor' in sys.modules, bt._core.NodeThunk.__module__, 'bitale.link' in sys.modules, type(pt.exp(x).owner.op).__module__)"
    )
    assert in_a_new_process(program).split() == [
        "bitale.compile.monitor",
        "NanGuardError",
        "False",
        "bitale.link",
        "False",
        "bitale.tensor.op_classes",
    ]


@pytest.mark.parametrize("value", ["np.random.default_rng(1)", "bt.random.stream(1)"])
def test_generators_come_with_their_methods(value, tmp_path):
    """Their module is imported when one is met: by shared, or when a graph with one is loaded."""
    path = str(tmp_path / "graph")
    shared = f"import pickle, numpy as np, bitale as bt\nrng = bt.shared({value})\n"
    draw = "print(rng.normal(size=3)[1].eval().tolist())"
    drawn = in_a_new_process(f"{shared}pickle.dump(rng, open({path!r}, 'wb'))\n{draw}")
    assert drawn == in_a_new_process(
        f"import pickle, bitale\nrng = pickle.load(open({path!r}, 'rb'))\n{draw}"
    )
