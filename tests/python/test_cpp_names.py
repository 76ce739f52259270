"""The C++ headers declare the functions of bitale.tensor under the same names, but for those that tests/api/cpp.py lists."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))

from api import cpp


def test_functions_are_declared_in_cpp():
    assert {"exp", "dmatrix", "wtensor4", "lvectors", "cov", "svd", "grad", "multiply", "vectorize"} <= cpp.declared()
    assert [name for name in cpp.missing() if cpp.reason(name) is None] == []


def test_reasons_are_of_names_that_are_missing():
    found = {cpp.reason(name) for name in cpp.missing()}
    assert [why for why in cpp.reasons.values() if why not in found] == []
