// Trigonometric functions and their inverses.
#include "ops/analysis/interval.hpp"
#include "ops/scalar/exact_rules.hpp"
#include "ops/scalar/record.hpp"

namespace bitale::records {

SCALAR_OP({
    .name = "sin",
    .title = "Sin",
    .doc = "Sine of an angle in radians, elementwise.\n"
           "~ arcsin, cos, tan",
    .symbol = "sin",
    .dtypes = upgrade_to_float,
    .loops = loops<1>(float_types, [](auto x) { return std::sin(x); }),
    .complex = &complex_sin,
    .expand = [](Args in, DType) { return math::sin(in[0]); },
    .stablehlo = "stablehlo.sine",
    .partials = {[](At a) { return a.g * cos(a.x); }},
    .traits = odd | keeps_zero | regular,
    .domain = {{-5, 5}},
    .edges = {0.0, -0.0, 1e10, inf, -inf, nan},
    .range = [](Ranges, DType) { return interval::closed(-1, 1); },
    .exact = exact_bounded<exact::sin>,
});

SCALAR_OP({
    .name = "cos",
    .title = "Cos",
    .doc = "Cosine of an angle in radians, elementwise.\n"
           "~ arccos, sin, tan",
    .symbol = "cos",
    .dtypes = upgrade_to_float,
    .loops = loops<1>(float_types, [](auto x) { return std::cos(x); }),
    .complex = &complex_cos,
    .expand = [](Args in, DType) { return math::cos(in[0]); },
    .stablehlo = "stablehlo.cosine",
    .partials = {[](At a) { return -(a.g * sin(a.x)); }},
    .traits = even | regular,
    .domain = {{-5, 5}},
    .edges = {0.0, -0.0, 1e10, inf, -inf, nan},
    .range = [](Ranges, DType) { return interval::closed(-1, 1); },
    .exact = exact_bounded<exact::cos>,
});

SCALAR_OP({
    .name = "tan",
    .title = "Tan",
    .doc = "Tangent of an angle in radians, elementwise.\n"
           "~ arctan, sin, cos",
    .symbol = "tan",
    .dtypes = upgrade_to_float,
    .loops = loops<1>(float_types, [](auto x) { return std::tan(x); }),
    .complex = &complex_tan,
    .expand = [](Args in, DType) { return math::tan(in[0]); },
    .stablehlo = "stablehlo.tan",
    .partials = {[](At a) { return a.g * (1 + sqr(a.out)); }},
    .traits = odd | keeps_zero,
    .domain = {{-1.2, 1.2}},
    .edges = {0.0, -0.0, 1e10, inf, -inf, nan},
    .exact = [](Numbers a) { return overflows(a[0]) ? ExactValue() : ExactValue(sin(a[0]) / cos(a[0])); },
});

SCALAR_OP({
    .name = "arcsin",
    .title = "Arcsin",
    .doc = "Inverse sine, elementwise.\n"
           "-> Angles in [-pi/2, pi/2]; nan outside of [-1, 1].\n"
           "~ sin, arccos",
    .symbol = "arcsin",
    .dtypes = upgrade_to_float,
    .loops = loops<1>(float_types, [](auto x) { return std::asin(x); }),
    .complex = &complex_arcsin,
    .expand = [](Args in, DType) { return math::asin(in[0]); },
    .stablehlo = "chlo.asin",
    .partials = {[](At a) { return a.g / sqrt(1 - sqr(a.x)); }},
    .traits = odd | increasing | keeps_zero,
    .domain = {{-0.9, 0.9}},
    .edges = {0.0, -0.0, 1.0, -1.0, 2.0, inf, nan},
});

SCALAR_OP({
    .name = "arccos",
    .title = "Arccos",
    .doc = "Inverse cosine, elementwise.\n"
           "-> Angles in [0, pi]; nan outside of [-1, 1].\n"
           "~ cos, arcsin",
    .symbol = "arccos",
    .dtypes = upgrade_to_float,
    .loops = loops<1>(float_types, [](auto x) { return std::acos(x); }),
    .complex = &complex_arccos,
    .expand = [](Args in, DType) { return math::acos(in[0]); },
    .stablehlo = "chlo.acos",
    .partials = {[](At a) { return -(a.g / sqrt(1 - sqr(a.x))); }},
    .traits = decreasing,
    .domain = {{-0.9, 0.9}},
    .edges = {0.0, -0.0, 1.0, -1.0, 2.0, inf, nan},
});

SCALAR_OP({
    .name = "arctan",
    .title = "Arctan",
    .doc = "Inverse tangent, elementwise.\n"
           "-> Angles in [-pi/2, pi/2].\n"
           "~ tan, arctan2",
    .symbol = "arctan",
    .dtypes = upgrade_to_float,
    .loops = loops<1>(float_types, [](auto x) { return std::atan(x); }),
    .complex = &complex_arctan,
    .expand = [](Args in, DType) { return math::atan(in[0]); },
    .stablehlo = "chlo.atan",
    .partials = {[](At a) { return a.g / (1 + sqr(a.x)); }},
    .traits = odd | increasing | keeps_zero | regular,
    .domain = {{-5, 5}},
    .edges = {0.0, -0.0, 1e300, inf, -inf, nan},
    .exact = [](Numbers a) -> ExactValue { return atan(a[0]); },
});

SCALAR_OP({
    .name = "arctan2",
    .title = "Arctan2",
    .doc = "Angle of a point in the plane, elementwise.\n"
           "x: Ordinate of the point.\n"
           "y: Abscissa of the point.\n"
           "-> Angles in [-pi, pi]: ``arctan(x / y)`` in the right quadrant.\n"
           "~ arctan, angle\n"
           "* The order of the operands is that of ``numpy.arctan2``.",
    .symbol = "arctan2",
    .arity = 2,
    .dtypes = upgrade_to_float,
    .loops = loops<2>(float_types, [](auto x, auto y) { return std::atan2(x, y); }),
    .expand = [](Args in, DType) { return math::atan2(in[0], in[1]); },
    .stablehlo = "stablehlo.atan2",
    // Without the squares, which may overflow or vanish.
    .partials = {[](At a) {
                   const Variable size = hypot(a.x, a.y);
                   return a.g * (a.y / size) / size;
                 },
                 [](At a) {
                   const Variable size = hypot(a.x, a.y);
                   return -(a.g * (a.x / size) / size);
                 }},
    .domain = {{-5, 5}, {0.5, 5}},
    .edges = {0.0, -0.0, 1.0, -1.0, inf, -inf, nan},
});

}  // namespace bitale::records
