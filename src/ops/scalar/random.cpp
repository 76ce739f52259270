// Draws by rejection as functions of an element's own random number u, uniform on (0, 1), and of the parameters: the
// samplers of the counter-based stream. What is needed beyond u comes from Threefry with the bits of u as its key
// (core/threefry.hpp), so that a draw depends on nothing but its arguments: it fuses, and any thread may compute it.
// The attempt that nearly always succeeds is an expression; others are a call of the runtime for the lanes that need
// it.
#include <bit>
#include <cmath>
#include <numbers>

#include "bitale/core/error.hpp"
#include "bitale/core/text.hpp"
#include "ops/random_words.hpp"
#include "ops/scalar/record.hpp"
#include "runtime/random/bit_generators.hpp"
#include "runtime/random/from_uniform.hpp"

namespace bitale::records {

namespace {

namespace own = runtime::random;
using own::Word128;

ScalarTypes all_float64(std::span<const DType> in) {
  for (DType dtype : in)
    if (dtype != DType::Float64) throw TypeError(cat("expected float64, got ", dtype_name(dtype)));
  return {DType::Float64, DType::Float64};
}

ScalarTypes as_uint64(std::span<const DType> in) {
  for (DType dtype : in)
    if (!is_discrete(dtype)) throw TypeError(cat("expected integers, got ", dtype_name(dtype)));
  return {DType::UInt64, DType::UInt64};
}

constexpr Types<double> double_type;

// The number uniform on (0, 1) that block `counter` of the key u gives.
Expr further_uniform(Expr u, std::uint64_t counter) {
  const Expr number = u.pool().integer(std::int64_t(counter), DType::UInt64);
  return random_open_unit(random_block(program::bitcast(u, DType::UInt64), number));
}

std::uint64_t upper_half(std::uint64_t x, std::uint64_t y) { return std::uint64_t(Word128(x) * y >> 64); }

// From the products of halves.
Expr expand_upper_half(Args in, DType) {
  const Expr low_half = in[0].pool().integer(0xffffffff, DType::UInt64);
  const Expr x0 = in[0] & low_half, x1 = in[0] >> 32, y0 = in[1] & low_half, y1 = in[1] >> 32;
  const Expr middle = x1 * y0 + (x0 * y0 >> 32), other = x0 * y1 + (middle & low_half);
  return x1 * y1 + (middle >> 32) + (other >> 32);
}

bool is_known(Expr x, bool (*holds)(double)) { return x.is_constant() && holds(std::bit_cast<double>(x.payload())); }
bool is_below_one(double x) { return x > 0 && x < 1; }
bool is_one_or_more(double x) { return x >= 1; }

Expr standard_normal(Expr u) { return std::numbers::sqrt2 * math::erfinv_inside(2.0 * u - 1.0); }

struct GammaAttempt {
  Expr shape;    // at least 1
  Expr value;    // d v
  Expr refused;  // whether it is to be drawn anew
};

// Marsaglia and Tsang (2000), of the shape or of one more where that is below 1.
GammaAttempt gamma_attempt(Expr u, Expr given) {
  const Expr shape = is_known(given, is_one_or_more) ? given : select(given < 1, given + 1.0, given);
  const Expr d = shape - 1.0 / 3.0, c = 1.0 / sqrt(9.0 * d);
  const Expr x = standard_normal(u);
  const Expr root = c * x + 1.0, v = root * root * root;
  const Expr least = 0.5 * x * x + d * (1.0 - v + math::log(v));
  const Expr accepted = (v > 0) & (math::log(further_uniform(u, own::attempt_word)) < least);
  return {shape, d * v, ~accepted};
}

Expr expand_gamma(Args in, DType) {
  const Expr u = in[0], shape = in[1];
  const GammaAttempt first = gamma_attempt(u, shape);
  const Expr drawn = program::rare_math_call("bt_random_gamma_again", first.refused, first.value, {u, first.shape});
  if (is_known(shape, is_one_or_more)) return drawn;
  if (is_known(shape, is_below_one)) return drawn * math::pow(further_uniform(u, own::power_word), 1.0 / shape);
  const Expr one = u.pool().number(1, DType::Float64);
  return drawn * program::rare_math_call("bt_random_power", shape < 1, one, {u, shape});
}

Expr expand_log_gamma(Args in, DType) {
  const Expr u = in[0], shape = in[1];
  const GammaAttempt first = gamma_attempt(u, shape);
  const Expr drawn =
      math::log(program::rare_math_call("bt_random_gamma_again", first.refused, first.value, {u, first.shape}));
  if (is_known(shape, is_one_or_more)) return drawn;
  if (is_known(shape, is_below_one)) return drawn + math::log(further_uniform(u, own::power_word)) / shape;
  const Expr none = u.pool().number(0, DType::Float64);
  return drawn + program::rare_math_call("bt_random_log_power", shape < 1, none, {u, shape});
}

// Inversion: how many of the sums of probabilities are below u. More terms than these are for the runtime.
Expr poisson_by_inversion(Expr u, Expr rate) {
  constexpr int terms = 24;
  auto& pool = u.pool();
  const Expr zero = pool.number(0, DType::Float64), one = pool.number(1, DType::Float64);
  Expr probability = math::exp(-rate), sum = probability, count = zero;
  for (int k = 1; k <= terms; ++k) {
    count = count + select(u > sum, one, zero);
    probability = probability * (rate * (1.0 / k));
    sum = sum + probability;
  }
  return program::rare_math_call("bt_random_poisson_again", ~((u <= sum) & (rate >= 0)), count, {u, rate});
}

// PTRS (Hormann, 1993), without the squeezes that spare scalar code the logarithms. One in five attempts is refused, so
// that there are two before the runtime is called.
Expr poisson_by_rejection(Expr u, Expr rate) {
  const Expr b = 2.53 * sqrt(rate) + 0.931, a = 0.02483 * b - 0.059, inverse_alpha = 1.1328 / (b - 3.4) + 1.1239;
  const auto attempt = [&](Expr first, Expr second) {
    const Expr centred = first - 0.5, us = 0.5 - abs(centred);
    const Expr k = floor((2.0 * a / us + b) * centred + rate + 0.43);
    const Expr weight = k * math::log(rate) - rate - math::gammaln(k + 1.0);
    const Expr accepted = (k >= 0) & ~((us < 0.013) & (second > us)) &
                          (math::log(second * inverse_alpha / (a / (us * us) + b)) <= weight);
    return std::pair(k, accepted);
  };
  const auto [k, accepted] = attempt(u, further_uniform(u, own::attempt_word));
  const auto [other, other_accepted] =
      attempt(further_uniform(u, own::second_attempt_word), further_uniform(u, own::second_attempt_word + 1));
  const Expr is_drawn = accepted | (other_accepted & equal(u, u));  // by no bits of a nan
  return program::rare_math_call("bt_random_poisson_again", ~is_drawn, select(accepted, k, other), {u, rate});
}

Expr expand_poisson(Args in, DType) {
  const Expr u = in[0], rate = in[1];
  if (is_known(rate, [](double x) { return x < own::least_rate_for_rejection; })) return poisson_by_inversion(u, rate);
  if (is_known(rate, [](double x) { return x >= own::least_rate_for_rejection; })) return poisson_by_rejection(u, rate);
  // Each side is given a rate that suits it, so that its rare calls stay rare.
  const Expr is_small = rate < own::least_rate_for_rejection;
  const Expr small = select(is_small, rate, 1.0), large = select(is_small, 20.0, rate);
  return select(is_small, poisson_by_inversion(u, small), poisson_by_rejection(u, large));
}

}  // namespace

SCALAR_OP({
    .name = "random_normal",
    .title = "Random{normal}",
    .doc = "A standard normal variable from x uniform on (0, 1): the inverse of its distribution function.",
    .symbol = "random_normal",
    .dtypes = all_float64,
    .loops = loops<1>(double_type, [](auto u) { return own::normal_from_uniform(u); }),
    .expand = [](Args in, DType) { return standard_normal(in[0]); },
    .partials = {no_derivative},
    .traits = increasing,
    .domain = {{0.001, 0.999}},
});

SCALAR_OP({
    .name = "random_gamma",
    .title = "Random{gamma}",
    .doc = "A standard gamma variable of shape y, from x uniform on (0, 1), by rejection (Marsaglia and Tsang, 2000).",
    .symbol = "random_gamma",
    .arity = 2,
    .dtypes = all_float64,
    .loops = loops<2>(double_type, [](auto u, auto shape) { return own::gamma_from_uniform(u, shape); }),
    .expand = expand_gamma,
    .partials = {no_derivative, no_derivative},
    .domain = {{0.05, 0.95}, {0.2, 9}},
});

SCALAR_OP({
    .name = "random_log_gamma",
    .title = "Random{log_gamma}",
    .doc =
        "The logarithm of a standard gamma variable of shape y, from x uniform on (0, 1); exact for small shapes, too.",
    .symbol = "random_log_gamma",
    .arity = 2,
    .dtypes = all_float64,
    .loops = loops<2>(double_type, [](auto u, auto shape) { return own::log_gamma_from_uniform(u, shape); }),
    .expand = expand_log_gamma,
    .partials = {no_derivative, no_derivative},
    .domain = {{0.05, 0.95}, {0.2, 9}},
});

SCALAR_OP({
    .name = "random_poisson",
    .title = "Random{poisson}",
    .doc = "A Poisson variable of mean y, from x uniform on (0, 1): by inversion below 10, else by rejection (PTRS, "
           "Hormann 1993).",
    .symbol = "random_poisson",
    .arity = 2,
    .dtypes = all_float64,
    .loops = loops<2>(double_type, [](auto u, auto rate) { return own::poisson_from_uniform(u, rate); }),
    .expand = expand_poisson,
    .partials = {zero_derivative, zero_derivative},
    .traits = discrete_output,
    .domain = {{0.05, 0.95}, {0.2, 30}},
});

SCALAR_OP({
    .name = "random_binomial",
    .title = "Random{binomial}",
    .doc = "How many of y trials of probability z succeed, from x uniform on (0, 1): by inversion or BTPE "
           "(Kachitvichyanukul and Schmeiser, 1988).",
    .symbol = "random_binomial",
    .arity = 3,
    .dtypes = all_float64,
    .loops = loops<3>(double_type, [](auto u, auto n, auto p) { return bt_random_binomial(u, n, p); }),
    .expand =
        [](Args in, DType) {
          return math_call("bt_random_binomial", {in[0], in[1], in[2]});
        },
    .partials = {zero_derivative, zero_derivative, zero_derivative},
    .traits = discrete_output,
    .domain = {{0.05, 0.95}, {1, 90}, {0.1, 0.9}},
});

SCALAR_OP({
    .name = "random_vonmises",
    .title = "Random{vonmises}",
    .doc = "A von Mises variable around y with concentration z, from x uniform on (0, 1), by rejection (Best and "
           "Fisher, 1979).",
    .symbol = "random_vonmises",
    .arity = 3,
    .dtypes = all_float64,
    .loops = loops<3>(double_type, [](auto u, auto mu, auto kappa) { return bt_random_vonmises(u, mu, kappa); }),
    .expand =
        [](Args in, DType) {
          return math_call("bt_random_vonmises", {in[0], in[1], in[2]});
        },
    .partials = {no_derivative, no_derivative, no_derivative},
    .domain = {{0.05, 0.95}, {-3, 3}, {0.2, 9}},
});

SCALAR_OP({
    .name = "random_below",
    .title = "Random{below}",
    .doc = "A whole number below y, from x uniform over the integers of 64 bits: the upper half of the product.",
    .symbol = "random_below",
    .arity = 2,
    .dtypes = as_uint64,
    .loops = loops<2>(Types<std::uint64_t>(), [](auto x, auto y) { return upper_half(x, y); }),
    .expand = expand_upper_half,
    .traits = commutative | discrete_output,
    .domain = {{0, 1e19}, {0, 1e19}},
});

}  // namespace bitale::records
