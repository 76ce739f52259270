// Special functions: error function and its inverse, the normal distribution function, gamma, log-gamma and its
// derivatives.
#include "runtime/special.hpp"
#include "ops/scalar/exact_rules.hpp"
#include "ops/scalar/exp_of_square.hpp"
#include "ops/scalar/record.hpp"

namespace bitale::records {

namespace {

inline constexpr double two_over_sqrt_pi = 1.12837916709551257390, half_sqrt_pi = 0.88622692545275801365,
                        one_over_sqrt_2_pi = 0.39894228040143267794, sqrt_two_over_pi = 0.79788456080286535588,
                        sqrt_half = 0.70710678118654752440;

// exp(out ** 2) for an inverse of the error function, whose complement is `rest`: by erfc(out) = exp(-out ** 2)
// erfcx(out), without the rounding error of `out`, which the exponential would magnify.
Variable exp_of_square_at(const Variable& out, const Variable& rest) {
  const Variable is_end = eq(rest, 0);
  return switch_(is_end, inf, erfcx(abs(out)) / switch_(is_end, 1, rest));
}

// 2 x erfcx(x) - 2 / sqrt(pi). Far out these terms cancel, and the asymptotic series of the difference is summed
// without the terms that cancel (Abramowitz & Stegun, 7.1.23).
Variable erfcx_derivative(At a) {
  constexpr double far_out = 15;
  constexpr double terms[] = {1.0,        -1.5,        3.75,           -13.125,         59.0625,
                              -324.84375, 2111.484375, -15836.1328125, 134607.12890625, -1278767.724609375};
  const Variable is_far = gt(a.x, far_out), t = reciprocal(sqr(switch_(is_far, a.x, far_out)));
  Variable series = zeros_like(t);
  for (std::size_t i = std::size(terms); i-- > 0;) series = terms[i] + t * series;
  const double half = 0.5 * two_over_sqrt_pi;
  return a.g * switch_(is_far, -half * t * series, 2 * switch_(is_far, 0, a.x) * a.out - two_over_sqrt_pi);
}

// The normal density divided by the distribution function. For positive x the density is the ratio at -x times the tail
// there, so that no square is rounded.
Variable inverse_mills_ratio(At a) {
  // |x| is a switch, since the derivative of abs at 0 would be 0 in both branches.
  constexpr double beyond = 40;  // the tail is 0
  const Variable is_negative = lt(a.x, 0), size = switch_(is_negative, -a.x, minimum(a.x, beyond));
  const Variable tail = ndtr(-size), of_tail = sqrt_two_over_pi / erfcx(size * sqrt_half);
  return a.g * switch_(is_negative, of_tail, of_tail * tail / (1 - tail));
}

}  // namespace

SCALAR_OP({
    .name = "erf",
    .title = "Erf",
    .doc = "Error function, elementwise.\n"
           "-> ``2 / sqrt(pi)`` times the integral of ``exp(-t**2)`` from 0 to x.\n"
           "~ erfc, erfinv, ndtr",
    .symbol = "erf",
    .dtypes = upgrade_to_float,
    .loops = loops<1>(float_types, [](auto x) { return std::erf(x); }),
    .expand = [](Args in, DType) { return math::erf(in[0]); },
    .stablehlo = "chlo.erf",
    .partials = {[](At a) { return a.g * two_over_sqrt_pi * exp_of_square(a.x, -1); }},
    .traits = odd | increasing | keeps_zero,
    .domain = {{-2, 2}},
    .edges = {0.0, -0.0, 30.0, -30.0, inf, -inf, nan},
    .exact = exact_bounded<exact::erf>,
});

SCALAR_OP({
    .name = "erfc",
    .title = "Erfc",
    .doc = "Complementary error function, elementwise.\n"
           "-> ``1 - erf(x)``, accurate where erf is near 1.\n"
           "~ erf, erfcx, erfcinv",
    .symbol = "erfc",
    .dtypes = upgrade_to_float,
    .loops = loops<1>(float_types, [](auto x) { return std::erfc(x); }),
    .expand = [](Args in, DType) { return math::erfc(in[0]); },
    .stablehlo = "chlo.erfc",
    .partials = {[](At a) { return -(a.g * two_over_sqrt_pi * exp_of_square(a.x, -1)); }},
    .traits = decreasing,
    .domain = {{-2, 2}},
    .edges = {0.0, -0.0, 25.0, 30.0, -30.0, inf, -inf, nan},
    .exact = exact_bounded<exact::erfc>,
});

SCALAR_OP({
    .name = "erfcx",
    .title = "Erfcx",
    .doc = "Scaled complementary error function, elementwise.\n"
           "-> ``exp(x * x) * erfc(x)``.\n"
           "~ erfc",
    .symbol = "erfcx",
    .dtypes = upgrade_to_float,
    .loops = loops<1>(float_types, [](auto x) { return through_double(bt_erfcx, x); }),
    .expand = [](Args in, DType) { return math::erfcx(in[0]); },
    .partials = {erfcx_derivative},
    .traits = decreasing,
    .domain = {{-2, 9}},
    .edges = {0.0, -0.0, 25.0, 30.0, 1e300, -26.0, -30.0, inf, -inf, nan},
    .exact = [](Numbers a) { return abs(a[0]) > 1e3 ? ExactValue() : ExactValue(exp(a[0] * a[0]) * erfc(a[0])); },
});

SCALAR_OP({
    .name = "erfinv",
    .title = "Erfinv",
    .doc = "Inverse of the error function, elementwise.\n"
           "-> z with ``erf(z) == x``; infinite at -1 and 1, nan outside.\n"
           "~ erf, erfcinv",
    .symbol = "erfinv",
    .dtypes = upgrade_to_float,
    .loops = loops<1>(float_types, [](auto x) { return through_double(bt_erfinv, x); }),
    .expand = [](Args in, DType) { return math::erfinv(in[0]); },
    .partials = {[](At a) { return a.g * half_sqrt_pi * exp_of_square_at(a.out, 1 - abs(a.x)); }},
    .traits = odd | increasing | keeps_zero,
    .domain = {{-0.9, 0.9}},
    .edges = {0.0, -0.0, 1.0, -1.0, 1e-300, 0.9999999, 1.5, -1.5, inf, -inf, nan},
});

SCALAR_OP({
    .name = "erfcinv",
    .title = "Erfcinv",
    .doc = "Inverse of the complementary error function, elementwise.\n"
           "-> z with ``erfc(z) == x``, accurate near 0; infinite at 0 and 2, nan outside.\n"
           "~ erfc, erfinv",
    .symbol = "erfcinv",
    .dtypes = upgrade_to_float,
    .loops = loops<1>(float_types, [](auto x) { return through_double(bt_erfcinv, x); }),
    .expand = [](Args in, DType) { return math::erfcinv(in[0]); },
    .partials = {[](At a) { return -(a.g * half_sqrt_pi * exp_of_square_at(a.out, minimum(a.x, 2 - a.x))); }},
    .traits = decreasing,
    .domain = {{0.1, 1.9}},
    .edges = {0.0, -0.0, 1.0, 2.0, 1e-300, -0.5, 2.5, inf, -inf, nan},
});

SCALAR_OP({
    .name = "ndtr",
    .title = "Ndtr",
    .doc = "Distribution function of the standard normal distribution, elementwise.\n"
           "-> ``erfc(-x / sqrt(2)) / 2``.\n"
           "~ log_ndtr, erf",
    .symbol = "ndtr",
    .dtypes = upgrade_to_float,
    .loops = loops<1>(float_types, [](auto x) { return through_double(bt_ndtr, x); }),
    .expand = [](Args in, DType) { return math::ndtr(in[0]); },
    .partials = {[](At a) { return a.g * one_over_sqrt_2_pi * exp_of_square(a.x, -0.5); }},
    .traits = increasing,
    .domain = {{-3, 3}},
    .edges = {0.0, -0.0, 10.0, -10.0, -38.0, -40.0, inf, -inf, nan},
});

SCALAR_OP({
    .name = "log_ndtr",
    .title = "Log_ndtr",
    .doc = "Logarithm of the distribution function of the standard normal distribution, elementwise.\n"
           "-> ``log(ndtr(x))``, accurate in both tails.\n"
           "~ ndtr, ndtri_exp",
    .symbol = "log_ndtr",
    .dtypes = upgrade_to_float,
    .loops = loops<1>(float_types, [](auto x) { return through_double(bt_log_ndtr, x); }),
    .expand = [](Args in, DType) { return math::log_ndtr(in[0]); },
    // The density divided by the distribution function (the inverse Mills ratio).
    .partials = {inverse_mills_ratio},
    .traits = increasing,
    .domain = {{-9, 3}},
    .edges = {0.0, -0.0, 1.0, -1.0, 10.0, -38.0, -40.0, -1e300, 1e300, inf, -inf, nan},
});

SCALAR_OP({
    .name = "gamma",
    .title = "Gamma",
    .doc = "Gamma function, elementwise.\n"
           "-> Values; infinite at 0, with its sign, and nan at negative integers.\n"
           "~ gammaln, factorial, psi",
    .symbol = "gamma",
    .dtypes = upgrade_to_float,
    .loops = loops<1>(float_types, [](auto x) { return through_double(bt_gamma, x); }),
    .expand = [](Args in, DType) { return math::gamma(in[0]); },
    .partials = {[](At a) { return a.g * a.out * psi(a.x); }},
    .domain = {{0.3, 9}},
    .edges = {0.0, -0.0, 1.0, 2.0, -1.0, -1.5, 171.5, 172.0, -180.5, 1e-310, inf, -inf, nan},
});

SCALAR_OP({
    .name = "gammaln",
    .title = "Gammaln",
    .doc = "Logarithm of the absolute value of the gamma function, elementwise.\n"
           "-> ``log(abs(gamma(x)))``; inf at the poles.\n"
           "~ gamma, psi, betaln",
    .symbol = "gammaln",
    .dtypes = upgrade_to_float,
    .loops = loops<1>(float_types, [](auto x) { return through_double(bt_lgamma, x); }),
    .expand = [](Args in, DType) { return math::gammaln(in[0]); },
    .partials = {[](At a) { return a.g * psi(a.x); }},
    .domain = {{0.3, 9}},
    .edges = {0.0, -0.0, 1.0, 2.0, -1.0, -1.5, 1e300, inf, -inf, nan},
});

SCALAR_OP({
    .name = "psi",
    .title = "Psi",
    .doc = "Digamma function, elementwise.\n"
           "-> Derivative of `gammaln`; nan at negative integers, -inf at 0.\n"
           "~ gammaln, tri_gamma, polygamma",
    .symbol = "psi",
    .dtypes = upgrade_to_float,
    .loops = loops<1>(float_types, [](auto x) { return through_double(bt_digamma, x); }),
    .expand = [](Args in, DType) { return math::digamma(in[0]); },
    .partials = {[](At a) { return a.g * tri_gamma(a.x); }},
    .domain = {{0.5, 9}},
    .edges = {0.0, -0.0, 1.0, -1.0, -1.5, 1e300, inf, -inf, nan},
});

SCALAR_OP({
    .name = "tri_gamma",
    .title = "Tri_gamma",
    .doc = "Trigamma function, elementwise.\n"
           "-> Derivative of `psi`; inf at the poles.\n"
           "~ psi, polygamma",
    .symbol = "tri_gamma",
    .dtypes = upgrade_to_float,
    .loops = loops<1>(float_types, [](auto x) { return through_double(bt_trigamma, x); }),
    .expand = [](Args in, DType) { return math::trigamma(in[0]); },
    .partials = {[](At a) { return a.g * polygamma(2, a.x); }},
    .domain = {{0.5, 9}},
    .edges = {0.0, -0.0, 1.0, -1.0, -1.5, 1e300, inf, -inf, nan},
});

SCALAR_OP({
    .name = "polygamma",
    .title = "Polygamma",
    .doc = "Polygamma function, elementwise.\n"
           "x: Order of the derivative.\n"
           "y: Argument.\n"
           "-> Derivative of order x of `psi` at y; nan unless x is a non-negative integer.\n"
           "~ psi, tri_gamma",
    .symbol = "polygamma",
    .arity = 2,
    .dtypes = [](std::span<const DType> in) { return upgrade_to_float(in.subspan(1)); },  // the order has no influence
    .loops = loops<2>(float_types, [](auto n, auto x) { return through_double(bt_polygamma, n, x); }),
    .expand =
        [](Args in, DType) {
          return math_call("bt_polygamma", {in[0], in[1]});
        },
    .partials = {no_derivative, [](At a) { return a.g * polygamma(a.x + 1, a.y); }},
    .domain = {{1, 1}, {0.5, 9}},
    .edges = {0.0, 1.0, 2.0, 3.0, 2.5, inf, nan},
});

}  // namespace bitale::records
