"""Conventions of Python, its tools and notebooks: copies, pickles, examples in docstrings, displays, types."""

import ast
import copy
import doctest
import importlib
import inspect
import pathlib
import pickle
import warnings

import numpy as np
import pytest

import bitale as bt
import bitale.tensor as pt


# ---- copies ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy])
def test_copies_of_variables_are_themselves(copied):
    """Variables are immutable and compared by identity, so that a copy is the variable itself."""
    x = pt.dvector("x")
    y = pt.exp(x)
    for v in (x, y, pt.constant(2.0)):
        assert copied(v) is v
    held = copied({"inputs": [x], "output": y})
    assert held["inputs"][0] is x and bt.function(held["inputs"], held["output"])(
        [0.0]
    ).tolist() == [1]


def test_pickled_variables_are_new():
    x = pt.dvector("x")
    y = pt.exp(x) * 2
    stored_x, stored_y = pickle.loads(pickle.dumps((x, y)))
    assert stored_x is not x and stored_x.name == "x" and stored_x.type == x.type
    assert bt.function([stored_x], stored_y)([0.0]).tolist() == [2]


def test_shared_variables():
    """A copy is the same container; a deep copy and a pickle have one of their own, with the value."""
    s = bt.shared(np.zeros(2), "s")
    deep = copy.deepcopy(s)
    deep.set_value([3.0, 4.0])
    assert (
        copy.copy(s) is s
        and s.get_value().tolist() == [0, 0]
        and deep.name == "s"
        and deep.type == s.type
    )
    stored = pickle.loads(pickle.dumps(s))
    stored.set_value([1.0, 2.0])
    assert s.get_value().tolist() == [0, 0] and stored.name == "s"


def test_functions():
    """copy.copy shares the state; copy.deepcopy and pickles have a separate one."""
    s = bt.shared(0.0, "s")
    f = bt.function([], s, updates=[(s, s + 1)])
    f()
    shallow, deep, stored = copy.copy(f), copy.deepcopy(f), pickle.loads(pickle.dumps(f))
    assert shallow() == 1 and s.get_value() == 2
    assert deep() == 1 and deep() == 2 and stored() == 1 and s.get_value() == 2


@pytest.mark.parametrize("again", [copy.deepcopy, lambda given: pickle.loads(pickle.dumps(given))])
@pytest.mark.parametrize("backwards", [False, True])
def test_what_is_copied_together_belongs_together(again, backwards):
    s, x = bt.shared(1.0, "s"), pt.dscalar("x")
    y = s * x
    given = [bt.function([], s * 2, updates={s: s + 1}), s, y, y + x, y.owner]
    if backwards:
        given.reverse()
    copies = again(given)
    f, own, product, total, node = copies[::-1] if backwards else copies
    own.set_value(10.0)
    assert f() == 20 and own.get_value() == 11 and s.get_value() == 1
    assert product in total.owner.inputs and product.owner is node
    (leaf,) = [v for v in bt.graph.traversal.graph_inputs([total]) if v.name == "x"]
    assert bt.function([leaf], total)(2.0) == 24 and bt.function([x], y)(2.0) == 2


def test_deep_copies_of_draws():
    """The copy of a generator is updated by the copy of its draw."""
    x = pt.random.RandomStream(4).normal(0, 1)
    y = copy.deepcopy(x)
    f, g = bt.function([], x), bt.function([], y)
    assert (
        y is not x
        and [f(), f(), f()] == [g(), g(), g()]
        and len({float(g()) for _ in range(3)}) == 3
    )


def test_graphs():
    x = pt.dvector("x")
    graph = bt.FunctionGraph([x], [pt.exp(x)], clone=False)
    stored = pickle.loads(pickle.dumps(graph))
    assert stored.inputs[0] is not x and str(stored.outputs[0].owner.op) == str(pt.exp(x).owner.op)
    stored.check_integrity()


