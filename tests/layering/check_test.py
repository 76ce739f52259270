#!/usr/bin/env python3
"""The layering check reports each kind of violation, and none for a valid tree."""

import tempfile
import unittest
from pathlib import Path

from check import check

VALID_TREE = {
    "include/bitale/bitale.hpp": "#include <bitale/core/array.hpp>\n#include <bitale/compile/function.hpp>\n",
    "include/bitale/core/language.hpp": "#define BITALE_X\n",
    "include/bitale/core/array.hpp": "#include <bitale/core/language.hpp>\n#include <vector>\n",
    "include/bitale/fwd.hpp": "#include <cstdint>\n",
    "src/core/named.hpp": "#include <bitale/fwd.hpp>\n",
    "include/bitale/compile/function.hpp": "#include <bitale/core/array.hpp>\n",
    "src/core/array.cpp": '#include <bitale/core/array.hpp>\n#include "core/detail.hpp"\n#include "detail.hpp"\n',
    "src/core/detail.hpp": "#include <string>\n",
    "src/program/ir.hpp": '#include "core/detail.hpp"\n',
    "src/graph/node.hpp": '#include "core/detail.hpp"\n',
    "src/ops/add.cpp": '#include "graph/node.hpp"\n#include "program/ir.hpp"\n',
    "src/codegen/llvm/emit.cpp": '#include <llvm-c/Core.h>\n#include "program/ir.hpp"\n',
    "src/codegen/c/emit.hpp": '#include "program/ir.hpp"\n',
    "src/runtime/special.cpp": "#include <boost/math/special_functions/gamma.hpp>\n",
    "python/src/module.cpp": "#include <nanobind/nanobind.h>\n#include <bitale/bitale.hpp>\n",
}


def complaints(**changes):
    with tempfile.TemporaryDirectory() as folder:
        for file, text in {**VALID_TREE, **changes.get("files", {})}.items():
            path = Path(folder, file)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        return check(folder)[1]


