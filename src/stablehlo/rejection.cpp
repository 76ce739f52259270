#include "stablehlo/rejection.hpp"

#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <numbers>
#include <utility>

#include "ops/random/words.hpp"
#include "program/math/math.hpp"
#include "runtime/random/from_uniform.hpp"
#include "runtime/random/ziggurat.hpp"
#include "stablehlo/lanes.hpp"

namespace bitale::stablehlo {

namespace {

namespace math = program::math;
namespace own = runtime::random;
using In = std::span<const Expr>;
using std::numbers::pi;

constexpr double half_log_two_pi = 0.91893853320467274178;

// All words in one computation, with a barrier so that it is not repeated for each reader.
TensorValues words_of(const Lanes& lanes, const TensorValue& key, const TensorValue& counter, int count) {
  TensorBuilder& builder = lanes.builder();
  Dims stacked = lanes.lengths(), single = lanes.lengths();
  stacked.insert(0, count);
  single.insert(0, 1);
  std::vector<int> axes;
  for (int axis = 0; axis < int(lanes.lengths().size()); ++axis) axes.push_back(axis + 1);
  const auto repeated = [&](const TensorValue& x) { return builder.broadcast(x, stacked, axes); };
  const TensorValue number = builder.iota(DType::UInt64, stacked, 0);
  const TensorValue blocks = builder.map(DType::UInt64, {repeated(key), repeated(counter), number},
                                         [](In in) { return random_block(in[0], in[1] + in[2]); });
  const TensorValue made = builder.function("stablehlo.optimization_barrier", {&blocks, 1});
  TensorValues out;
  Dims start(stacked.size(), 0), stop = stacked;
  for (int k = 0; k < count; ++k) {
    start[0] = k, stop[0] = k + 1;
    out.push_back(builder.reshape(builder.slice(made, start, stop, Dims(stacked.size(), 1)), lanes.lengths()));
  }
  return out;
}

// The words of a key from a counter on.
class Words {
 public:
  Words(const Lanes& lanes, const TensorValue& key, const TensorValue& counter, int count)
      : lanes_(lanes), words_(words_of(lanes, key, counter, count)) {}
  const TensorValue& operator[](int k) const { return words_[std::size_t(k)]; }
  TensorValue unit(int k) const {
    return lanes_.real({(*this)[k]}, [](In in) { return random_unit(in[0]); });
  }
  TensorValue open_unit(int k) const {
    return lanes_.real({(*this)[k]}, [](In in) { return random_open_unit(in[0]); });
  }