# ---- notebooks -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "made, expected",
    [
        (lambda x, m: x, "x"),
        (lambda x, m: pt.exp(x) / (1 + x**2), r"\frac{\exp\left(x\right)}{1 + {x}^{2}}"),
        (lambda x, m: (x + 1) * (x - 2), r"\left(x + 1\right) \cdot \left(x - 2\right)"),
        (lambda x, m: -(x + 1), r"- \left(x + 1\right)"),
        (lambda x, m: x - (x - 1), r"x - \left(x - 1\right)"),
        (lambda x, m: (x**2) ** x, r"{\left({x}^{2}\right)}^{x}"),
        (lambda x, m: pt.sqrt(abs(x)), r"\sqrt{\left|x\right|}"),
        (
            lambda x, m: m.T,
            r"{\mathrm{beta}_{\mathrm{1}}}^{\top}".replace(r"\mathrm{beta}", r"{\beta}"),
        ),
        (lambda x, m: x[1:3], r"x[1:3]"),
        (
            lambda x, m: (x + 1)[0],
            r"\left(x + 1\right)[0]".replace(r"\left(", "(").replace(r"\right)", ")"),
        ),
        (
            lambda x, m: m.sum(axis=1),
            r"\operatorname{sum}\left({\beta}_{\mathrm{1}},\,\mathrm{axis}=1\right)",
        ),
        (lambda x, m: pt.le(x, 1.5), r"x \le 1.5"),
        (lambda x, m: pt.set_subtensor(x[0], 2.0), r"\mathrm{set\_subtensor}(x[0],\,2.0)"),
        (lambda x, m: pt.dvector("learning rate"), r"\mathrm{learning rate}"),
        (lambda x, m: pt.floor(x), r"\left\lfloor{}x\right\rfloor"),
    ],
)
def test_formulas(made, expected):
    x, m = pt.dvector("x"), pt.dmatrix("beta_1")
    y = made(x, m)
    assert bt.printing.latex(y) == expected
    assert y._repr_latex_() == rf"$\displaystyle {expected}$"


def test_latex_of_every_op_is_balanced():
    """The LaTeX form of every op has balanced braces and brackets."""
    x, m, i = pt.dvector("x_a{b}"), pt.dmatrix("m%#"), pt.lvector("i")
    for y in (
        m[i, 1:],
        pt.inc_subtensor(m[i], 1.0),
        bt.ifelse(x[0] > 0, x, -x),
        pt.switch(x > 0, x, 0),
        pt.cast(x, "int32"),
        x.dimshuffle(0, "x"),
        pt.linalg.cholesky(m),
        pt.dvector() + 1,
        pt.constant(np.arange(100.0)) * x,
        bt.scan(lambda s: s * 2, outputs_info=1.0, n_steps=3, return_updates=False),
    ):
        text = bt.printing.latex(y)
        plain = text.replace("\\{", "").replace("\\}", "")
        assert (
            plain.count("{") == plain.count("}")
            and text.count("\\left") == text.count("\\right")
            and "\x01" not in text
        )


def test_displays_are_bounded():
    y = x = pt.dvector("x")
    for _ in range(100_000):
        y = pt.sin(y) + y
    assert len(y._repr_latex_()) < 100_000 and "\\ldots" in y._repr_latex_()
    assert bt.function([x], x)._repr_html_().startswith("<iframe")


def test_functions_show_their_inputs():
    x, y = pt.dvectors("x", "y")
    assert repr(bt.function([x, y], x + y, name="sum_of_both")) == "<Function sum_of_both(x, y)>"
    assert repr(bt.function([], pt.constant(1.0))) == "<Function ()>"
    many = [pt.dscalar(f"x{i}") for i in range(20)]
    assert repr(bt.function(many, pt.add(*many))).endswith("x7, ...)>")


