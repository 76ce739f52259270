// Hyperbolic functions and their inverses.
#include "ops/analysis/interval.hpp"
#include "ops/scalar/exact_rules.hpp"
#include "ops/scalar/record.hpp"

namespace bitale::records {

SCALAR_OP({
    .name = "sinh",
    .title = "Sinh",
    .doc = "Hyperbolic sine, elementwise.\n"
           "~ arcsinh, cosh, tanh",
    .symbol = "sinh",
    .dtypes = upgrade_to_float,
    .loops = loops<1>(float_types, [](auto x) { return std::sinh(x); }),
    .complex = &complex_sinh,
    .expand = [](Args in, DType) { return math::sinh(in[0]); },
    .stablehlo = "chlo.sinh",
    .partials = {[](At a) { return a.g * cosh(a.x); }},
    .traits = odd | increasing | keeps_zero,
    .domain = {{-3, 3}},
    .edges = {0.0, -0.0, 1e-20, 709.0, 710.0, 711.0, -711.0, inf, -inf, nan},
    .exact = exact_bounded<[](const exact::Number& x) { return (expm1(x) - expm1(-x)) / 2; }>,
});

SCALAR_OP({
    .name = "cosh",
    .title = "Cosh",
    .doc = "Hyperbolic cosine, elementwise.\n"
           "~ arccosh, sinh, tanh",
    .symbol = "cosh",
    .dtypes = upgrade_to_float,
    .loops = loops<1>(float_types, [](auto x) { return std::cosh(x); }),
    .complex = &complex_cosh,
    .expand = [](Args in, DType) { return math::cosh(in[0]); },
    .stablehlo = "chlo.cosh",
    .partials = {[](At a) { return a.g * sinh(a.x); }},
    .traits = even,
    .domain = {{-3, 3}},
    .edges = {0.0, -0.0, 709.0, 710.0, 711.0, -711.0, inf, -inf, nan},
    .range = [](Ranges, DType) { return interval::at_least(1); },
    .exact =
        [](Numbers a) {
          const bool tiny = !(a[0] == 0) && abs(a[0]) < 1e-200;
          return overflows(a[0]) || tiny ? ExactValue() : ExactValue((exp(a[0]) + exp(-a[0])) / 2);
        },
});

SCALAR_OP({
    .name = "tanh",
    .title = "Tanh",
    .doc = "Hyperbolic tangent, elementwise.\n"
           "~ arctanh, sinh, sigmoid",
    .symbol = "tanh",
    .dtypes = upgrade_to_float,
    .loops = loops<1>(float_types, [](auto x) { return std::tanh(x); }),
    .complex = &complex_tanh,
    .expand = [](Args in, DType) { return math::tanh(in[0]); },
    .stablehlo = "stablehlo.tanh",
    .partials = {[](At a) { return a.g * (1 - sqr(a.out)); }},
    .traits = odd | increasing | keeps_zero | regular,
    .domain = {{-3, 3}},
    .edges = {0.0, -0.0, 1e-20, 30.0, -30.0, 1000.0, inf, -inf, nan},
    .exact = exact_bounded<[](const exact::Number& x) { return expm1(2 * x) / (exp(2 * x) + 1); }>,
});

SCALAR_OP({
    .name = "arcsinh",
    .title = "Arcsinh",
    .doc = "Inverse hyperbolic sine, elementwise.\n"
           "~ sinh, arccosh",
    .symbol = "arcsinh",
    .dtypes = upgrade_to_float,
    .loops = loops<1>(float_types, [](auto x) { return std::asinh(x); }),
    .complex = &complex_arcsinh,
    .expand = [](Args in, DType) { return math::asinh(in[0]); },
    .stablehlo = "chlo.asinh",
    // Without the square, which may overflow.
    .partials = {[](At a) { return a.g / (is_complex(a.x.dtype()) ? sqrt(1 + sqr(a.x)) : hypot(1, a.x)); }},
    .traits = odd | increasing | keeps_zero | regular,
    .domain = {{-5, 5}},
    .edges = {0.0, -0.0, 1e300, inf, -inf, nan},
    .exact = [](Numbers a) -> ExactValue { return a[0] < 0 ? -exact_arcsinh(-a[0]) : exact_arcsinh(a[0]); },
});

SCALAR_OP({
    .name = "arccosh",
    .title = "Arccosh",
    .doc = "Inverse hyperbolic cosine, elementwise.\n"
           "-> Non-negative values; nan for x < 1.\n"
           "~ cosh, arcsinh",
    .symbol = "arccosh",
    .dtypes = upgrade_to_float,
    .loops = loops<1>(float_types, [](auto x) { return std::acosh(x); }),
    .complex = &complex_arccosh,
    .expand = [](Args in, DType) { return math::acosh(in[0]); },
    // sqrt(x - 1) * sqrt(x + 1) keeps its digits, whereas x * x - 1 would cancel.
    .stablehlo = "chlo.acosh",
    .partials = {[](At a) { return a.g / (sqrt(a.x - 1) * sqrt(a.x + 1)); }},
    .traits = increasing,
    .domain = {{1.5, 9}},
    .edges = {1.0, 0.5, 1e300, inf, -inf, nan},
    .range = [](Ranges, DType) { return interval::at_least(0); },
    .exact = [](Numbers a) { return a[0] < 1 ? ExactValue() : ExactValue(log(a[0] + sqrt(a[0] * a[0] - 1))); },
});

SCALAR_OP({
    .name = "arctanh",
    .title = "Arctanh",
    .doc = "Inverse hyperbolic tangent, elementwise.\n"
           "-> Values; infinite at -1 and 1, nan outside.\n"
           "~ tanh, arcsinh",
    .symbol = "arctanh",
    .dtypes = upgrade_to_float,
    .loops = loops<1>(float_types, [](auto x) { return std::atanh(x); }),
    .complex = &complex_arctanh,
    .expand = [](Args in, DType) { return math::atanh(in[0]); },
    .stablehlo = "chlo.atanh",
    .partials = {[](At a) { return a.g / (1 - sqr(a.x)); }},
    .traits = odd | increasing | keeps_zero,
    .domain = {{-0.9, 0.9}},
    .edges = {0.0, -0.0, 1.0, -1.0, 2.0, inf, nan},
    .exact = [](Numbers a) { return abs(a[0]) >= 1 ? ExactValue() : ExactValue((log1p(a[0]) - log1p(-a[0])) / 2); },
});

}  // namespace bitale::records