 private:
  const Lanes& lanes_;
  const TensorValues words_;
};

// The result of one attempt: a value where `has` holds, and the counter of the next word.
struct Attempt {
  TensorValue value, has, counter;
};

struct Strip {
  TensorValue number, abscissa, x, is_inside, below, above;  // the curve's height at the strip's ends
};

Strip strip_of(const Lanes& lanes, const own::Ziggurat& ziggurat, const TensorValue& number,
               const TensorValue& abscissa) {
  constexpr std::int64_t count = 256;
  const TensorValue before = lanes.whole({number}, [](In in) { return select(equal(in[0], 0), in[0], in[0] - 1); });
  const TensorValue inside = lanes.entry(ziggurat.inside, DType::UInt64, count, number);
  const TensorValue width = lanes.entry(ziggurat.width, DType::Float64, count, number);
  return {number,
          abscissa,
          lanes.real({abscissa, width}, [](In in) { return cast(cast(in[0], DType::Int64), DType::Float64) * in[1]; }),
          lanes.truth({abscissa, inside}, [](In in) { return in[0] < in[1]; }),
          lanes.entry(ziggurat.height, DType::Float64, count, number),
          lanes.entry(ziggurat.height, DType::Float64, count, before)};
}

// Whether an abscissa that is not inside the strip is under the curve, whose height at x is given.
TensorValue is_under(const Lanes& lanes, const Strip& strip, const TensorValue& height, const TensorValue& unit) {
  return lanes.truth({strip.below, strip.above, height, unit},
                     [](In in) { return (in[1] - in[0]) * in[3] + in[0] < in[2]; });
}

// log(1 - x)
TensorValue log_of_rest(const Lanes& lanes, const TensorValue& x) {
  return lanes.function("stablehlo.log_plus_one", lanes.real({x}, [](In in) { return -in[0]; }));
}

Expr masked(Expr x, std::int64_t bits) { return x & x.pool().integer(bits, DType::UInt64); }

// standard_normal of samplers.hpp, from two words. `tail`: 0; in the tail 1 or 2, by its sign. The tail takes pairs of
// words.
std::pair<Attempt, TensorValue> normal_attempt(const Lanes& lanes, const Words& words, const TensorValue& counter,
                                               const TensorValue& tail) {
  const Strip strip =
      strip_of(lanes, own::normal_ziggurat, lanes.whole({words[0]}, [](In in) { return masked(in[0], 0xff); }),
               lanes.whole({words[0]}, [](In in) { return masked(in[0] >> 9, 0x000fffffffffffff); }));
  const TensorValue x =
      lanes.real({words[0], strip.x}, [](In in) { return select(equal(masked(in[0] >> 8, 1), 1), -in[1], in[1]); });
  const TensorValue height =
      lanes.function("stablehlo.exponential", lanes.real({x}, [](In in) { return -0.5 * in[0] * in[0]; }));
  const TensorValue under = is_under(lanes, strip, height, words.unit(1));
  const TensorValue first = log_of_rest(lanes, words.unit(0)), second = log_of_rest(lanes, words.unit(1));
  const TensorValue beyond = lanes.real({first}, [](In in) { return -own::normal_tail_inverse * in[0]; });
  const TensorValue is_beyond = lanes.truth({beyond, second}, [](In in) { return -in[1] - in[1] > in[0] * in[0]; });
  const TensorValue is_tail = lanes.truth({tail}, [](In in) { return in[0] > 0; });
  const TensorValue begins =
      lanes.truth({strip.number, strip.is_inside}, [](In in) { return equal(in[0], 0) & ~in[1]; });
  const TensorValue next_tail = lanes.whole({tail, is_tail, is_beyond, begins, strip.abscissa}, [](In in) {
    const Expr none = in[0] - in[0];
    return select(in[1], select(in[2], none, in[0]), select(in[3], masked(in[4] >> 8, 1) + 1, none));
  });
  const TensorValue value = lanes.real({x, beyond, tail}, [](In in) {
    const Expr far = in[1] + own::normal_tail;
    return select(equal(in[2], 0), in[0], select(equal(in[2], 2), -far, far));
  });
  const TensorValue has = lanes.truth({is_tail, is_beyond, strip.is_inside, begins, under},
                                      [](In in) { return (in[0] & in[1]) | (~in[0] & (in[2] | (~in[3] & in[4]))); });
  const TensorValue next = lanes.whole({counter, is_tail, strip.is_inside, begins},
                                       [](In in) { return select(~in[1] & (in[2] | in[3]), in[0] + 1, in[0] + 2); });
  return {{value, has, next}, next_tail};
}

// standard_exponential of samplers.hpp, from two words.
Attempt exponential_attempt(const Lanes& lanes, const Words& words, const TensorValue& counter) {
  const TensorValue bits = lanes.whole({words[0]}, [](In in) { return in[0] >> 3; });
  const Strip strip =
      strip_of(lanes, own::exponential_ziggurat, lanes.whole({bits}, [](In in) { return masked(in[0], 0xff); }),
               lanes.whole({bits}, [](In in) { return in[0] >> 8; }));
  const TensorValue height =
      lanes.function("stablehlo.exponential", lanes.real({strip.x}, [](In in) { return -in[0]; }));
  const TensorValue under = is_under(lanes, strip, height, words.unit(1));
  const TensorValue far = log_of_rest(lanes, words.unit(1));
  const TensorValue value = lanes.real({strip.x, strip.is_inside, strip.number, far}, [](In in) {
    return select(~in[1] & equal(in[2], 0), own::exponential_tail - in[3], in[0]);
  });
  const TensorValue has =
      lanes.truth({strip.is_inside, strip.number, under}, [](In in) { return in[0] | equal(in[1], 0) | in[2]; });
  const TensorValue next =
      lanes.whole({counter, strip.is_inside}, [](In in) { return select(in[1], in[0] + 1, in[0] + 2); });
  return {value, has, next};
}

TensorValue lanes_left(const Lanes& lanes, const TensorValue& active, const TensorValue& has) {
  return lanes.truth({active, has}, [](In in) { return in[0] & ~in[1]; });
}

TensorValue first_rest(const Lanes& lanes) { return lanes.full(double(own::first_rest_word), DType::UInt64); }

// Draws for a shape of 1 or more, by Marsaglia and Tsang's method.
TensorValue gamma_again(TensorBuilder& builder, const TensorValue& active, std::span<const TensorValue> in) {
  const Lanes lanes(builder, active);
  const TensorValue &u = in[0], &shape = in[1], key = lanes.key_of(u);
  const TensorValue is_drawn = lanes.truth({active, u, shape}, [](In in) {
    return in[0] & equal(in[1], in[1]) & (in[2] >= 1) & (in[2] < std::numeric_limits<double>::infinity());
  });
  const TensorValue is_one = lanes.truth({shape}, [](In in) { return equal(in[0], 1); });
  const TensorValue zero = lanes.full(0, DType::UInt64);
  const TensorValues made =
      lanes.repeat({is_drawn, lanes.nan(), first_rest(lanes), zero}, [&](const TensorValues& now) {
        const Words words(lanes, key, now[2], 3);
        const auto [normal, tail] = normal_attempt(lanes, words, now[2], now[3]);
        const Attempt exponential = exponential_attempt(lanes, words, now[2]);
        const auto root = [](Expr x, Expr shape) { return 1.0 + x * (1.0 / sqrt(9.0 * (shape - 1.0 / 3.0))); };
        const TensorValue is_tried =
            lanes.truth({normal.value, normal.has, shape}, [&](In in) { return in[1] & (root(in[0], in[2]) > 0); });
        const TensorValue v = lanes.real({normal.value, shape}, [&](In in) {
          const Expr r = root(in[0], in[1]);
          return r * r * r;
        });
        const TensorValue u =
            lanes.either(lanes.truth({now[2], normal.counter}, [](In in) { return equal(in[0] + 1, in[1]); }),
                         words.unit(1), words.unit(2));
        const TensorValue accepted =
            lanes.truth({normal.value, is_tried, shape, v, u, lanes.log(u), lanes.log(v)}, [](In in) {
              const Expr x = in[0], b = in[2] - 1.0 / 3.0;
              return in[1] &
                     ((in[4] < 1.0 - 0.0331 * (x * x) * (x * x)) | (in[5] < 0.5 * x * x + b * (1.0 - in[3] + in[6])));
            });
        const TensorValue value = lanes.real({v, shape, is_one, exponential.value},
                                             [](In in) { return select(in[2], in[3], (in[1] - 1.0 / 3.0) * in[0]); });
        const TensorValue has = lanes.either(is_one, exponential.has, accepted);
        const TensorValue counter = lanes.either(
            is_one, exponential.counter,
            lanes.whole({normal.counter, is_tried}, [](In in) { return select(in[1], in[0] + 1, in[0]); }));
        return TensorValues{lanes_left(lanes, now[0], has), lanes.either(now[0], value, now[1]), counter, tail};
      });
  return lanes.real({made[1], shape, u}, [](In in) {
    const Expr infinite = in[0].pool().number(std::numeric_limits<double>::infinity(), DType::Float64);
    return select(equal(in[2], in[2]) & (equal(abs(in[1]), infinite)), in[1], in[0]);
  });
}

// The number, uniform on (0, 1), from block `counter` of the key u.
Expr open_unit_of(Expr u, std::int64_t counter) {
  return random_open_unit(random_block(program::bitcast(u, DType::UInt64), u.pool().integer(counter, DType::UInt64)));
}

TensorValue power(TensorBuilder& builder, const TensorValue&, std::span<const TensorValue> in) {
  const Lanes lanes(builder, in[0]);
  const TensorValue base = lanes.real({in[0]}, [](In in) { return open_unit_of(in[0], own::power_word); });
  const TensorValue raised =
      builder.function("stablehlo.power", TensorValues{base, lanes.real({in[1]}, [](In in) { return 1.0 / in[0]; })});
  return lanes.real({raised, in[1]}, [](In in) { return select(in[1] > 0, in[0], 0.0); });
}

TensorValue log_power(TensorBuilder& builder, const TensorValue&, std::span<const TensorValue> in) {
  return Lanes(builder, in[0]).real({in[0], in[1]}, [](In in) {
    return math::log(open_unit_of(in[0], own::power_word)) / in[1];
  });
}

// log k! - ((k + 1/2) log(k + 1) - (k + 1) + log(2 pi) / 2): by a table, where the series doesn't hold.
TensorValue stirling_rest_of(const Lanes& lanes, const TensorValue& k) {
  static const auto first = [] {
    std::array<double, 10> out{};
    for (std::size_t i = 0; i < out.size(); ++i) {
      const double x = double(i) + 1;
      out[i] = std::lgamma(x) - ((x - 0.5) * std::log(x) - x + half_log_two_pi);
    }
    return out;
  }();
  const TensorValue index =
      lanes.whole({k}, [](In in) { return cast(select((in[0] >= 0) & (in[0] < 10), in[0], 0.0), DType::UInt64); });
  const TensorValue entry = lanes.entry(first.data(), DType::Float64, first.size(), index);
  return lanes.real({k, entry},
                    [](In in) { return select(in[0] < 10, in[1], math::stirling_rest(1.0 / (in[0] + 1.0))); });
}

// The two numbers of an attempt: for the first, u itself and a word; for the second, two words of its own; then the
// rest of the words in order. NumPy's samplers read the rest as numbers that may be 0, unless `rest_is_open`.
std::pair<TensorValue, TensorValue> attempt_numbers(const Lanes& lanes, const TensorValue& u, const TensorValue& key,
                                                    const TensorValue& counter, bool rest_is_open) {
  const Words words(lanes, key, counter, 2);
  const TensorValue is_first = lanes.truth({counter}, [](In in) { return equal(in[0], 0); });
  const TensorValue is_early = lanes.truth({counter}, [rest_is_open](In in) {
    return in[0] < in[0].pool().integer(rest_is_open ? -1 : std::int64_t(own::first_rest_word), DType::UInt64);
  });
  const auto drawn = [&](int k) { return lanes.either(is_early, words.open_unit(k), words.unit(k)); };
  return {lanes.either(is_first, u, drawn(0)), lanes.either(is_first, words.open_unit(0), drawn(1))};
}

// Counters of attempts: attempt_word, second_attempt_word, first_rest_word, then by two.
TensorValue next_attempt(const Lanes& lanes, const TensorValue& counter) {
  static_assert(own::attempt_word == 0 && own::second_attempt_word == 2 && own::first_rest_word == 4);
  return lanes.whole({counter}, [](In in) { return in[0] + 2; });
}

// The number of cumulative probabilities that are below u. `ratio`: the next probability divided by that of k.
TensorValue by_inversion(const Lanes& lanes, const TensorValue& active, const TensorValue& u, const TensorValue& first,
                         const TensorValue& most, const std::function<TensorValue(const TensorValue& k)>& ratio) {
  const TensorValue zero = lanes.full(0, DType::Float64);
  const auto goes_on = [&](const TensorValue& active, const TensorValue& sum, const TensorValue& k) {
    return lanes.truth({active, u, sum, k, most}, [](In in) { return in[0] & (in[1] > in[2]) & (in[3] < in[4]); });
  };
  return lanes.repeat({goes_on(active, first, zero), first, first, zero}, [&](const TensorValues& now) {
    const TensorValue factor = ratio(now[3]);
    const TensorValue probability = lanes.real({now[1], factor}, [](In in) { return in[0] * in[1]; });
    const TensorValue sum = lanes.real({now[2], probability}, [](In in) { return in[0] + in[1]; });
    const TensorValue k = lanes.real({now[0], now[3]}, [](In in) { return select(in[0], in[1] + 1.0, in[1]); });
    return TensorValues{goes_on(now[0], sum, k), probability, sum, k};
  })[3];
}

constexpr double max_terms = 100;

TensorValue poisson_again(TensorBuilder& builder, const TensorValue& active, std::span<const TensorValue> in) {
  const Lanes lanes(builder, active);
  const TensorValue &u = in[0], &rate = in[1], key = lanes.key_of(u);
  const TensorValue is_drawn = lanes.truth(
      {active, u, rate}, [](In in) { return in[0] & equal(in[1], in[1]) & (in[2] >= 0) & (in[2] <= 9.2e18); });
  const TensorValue is_large =
      lanes.truth({is_drawn, rate}, [](In in) { return in[0] & (in[1] >= own::min_rate_for_rejection); });
  const TensorValue is_small = lanes_left(lanes, is_drawn, is_large);
  const TensorValue few = by_inversion(
      lanes, is_small, u, lanes.function("stablehlo.exponential", lanes.real({rate}, [](In in) { return -in[0]; })),
      lanes.full(max_terms, DType::Float64), [&](const TensorValue& k) {
        return lanes.real({rate, k}, [](In in) { return in[0] * (1.0 / (in[1] + 1.0)); });
      });
  // PTRS (Hormann, 1993).
  const auto b_of = [](Expr rate) { return 2.53 * sqrt(rate) + 0.931; };
  const auto a_of = [&](Expr rate) { return 0.02483 * b_of(rate) - 0.059; };
  const TensorValue log_rate = lanes.log(rate);
  const TensorValues many = lanes.repeat({is_large, lanes.nan(), lanes.full(0, DType::UInt64)}, [&](const TensorValues&
                                                                                                        now) {
    const auto [first, second] = attempt_numbers(lanes, u, key, now[2], false);
    const TensorValue k = lanes.real({first, rate}, [&](In in) {
      const Expr centred = in[0] - 0.5, us = 0.5 - abs(centred);
      return floor((2.0 * a_of(in[1]) / us + b_of(in[1])) * centred + in[1] + 0.43);
    });
    const TensorValue rest = stirling_rest_of(lanes, k);
    const TensorValue has = lanes.truth({first, second, rate, k, rest}, [&](In in) {
      const Expr us = 0.5 - abs(in[0] - 0.5), rate = in[2], k = in[3], b = b_of(rate);
      const Expr inverse_alpha = 1.1328 / (b - 3.4) + 1.1239;
      const Expr log_factorial = (k + 0.5) * math::log(k + 1.0) - (k + 1.0) + (in[4] + half_log_two_pi);
      return (k >= 0) & ~((us < 0.013) & (in[1] > us)) &
             (math::log(in[1] * inverse_alpha / (a_of(rate) / (us * us) + b)) <=
              k * math::log(rate) - rate - log_factorial);
    });
    return TensorValues{lanes_left(lanes, now[0], has), lanes.either(now[0], k, now[1]), next_attempt(lanes, now[2])};
  });
  return lanes.either(is_small, few, many[1]);
}

TensorValue binomial(TensorBuilder& builder, const TensorValue& active, std::span<const TensorValue> in) {
  const Lanes lanes(builder, active);
  const TensorValue &u = in[0], &p = in[2], key = lanes.key_of(u);
  const TensorValue n = lanes.real({in[1]}, [](In in) { return floor(in[0]); });
  const TensorValue r = lanes.real({p}, [](In in) { return select(in[0] <= 0.5, in[0], 1.0 - in[0]); });
  const TensorValue is_drawn = lanes.truth({active, u, n, p}, [](In in) {
    return in[0] & equal(in[1], in[1]) & (in[2] >= 0) & (in[2] < own::largest_count) & (in[3] >= 0) & (in[3] <= 1);
  });
  const TensorValue is_large =
      lanes.truth({is_drawn, n, r}, [](In in) { return in[0] & ~(in[1] * in[2] < own::min_rate_for_rejection); });
  const TensorValue is_small = lanes_left(lanes, is_drawn, is_large);
  const TensorValue few = by_inversion(
      lanes, is_small, u, lanes.real({n, r}, [](In in) { return math::exp(in[0] * math::log1p(-in[1])); }),
      lanes.real({n}, [](In in) { return select(in[0] < max_terms, in[0], max_terms); }), [&](const TensorValue& k) {
        return lanes.real({n, r, k}, [](In in) { return (in[0] - in[2]) * (in[1] / (1.0 - in[1])) / (in[2] + 1.0); });
      });
  // BTRS (Hormann, 1993).
  const TensorValue deviation = lanes.real({n, r}, [](In in) { return sqrt(in[0] * in[1] * (1.0 - in[1])); });
  const TensorValue b = lanes.real({deviation}, [](In in) { return 1.15 + 2.53 * in[0]; });
  const TensorValue a = lanes.real({b, r}, [](In in) { return -0.0873 + 0.0248 * in[0] + 0.01 * in[1]; });
  const TensorValue scale = lanes.real({b, deviation}, [](In in) { return (2.83 + 5.1 / in[0]) * in[1]; });
  const TensorValue odds = lanes.real({r}, [](In in) { return in[0] / (1.0 - in[0]); });
  const TensorValue m = lanes.real({n, r}, [](In in) { return floor((in[0] + 1.0) * in[1]); });
  const TensorValue rest_m = stirling_rest_of(lanes, m);
  const TensorValue rest_n_m = stirling_rest_of(lanes, lanes.real({n, m}, [](In in) { return in[0] - in[1]; }));
  const TensorValue at_mode = lanes.real({n, m, odds, rest_m, rest_n_m}, [](In in) {
    return (in[1] + 0.5) * math::log((in[1] + 1.0) / (in[2] * (in[0] - in[1] + 1.0))) + in[3] + in[4];
  });
  const TensorValues many = lanes.repeat({is_large, lanes.nan(), lanes.full(0, DType::UInt64)}, [&](const TensorValues&
                                                                                                        now) {
    const auto [first, second] = attempt_numbers(lanes, u, key, now[2], true);
    const TensorValue k = lanes.real({first, a, b, n, r}, [](In in) {
      const Expr centred = in[0] - 0.5, us = 0.5 - abs(centred);
      return floor((2.0 * in[1] / us + in[2]) * centred + (in[3] * in[4] + 0.5));
    });
    const TensorValue left = lanes.real({n, k}, [](In in) { return in[0] - in[1]; });
    const TensorValue weight = lanes.real(
        {at_mode, n, m, k, left, odds, stirling_rest_of(lanes, k), stirling_rest_of(lanes, left)}, [](In in) {
          return in[0] + (in[1] + 1.0) * math::log((in[1] - in[2] + 1.0) / (in[4] + 1.0)) +
                 (in[3] + 0.5) * math::log(in[5] * (in[4] + 1.0) / (in[3] + 1.0)) - in[6] - in[7];
        });
    const TensorValue has = lanes.truth({first, second, a, b, k, left, scale, weight}, [](In in) {
      const Expr us = 0.5 - abs(in[0] - 0.5);
      const Expr is_below = math::log(in[1] * in[6] / (in[2] / (us * us) + in[3])) <= in[7];
      return ((us >= 0.07) & (in[1] <= 0.92 - 4.2 / in[3])) | ((in[4] >= 0) & (in[5] >= 0) & is_below);
    });
    return TensorValues{lanes_left(lanes, now[0], has), lanes.either(now[0], k, now[1]), next_attempt(lanes, now[2])};
  });
  return lanes.real({is_small, few, many[1], n, p}, [](In in) {
    const Expr k = select(in[0], in[1], in[2]);
    return select(in[4] <= 0.5, k, in[3] - k);
  });
}

// vonmises of samplers.hpp, around 0.
TensorValue vonmises_again(TensorBuilder& builder, const TensorValue& active, std::span<const TensorValue> in) {
  const Lanes lanes(builder, active);
  const TensorValue &u = in[0], &kappa = in[1], key = lanes.key_of(u), start = first_rest(lanes);
  const TensorValue is_drawn =
      lanes.truth({active, u, kappa}, [](In in) { return in[0] & equal(in[1], in[1]) & (in[2] >= 0); });
  const TensorValue is_normal = lanes.truth({is_drawn, kappa}, [](In in) { return in[0] & (in[1] > 1e6); });
  const TensorValue is_uniform = lanes.truth({kappa}, [](In in) { return in[0] < 1e-8; });
  const TensorValue is_tried =
      lanes.truth({is_drawn, is_normal, is_uniform}, [](In in) { return in[0] & ~in[1] & ~in[2]; });
  const TensorValue s = lanes.real({kappa}, [](In in) {
    const Expr kappa = in[0], r = 1.0 + sqrt(1.0 + 4.0 * kappa * kappa), rho = (r - sqrt(2.0 * r)) / (2.0 * kappa);
    return select(kappa < 1e-5, 1.0 / kappa + kappa, (1.0 + rho * rho) / (2.0 * rho));
  });
  const TensorValues tried = lanes.repeat({is_tried, lanes.nan(), start}, [&](const TensorValues& now) {
    const Words words(lanes, key, now[2], 3);
    const TensorValue z =
        lanes.function("stablehlo.cosine", lanes.real({words[0]}, [](In in) { return pi * random_unit(in[0]); }));
    const TensorValue w = lanes.real({z, s}, [](In in) { return (1.0 + in[1] * in[0]) / (in[1] + in[0]); });
    const TensorValue y = lanes.real({w, s, kappa}, [](In in) { return in[2] * (in[1] - in[0]); });
    const TensorValue ratio = lanes.log(lanes.real({y, words[1]}, [](In in) { return in[0] / random_unit(in[1]); }));
    const TensorValue has = lanes.truth({y, words[1], ratio}, [](In in) {
      return (in[0] * (2.0 - in[0]) - random_unit(in[1]) >= 0) | (in[2] + 1.0 - in[0] >= 0);
    });
    const TensorValue value = lanes.real({w, words[2]}, [](In in) {
      const Expr angle = math::acos(in[0]);
      return select(random_unit(in[1]) < 0.5, -angle, angle);
    });
    return TensorValues{lanes_left(lanes, now[0], has), lanes.either(now[0], value, now[1]),
                        next_attempt(lanes, now[2])};
  });
  const TensorValues normal =
      lanes.repeat({is_normal, lanes.nan(), start, lanes.full(0, DType::UInt64)}, [&](const TensorValues& now) {
        const auto [drawn, tail] = normal_attempt(lanes, Words(lanes, key, now[2], 2), now[2], now[3]);
        return TensorValues{lanes_left(lanes, now[0], drawn.has), lanes.either(now[0], drawn.value, now[1]),
                            drawn.counter, tail};
      });
  const TensorValue unit = Words(lanes, key, start, 1).unit(0);
  return lanes.real({tried[1], normal[1], is_normal, is_uniform, kappa, unit}, [](In in) {
    const Expr far = sqrt(1.0 / in[4]) * in[1];
    const Expr wrapped = select(far < -pi, far + 2 * pi, select(far > pi, far - 2 * pi, far));
    return select(in[3], pi * (2.0 * in[5] - 1.0), select(in[2], wrapped, in[0]));
  });
}

// Words x are drawn again while the product's lower half is below 2^64 mod count.
TensorValue below_again(TensorBuilder& builder, const TensorValue& active, std::span<const TensorValue> in) {
  const Lanes lanes(builder, active);
  const TensorValue &key = in[0], &count = in[1];
  const TensorValue divisor = lanes.whole({count}, [](In in) { return select(equal(in[0], 0), in[0] + 1, in[0]); });
  const TensorValue biased = lanes.whole({divisor}, [](In in) { return program::rem(in[0] - in[0] - in[0], in[0]); });
  const auto is_refused = [&](const TensorValue& active, const TensorValue& x) {
    return lanes.truth({active, x, count, biased}, [](In in) { return in[0] & (in[1] * in[2] < in[3]); });
  };
  const TensorValues made =
      lanes.repeat({is_refused(active, key), key, first_rest(lanes)}, [&](const TensorValues& now) {
        const TensorValue x = lanes.either(now[0], Words(lanes, key, now[2], 1)[0], now[1]);
        return TensorValues{is_refused(now[0], x), x, lanes.whole({now[2]}, [](In in) { return in[0] + 1; })};
      });
  return lanes.whole({made[1], count}, [](In in) { return random_product(in[0], in[1]).upper; });
}

}  // namespace

LaneFunction rejection_function(std::string_view name) {
  constexpr std::pair<std::string_view, LaneFunction> table[] = {
      {"bt_random_gamma_again", gamma_again}, {"bt_random_power", power},
      {"bt_random_log_power", log_power},     {"bt_random_poisson_again", poisson_again},
      {"bt_random_binomial", binomial},       {"bt_random_vonmises_again", vonmises_again},
      {"bt_random_below_again", below_again},
  };
  for (auto& [function, lanes] : table)
    if (function == name) return lanes;
  return nullptr;
}

}  // namespace bitale::stablehlo