def test_messages():
    """Messages count inputs from 0."""
    x, y = pt.dvectors("x", "y")
    with pytest.raises(bt.UnusedInputError, match=r"no output depends on input 1 \(`y`\)"):
        bt.function([x, y], x)
    with pytest.raises(TypeError, match=r"input 1 \(y\) is missing"):
        bt.function([x, y], x + y)([1.0])
    with pytest.raises(TypeError, match="an integer beyond 64 bits"):
        bt.function([x], x)([2**70])
    with pytest.raises(
        AttributeError, match="module 'bitale' has no attribute 'functoin'"
    ) as caught:
        bt.functoin
    assert (
        caught.value.name == "functoin" and caught.value.obj is bt
    )  # required for "Did you mean" suggestions


# ---- configuration ---------------------------------------------------------------------------------------------------


def test_flags_in_functions_and_blocks():
    before = bt.config.floatX

    @bt.config.change_flags(floatX="float32")
    def made(n):
        """A docstring."""
        return pt.vector().dtype if n == 0 else made(n - 1)

    assert made(3) == "float32" and made.__name__ == "made" and made.__doc__ == "A docstring."
    with pytest.raises(ZeroDivisionError), bt.config.change_flags(floatX="float32"):
        assert bt.config.floatX == "float32"
        1 / 0
    assert bt.config.floatX == before


# ---- types and examples ----------------------------------------------------------------------------------------------


def test_typing():
    from bitale import typing

    def scaled(
        x: typing.TensorLike, axis: typing.Axis = None, dtype: typing.DTypeLike = None
    ) -> typing.Variable:
        return pt.sum(x, axis=axis, dtype=dtype)

    assert set(typing.__all__) <= set(vars(typing)) and bt.typing is typing
    assert isinstance(scaled([1.0, 2.0]), typing.Variable)
    assert isinstance(bt.function([], pt.constant(1.0)), typing.Function)


DOCUMENTED = [
    bt,
    bt.function,
    bt.shared,
    bt.grad,
    bt.jacobian,
    bt.hessian,
    bt.hessian_vector_product,
    bt.gradient.gauss_newton_vector_product,
    bt.pullback,
    bt.pushforward,
    bt.scan,
    bt.ifelse,
    bt.wrap_py,
    bt.clone_replace,
    bt.vectorize_graph,
    bt.config.change_flags,
    bt.printing.latex,
    pt.as_tensor_variable,
    pt.constant,
    pt.set_subtensor,
    pt.inc_subtensor,
    pt.stack,
    pt.concatenate,
    pt.arange,
    pt.einsum,
]


@pytest.mark.parametrize("documented", DOCUMENTED, ids=lambda d: getattr(d, "__name__", "?"))
def test_common_functions_have_examples(documented):
    assert doctest.DocTestParser().get_examples(documented.__doc__ or ""), (
        "the docstring has no example"
    )


def documented_with_examples():
    """Every public function and class that has an example, once, with the module in which it was found."""
    found = {}
    for module_name in ("bitale", "bitale.tensor", "bitale.tensor.special", "bitale.tensor.linalg", "bitale.tensor.fft", "bitale.tensor.signal",
                  "bitale.tensor.optimize", "bitale.tensor.blas", "bitale.tensor.pytensor_functions", "bitale.tensor.utils", "bitale.compile.debug.nanguardmode", "bitale.typed_list", "bitale.d3viz", "bitale.gradient", "bitale.graph.basic", "bitale.graph.op", "bitale.graph.traversal",
                  "bitale.graph.type", "bitale.graph.utils", "bitale.compile", "bitale.compile.mode", "bitale.compile.sharedvalue", "bitale.ifelse",
                  "bitale.printing", "bitale.rewrite", "bitale.scalar", "bitale.scalar.user_ops", "bitale.scalar.composite", "bitale.scan", "bitale.random", "bitale.tensor.random",
                  "bitale.tensor.index_lists", "bitale.compile.builders", "bitale.compile.rebuild", "bitale.xtensor", "bitale.xtensor.linalg", "bitale.xtensor.math",
                  "bitale.xtensor.selection", "bitale.xtensor.shape", "bitale.xtensor.type", "bitale.xtensor.windows"):  # fmt: skip
        module = importlib.import_module(module_name)
        for name in dir(module):
            value = getattr(module, name)
            if (
                name[0] != "_"
                and callable(value)
                and ">>>" in (getattr(value, "__doc__", None) or "")
                and id(value) not in found
            ):
                found[id(value)] = pytest.param(value, module, id=f"{module_name}.{name}")
    config = type(bt.config)
    found[id(config)] = pytest.param(config.add, bt, id="bitale.config.add")
    return list(found.values())


