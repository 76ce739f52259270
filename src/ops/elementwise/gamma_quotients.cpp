// The beta function, its logarithm, and Pochhammer's symbol: quotients of gamma functions. For small arguments these
// are computed as written; for large ones by Stirling's series, whose leading terms are combined so that they neither
// cancel nor overflow.
#include "bitale/ops/ops.hpp"
#include "bitale/ops/special.hpp"
#include "ops/elementwise/elemwise.hpp"

namespace bitale {

namespace {

inline constexpr double half_log_two_pi = 0.918938533204672741780;

// Coefficients of Stirling's series (Abramowitz & Stegun 6.1.41), which is used from `large_argument` on.
inline constexpr double stirling_terms[] = {1.0 / 12,   -1.0 / 360,      1.0 / 1260, -1.0 / 1680,
                                            1.0 / 1188, -691.0 / 360360, 1.0 / 156};
inline constexpr double large_argument = 10;
// Up to here products of four values of gamma, as rewrites form them in derivatives of quotients, do not overflow.
inline constexpr double largest_of_gamma = 50;

struct Pair {
  Variable first, second;
};

// Both operands, of equal rank and in one dtype, in which everything is computed, and the dtype of the result.
struct Promoted {
  Pair pair;
  DType out;

  Promoted(const Operand& x, const Operand& y) {
    const DType dtypes[] = {as_float(x.variable).dtype(), as_float(y.variable).dtype()};
    out = promote(dtypes);
    const DType compute = computing_dtype(out);
    const Variables padded = pad_ranks(Variables{cast(x.variable, compute), cast(y.variable, compute)});
    pair = {padded[0], padded[1]};
  }
};

// The smaller one first. Of two equal ones each is chosen once, so that derivatives are those by each.
Pair sorted(const Pair& pair) {
  const Variable in_order = le(pair.first, pair.second);
  return {switch_(in_order, pair.first, pair.second), switch_(in_order, pair.second, pair.first)};
}

// log Gamma(x + h) - log Gamma(x) = h log x + ((x + h - 1/2) log1p(h / x) - h) + rest, where x and x + h are large.
// Else the parts are those of other numbers, so that they and their derivatives are finite.
struct LargeRatio {
  Variable applies, x, h, logarithm, rest;

  LargeRatio(const Variable& of, const Variable& by)
      : applies(and_(ge(of, large_argument), ge(of + by, large_argument))),
        x(switch_(applies, of, large_argument)),
        h(switch_(applies, by, 0)),
        logarithm(log1p(h / x)) {
    // u^n - v^n, u = 1 / (x + h) and v = 1 / x, is u - v = -h u v times a sum of powers: nothing cancels.
    const Variable u = reciprocal(x + h), v = reciprocal(x), s = sqr(u), t = sqr(v);
    Variable quotient = ones_like(u), edge = u * v + t, series = quotient * stirling_terms[0];
    for (std::size_t i = 1; i < std::size(stirling_terms); ++i) {
      quotient = s * quotient + edge;
      edge = edge * t;
      series = series + stirling_terms[i] * quotient;
    }
    rest = -(h * u * v * series);
  }

  // (x + h - 1/2) log1p(h / x); x + h may overflow.
  Variable leading() const { return x * logarithm + (h - 0.5) * logarithm; }
};

// The tail of Stirling's series for log Gamma(x).
Variable stirling_tail(const Variable& x) {
  const Variable v = reciprocal(x), t = sqr(v);
  Variable sum = zeros_like(v);
  for (std::size_t i = std::size(stirling_terms); i-- > 0;) sum = sum * t + stirling_terms[i];
  return sum * v;
}

Variable log_beta(const Pair& pair) {
  const auto [low, high] = sorted(pair);
  const LargeRatio ratio(high, low);
  const Variable both = and_(ratio.applies, ge(low, large_argument));
  // log Gamma(low) - low log(high) + low, where for large ones the leading terms are combined.
  const Variable large_low = switch_(both, low, large_argument), other_low = switch_(both, 1, low);
  const Variable log_high = log(ratio.x), of_low = gammaln(other_low);
  const Variable combined = (large_low - 0.5) * log(large_low / ratio.x) - 0.5 * log_high + half_log_two_pi;
  const Variable separate = of_low - ratio.h * (log_high - 1);
  const Variable head = switch_(both, combined + stirling_tail(large_low), separate);
  const Variable other_high = switch_(ratio.applies, 1, high);
  const Variable usual = of_low + (gammaln(other_high) - gammaln(other_high + other_low));
  return switch_(ratio.applies, head - ratio.leading() - ratio.rest, usual);
}

// The sign of gamma, which alternates below 0.
Variable sign_of_gamma(const Variable& x) { return 1 - 2 * abs(mod(floor(minimum(x, 0)), 2)); }

// Gamma(z + m) / Gamma(z): by gamma where its products do not overflow, else z^m times a factor near 1, or, if that is
// far from 1, by logarithms.
Variable ratio_of_gammas(const Variable& z, const Variable& m) {
  const Variable is_usual = and_(lt(z, largest_of_gamma), lt(z + m, largest_of_gamma));
  const Variable usual_z = switch_(is_usual, z, 1), usual_m = switch_(is_usual, m, 0);
  const Variable usual = gamma(usual_z + usual_m) / gamma(usual_z);

  const LargeRatio ratio(z, m);
  const Variable exponent = (ratio.leading() - ratio.h) + ratio.rest;
  const Variable is_near = lt(abs(exponent), 600), near_exponent = switch_(is_near, exponent, 0);
  const Variable half = pow(ratio.x, switch_(is_near, 0.5 * ratio.h, 0));  // of the power, which may overflow
  const Variable far = exp(switch_(is_near, 0, ratio.h * log(ratio.x) + exponent));
  const Variable large = switch_(is_near, half * exp(near_exponent) * half, far);

  const Variable is_other = and_(invert(is_usual), invert(ratio.applies));
  const Variable other_z = switch_(is_other, z, 1), other_m = switch_(is_other, m, 0), sum = other_z + other_m;
  const Variable other = sign_of_gamma(other_z) * sign_of_gamma(sum) * exp(gammaln(sum) - gammaln(other_z));
  return switch_(is_usual, usual, switch_(ratio.applies, large, other));
}

}  // namespace

Variable beta(const Operand& a, const Operand& b) {
  const LocationScope here(a.where);
  const Promoted operands(a, b);
  const auto [low, high] = sorted(operands.pair);
  const Variable by_ratio = or_(lt(low, large_argument), lt(low + high, largest_of_gamma));
  const Variable ratio = ratio_of_gammas(switch_(by_ratio, high, 1), switch_(by_ratio, low, 1));
  const Variable other = exp(log_beta({switch_(by_ratio, 1, low), switch_(by_ratio, 1, high)}));
  return cast(switch_(by_ratio, gamma(switch_(by_ratio, low, 1)) / ratio, other), operands.out);
}
Variable betaln(const Operand& a, const Operand& b) {
  const LocationScope here(a.where);
  const Promoted operands(a, b);
  return cast(log_beta(operands.pair), operands.out);
}
Variable poch(const Operand& z, const Operand& m) {
  const LocationScope here(z.where);
  const Promoted operands(z, m);
  return cast(ratio_of_gammas(operands.pair.first, operands.pair.second), operands.out);
}

}  // namespace bitale
