"""The C++ headers declare the functions of bitale.tensor under the same names, except for those listed in
tests/api/cpp.py."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))

from api import cpp


def test_functions_are_declared_in_cpp():
    assert {"exp", "dmatrix", "wtensor4", "lvectors", "cov", "svd", "grad", "multiply", "vectorize"} <= cpp.declared()
    assert [name for name in cpp.missing() if cpp.reason(name) is None] == []


def test_every_reason_applies_to_a_missing_name():
    found = {cpp.reason(name) for name in cpp.missing()}
    assert [why for why in cpp.reasons.values() if why not in found] == []