def test_functions_have_examples():
    without = {
        name
        for module in (pt, pt.special, pt.linalg, pt.fft, pt.signal, pt.optimize, bt.gradient)
        for name in getattr(module, "__all__", dir(module))
        if callable(value := getattr(module, name))
        and name[0] != "_"
        and not inspect.isclass(value)
        and value is not pt.TensorLike
        and not isinstance(value, bt.graph.type.Type)
        and not name.endswith("grad_")
        and ">>>" not in (value.__doc__ or "")
    }
    inside_ops = {"grad_not_implemented", "grad_undefined"}  # used in the pullback of an op
    assert without <= inside_ops | {"eig", "eigvals", "ordqz"}


@pytest.mark.parametrize("documented, module", documented_with_examples())
def test_examples_in_docstrings(documented, module):
    names = {"np": np, "bt": bt, "pt": pt}
    if not module.__name__.startswith("bitale.tensor"):
        names = {**vars(module), **names}
    examples = doctest.DocTestParser().get_examples(documented.__doc__ or "")
    test = doctest.DocTest(examples, names, getattr(documented, "__name__", "?"), None, None, None)
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE)
    output = []
    runner.run(test, out=output.append)
    assert not runner.failures, "".join(output)


# ---- type checkers -----------------------------------------------------------------------------------------------------


def test_packages_list_their_public_names():
    """Type checkers treat an imported name as public only if __all__ lists it."""
    for module in (
        "bitale",
        "bitale.compile",
        "bitale.compile.mode",
        "bitale.graph",
        "bitale.graph.basic",
        "bitale.graph.features",
        "bitale.link",
    ):
        found = importlib.import_module(module)
        assert all(hasattr(found, name) for name in found.__all__) and len(
            set(found.__all__)
        ) == len(found.__all__), module
        missing = {
            name
            for name, value in vars(found).items()
            if name[0] != "_" and callable(value) and not inspect.ismodule(value)
        } - set(found.__all__)
        own = {
            name
            for name in missing
            if getattr(vars(found)[name], "__module__", "").startswith("bitale")
        }
        assert module != "bitale" or own == set(), own


def test_stubs_have_return_types():
    stub = ast.parse(pathlib.Path(bt._core.__file__).with_name("_core.pyi").read_text())
    public = [
        node
        for node in stub.body
        if isinstance(node, ast.FunctionDef) and node.name[0] != "_" and node.name in dir(pt)
    ]
    assert len(public) > 300
    assert [
        node.name
        for node in public
        if node.returns is None or ast.unparse(node.returns) == "object"
    ] == []
    (variable,) = [
        node
        for node in stub.body
        if isinstance(node, ast.ClassDef) and node.name == "TensorVariable"
    ]
    returns = {
        node.name: ast.unparse(node.returns)
        for node in variable.body
        if isinstance(node, ast.FunctionDef) and node.returns
    }
    assert (
        returns["type"] == "TensorType"
        and returns["shape"] == "TensorVariable"
        and "object" not in returns.values()
    )
    assert {node.name: ast.unparse(node.returns) for node in public}["constant"] == "TensorConstant"