class Layering(unittest.TestCase):
    def assert_refused(self, file, include, because):
        found = complaints(files={file: f"// first line\n#include {include}\n"})
        self.assertEqual(len(found), 1, found)
        self.assertIn(file, found[0])
        self.assertIn(because, found[0])

    def test_valid_tree_has_no_violations(self):
        self.assertEqual(complaints(), [])

    def test_includes_of_higher_parts(self):
        self.assert_refused("src/core/bad.cpp", '"graph/node.hpp"', "core must not include graph")
        self.assert_refused(
            "include/bitale/graph/bad.hpp",
            "<bitale/compile/function.hpp>",
            "graph must not include compile",
        )

    def test_bool_parameters(self):
        for file, expected in (
            (
                "include/bitale/graph/bad.hpp",
                ["include/bitale/graph/bad.hpp:1: f has a bool parameter"],
            ),
            ("src/graph/bad.hpp", []),
        ):
            found = complaints(files={file: "int f(int a = g(1),\n      bool b = true);\n"})
            self.assertEqual([each.split(";")[0] for each in found], expected)
        for good in (
            "int set_f(int a, bool b);",
            "int number(bool b);",
            "struct Options { bool a, b; };",
            "// f(int a, bool b)",
        ):
            self.assertEqual(complaints(files={"include/bitale/graph/good.hpp": good}), [])

    def test_names_of_programs_and_the_first_header(self):
        found = complaints(files={"include/bitale/graph/bad.hpp": "#  define X(a) a\n"})
        self.assertEqual(
            found,
            ["include/bitale/graph/bad.hpp: a public header defines X, which is a program's name"],
        )
        found = complaints(files={"include/bitale/core/bad.hpp": "#include <vector>\n"})
        self.assertIn("first include is not bitale/core/language.hpp", found[0])

    def test_header_of_names_includes_nothing_of_the_library(self):
        self.assert_refused(
            "include/bitale/fwd.hpp", "<bitale/core/array.hpp>", "names without definitions"
        )

    def test_message_has_the_line(self):
        self.assertIn(
            "bad.cpp:2:", complaints(files={"src/core/bad.cpp": '\n#include "graph/node.hpp"\n'})[0]
        )

    def test_program_includes_core_only(self):
        self.assert_refused(
            "src/program/bad.cpp", '"graph/node.hpp"', "program must not include graph"
        )

    def test_code_generators_include_neither_graphs_nor_each_other(self):
        self.assert_refused(
            "src/codegen/llvm/bad.cpp", '"graph/node.hpp"', "codegen must not include graph"
        )
        self.assert_refused(
            "src/codegen/llvm/bad.cpp", '"codegen/c/emit.hpp"', "must not include codegen/c/"
        )

    def test_kinds_of_steps_are_told_apart_in_program(self):
        asks = "auto* s = std::get_if<program::Store>(&step.what);\n"
        found = complaints(files={"src/lowering/a.cpp": asks, "src/program/b.cpp": asks})
        self.assertEqual(len(found), 1)
        self.assertIn("src/lowering/a.cpp:1: a kind of step is told by get_if", found[0])
        for other in (
            "std::get<Loop>(step.what).body;",
            "std::holds_alternative<program::If>(step.what);",
        ):
            self.assertEqual(len(complaints(files={"src/codegen/a.cpp": other})), 1)
        self.assertEqual(complaints(files={"src/link/a.cpp": "std::get<Expr>(argument);"}), [])

    def test_limits_of_the_lowering_are_in_one_table(self):
        for number in (
            "constexpr std::int64_t most = 8;",
            "if (size > 1500) return;",
            "return n <= 64 && m < 8;",
        ):
            self.assertEqual(len(complaints(files={"src/lowering/a.cpp": number})), 1, number)
            self.assertEqual(complaints(files={"src/lowering/costs.hpp": number}), [])
            self.assertEqual(complaints(files={"src/codegen/a.cpp": number}), [])
        for other in (
            "constexpr int none = -1;  // 64 are too many",
            "return std::int64_t(1) << 62;",
            'fail("more than 64");',
            "DType::Int64 x = operator()(v2);",
        ):
            self.assertEqual(complaints(files={"src/lowering/a.cpp": other}), [], other)

    def test_external_libraries(self):
        self.assert_refused("src/link/bad.cpp", "<llvm-c/Core.h>", "LLVM")
        self.assert_refused("src/codegen/c/bad.cpp", "<llvm-c/Core.h>", "LLVM")
        self.assert_refused("src/ops/bad.cpp", "<boost/math/tools/roots.hpp>", "Boost")
        self.assert_refused("src/ops/bad.cpp", "<Eigen/SparseCore>", "Eigen")
        self.assert_refused(
            "src/runtime/bad.cpp", "<boost/multiprecision/cpp_bin_float.hpp>", "many digits"
        )
        self.assert_refused("src/compile/bad.cpp", "<nanobind/nanobind.h>", "Python")
        self.assert_refused("src/ops/bad.cpp", "<cblas.h>", "BLAS")

    def test_public_headers_include_no_external_or_internal_headers(self):
        for header in ("<iostream>", "<llvm-c/Core.h>", "<cblas.h>", "<nanobind/nanobind.h>"):
            self.assert_refused("include/bitale/graph/bad.hpp", header, "only")
        self.assert_refused("include/bitale/graph/bad.hpp", '"core/detail.hpp"', "internal")

    def test_umbrella_header_is_not_included_internally(self):
        self.assert_refused("src/compile/bad.cpp", "<bitale/bitale.hpp>", "umbrella")

    def test_unknown_folders_and_headers(self):
        self.assert_refused("src/attic/bad.cpp", "<vector>", "no part")
        self.assert_refused("src/core/bad.cpp", '"core/missing.hpp"', "found neither")
        self.assert_refused("src/core/bad.cpp", '"../graph/node.hpp"', "found neither")


if __name__ == "__main__":
    unittest.main()
