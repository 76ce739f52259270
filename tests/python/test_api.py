"""Every public name of PyTensor exists with its arguments, except for those listed in tests/api/known.py; and the functions of Python
and of the C++ headers are the same, except for those listed in tests/api/cpp.py."""

import importlib
import pathlib
import re
import sys


root = pathlib.Path(__file__).parents[2]
sys.path[:0] = [str(root / "tests"), str(root / "tools")]

import pytest

import api_doc
from api import known, table
from bitale import _absent
from bitale._geography import is_absent


def test_no_name_is_missing_without_a_reason():
    assert len(table.names()) > 2000
    assert [name for name in table.missing() if known.reason_missing(name) is None] == []


def test_arguments_have_pytensors_names_order_and_defaults():
    compared = table.compared()
    assert len(compared) > 1000
    other = {
        name: row[0]
        for name, row in compared.items()
        if row[0] and known.reason_other_arguments(name) is None
    }
    assert other == {}


def test_every_reason_applies_to_a_name():
    other = [name for name, row in table.compared().items() if row[0]]
    assert known.unused(table.missing(), other) == []


@pytest.mark.parametrize(
    "theirs, ours, difference",
    [("x axis=None", "x axis=None", ""), ("x axis=None", "x axis=None keepdims=False", ""), ("x axis=None", "x keepdims=False axis=None", "axis at another position"),
     ("x axis=None", "x axis=0", "axis=0, not None"), ("x axis=None", "x axis", "axis is required"), ("x", "x y", "y is required"), ("x", "a", "no x"),
     ("x * axis=None", "x axis=None", ""), ("x axis=None", "x * axis=None", "axis at another position"), ("x axis=...", "x axis=3", ""),
     ("x=1.0", "x=1", ""), ("*args", "*args", ""), ("x **kwargs", "x", "")],
)  # fmt: skip
def test_the_comparison_of_arguments_finds_differences(theirs, ours, difference):
    assert table.difference(theirs.split(), ours.split()) == difference


def test_every_flag_is_there():
    assert api_doc.missing_flags() == []


def test_every_public_function_has_a_subject():
    assert api_doc.without_section() == []
    listed = [(section.module, name) for section in api_doc.SECTIONS for name in section.names]
    assert len(set(listed)) == len(listed)


def test_the_page_is_up_to_date():
    assert (root / "docs" / "api.md").read_text() == api_doc.page(), "run tools/api_doc.py"
    differences = (root / "docs" / "differences_extending.md").read_text()
    assert differences == api_doc.page_of_differences(), "run tools/api_doc.py"


def test_names_that_are_not_here_say_what_to_use_instead():
    from bitale.compile.mode import NUMBA
    from bitale.tensor.blas import CGemv
    from bitale.scan.utils import ScanProfileStats

    assert not isinstance(3, CGemv) and "CGemv" in repr(CGemv) and CGemv in {CGemv}
    for use in (
        lambda: CGemv(inplace=True),
        lambda: ScanProfileStats(name=None),
        lambda: type("Mine", (CGemv,), {}),
        lambda: list(NUMBA),
    ):
        with pytest.raises(NotImplementedError, match="is not here: .*(dot|profile|mode)"):
            use()
    with pytest.raises(ImportError):
        from bitale.tensor.blas import no_such_name  # noqa: F401
    for name in _absent.names():
        module, _, own = f"bitale.{name}".rpartition(".")
        assert is_absent(getattr(importlib.import_module(module), own)), name


@pytest.mark.parametrize(
    "path",
    ["tensor.basic.as_tensor_variable", "tensor.math.sum", "tensor.shape.reshape", "tensor.shape.shape", "tensor.sort.argsort",
     "tensor.subtensor.set_subtensor", "tensor.elemwise.exp", "tensor.extra_ops.repeat", "tensor.einsum.einsum", "tensor.pad.pad",
     "tensor.reshape.join_dims", "tensor.type.TensorType", "tensor.variable.TensorVariable", "graph.basic.Variable",
     "graph.basic.Apply", "graph.fg.FunctionGraph", "graph.traversal.ancestors", "graph.replace.vectorize_graph", "graph.op.Op",
     "graph.type.Type", "compile.mode.Mode", "compile.sharedvalue.shared", "compile.builders.OpFromGraph", "configdefaults.config",
     "compile.debug.debugmode.DebugMode", "compile.debug.nanguardmode.NanGuardMode", "compile.debug.monitormode.MonitorMode",
     "graph.null_type.null_type", "graph.utils.MissingInputError", "configparser.IntParam", "scalar.upcast",
     "d3viz.d3viz", "tensor.xlogx.xlogx", "tensor.xlogx.xlogy0", "tensor.TensorLike", "tensor.type.DenseTensorType", "tensor.elemwise.scalar_elemwise",
     "tensor.basic.register_transfer", "compile.predefined_linkers", "compile.mode.register_linker", "typed_list.TypedListVariable",
     "raise_op.Assert", "ifelse.ifelse", "printing.Print", "gradient.grad"],
)  # fmt: skip
def test_names_are_in_pytensors_modules(path):
    module, name = path.rsplit(".", 1)
    assert getattr(importlib.import_module("bitale." + module), name) is not None


