"""Docstrings and signatures of bound and compiled functions: what help(), inspect and editors show."""

import copy
import inspect
import pathlib
import pickle
import pydoc
import re
import sys

import numpy as np
import pytest

import bitale as bt
import bitale.tensor as pt
from bitale import _core, xtensor

BOUND = {
    name: value
    for module in (
        bt.optimizers,  # first, as it has a `clip`, too
        pt,
        pt.linalg,
        pt.special,
        pt.fft,
        pt.signal,
        bt.stats,
        bt.stats.transforms,
        bt.integrate,
    )
    for name in getattr(module, "__all__", dir(module))
    if type(value := getattr(module, name)).__name__ == "nb_func" and name[0] != "_"
}


def sections(text):
    lines = text.splitlines()
    return [lines[i] for i in range(len(lines) - 1) if lines[i + 1] and set(lines[i + 1]) == {"-"}]


def test_there_are_functions_to_look_at():
    assert len(BOUND) > 250 and {"exp", "sum", "cholesky", "einsum"} <= set(BOUND)


@pytest.mark.parametrize("name", BOUND)
def test_bound_functions_have_signatures_and_sections(name):
    function = BOUND[name]
    signature = inspect.signature(function)
    assert function.__text_signature__.startswith("(")
    assert inspect.isroutine(function) and inspect.isbuiltin(function)
    text = inspect.getdoc(function)
    first, _, rest = text.partition("\n")
    assert first[0].isupper() and first.endswith(".") and (not rest or rest.startswith("\n"))
    expected = ["Parameters", "Returns"] if signature.parameters else ["Returns"]
    assert [each for each in sections(text) if each in ("Parameters", "Returns")] == expected
    lines = text.partition("\nReturns\n")[0].splitlines()
    for parameter in signature.parameters.values():
        stars = {parameter.VAR_POSITIONAL: "*", parameter.VAR_KEYWORD: "**"}.get(parameter.kind, "")
        at = [i for i, line in enumerate(lines) if line.startswith(f"{stars}{parameter.name} : ")]
        assert len(at) == 1 and lines[at[0] + 1].startswith("    "), (
            f"{parameter.name} is not described"
        )
        assert "object" not in lines[at[0]], f"{parameter.name} has no type"


def test_sections_are_in_numpydocs_order():
    order = ["Parameters", "Returns", "Raises", "See Also", "Notes", "Examples"]
    for name, function in BOUND.items():
        found = sections(inspect.getdoc(function))
        assert found == sorted(found, key=order.index), name


def test_bound_functions_have_pickles():
    for function in (pt.exp, pt.linalg.svd, bt.scan, bt.tree.map, xtensor.linalg.svd):
        assert pickle.loads(pickle.dumps(function)) is function
        assert copy.deepcopy(function) is function


def test_loops_and_trees_have_names_and_texts_of_their_own():
    assert bt.scan.__name__ == "scan" and bt.tree.map.__name__ == "map"
    assert "reduce : Reduce sequences by" in bt.scan.__doc__
    for function in (
        bt.scan,
        bt.scan_checkpoints,
        bt.foldl,
        *map(vars(bt.tree).get, bt.tree.__all__[1:]),
    ):
        parameters = inspect.signature(function).parameters
        for name, parameter in parameters.items():
            stars = "*" * (parameter.kind is parameter.VAR_POSITIONAL)
            assert re.search(rf"\n{re.escape(stars + name)} : .*\n    \S", function.__doc__), name


def test_signatures_have_defaults_and_kinds():
    assert (
        str(inspect.signature(pt.exp).replace(return_annotation=inspect.Signature.empty))
        == "(x: 'TensorLike')"
    )
    assert pt.exp.__text_signature__ == "(x)"
    assert pt.max.__text_signature__ == "(x, axis=None, keepdims=False, initial=None)"
    assert pt.linalg.solve.__text_signature__.startswith("(a, b, *, lower=False,")
    parameters = inspect.signature(pt.add).parameters
    assert [p.kind for p in parameters.values()][-1] is inspect.Parameter.VAR_POSITIONAL


def test_methods_have_signatures_without_the_tensor():
    x = pt.dmatrix("x")
    assert list(inspect.signature(x.sum).parameters) == ["axis", "dtype", "keepdims", "acc_dtype"]
    assert list(inspect.signature(pt.TensorVariable.sum).parameters)[0] == "self"
    text = inspect.getdoc(x.sum)
    assert text == inspect.getdoc(pt.TensorVariable.sum)
    assert (
        text.splitlines()[0] == inspect.getdoc(pt.sum).splitlines()[0]
        and "input : tensor_like" not in text
    )