# ---- messages --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "call, who, meant",
    [
        (lambda x: bt.function([x], x, update=[]), "function", "updates"),
        (lambda x: bt.grad(x.sum(), x, disconnected="ignore"), "grad", "disconnected_inputs"),
        (lambda x: x.sum(axs=0), "sum", "axis"),
        (lambda x: pt.sum(x, axs=0), "sum", "axis"),
        (lambda x: pt.dvector("x", shap=(3,)), "__call__", "shape"),
        (lambda x: pt.tensor("x", dtyp="float64"), "tensor", "dtype"),
        (lambda x: bt.In(x, valu=1.0), "__init__", "value"),
        (lambda x: pt.random.normal(0.0, 1.0, sze=3), "normal", "size"),
        (lambda x: bt.shared(1.0, nam="w"), "shared", "name"),
        (lambda x: bt.scan(lambda v: v, sequence=x), "scan", "sequences"),
    ],
)
def test_misspelt_keywords(call, who, meant):
    with pytest.raises(TypeError, match=rf"{who}\(\) got an unexpected keyword argument") as raised:
        call(pt.dvector("x"))
    assert f"Did you mean '{meant}'?" in str(raised.value)


def test_other_unfitting_arguments_are_answered_with_the_signatures():
    """So they are where all keywords exist, also if the call is made within another that has keywords."""
    x = pt.dvector("x")
    with pytest.raises(
        TypeError, match=r"inv\(\) got an unexpected keyword argument 'foo'\n  expected x$"
    ):
        pt.linalg.inv(pt.dmatrix("m"), foo=1)
    with pytest.raises(
        TypeError,
        match=r"^grad\(\) does not take \(TensorVariable, TensorVariable, add_names: str, disconnected_inputs: int\)\n"
        r"  expected cost.*, wrt.*disconnected_inputs: str='raise', add_names: bool=True",
    ):
        bt.grad(x.sum(), x, add_names="yes", disconnected_inputs=3)
    with pytest.raises(
        TypeError, match=r"^inv\(\) takes 1 positional argument \(x\), got 2\n  expected x$"
    ):
        pt.vectorize(lambda v: pt.linalg.inv(v, v), signature="(n)->(n)")(x)


@pytest.mark.parametrize(
    "call, message",
    [
        (lambda x: bt.grad(x.sum()), "grad: wrt: expected variables, got None"),
        (lambda x: pt.switch(x > 0, x), r"switch\(\) needs the argument z\n  expected x, y, z$"),
        (lambda x: pt.dot(), r"dot\(\) needs the arguments l, r\n  expected l, r$"),
        (
            lambda x: x.sum(0, None, True, None, 1),
            r"sum\(\) takes 4 positional arguments \(axis, .*\), got 5",
        ),
        (
            lambda x: pt.concatenate(x, x),
            r"concatenate\(\) does not take \(TensorVariable, TensorVariable\)\n  expected tensor_list, axis: int=0$",
        ),
        (
            lambda x: pt.vector("x", 3),
            r"vector\(\) takes 1 positional argument \(name\), got 2\n  expected name=None, \*, dtype=None, shape=None",
        ),
        (lambda x: bt.In(), r"^In\.__init__\(\) needs the argument variable\n"),
        (lambda x: bt.stats.gamma_logpdf(x), r"gamma_logpdf\(\) needs the argument"),
    ],
)
def test_missing_and_superfluous_arguments(call, message):
    with pytest.raises(TypeError, match=message):
        call(pt.dvector("x"))


@pytest.mark.parametrize("function", [bt.hessian, bt.grad, pt.grad])
def test_derivatives_of_vectors_point_to_jacobian(function):
    x = pt.dvector("x")
    with pytest.raises(
        TypeError, match=rf"^{function.__name__}: the cost must be a scalar"
    ) as raised:
        function(x**2, x)
    assert "jacobian" in str(raised.value)


