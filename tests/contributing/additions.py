"""What the lists of CONTRIBUTING.md ask for, for an elementwise function, a function composed of others and a rewrite rule that the
library does not have: for each file a text, and what it is inserted before."""

from __future__ import annotations

from typing import NamedTuple


class Addition(NamedTuple):
    path: str
    before: str  # text that the file has once
    text: str
    test: str = ""  # that notices it, if no test of the function's name does


ELEMENTWISE = "How to add an elementwise function"
COMPOSED = "How to add a function composed of others"
RULE = "How to add a rewrite rule"

ADDITIONS = {
    ELEMENTWISE: [
        Addition(
            "src/ops/scalar/trigonometric.cpp",
            'SCALAR_OP({\n    .name = "tan",',
            r"""SCALAR_OP({
    .name = "versine",
    .title = "Versine",
    .doc = "Versed sine, elementwise.\n"
           "x: Angle in radians.\n"
           "-> ``1 - cos(x)``, accurate near 0.\n"
           "~ cos, sin",
    .symbol = "versine",
    .dtypes = upgrade_to_float,
    .loops = loops<1>(float_types,
                      [](auto x) {
                        const auto half = std::sin(x / 2);
                        return 2 * half * half;
                      }),
    .expand =
        [](Args in, DType dtype) {
          const Expr half = math::sin(in[0] * in[0].pool().number(0.5, dtype));
          return half * half * in[0].pool().number(2, dtype);
        },
    .partials = {[](At a) { return a.g * sin(a.x); }},
    .traits = even | keeps_zero,
    .domain = {{-9, 9}},
    .edges = {0.0, -0.0, 1e-20, 3.0, inf, -inf, nan},
});

""",
        ),
        Addition("include/bitale/ops/special.hpp", "X(ndtri_exp)\n", "X(versine) "),
        Addition(
            "python/src/elementwise_examples.cpp",
            '    {"xlog1py", ',
            '    {"versine", R"(>>> pt.versine([0.0, 1.0]).eval()\narray([0.        , 0.45969769]))"},\n',
        ),
        Addition(
            "tools/api_subjects.py",
            '    _section("Special functions under',
            '    _section("An addition", "Elementwise.", "versine"),\n',
        ),
        Addition("python/bitale/xtensor/math.py", '    "cbrt", "hypot",', '    "versine",\n'),
        Addition(
            "tests/oracle/elementwise.py",
            'define("sigmoid", ',
            'define("versine", as_float, lambda x: 2 * np.sin(x / 2) ** 2, 8)\n',
        ),
        Addition(
            "tests/python/tensor/test_elementwise.py",
            '    "trunc": (np.trunc',
            '    "versine": (lambda x: 2 * np.sin(x / 2) ** 2, to_float, -9, 9),\n',
            "tests/python/tensor/test_elementwise.py",
        ),
        Addition(
            "tests/python/tensor/accuracy_table.py",
            '    "softplus": Row(',
            '    "versine": Row(real(-1e4, 1e4, smallest=-150), lambda x: 2 * mpmath.sin(x / 2) ** 2),\n',
            "tests/python/tensor/test_accuracy.py",
        ),
        Addition(
            "tests/cpp/support/math_reference.cpp",
            '    unary("expm1", ',
            '    unary(\n        "versine", [](auto x) { return 2 * std::sin(x / 2) * std::sin(x / 2); }, 4),\n',
        ),
        Addition(
            "docs/math.md",
            "| `xlog1py` |",
            "| `versine` | 4 | 4 | – | – | – |\n",
            "tests/python/tensor/test_accuracy.py",
        ),
    ],
    COMPOSED: [
        Addition(
            "src/ops/reductions/covariance.cpp",
            "MaximumAndArgmax max_and_argmax(",
            """Variable midrange(const Operand& x, const Axes& axis, KeepDims keepdims) {
  const LocationScope here(x.where);
  return (max(x, axis, keepdims) + min(x, axis, keepdims)) / 2;
}

""",
        ),
        Addition(
            "include/bitale/ops/statistics.hpp",
            "Variable ptp(",
            "// Mean of the extremes over the given axes.\n"
            "Variable midrange(const Operand& x, const Axes& axis = all_axes, KeepDims keepdims = KeepDims::No);\n",
        ),
        Addition(
            "python/src/formulas.cpp",
            '  define_both_of(\n      m, "ptp", "a"_a,',
            """  define_both_of(
      m, "midrange", "a"_a,
      [](const Like& a, const AxisLike& axis, Flag keepdims) {
        return midrange(as_variable(a), as_axes(axis, "midrange"), keepdims);
      },
      "axis"_a.none() = nb::none(), "keepdims"_a = false, R"(>>> pt.midrange(np.array([3.0, 7.0, 5.5])).eval()
array(5.))");
""",
        ),
        Addition(
            "python/src/reference/reductions.cpp",
            "= ptp\n",
            """= midrange
Mean of the extremes over the given axes.
-> Means, of the shape of `a` without the reduced axes.
~ max, min, ptp

""",
        ),
        Addition(
            "tools/api_subjects.py",
            '    _section("Sorting, searching and sets"',
            '    _section("A second addition", "Over all elements or given axes.", "midrange"),\n',
        ),
        Addition(
            "tests/oracle/functions.py",
            "def ceil_intdiv(",
            """def midrange(a: Any, axis: Any = None) -> Val:
    return true_div(add(_t["max"](a, axis), _t["min"](a, axis)), 2)


""",
        ),
    ],
    RULE: [
        Addition(
            "src/rules/sigmoid_erf.cpp",
            '  rules.equation("softplus", log1p(exp(x))',
            '  rules.equation("versine", 1 - cos(x), versine(x)).tags(stabilize).more_accurate();\n',
        )
    ],
}
