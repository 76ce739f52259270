// Draws by rejection as functions of an element's own random number u, uniform on (0, 1), and of the parameters: the
// samplers of the counter-based stream. Further random numbers come from Threefry with the bits of u as its key
// (core/threefry.hpp), so that a draw depends only on its arguments: it fuses, and any thread may compute it. The
// attempt that nearly always succeeds is an expression; further attempts are a call of the runtime for the lanes that
// need it.
#include <array>
#include <bit>
#include <cmath>
#include <numbers>

#include "bitale/core/error.hpp"
#include "bitale/core/text.hpp"
#include "ops/random/words.hpp"
#include "ops/scalar/record.hpp"
#include "runtime/random/bit_generators.hpp"
#include "runtime/random/from_uniform.hpp"

namespace bitale::records {

namespace {

namespace own = runtime::random;

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

// The number, uniform on (0, 1), from block `counter` of the key u.
Expr further_uniform(Expr u, std::uint64_t counter) {
  const Expr number = u.pool().integer(std::int64_t(counter), DType::UInt64);
  return random_open_unit(random_block(program::bitcast(u, DType::UInt64), number));
}

// Lemire (2019).
Expr expand_below(Args in, DType) {
  const std::array arguments{in[0], in[1]};
  const auto either = [&](Expr is_near, Expr upper) {
    return in[0].pool().rare_call("bt_random_below_again", is_near, upper, arguments);
  };
  const auto is_short = [&](int bits) { return in[1].is_constant() && std::uint64_t(in[1].payload()) >> bits == 0; };
  if (is_short(16)) {
    // The lower half of x adds less than y to the product of the upper half: it neither carries nor leaves zeros,
    // except in one of 2^16 cases.
    const Expr product = (in[0] >> 32) * in[1] + in[1];
    return either(cast(product, DType::UInt32) <= cast(in[1], DType::UInt32), product >> 32);
  }
  const auto [upper, lower, middle] = random_product(in[0], in[1]);
  // For a limit below 2^32, testing whether the lower half begins with 32 zeros is nearly as precise, and cheaper.
  return either(is_short(32) ? equal(middle, 0) : lower < in[2], upper);
}

bool is_known(Expr x, bool (*holds)(double)) { return x.is_constant() && holds(std::bit_cast<double>(x.payload())); }
bool is_below_one(double x) { return x > 0 && x < 1; }
bool is_one_or_more(double x) { return x >= 1; }

Expr standard_normal(Expr u) { return std::numbers::sqrt2 * math::erfinv_inside(2.0 * u - 1.0); }

struct GammaAttempt {
  Expr shape;    // at least 1
  Expr value;    // d v
  Expr refused;  // whether it must be redrawn
};

// Marsaglia and Tsang (2000), with the given shape, or shape + 1 if it is below 1.
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

// Inversion: the number of cumulative probabilities that are below u. More than this number of terms is left to the
// runtime.
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

constexpr double min_for_stirling = 4;  // the least k for the series of log k!

// PTRS (Hormann, 1993), without the squeezes that save scalar code the logarithms. One in five attempts is refused, so
// there are two attempts before the runtime is called.
Expr poisson_by_rejection(Expr u, Expr rate) {
  const Expr b = 2.53 * sqrt(rate) + 0.931, a = 0.02483 * b - 0.059, inverse_alpha = 1.1328 / (b - 3.4) + 1.1239;
  struct Tried {
    Expr k, is_served, accepted;  // attempts that the series does not serve are neither accepted nor refused
  };
  const auto attempt = [&](Expr first, Expr second) -> Tried {
    const Expr centred = first - 0.5, us = 0.5 - abs(centred), square = us * us;
    const Expr k = floor((2.0 * a / us + b) * centred + rate + 0.43);
    const Expr next = k + 1.0, half_log_two_pi = u.pool().number(0.91893853320467274178, DType::Float64);
    // One division for 1 / next and for the quotient by a / us^2 + b.
    const Expr divisor = a + b * square, inverse = 1.0 / (next * divisor);
    const Expr log_factorial =
        (next - 0.5) * math::log(next) - next + (math::stirling_rest(divisor * inverse) + half_log_two_pi);
    const Expr weight = k * math::log(rate) - rate - log_factorial;
    const Expr is_served = k >= min_for_stirling;
    const Expr is_below = math::log(second * inverse_alpha * square * (next * inverse)) <= weight;
    return {k, is_served, is_served & ~((us < 0.013) & (second > us)) & is_below};
  };
  const Tried one = attempt(u, further_uniform(u, own::attempt_word));
  const Tried other =
      attempt(further_uniform(u, own::second_attempt_word), further_uniform(u, own::second_attempt_word + 1));
  // For a nan nothing is served: no draw is made from its bits.
  const Expr is_drawn = one.accepted | (one.is_served & other.accepted);
  const Expr is_refused = one.is_served & other.is_served & ~is_drawn, unknown = ~(is_drawn | is_refused);
  const Expr drawn =
      program::rare_math_call("bt_random_poisson_rest", is_refused, select(one.accepted, one.k, other.k), {u, rate});
  return program::rare_math_call("bt_random_poisson_again", unknown, drawn, {u, rate});
}

Expr expand_poisson(Args in, DType) {
  const Expr u = in[0], rate = in[1];
  if (is_known(rate, [](double x) { return x < own::min_rate_for_rejection; })) return poisson_by_inversion(u, rate);
  if (is_known(rate, [](double x) { return x >= own::min_rate_for_rejection; })) return poisson_by_rejection(u, rate);
  // Each side gets a rate that suits it, so that its rare calls remain rare.
  const Expr is_small = rate < own::min_rate_for_rejection;
  const Expr small = select(is_small, rate, 1.0), large = select(is_small, 20.0, rate);
  return select(is_small, poisson_by_inversion(u, small), poisson_by_rejection(u, large));
}

// A number of successes with probability r, at most 1/2, and whether it is accepted.
struct Attempt {
  Expr value, accepted;
};

Attempt binomial_by_inversion(Expr u, Expr n, Expr r) {
  constexpr int terms = 24;
  auto& pool = u.pool();
  const Expr zero = pool.number(0, DType::Float64), one = pool.number(1, DType::Float64), odds = r / (1.0 - r);
  Expr probability = math::exp(n * math::log1p(-r)), sum = probability, count = zero;
  for (int k = 0; k < terms; ++k) {
    count = count + select(u > sum, one, zero);
    probability = probability * ((n - double(k)) * odds * (1.0 / (k + 1)));
    sum = sum + probability;
  }
  return {count, u <= sum};
}

// BTRS (Hormann, 1993), without its squeeze. One in seven attempts is refused.
Attempt binomial_by_rejection(Expr u, Expr n, Expr r) {
  const Expr deviation = sqrt(n * r * (1.0 - r)), b = 1.15 + 2.53 * deviation, a = 0.0248 * b + 0.01 * r - 0.0873;
  const Expr m = floor((n + 1.0) * r), odds = r / (1.0 - r), scale = (2.83 + 5.1 / b) * deviation;
  const Expr at_mode = (m + 0.5) * math::log((m + 1.0) / (odds * (n - m + 1.0))) +
                       math::stirling_rest(1.0 / (m + 1.0)) + math::stirling_rest(1.0 / (n - m + 1.0));
  const auto attempt = [&](Expr first, Expr second) -> Attempt {
    const Expr centred = first - 0.5, us = 0.5 - abs(centred);
    const Expr k = floor((2.0 * a / us + b) * centred + (n * r + 0.5)), rest = n - k;
    const Expr inverse_k = 1.0 / (k + 1.0), inverse_rest = 1.0 / (rest + 1.0);
    const Expr weight = at_mode + (n + 1.0) * math::log((n - m + 1.0) * inverse_rest) +
                        (k + 0.5) * math::log(odds * (rest + 1.0) * inverse_k) - math::stirling_rest(inverse_k) -
                        math::stirling_rest(inverse_rest);
    const Expr is_below = math::log(second * scale / (a / (us * us) + b)) <= weight;
    return {k, (k >= min_for_stirling) & (rest >= min_for_stirling) & is_below};
  };
  const Attempt one = attempt(u, further_uniform(u, own::attempt_word));
  const Attempt other =
      attempt(further_uniform(u, own::second_attempt_word), further_uniform(u, own::second_attempt_word + 1));
  // Outside the series' range, an attempt is neither accepted nor refused here.
  const Expr served = (one.value >= min_for_stirling) & (n - one.value >= min_for_stirling);
  return {select(one.accepted, one.value, other.value), one.accepted | (served & other.accepted & equal(u, u))};
}

Expr expand_binomial(Args in, DType) {
  const Expr u = in[0], n = floor(in[1]), p = in[2];
  const Expr r = select(p <= 0.5, p, 1.0 - p), mean = n * r;
  const auto drawn = [&](const Attempt& attempt) {
    const Expr may_be = attempt.accepted & (r >= 0) & (n >= 0) & (n < own::largest_count);
    return program::rare_math_call("bt_random_binomial", ~may_be, select(p <= 0.5, attempt.value, n - attempt.value),
                                   {u, in[1], p});
  };
  if (is_known(mean, [](double x) { return x < own::min_rate_for_rejection; }))
    return drawn(binomial_by_inversion(u, n, r));
  if (is_known(mean, [](double x) { return x >= own::min_rate_for_rejection; }))
    return drawn(binomial_by_rejection(u, n, r));
  // Each side gets parameters that suit it.
  const Expr is_small = mean < own::min_rate_for_rejection;
  const Attempt few = binomial_by_inversion(u, n, select(is_small, r, 0.0));
  const Attempt many = binomial_by_rejection(u, select(is_small, 100.0, n), select(is_small, 0.5, r));
  return drawn({select(is_small, few.value, many.value), (is_small & few.accepted) | (~is_small & many.accepted)});
}

// Two attempts; one in three is refused if the concentration is large.
Expr expand_vonmises(Args in, DType) {
  using std::numbers::pi;
  const Expr u = in[0], mu = in[1], kappa = in[2];
  const Expr r = 1.0 + sqrt(1.0 + 4.0 * (kappa * kappa)), rho = (r - sqrt(2.0 * r)) / (2.0 * kappa);
  const Expr s = (1.0 + rho * rho) / (2.0 * rho);
  struct Attempt {
    Expr t, w, accepted;
  };
  const auto attempt = [&](Expr unit, Expr second) -> Attempt {
    const Expr t = 2.0 * unit - 1.0, z = math::cos(pi * t), w = (1.0 + s * z) / (s + z), y = kappa * (s - w);
    return {t, w, math::log(y / second) + (1.0 - y) >= 0};
  };
  const Attempt first = attempt(u, further_uniform(u, own::attempt_word));
  const Attempt second =
      attempt(further_uniform(u, own::second_attempt_word), further_uniform(u, own::second_attempt_word + 1));
  const Expr w = select(first.accepted, first.w, second.w), t = select(first.accepted, first.t, second.t);
  const Expr half = math::acos(select(w > 1, 1.0, w)), drawn = select(t < 0, -half, half);
  const Expr may_be = (first.accepted | (second.accepted & equal(u, u))) & (kappa >= own::min_concentration) &
                      (kappa <= own::max_concentration);
  const Expr x = program::rare_math_call("bt_random_vonmises_again", ~may_be, drawn, {u, kappa}) + mu;
  const Expr turned = abs(x) + pi, within = turned - 2 * pi * floor(turned * (1 / (2 * pi))) - pi;
  const Expr bounded = select(within > pi, pi, select(within < -pi, -pi, within));
  return select(x < 0, -bounded, bounded);
}

}  // namespace

SCALAR_OP({
    .name = "random_normal",
    .title = "Random{normal}",
    .doc = "Standard normal variable from a uniform one, elementwise.\n"
           "x: Uniform variable on (0, 1).\n"
           "* By the inverse distribution function.",
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
    .doc = "Standard gamma variable from a uniform one, elementwise.\n"
           "x: Uniform variable on (0, 1).\n"
           "y: Shape.\n"
           "* By rejection: Marsaglia and Tsang (2000).",
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
    .doc = "Logarithm of a standard gamma variable from a uniform one, elementwise.\n"
           "x: Uniform variable on (0, 1).\n"
           "y: Shape.\n"
           "* Exact for small shapes, too.",
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
    .doc = "Poisson variable from a uniform one, elementwise.\n"
           "x: Uniform variable on (0, 1).\n"
           "y: Mean.\n"
           "* By inversion below a mean of 10, otherwise by rejection (PTRS, Hormann 1993).",
    .symbol = "random_poisson",
    .arity = 2,
    .dtypes = all_float64,
    .loops = loops<2>(double_type, [](auto u, auto rate) { return own::poisson_from_uniform(u, rate); }),
    .expand = expand_poisson,
    .stablehlo = "bt_random_poisson_again",  // all attempts run in one loop
    .partials = {zero_derivative, zero_derivative},
    .traits = discrete_output,
    .domain = {{0.05, 0.95}, {0.2, 30}},
});

SCALAR_OP({
    .name = "random_binomial",
    .title = "Random{binomial}",
    .doc = "Binomial variable from a uniform one, elementwise.\n"
           "x: Uniform variable on (0, 1).\n"
           "y: Number of trials.\n"
           "z: Probability of success.\n"
           "* By inversion where the mean of successes or failures is below 10, otherwise by rejection (BTRS, Hormann "
           "1993).",
    .symbol = "random_binomial",
    .arity = 3,
    .dtypes = all_float64,
    .loops = loops<3>(double_type, [](auto u, auto n, auto p) { return bt_random_binomial(u, n, p); }),
    .expand = expand_binomial,
    .stablehlo = "bt_random_binomial",
    .partials = {zero_derivative, zero_derivative, zero_derivative},
    .traits = discrete_output,
    .domain = {{0.05, 0.95}, {1, 90}, {0.1, 0.9}},
});

SCALAR_OP({
    .name = "random_vonmises",
    .title = "Random{vonmises}",
    .doc = "Von Mises variable from a uniform one, elementwise.\n"
           "x: Uniform variable on (0, 1).\n"
           "y: Mean direction.\n"
           "z: Concentration.\n"
           "* By rejection: Best and Fisher (1979).",
    .symbol = "random_vonmises",
    .arity = 3,
    .dtypes = all_float64,
    .loops = loops<3>(double_type,
                      [](auto u, auto mu, auto kappa) { return own::vonmises_from_uniform(u, mu, kappa); }),
    .expand = expand_vonmises,
    .partials = {no_derivative, [](At a) { return a.g; }, no_derivative},
    .domain = {{0.05, 0.95}, {-3, 3}, {0.2, 9}},
});

SCALAR_OP({
    .name = "random_below",
    .title = "Random{below}",
    .doc = "Random integer below a limit from a uniform one, elementwise.\n"
           "x: Uniform variable over the integers of 64 bits.\n"
           "y: Limit.\n"
           "z: At least 2**64 mod y: from which value on x has to be drawn anew.\n"
           "* The upper half of the product: Lemire (2019).",
    .symbol = "random_below",
    .arity = 3,
    .dtypes = as_uint64,
    .loops = loops<3>(Types<std::uint64_t>(),
                      [](auto x, auto y, auto limit) { return own::below_from_word(x, y, limit); }),
    .expand = expand_below,
    .traits = discrete_output,
    .domain = {{0, 1e19}, {0, 1e19}, {0, 1e19}},
});

}  // namespace bitale::records
