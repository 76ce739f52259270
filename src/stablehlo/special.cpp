#include "stablehlo/special.hpp"

#include <cmath>
#include <numbers>
#include <utility>

#include "program/math/math.hpp"
#include "stablehlo/lanes.hpp"

namespace bitale::stablehlo {

namespace {

namespace math = program::math;
using In = std::span<const Expr>;

constexpr double smallest_change = 1e-16, tiny = 1e-290;
constexpr double log_two_pi = 1.8378770664093454836, root_half = 0.70710678118654752440;

Expr number(In in, double value) { return in[0].pool().number(value, DType::Float64); }
Expr not_a_number(In in) { return number(in, std::nan("")); }
Expr is_infinite(Expr x) { return equal(abs(x), std::numeric_limits<double>::infinity()); }
Expr away_from_zero(Expr x) { return select(abs(x) < tiny, tiny, x); }

// Sum of x^n / ((k + 1) ... (k + n)), for x below k + 1.
TensorValue gamma_series(const Lanes& lanes, const TensorValue& active, const TensorValue& k, const TensorValue& x) {
  const TensorValue one = lanes.full(1, DType::Float64);
  return lanes.repeat({active, k, one, one}, [&](const TensorValues& now) {
    const TensorValue n = lanes.real({now[1]}, [](In in) { return in[0] + 1.0; });
    const TensorValue term = lanes.real({now[2], x, n}, [](In in) { return in[0] * (in[1] / in[2]); });
    const TensorValue sum =
        lanes.real({now[0], now[3], term}, [](In in) { return select(in[0], in[1] + in[2], in[1]); });
    const TensorValue goes_on =
        lanes.truth({now[0], term, sum}, [](In in) { return in[0] & (in[1] > smallest_change * in[2]); });
    return TensorValues{goes_on, n, term, sum};
  })[3];
}

// A continued fraction b0' + a1 / (b1 + a2 / (b2 + ...)) by Lentz's method, from its first denominator on. `terms`: a
// and b in step number i (1, 2, ...), as expressions of i and the arguments.
using Terms = std::pair<Expr, Expr> (*)(Expr i, In arguments);
TensorValue fraction(const Lanes& lanes, const TensorValue& active, const TensorValue& first,
                     std::span<const TensorValue> arguments, Terms terms) {
  TensorBuilder& builder = lanes.builder();
  const TensorValue d0 = lanes.real({first}, [](In in) { return 1.0 / away_from_zero(in[0]); });
  const TensorValue c0 = lanes.full(1 / tiny, DType::Float64), one = lanes.full(1, DType::Float64);
  return lanes.repeat({active, one, c0, d0, d0}, [&](const TensorValues& now) {
    TensorValues in{now[1], now[2], now[3], now[4]};
    in.insert(in.end(), arguments.begin(), arguments.end());
    const auto d_of = [terms](In in) {
      const auto [a, b] = terms(in[0], in.subspan(4));
      return 1.0 / away_from_zero(a * in[2] + b);
    };
    const auto c_of = [terms](In in) {
      const auto [a, b] = terms(in[0], in.subspan(4));
      return away_from_zero(b + a / in[1]);
    };
    const TensorValue c = builder.map(DType::Float64, in, c_of), d = builder.map(DType::Float64, in, d_of);
    const TensorValue change = lanes.real({c, d}, [](In in) { return in[0] * in[1]; });
    const TensorValue h =
        lanes.real({now[0], now[4], change}, [](In in) { return select(in[0], in[1] * in[2], in[1]); });
    const TensorValue goes_on = lanes.truth(
        {now[0], change}, [](In in) { return in[0] & (abs(in[1] - 1.0) > 4 * smallest_change) & equal(in[1], in[1]); });
    return TensorValues{goes_on, lanes.real({now[1]}, [](In in) { return in[0] + 1.0; }), c, d, h};
  })[4];
}

std::pair<Expr, Expr> gamma_terms(Expr i, In in) { return {i * (in[0] - i), in[1] + 1.0 - in[0] + 2.0 * i}; }

// Terms of betainc's fraction. Odd and even ones are selected, because two terms at a time would need two steps.
std::pair<Expr, Expr> beta_terms(Expr i, In in) {
  const Expr a = in[0], b = in[1], x = in[2], m = floor(0.5 * i), twice = 2.0 * m;
  const Expr even = m * (b - m) * x / ((a + twice - 1.0) * (a + twice));
  const Expr odd = -(a + m) * (a + b + m) * x / ((a + twice) * (a + twice + 1.0));
  return {select(equal(twice, i), even, odd), i.pool().number(1, DType::Float64)};
}

constexpr double large_shape = 1e4;  // beyond this, Temme's expansion (1979) near x = k

// With eta^2 / 2 = x/k - 1 - log(x/k): (P, Q) are erfc(-+ eta sqrt(k/2)) / 2 -+ R.
std::pair<Expr, Expr> temme(Expr k, Expr x) {
  const Expr s = (x - k) / k;
  Expr series = s.pool().number(1.0 / 26, DType::Float64);
  for (int n = 25; n >= 2; --n) series = 1.0 / n - s * series;  // s^2 times this is s - log(1 + s)
  const Expr half_square = s * s * series, eta = select(s < 0, -sqrt(2.0 * half_square), sqrt(2.0 * half_square));
  const auto polynomial = [&](std::initializer_list<double> coefficients) {
    Expr out = eta.pool().number(0, DType::Float64);
    for (auto c = coefficients.end(); c != coefficients.begin();) out = *--c + eta * out;
    return out;
  };
  const Expr c0 = polynomial({-1.0 / 3, 1.0 / 12, -2.0 / 135, 1.0 / 864, 1.0 / 2835, -139.0 / 777600, 1.0 / 25515});
  const Expr c1 = polynomial({-1.0 / 540, -1.0 / 288, 1.0 / 378, -0.00099022633744855967, 0.00020576131687242798});
  const Expr c2 = polynomial({25.0 / 6048, -139.0 / 51840, 0.00077160493827160494});
  const Expr inverse = 1.0 / k,
             rest = (c0 + (c1 + c2 * inverse) * inverse) * math::exp(-k * half_square) / sqrt(2 * std::numbers::pi * k);
  const Expr z = eta * sqrt(0.5 * k);
  return {0.5 * math::erfc(-z) - rest, 0.5 * math::erfc(z) + rest};
}

// P, or Q if `upper`, with the limits for k and x that are not positive and finite.
TensorValue incomplete_gamma(TensorBuilder& builder, const TensorValue& active, const TensorValue& k,
                             const TensorValue& x, bool upper) {
  const Lanes lanes(builder, active);
  const TensorValue is_usual = lanes.truth({active, k, x}, [](In in) {
    return in[0] & (in[1] > 0) & (in[2] > 0) & ~is_infinite(in[1]) & ~is_infinite(in[2]);
  });
  const TensorValue by_temme = lanes.truth(
      {is_usual, k, x}, [](In in) { return in[0] & (in[1] > large_shape) & (abs(in[2] - in[1]) < 0.2 * in[1]); });
  // Where the fraction converges, too, it is better for small shapes, whose Q is small.
  const TensorValue by_series = lanes.truth({is_usual, by_temme, k, x}, [](In in) {
    return in[0] & ~in[1] & (in[3] < select(in[2] < 0.1, 0.3, in[2] + 1.0));
  });
  const TensorValue by_fraction =
      lanes.truth({is_usual, by_temme, by_series}, [](In in) { return in[0] & ~in[1] & ~in[2]; });
  const TensorValue sum = gamma_series(lanes, by_series, k, x);
  const TensorValue first = lanes.real({k, x}, [](In in) { return in[1] + 1.0 - in[0]; });
  const TensorValue arguments[] = {k, x};
  const TensorValue h = fraction(lanes, by_fraction, first, arguments, gamma_terms);
  const TensorValues in{active, k, x, by_temme, by_series, by_fraction, sum, h};
  return builder.map(DType::Float64, in, [upper](In in) {
    const Expr k = in[1], x = in[2];
    const auto [p, q] = temme(k, x);
    const Expr log_weight = k * math::log(x) - x, high = math::exp(log_weight - math::gammaln(k)) * in[7];
    const Expr log_low = log_weight - math::gammaln(k + 1.0) + math::log(in[6]);
    const Expr usual = upper ? select(in[3], q, select(in[4], -math::expm1(log_low), high))
                             : select(in[3], p, select(in[4], math::exp(log_low), 1.0 - high));
    // Limits, in the runtime's order.
    const double at_zero = upper ? 1 : 0, at_infinity = upper ? 0 : 1;
    const Expr nan = not_a_number(in), is_nan = ~((k >= 0) & (x >= 0));
    const Expr of_zero = select(x > 0, number(in, at_infinity), nan);
    const Expr of_infinity = select(is_infinite(x), nan, number(in, at_zero));
    const Expr ends = select(equal(x, 0), number(in, at_zero), select(is_infinite(x), number(in, at_infinity), usual));
    return select(is_nan, nan, select(equal(k, 0), of_zero, select(is_infinite(k), of_infinity, ends)));
  });
}

TensorValue gammainc(TensorBuilder& builder, const TensorValue& active, std::span<const TensorValue> in) {
  return incomplete_gamma(builder, active, in[0], in[1], false);
}
TensorValue gammaincc(TensorBuilder& builder, const TensorValue& active, std::span<const TensorValue> in) {
  return incomplete_gamma(builder, active, in[0], in[1], true);
}

TensorValue betainc(TensorBuilder& builder, const TensorValue& active, std::span<const TensorValue> in) {
  const Lanes lanes(builder, active);
  const TensorValue &a = in[0], &b = in[1], &x = in[2];
  const TensorValue is_usual = lanes.truth({a, b, x}, [](In in) {
    return (in[0] > 0) & (in[1] > 0) & (in[2] > 0) & (in[2] < 1) & ~is_infinite(in[0]) & ~is_infinite(in[1]);
  });
  const TensorValue usual = lanes.truth({active, is_usual}, [](In in) { return in[0] & in[1]; });
  // Whether to start from the other end, where the fraction converges faster.
  const TensorValue turned =
      lanes.truth({a, b, x}, [](In in) { return in[2] > (in[0] + 1.0) / (in[0] + in[1] + 2.0); });
  const TensorValue rest = lanes.real({x}, [](In in) { return 1.0 - in[0]; });
  const TensorValue first = lanes.either(turned, b, a), second = lanes.either(turned, a, b),
                    from = lanes.either(turned, rest, x);
  const TensorValue arguments[] = {first, second, from};
  const TensorValue h = fraction(lanes, usual, lanes.full(1, DType::Float64), arguments, beta_terms);
  const TensorValues all{a, b, x, h, turned, first};
  return builder.map(DType::Float64, all, [](In in) {
    const Expr a = in[0], b = in[1], x = in[2];
    const Expr log_weight =
        math::gammaln(a + b) - math::gammaln(a) - math::gammaln(b) + a * math::log(x) + b * math::log1p(-x);
    const Expr part = math::exp(log_weight) * in[3] / in[5], usual = select(in[4], 1.0 - part, part);
    const Expr zero = number(in, 0), one = number(in, 1);
    const Expr is_nan =
        ~((a >= 0) & (b >= 0) & (x >= 0) & (x <= 1)) | (equal(a, 0) & equal(b, 0)) | (is_infinite(a) & is_infinite(b));
    const Expr inside = select(equal(a, 0) | is_infinite(b), one, select(equal(b, 0) | is_infinite(a), zero, usual));
    return select(is_nan, not_a_number(in), select(equal(x, 0), zero, select(equal(x, 1), one, inside)));
  });
}

TensorValue gammainc_density(TensorBuilder& builder, const TensorValue&, std::span<const TensorValue> in) {
  return builder.map(DType::Float64, in, [](In in) {
    const Expr k = in[0], x = in[1];
    const Expr usual = math::exp((k - 1.0) * math::log(x) - x - math::gammaln(k));
    const Expr at_zero =
        select(k < 1, number(in, std::numeric_limits<double>::infinity()), select(k > 1, number(in, 0), number(in, 1)));
    const Expr inside = select(equal(x, 0), at_zero, select(is_infinite(x), number(in, 0), usual));
    return select((k > 0) & (x >= 0) & ~is_infinite(k), inside, not_a_number(in));
  });
}

TensorValue betainc_density(TensorBuilder& builder, const TensorValue&, std::span<const TensorValue> in) {
  return builder.map(DType::Float64, in, [](In in) {
    const Expr a = in[0], b = in[1], x = in[2], infinity = number(in, std::numeric_limits<double>::infinity());
    const Expr log_beta = math::gammaln(a) + math::gammaln(b) - math::gammaln(a + b);
    const Expr usual = math::exp((a - 1.0) * math::log(x) + (b - 1.0) * math::log1p(-x) - log_beta);
    const auto end = [&](Expr here, Expr other) {
      return select(here < 1, infinity, select(here > 1, number(in, 0), other));
    };
    const Expr inside = select(equal(x, 0), end(a, b), select(equal(x, 1), end(b, a), usual));
    const Expr is_valid = (a > 0) & (b > 0) & (x >= 0) & (x <= 1) & ~is_infinite(a) & ~is_infinite(b);
    return select(is_valid, inside, not_a_number(in));
  });
}

// By Newton's method from below, for logarithms up to that of 1/2: log_ndtr is concave, so each step stays below.
TensorValue ndtri_exp(TensorBuilder& builder, const TensorValue& active, std::span<const TensorValue> in) {
  const Lanes lanes(builder, active);
  const TensorValue& y = in[0];
  const TensorValue is_upper = lanes.truth({y}, [](In in) { return in[0] > -std::numbers::ln2; });
  const TensorValue goal =
      lanes.real({y, is_upper}, [](In in) { return select(in[1], math::log(-math::expm1(in[0])), in[0]); });
  const TensorValue usual =
      lanes.truth({active, goal}, [](In in) { return in[0] & (in[1] <= 0) & ~is_infinite(in[1]); });
  const TensorValue start = lanes.real({goal}, [](In in) { return -sqrt(-2.0 * in[0]); });
  const TensorValue x = lanes.repeat({usual, start}, [&](const TensorValues& now) {
    const TensorValue step = lanes.real({now[1], goal}, [](In in) {
      const Expr value = math::log_ndtr(in[0]);
      // The ratio of the distribution function to the density is below 1 / |x|. GPUs add the product of huge x before
      // it is rounded, so that the difference of two equal numbers is not 0.
      const Expr ratio = math::exp(value + 0.5 * in[0] * in[0] + 0.5 * log_two_pi), most = 1.0 / abs(in[0]);
      return (in[1] - value) * select(ratio < most, ratio, most);
    });
    const TensorValue next =
        lanes.real({now[0], now[1], step}, [](In in) { return select(in[0], in[1] + in[2], in[1]); });
    const TensorValue goes_on = lanes.truth(
        {now[0], step, next}, [](In in) { return in[0] & (in[1] > 4 * smallest_change * (abs(in[2]) + 0.01)); });
    return TensorValues{goes_on, next};
  })[1];
  return lanes.real({y, is_upper, x}, [](In in) {
    const Expr infinity = number(in, std::numeric_limits<double>::infinity());
    const Expr inside = select(in[1], -in[2], in[2]), ends = select(equal(in[0], 0), infinity, -infinity);
    return select(in[0] <= 0, select(equal(in[0], 0) | is_infinite(in[0]), ends, inside), not_a_number(in));
  });
}

// The version for float32, computed in float64.
template <LaneFunction function>
TensorValue narrow(TensorBuilder& builder, const TensorValue& active, std::span<const TensorValue> in) {
  TensorValues wide;
  for (auto& each : in) wide.push_back(builder.convert(each, DType::Float64));
  return builder.convert(function(builder, active, wide), DType::Float32);
}

}  // namespace

namespace {

// By the formula, which has no rare cases: near 1, chlo.erf_inv is wrong from the tenth digit on.
TensorValue erfinv(TensorBuilder& builder, const TensorValue&, std::span<const TensorValue> in) {
  return builder.map(in[0].dtype, in, [](In x) { return math::erfinv(x[0]); });
}

}  // namespace

LaneFunction special_function(std::string_view name) {
  constexpr std::pair<std::string_view, LaneFunction> table[] = {
      {"bt_gammainc", gammainc},
      {"bt_gammaincf", narrow<gammainc>},
      {"bt_gammaincc", gammaincc},
      {"bt_gammainccf", narrow<gammaincc>},
      {"bt_betainc", betainc},
      {"bt_betaincf", narrow<betainc>},
      {"bt_gammainc_density", gammainc_density},
      {"bt_gammainc_densityf", narrow<gammainc_density>},
      {"bt_betainc_density", betainc_density},
      {"bt_betainc_densityf", narrow<betainc_density>},
      {"bt_ndtri_exp", ndtri_exp},
      {"bt_ndtri_expf", narrow<ndtri_exp>},
      {"bt_erfinv", erfinv},
      {"bt_erfinvf", erfinv},
  };
  for (auto& [function, lanes] : table)
    if (function == name) return lanes;
  return nullptr;
}

}  // namespace bitale::stablehlo