def test_products_name_the_matrix_whose_transpose_fits():
    m, x = pt.dmatrix("m"), pt.dvector("x")
    with pytest.raises(bt.ShapeError, match=r"did you mean transpose\(m\)\?"):
        bt.function([m, x], m @ x)(np.ones((3, 4)), np.ones(3))
    with pytest.raises(bt.ShapeError, match=r"did you mean transpose\(w\)\?"):
        pt.dvector("v", shape=(4,)) @ pt.dmatrix("w", shape=(3, 4))
    with pytest.raises(bt.ShapeError, match=r"second argument would fit$"):
        pt.dvector("v", shape=(4,)) @ pt.exp(pt.dmatrix("w", shape=(3, 4)))


def test_nan_guard_says_what_it_found():
    x = pt.dvector("x")
    f = bt.function([x], x * 1.0, mode=bt.compile.NanGuardMode())
    for value, found in [(np.inf, "an infinity"), (1e11, "a value beyond 1e10"), (np.nan, "a nan")]:
        with pytest.raises(bt.compile.NanGuardError, match=f"found {found} in"):
            f([value])
    f([1e10])


def test_float64_can_be_found_in_programs_of_float32():
    x = pt.fvector("x")
    with bt.config.change_flags(warn_float64="raise"):
        assert (x * 0.5).dtype == "float32" and pt.constant(0.1).dtype == "float64"
        with pytest.raises(
            TypeError, match=r"`Mul.0` is of dtype float64, made of `x` .*test_ergonomics"
        ):
            x * 0.1
    with bt.config.change_flags(warn_float64="warn"):
        with pytest.warns(UserWarning, match="`y` is of dtype float64"):
            pt.dscalar("y")
        with bt.config.change_flags(floatX="float32"), warnings.catch_warnings():
            warnings.simplefilter("error")
            assert pt.clip(x, 0.1, 0.9).dtype == "float32"
    assert (x * 0.1).dtype == "float64"


def test_expressions_that_are_written_a_second_time():
    x = pt.dvector("x")
    with pytest.raises(
        bt.gradient.DisconnectedInputError,
        match=r"hint +an expression that is written a second time",
    ):
        bt.grad(x.sum(), x[0])
    with pytest.raises(
        bt.UnusedInputError, match=r"hint +an expression that is written a second time"
    ):
        bt.function([x * 2], x * 2 + 1)


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("at", "set"),
        ("numpy", "eval"),
        ("item", "eval"),
        ("backward", "bt.grad"),
        ("detach", "disconnected_grad"),
        ("append", "pt.concatenate"),
        ("unsqueeze", "expand_dims"),
        ("permute", "dimshuffle"),
    ],
)
def test_attributes_of_other_libraries(name, hint):
    """What they are called here, as an AttributeError that hasattr and getattr take for one."""
    x = pt.dmatrix("x")
    with pytest.raises(AttributeError, match=f"no attribute '{name}': .*{hint}") as error:
        getattr(x, name)
    assert error.value.name == name and error.value.obj is x
    assert not hasattr(x, name) and getattr(pt.constant(1.0), name, 7) == 7


def test_plain_missing_attribute():
    with pytest.raises(AttributeError, match="^'TensorVariable' object has no attribute 'summ'$"):
        pt.dmatrix("x").summ


def test_arrays_of_variables():
    with pytest.raises(TypeError, match=r"pt\.stack.*pt\.linalg\.cholesky"):
        np.array([pt.dscalar("a"), pt.dscalar("b")])


@pytest.mark.parametrize("function", ["minimize", "root", "minimize_scalar", "root_scalar"])
def test_method_of_a_solver_is_checked_at_once(function):
    pytest.importorskip("scipy")
    x = pt.dscalar("x")
    with pytest.raises(ValueError, match=f"scipy.optimize.{function} has no method 'nope'"):
        getattr(pt.optimize, function)((x - 1.0) ** 2, x, method="nope")
