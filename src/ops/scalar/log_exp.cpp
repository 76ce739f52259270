// Exponentials and logarithms, and two functions of statistics that are only stable if computed as one: sigmoid and
// softplus.
#include <numbers>

#include "ops/scalar/exact_rules.hpp"
#include "ops/scalar/record.hpp"

namespace bitale::records {

namespace {

template <class T>
T sigmoid_of(T x) {
  const T small = std::exp(-std::fabs(x));  // never overflows
  return (x >= 0 ? T(1) : small) / (1 + small);
}

// Near 1/2, the difference of the quotient from 1 is exact.
template <class T>
T logit_of(T x) {
  return x > T(0.25) && x < T(0.75) ? std::log1p((2 * x - 1) / (1 - x)) : std::log(x / (1 - x));
}

template <class T>
T softplus_of(T x) {
  return std::log1p(std::exp(-std::fabs(x))) + (x > 0 || x != x ? x : T(0));
}

// Above -log(2), 1 - exp(x) would cancel, and expm1 keeps its digits.
template <class T>
T log1mexp_of(T x) {
  return x < T(-std::numbers::ln2) ? std::log1p(-std::exp(x)) : std::log(-std::expm1(x));
}

// 0 where x is 0 and y is not nan.
Expr zero_or(Expr x, Expr y, Expr value) {
  const Expr zero = x.pool().number(0, x.dtype());
  return select(equal(x, zero), select(equal(y, y), zero, y), value);
}

}  // namespace

SCALAR_OP({
    .name = "exp",
    .title = "Exp",
    .doc = "Exponential function, elementwise.\n"
           "-> ``e ** x``.\n"
           "~ log, expm1, exp2",
    .symbol = "exp",
    .dtypes = upgrade_to_float,
    .loops = loops<1>(float_types, [](auto x) { return std::exp(x); }),
    .complex = &complex_exp,
    .expand = [](Args in, DType) { return math::exp(in[0]); },
    .stablehlo = "stablehlo.exponential",
    .partials = {[](At a) { return a.g * a.out; }},
    .traits = increasing,
    .domain = {{-3, 3}},
    .edges = {0.0, -0.0, 1.0, 709.0, 710.0, -745.0, -746.0, inf, -inf, nan},
    .exact = exact_bounded<exact::exp>,
});

SCALAR_OP({
    .name = "exp2",
    .title = "Exp2",
    .doc = "Power of 2, elementwise.\n"
           "-> ``2 ** x``.\n"
           "~ exp, log2",
    .symbol = "exp2",
    .dtypes = upgrade_to_float,
    .loops = loops<1>(float_types, [](auto x) { return std::exp2(x); }),
    .complex = &complex_exp2,
    .expand = [](Args in, DType) { return math::exp2(in[0]); },
    .partials = {[](At a) { return a.g * a.out * std::numbers::ln2; }},
    .traits = increasing,
    .domain = {{-3, 3}},
    .edges = {0.0, -0.0, 1.0, 1023.0, 1024.0, -1074.0, -1080.0, inf, -inf, nan},
    .exact = exact_bounded<[](const exact::Number& x) { return exp(x * log(exact::Number(2))); }>,
});

SCALAR_OP({
    .name = "expm1",
    .title = "Expm1",
    .doc = "Exponential function minus 1, elementwise.\n"
           "-> ``exp(x) - 1``, accurate near 0.\n"
           "~ exp, log1p",
    .symbol = "expm1",
    .dtypes = upgrade_to_float,
    .loops = loops<1>(float_types, [](auto x) { return std::expm1(x); }),
    .complex = &complex_expm1,
    .expand = [](Args in, DType) { return math::expm1(in[0]); },
    .stablehlo = "stablehlo.exponential_minus_one",
    // Not from the value, which is -1 where x is far below 0.
    .partials = {[](At a) { return a.g * exp(a.x); }},
    .traits = increasing | keeps_zero,
    .domain = {{-3, 3}},
    .edges = {0.0, -0.0, 1e-20, 709.0, 710.0, -40.0, inf, -inf, nan},
    .exact = exact_bounded<exact::expm1>,
});

SCALAR_OP({
    .name = "log",
    .title = "Log",
    .doc = "Natural logarithm, elementwise.\n"
           "-> Logarithms; -inf for 0, nan for negative real numbers.\n"
           "~ exp, log1p, log2, log10",
    .symbol = "log",
    .dtypes = upgrade_to_float,
    .loops = loops<1>(float_types, [](auto x) { return std::log(x); }),
    .complex = &complex_log,
    .expand = [](Args in, DType) { return math::log(in[0]); },
    .stablehlo = "stablehlo.log",
    .partials = {[](At a) { return a.g / a.x; }},
    .traits = increasing,
    .domain = {{0.2, 9}},
    .edges = {0.0, -0.0, 1.0, -1.0, 5e-324, inf, -inf, nan},
    .exact = [](Numbers a) { return a[0] <= 0 ? ExactValue() : ExactValue(log(a[0])); },
});

SCALAR_OP({
    .name = "log2",
    .title = "Log2",
    .doc = "Logarithm to base 2, elementwise.\n"
           "~ log, exp2",
    .symbol = "log2",
    .dtypes = upgrade_to_float,
    .loops = loops<1>(float_types, [](auto x) { return std::log2(x); }),
    .complex = &complex_log2,
    .expand = [](Args in, DType) { return math::log2(in[0]); },
    .partials = {[](At a) { return a.g / (a.x * std::numbers::ln2); }},
    .traits = increasing,
    .domain = {{0.2, 9}},
    .edges = {0.0, -0.0, 1.0, 8.0, -1.0, 5e-324, inf, -inf, nan},
    .exact = [](Numbers a) { return a[0] <= 0 ? ExactValue() : ExactValue(log(a[0]) / log(exact::Number(2))); },
});

SCALAR_OP({
    .name = "log10",
    .title = "Log10",
    .doc = "Logarithm to base 10, elementwise.\n"
           "~ log",
    .symbol = "log10",
    .dtypes = upgrade_to_float,
    .loops = loops<1>(float_types, [](auto x) { return std::log10(x); }),
    .complex = &complex_log10,
    .expand = [](Args in, DType) { return math::log10(in[0]); },
    .partials = {[](At a) { return a.g / (a.x * std::numbers::ln10); }},
    .traits = increasing,
    .domain = {{0.2, 9}},
    .edges = {0.0, -0.0, 1.0, 1000.0, -1.0, 5e-324, inf, -inf, nan},
    .exact = [](Numbers a) { return a[0] <= 0 ? ExactValue() : ExactValue(log(a[0]) / log(exact::Number(10))); },
});

SCALAR_OP({
    .name = "log1p",
    .title = "Log1p",
    .doc = "Logarithm of 1 plus a number, elementwise.\n"
           "-> ``log(1 + x)``, accurate near 0.\n"
           "~ log, expm1",
    .symbol = "log1p",
    .dtypes = upgrade_to_float,
    .loops = loops<1>(float_types, [](auto x) { return std::log1p(x); }),
    .complex = &complex_log1p,
    .expand = [](Args in, DType) { return math::log1p(in[0]); },
    .stablehlo = "stablehlo.log_plus_one",
    .partials = {[](At a) { return a.g / (1 + a.x); }},
    .traits = increasing | keeps_zero,
    .domain = {{-0.9, 9}},
    .edges = {0.0, -0.0, 1e-20, -1.0, -2.0, inf, -inf, nan},
    .exact = [](Numbers a) { return a[0] <= -1 ? ExactValue() : ExactValue(log1p(a[0])); },
});

SCALAR_OP({
    .name = "sigmoid",
    .title = "Sigmoid",
    .doc = "Logistic function, elementwise.\n"
           "-> ``1 / (1 + exp(-x))``, without overflow.\n"
           "~ logit, softplus, tanh",
    .symbol = "sigmoid",
    .dtypes = upgrade_to_float,
    .loops = loops<1>(float_types, [](auto x) { return sigmoid_of(x); }),
    .expand = [](Args in, DType) { return math::sigmoid(in[0]); },
    // 1 - out would cancel where out is near 1; sigmoid(-x) does not.
    .stablehlo = "stablehlo.logistic",
    .partials = {[](At a) { return a.g * a.out * sigmoid(-a.x); }},
    .traits = increasing | regular,
    .domain = {{-5, 5}},
    .edges = {0.0, -0.0, 40.0, -40.0, 800.0, -800.0, inf, -inf, nan},
    .exact = exact_bounded<[](const exact::Number& x) { return 1 / (1 + exp(-x)); }>,
});

SCALAR_OP({
    .name = "logit",
    .title = "Logit",
    .doc = "Logarithm of the odds, elementwise.\n"
           "x: Probability.\n"
           "-> ``log(x / (1 - x))``, accurate near its zero at 1/2; infinite at 0 and 1, nan outside.\n"
           "~ sigmoid",
    .symbol = "logit",
    .dtypes = upgrade_to_float,
    .loops = loops<1>(float_types, [](auto x) { return logit_of(x); }),
    .complex = &complex_logit,
    .expand = [](Args in, DType) { return math::logit(in[0]); },
    .partials = {[](At a) { return a.g / (a.x * (1 - a.x)); }},
    .traits = increasing,
    .domain = {{0.1, 0.9}},
    .edges = {0.0, -0.0, 0.5, 1.0, 1e-300, -1.0, 2.0, inf, -inf, nan},
    .exact = [](Numbers a) { return a[0] <= 0 || a[0] >= 1 ? ExactValue() : ExactValue(log(a[0] / (1 - a[0]))); },
});

SCALAR_OP({
    .name = "softplus",
    .title = "Softplus",
    .doc = "Softplus function, elementwise.\n"
           "-> ``log(1 + exp(x))``, without overflow.\n"
           "~ sigmoid, log1mexp\n"
           "* Computed as ``maximum(x, 0) + log1p(exp(-abs(x)))``.",
    .symbol = "softplus",
    .dtypes = upgrade_to_float,
    .loops = loops<1>(float_types, [](auto x) { return softplus_of(x); }),
    .expand = [](Args in, DType) { return math::softplus(in[0]); },
    .partials = {[](At a) { return a.g * sigmoid(a.x); }},
    .traits = increasing | regular,
    .domain = {{-5, 5}},
    .edges = {0.0, -0.0, 40.0, -40.0, 800.0, -800.0, inf, -inf, nan},
    .exact = exact_bounded<[](const exact::Number& x) { return log1p(exp(x)); }>,
});

SCALAR_OP({
    .name = "log1mexp",
    .title = "Log1mexp",
    .doc = "Logarithm of 1 minus an exponential, elementwise.\n"
           "x: Non-positive number.\n"
           "-> ``log(1 - exp(x))``, accurate near 0 and far from it; nan for positive x.\n"
           "~ softplus, log1p",
    .symbol = "log1mexp",
    .dtypes = upgrade_to_float,
    .loops = loops<1>(float_types, [](auto x) { return log1mexp_of(x); }),
    .expand = [](Args in, DType) { return math::log1mexp(in[0]); },
    // For both zeros it is -inf, and far from zero it does not overflow.
    .partials = {[](At a) { return -(a.g * exp(a.x) / abs(expm1(a.x))); }},
    .traits = decreasing,
    .domain = {{-5, -0.1}},
    .edges = {0.0, -0.0, -1e-20, -0.7, -40.0, -800.0, 1.0, inf, -inf, nan},
    .exact = [](Numbers a) { return a[0] >= 0 ? ExactValue() : ExactValue(log(-expm1(a[0]))); },
});

SCALAR_OP({
    .name = "xlogy",
    .title = "Xlogy",
    .doc = "Product of a number and a logarithm, elementwise.\n"
           "-> ``x * log(y)``, and 0 where x is 0.\n"
           "~ xlog1py, log\n"
           "* As ``scipy.special.xlogy``.",
    .symbol = "xlogy",
    .arity = 2,
    .dtypes = upgrade_to_float,
    .loops = loops<2>(float_types, [](auto x, auto y) { return x == 0 && y == y ? 0 : x * std::log(y); }),
    .expand = [](Args in, DType) { return zero_or(in[0], in[1], in[0] * math::log(in[1])); },
    .partials = {[](At a) { return a.g * log(a.y); }, [](At a) { return switch_(eq(a.x, 0), 0, a.g * a.x / a.y); }},
    .domain = {{-5, 5}, {0.1, 9}},
    .edges = {0.0, -0.0, 1.0, -1.0, inf, -inf, nan},
    .exact =
        [](Numbers a) {
          if (a[0] == 0) return ExactValue(exact::Number(0));
          return a[1] <= 0 ? ExactValue() : ExactValue(exact::Number(a[0] * log(a[1])));
        },
});

SCALAR_OP({
    .name = "xlog1py",
    .title = "Xlog1py",
    .doc = "Product of a number and the logarithm of 1 plus another, elementwise.\n"
           "-> ``x * log1p(y)``, and 0 where x is 0.\n"
           "~ xlogy, log1p\n"
           "* As ``scipy.special.xlog1py``.",
    .symbol = "xlog1py",
    .arity = 2,
    .dtypes = upgrade_to_float,
    .loops = loops<2>(float_types, [](auto x, auto y) { return x == 0 && y == y ? 0 : x * std::log1p(y); }),
    .expand = [](Args in, DType) { return zero_or(in[0], in[1], in[0] * math::log1p(in[1])); },
    .partials = {[](At a) { return a.g * log1p(a.y); },
                 [](At a) { return switch_(eq(a.x, 0), 0, a.g * a.x / (1 + a.y)); }},
    .domain = {{-5, 5}, {-0.9, 9}},
    .edges = {0.0, -0.0, 1.0, -1.0, inf, -inf, nan},
    .exact =
        [](Numbers a) {
          if (a[0] == 0) return ExactValue(exact::Number(0));
          return a[1] <= -1 ? ExactValue() : ExactValue(exact::Number(a[0] * log1p(a[1])));
        },
});

}  // namespace bitale::records