def test_functions_are_not_hidden_by_modules_of_the_same_name():
    import bitale.tensor as pt

    for name in ("shape", "sort", "pad", "einsum", "reshape"):
        assert callable(getattr(pt, name))
    with pytest.raises(ImportError):
        from bitale.tensor.math import no_such_name  # noqa: F401


def test_largest_and_smallest_take_any_number():
    import bitale.tensor as pt

    x = pt.dvector("x")
    assert pt.largest(x) is x and pt.conj(x=x) is x
    assert pt.largest(1, x, 7).eval({x: [9.0, 2.0]}).tolist() == [9.0, 7.0]
    assert pt.smallest(1, x, 7).eval({x: [0.5, 2.0]}).tolist() == [0.5, 1.0]
    for function in (pt.largest, pt.smallest):
        with pytest.raises(TypeError, match="at least one"):
            function()


sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))

from api import cpp


def test_declarations_are_read_from_the_headers():
    """Functions, types and templates, also those that macros declare, with the first header that has them."""
    expected = {
        "exp": "ops/ops.hpp",
        "dmatrix": "ops/ops.hpp",
        "wtensor4": "ops/constructors.hpp",
        "lvectors": "ops/constructors.hpp",
        "multiply": "ops/names.hpp",
        "vectorize": "ops/vectorize.hpp",
        "scan": "ops/scan.hpp",
        "value_and_grad": "autodiff/tree.hpp",
        "matrix_as": "core/eigen.hpp",
        "Array": "core/array.hpp",
        "stats::poisson_logpmf": "stats/densities.hpp",
        "xtensor::random::normal": "xtensor/random.hpp",
        "fourier::rfft": "ops/fourier.hpp",
    }
    assert {name: cpp.declared().get(name) for name in expected} == expected
    assert "Array" not in cpp.declared_functions() and "exp" in cpp.declared_functions()
    assert not [name for name in cpp.declared() if "operator" in name or "BITALE" in name]
    assert "autodiff/tree.hpp" not in cpp.included() and "ops/known.hpp" in cpp.included()


def test_functions_are_declared_in_cpp():
    assert [name for name in cpp.missing() if cpp.reason(name) is None] == []
    assert [name for name in cpp.renamed.values() if name not in cpp.declared()] == []


def test_functions_of_cpp_are_in_python():
    """A function of a header that Python has under another name, or has not, is in tests/api/cpp.py."""
    only = cpp.only_declared()
    assert [name for name in only if cpp.first_of(cpp.only_in_cpp, name) is None] == []
    unused = set(cpp.only_in_cpp.values()) - {cpp.first_of(cpp.only_in_cpp, name) for name in only}
    assert unused == set()


def test_every_reason_and_other_name_applies_to_a_function():
    found = {cpp.reason(name) for name in api_doc.without_counterpart()}
    assert [why for why in cpp.reasons.values() if why not in found] == []
    used = set(cpp.counterparts().values())
    assert [name for name in cpp.renamed.values() if name not in used] == []


def test_the_page_has_both_names_of_each_function():
    """Next to each other: in the row of the function, or in that of its module and header."""
    page = (root / "docs" / "api.md").read_text()
    rows = page.splitlines()
    names = page.partition("\n## Names in C++\n")[2].partition("\n## ")[0].splitlines()
    listed = {(section.module, name) for section in api_doc.SECTIONS for name in section.names}
    assert {("", "value_and_grad"), ("", "function"), ("tensor", "std")} <= listed
    assert {("stats", "normal_logpdf"), ("sparse", "dot")} <= cpp.counterparts().keys() - listed
    lacking = []
    for (module, name), other in cpp.counterparts().items():
        namespace, _, own = f"bt::{other}".rpartition("::")
        if (module, name) in listed:
            found = any(row.startswith(f"| `{name}(") and f" `bt::{other}`" in row for row in rows)
        elif re.fullmatch(known.constructors, name):
            continue
        else:
            in_list = f"| `{f'bitale.{module}'.rstrip('.')}` | `{namespace}` | `bitale/{cpp.declared()[other]}` |"
            in_row = f"`bitale.{cpp.full_name(module, name)}`"
            found = any(
                (row.startswith(in_list) and f"`{own}`" in row)
                or (in_row in row and f"| `bt::{other}` |" in row)
                for row in names
            )
        if not found:
            lacking.append((module, name, other))
    assert lacking == [] and len(cpp.counterparts()) > 1100


def test_functions_of_the_standard_are_declared_in_cpp():
    missing = cpp.missing_of_standard()
    assert len(cpp.of_standard()) > 170
    reason = {
        name: [
            why for pattern, why in cpp.reasons_of_standard.items() if re.fullmatch(pattern, name)
        ]
        for name in missing
    }
    assert [name for name, why in reason.items() if not why] == []
    assert {why for each in reason.values() for why in each} == set(
        cpp.reasons_of_standard.values()
    )
