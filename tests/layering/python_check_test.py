#!/usr/bin/env python3
"""The check of the Python boundary reports each kind of violation, and none for a valid tree."""

import tempfile
import unittest
from pathlib import Path

from python_check import check

VALID_TREE = {
    "python/src/module.cpp": 'nb::module_::import_("numpy");  // import_("bitale.printing") in a comment\nhook("function")(x);\n',
    "python/bitale/__init__.py": "from bitale import _core\nfrom bitale.graph import Op\n",
    "python/bitale/graph/__init__.py": "from bitale.graph.op import Op\nfrom bitale.graph.walk import walk\n",
    "python/bitale/graph/op.py": "from bitale import _core\n",
    "python/bitale/graph/walk.py": "import typing\nif typing.TYPE_CHECKING:\n    from bitale.graph import Op\nfrom bitale.graph.op import Op\n",
}


def complaints(**files):
    with tempfile.TemporaryDirectory() as folder:
        for file, text in {**VALID_TREE, **files}.items():
            path = Path(folder, file)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        return check(folder)


class Boundary(unittest.TestCase):
    def test_a_valid_tree(self):
        self.assertEqual(complaints(), [])

    def test_modules_that_the_extension_names(self):
        for text in (
            'import_("bitale.printing")',
            'define(cls, "dprint", "bitale.printing", "dprint")',
            'import_("bitale.tensor")',
        ):
            (found,) = complaints(**{"python/src/other.cpp": f"\n{text};\n"})
            self.assertIn("python/src/other.cpp:2", found)

    def test_classes_of_trees(self):
        (found,) = complaints(
            **{
                "python/bitale/printing.py": "\nx = isinstance(y, _core.SparseVariable)\n",
                "python/bitale/sparse/basic.py": "from bitale._core import SparseVariable\n",
                "python/src/labelled.cpp": "labelled_in(object);\n",
            }
        )
        self.assertIn("python/bitale/printing.py:2: names the class SparseVariable", found)
        for text in (
            "sparse::Matrix a;",
            "xtensor::align(a, b);",
            "XVariable x;",
            "if (labelled_in(object)) {}",
            "as_labelled(object);",
            'm.attr("XTensorVariable");',
        ):
            (found,) = complaints(**{"python/src/function.cpp": f"\n\n{text}\n"})
            self.assertIn("python/src/function.cpp:3: names", found)
        for text in ("_core.is_data_array(x)", "is_scipy(x)", "isinstance(x, xarray.DataArray)"):
            (found,) = complaints(**{"python/bitale/compile/sharedvalue.py": f"{text}\n"})
            self.assertIn("python/bitale/compile/sharedvalue.py:1: names", found)

    def test_circles(self):
        (found,) = complaints(
            **{"python/bitale/graph/op.py": "from bitale.graph.walk import walk\n"}
        )
        self.assertIn("bitale.graph.op -> bitale.graph.walk", found)

    def test_circles_by_imports_inside_functions(self):
        late = "def f():\n    from bitale.graph import walk\n    import bitale\n"
        (found,) = complaints(**{"python/bitale/graph/op.py": late})
        self.assertIn("bitale.graph.walk -> bitale.graph.op", found)
        self.assertIn("bitale -> bitale.graph", found)


if __name__ == "__main__":
    unittest.main()