def test_help_shows_the_signature_and_the_sections():
    text = pydoc.plain(pydoc.render_doc(pt.sum))
    assert (
        "sum(" in text
        and "input: " in text
        and "Parameters\n" in text
        and "Returns\n" in text
        and "nb_func object" not in text
    )
    assert "sum(" in pydoc.plain(pydoc.render_doc(pt.dvector("x").sum))


def test_summaries_of_related_functions_are_theirs():
    text = inspect.getdoc(pt.exp)
    assert "log : " + inspect.getdoc(pt.log).splitlines()[0] in text


def test_every_description_is_of_a_function():
    """A description of a name that nothing has would never be read."""
    names = {name.rpartition(".")[2] for name in _core.described_functions()}
    known = (
        set(dir(_core))
        | set(dir(pt))
        | set(dir(_core.Function))
        | set(dir(_core.Optimizer))
        | set(dir(pt.special))
        | set(dir(pt.linalg))
    )
    assert names <= known


def test_dtypes_of_elementwise_functions_are_from_their_records():
    assert "Its dtype is bool." in pt.eq.__doc__
    assert "integers and bool are converted to floating point first" in pt.exp.__doc__.replace(
        "\n    ", " "
    )
    assert "If an operand is bool." in pt.neg.__doc__ and "complex" not in pt.neg.__doc__


def test_derivatives_of_elementwise_functions_are_from_their_records():
    assert (
        "its derivative is 0" in pt.floor.__doc__.replace("\n", " ")
        and "its derivative is 0" not in pt.exp.__doc__
    )


def test_the_reference_of_cpp_has_the_same_summaries():
    """Doxygen reads the headers through a filter that adds them."""
    root = pathlib.Path(__file__).parents[2]
    sys.path.insert(0, str(root / "tools"))
    import doxygen_filter

    shown = {}
    for header in (root / "include" / "bitale").glob("**/*.hpp"):
        lines = doxygen_filter.filtered(header.read_text()).split("\n")
        for i, line in enumerate(lines):
            if (found := re.match(r"Variable (\w+)\(", line)) and found[1] in BOUND:
                first = i
                while lines[first - 1].startswith("///"):
                    first -= 1
                shown[found[1]] = lines[first]
    assert len(shown) > 200
    other = {"conjugate", "round", "around"}  # other functions have these names in Python
    # The bindings put these together of parts, which the filter does not read.
    other |= {
        name
        for name in shown
        if re.fullmatch(r"i?h?r?i?h?fft[n2]?|r?fftfreq|i?fftshift|nancum\w+|cumulative_\w+", name)
    }
    assert {
        name: text
        for name, text in shown.items()
        if text != "/// " + inspect.getdoc(BOUND[name]).splitlines()[0] and name not in other
    } == {}


# ---- compiled functions ------------------------------------------------------------------------------------------------


def test_compiled_functions_have_signatures():
    x, y = pt.dvector("x"), pt.dscalar("y")
    assert str(inspect.signature(bt.function([x, y], x * y))) == "(x, y)"
    assert list(inspect.signature(bt.function([], pt.zeros(2))).parameters) == []


def test_inputs_without_names_are_positional():
    x, unnamed, z = pt.dscalar("x"), pt.dscalar(), pt.dscalar("z")
    signature = inspect.signature(bt.function([x, unnamed, z], x + unnamed + z))
    assert str(signature) == "(x, input_1, /, z)"


def test_names_that_are_not_identifiers_are_positional():
    x, y = pt.dscalar("a b"), pt.dscalar("lambda")
    assert str(inspect.signature(bt.function([x, y], x + y))) == "(input_0, input_1, /)"


def test_defaults_are_in_the_signature():
    x, y, z = pt.dscalar("x"), pt.dscalar("y"), pt.dscalar("z")
    f = bt.function([x, bt.In(y, value=2.0), z], x + y + z)
    parameters = inspect.signature(f).parameters
    assert (
        parameters["y"].default is not inspect.Parameter.empty
        and parameters["x"].default is inspect.Parameter.empty
    )
    assert parameters["z"].kind is inspect.Parameter.KEYWORD_ONLY and f(1.0, z=3.0) == 6.0


def test_the_class_of_functions_has_no_signature_of_an_instance():
    assert not hasattr(_core.Function, "__signature__")


def test_scipy_fits_a_compiled_function():
    optimize = pytest.importorskip("scipy.optimize")
    x, a, b = pt.dvector("x"), pt.dscalar("a"), pt.dscalar("b")
    f = bt.function([x, a, b], a * pt.exp(-b * x))
    points = np.linspace(0.0, 3.0, 20)
    found, _ = optimize.curve_fit(f, points, 2.5 * np.exp(-1.3 * points))
    np.testing.assert_allclose(found, [2.5, 1.3], rtol=1e-6)
