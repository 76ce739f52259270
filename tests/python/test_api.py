"""Every name of pytensor.tensor exists with its arguments, except for those listed in tests/api/known.py; and the C++ headers declare
the functions of bitale.tensor, except for those listed in tests/api/cpp.py."""

import csv
import importlib
import pathlib
import sys


root = pathlib.Path(__file__).parents[2]
sys.path[:0] = [str(root / "tests"), str(root / "tools")]

import pytest

import api_doc
from api import known


def test_no_name_is_missing_without_a_reason():
    assert [name for name in api_doc.missing() if known.reason_missing(name) is None] == []


def test_arguments_have_pytensors_names():
    assert set(api_doc.other_arguments()) - set(known.other_arguments) == set()
    assert set(known.other_arguments) - set(api_doc.other_arguments()) == set(), "these now agree with PyTensor"


def test_no_name_of_another_module_is_missing_without_a_reason():
    assert [name for name in api_doc.missing_of_modules() if known.reason_missing_of_module(name) is None] == []


def test_arguments_in_other_modules_have_pytensors_names():
    found = set(api_doc.other_arguments_of_modules())
    assert found - set(known.other_arguments_of_modules) == set()
    assert set(known.other_arguments_of_modules) - found == set(), "these now agree with PyTensor"


def test_every_flag_is_there():
    assert api_doc.missing_flags() == []


def test_every_public_function_has_a_subject():
    assert api_doc.without_section() == []
    listed = [(section.module, name) for section in api_doc.SECTIONS for name in section.names]
    assert len(set(listed)) == len(listed)


def test_the_page_is_up_to_date():
    assert (root / "docs" / "api.md").read_text() == api_doc.page(), "run tools/api_doc.py"


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


def test_every_name_can_be_imported_where_pytensor_has_it():
    with open(root / "tests" / "api" / "module_names.csv", newline="") as file:
        rows = [(row["module"], row["name"]) for row in csv.DictReader(file)]
    assert len(rows) > 900
    absent = [f"{module}.{name}" for module, name in rows if not hasattr(importlib.import_module("bitale." + module), name)]
    assert [name for name in absent if known.reason_missing_at(name) is None] == []
    assert len(absent) < 142, "too many names are excused by a reason"


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


def test_functions_are_declared_in_cpp():
    assert {"exp", "dmatrix", "wtensor4", "lvectors", "cov", "svd", "grad", "multiply", "vectorize"} <= cpp.declared()
    assert [name for name in cpp.missing() if cpp.reason(name) is None] == []


def test_every_reason_applies_to_a_missing_name():
    found = {cpp.reason(name) for name in cpp.missing()}
    assert [why for why in cpp.reasons.values() if why not in found] == []
