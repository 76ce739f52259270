#include "runtime/random/draws.hpp"

#include <array>
#include <cmath>
#include <tuple>
#include <utility>

#include "runtime/boost_math.hpp"
#include "runtime/random/sampler_function.hpp"
#include "runtime/random/samplers.hpp"

namespace bitale::runtime::random {

double log_factorial(std::int64_t k) {
  constexpr std::int64_t tabulated = 126;
  static const auto table = [] {
    std::array<double, tabulated> out{};
    for (std::int64_t i = 0; i < tabulated; ++i) out[std::size_t(i)] = double(log_gamma((long double)i + 1));
    return out;
  }();
  if (k < tabulated) return table[std::size_t(k)];
  const double x = double(k), half_log_two_pi = 0.9189385332046728;
  return (x + 0.5) * std::log(x) - x + (half_log_two_pi + (1.0 / x) * (1 / 12.0 - 1 / (360.0 * x * x)));
}

namespace {

// ---- domains, in NumPy's words --------------------------------------------------------------------------------------

// NumPy also refuses -0.0, but rewrites may change the sign of a zero.
bool is_negative(double x) { return x < 0; }
bool is_negative(std::int64_t x) { return x < 0; }
bool is_probability(double p) { return p >= 0 && p <= 1; }

constexpr double largest_rate = 9.223372006484771e+18;  // above this, Poisson draws may exceed int64

// ---- one list per kind of parameters --------------------------------------------------------------------------------

template <class T>
T at(const Column& column, std::int64_t i) {
  return static_cast<const T*>(column.data)[i * column.step];
}

template <class Out, class... P>
struct Entry {
  using Fill = void (*)(std::uint64_t* state, std::int64_t count, const Column* columns, Out* out);
  std::array<Fill, bit_generator_count> fill;
  const char* (*refuse)(P...);  // null: every value is in the domain
};

template <class Out, class... P, class Sampler, std::size_t... I>
void fill_with(std::uint64_t* state, std::int64_t count, const Column* columns, Out* out, BitGenerator kind, Sampler,
               std::index_sequence<I...>) {
  with_generator(kind, state, [&](auto& generator) {
    Sampler sampler{};
    if (((columns[I].step == 0) && ...)) {
      [[maybe_unused]] const std::tuple<P...> fixed(at<P>(columns[I], 0)...);
      if constexpr (requires { sampler.fill(generator, count, out, std::get<I>(fixed)...); })
        sampler.fill(generator, count, out, std::get<I>(fixed)...);
      else
        for (std::int64_t i = 0; i < count; ++i) out[i] = Out(sampler(generator, std::get<I>(fixed)...));
      return;
    }
    for (std::int64_t i = 0; i < count; ++i) out[i] = Out(sampler(generator, at<P>(columns[I], i)...));
  });
}

template <class Out, class... P, class Sampler>
Entry<Out, P...> entry_of(Sampler, const char* (*refuse)(P...)) {
  const auto fill = []<BitGenerator kind>() -> typename Entry<Out, P...>::Fill {
    return [](std::uint64_t* state, std::int64_t count, const Column* columns, Out* out) {
      fill_with<Out, P...>(state, count, columns, out, kind, Sampler{}, std::index_sequence_for<P...>());
    };
  };
  return {{fill.template operator()<BitGenerator::PCG64>(), fill.template operator()<BitGenerator::Philox>(),
           fill.template operator()<BitGenerator::SFC64>(), fill.template operator()<BitGenerator::MT19937>(),
           fill.template operator()<BitGenerator::Threefry>()},
          refuse};
}

template <class Out, class... P>
const Entry<Out, P...>& entry(const Distribution& self) {
  return *static_cast<const Entry<Out, P...>*>(self.entry);
}

template <class Out, class... P, std::size_t... I>
const char* refusal(const Distribution& self, [[maybe_unused]] const Column* columns, [[maybe_unused]] std::int64_t i,
                    std::index_sequence<I...>) {
  const auto& refuse = entry<Out, P...>(self).refuse;
  return refuse ? refuse(at<P>(columns[I], i)...) : nullptr;
}

template <class Out, class... P>
std::int64_t draw(const Distribution& self, BitGenerator kind, std::uint64_t* state, std::int64_t count,
                  std::span<const Column> columns, void* out) {
  constexpr auto all = std::index_sequence_for<P...>();
  if (entry<Out, P...>(self).refuse) {
    bool is_fixed = true;
    for (auto& column : columns) is_fixed &= column.step == 0;
    for (std::int64_t i = 0, end = is_fixed ? 1 : count; i < end; ++i)
      if (refusal<Out, P...>(self, columns.data(), i, all)) return 1;
  }
  entry<Out, P...>(self).fill[std::size_t(kind)](state, count, columns.data(), static_cast<Out*>(out));
  return 0;
}

template <class Out, class... P>
const char* refuse(const Distribution& self, std::span<const Column> columns) {
  return refusal<Out, P...>(self, columns.data(), 0, std::index_sequence_for<P...>());
}

template <class T>
constexpr char letter = std::is_same_v<T, double> ? 'f' : 'i';

template <class Out, class... P>
std::string_view function_name() {
  static constexpr std::array<char, 12 + sizeof...(P)> text{'b', 't', '_', 'r',          'a', 'n',        'd',
                                                            'o', 'm', '_', letter<P>..., '_', letter<Out>};
  return {text.data(), text.size()};
}

// A row of the table of distributions. The type of `domain` determines the types of the parameters.
template <class Out, class... P, class Sampler>
Distribution row(std::string_view name, std::vector<std::string_view> parameters, Sampler sampler,
                 const char* (*domain)(P...)) {
  // There is one entry for each sampler, since every sampler has its own type.
  static const Entry<Out, P...> entry = entry_of<Out, P...>(sampler, domain);
  return {name,
          std::move(parameters),
          {dtype_of<P>::value...},
          dtype_of<Out>::value,
          function_name<Out, P...>(),
          draw<Out, P...>,
          refuse<Out, P...>,
          &entry};
}

using Real = double;
using Int = std::int64_t;
template <class... P>
using Domain = const char* (*)(P...);

constexpr Domain<Real, Real> scale_is_not_negative = [](Real, Real scale) -> const char* {
  return is_negative(scale) ? "scale < 0" : nullptr;
};

std::vector<Distribution> make_distributions() {
  std::vector<Distribution> out;
  const auto add = [&](Distribution made) {
    made.number = int(out.size());
    out.push_back(std::move(made));
  };
  add(row<Real>(
      "random", {}, [](auto& g) { return g.next_double(); }, Domain<>(nullptr)));
  add(row<Real>(
      "standard_normal", {}, [](auto& g) { return standard_normal(g); }, Domain<>(nullptr)));
  add(row<Real>(
      "standard_exponential", {}, [](auto& g) { return standard_exponential(g); }, Domain<>(nullptr)));
  add(row<Real>(
      "standard_cauchy", {},
      [](auto& g) {
        const Real numerator = standard_normal(g);
        return numerator / standard_normal(g);
      },
      Domain<>(nullptr)));
  add(row<Real>(
      "uniform", {"low", "high"}, [](auto& g, Real low, Real high) { return low + (high - low) * g.next_double(); },
      Domain<Real, Real>([](Real low, Real high) -> const char* {
        if (!std::isfinite(high - low)) return "high - low range exceeds valid bounds";
        return high < low ? "high < low" : nullptr;
      })));
  add(row<Real>(
      "normal", {"loc", "scale"}, [](auto& g, Real loc, Real scale) { return loc + scale * standard_normal(g); },
      scale_is_not_negative));
  add(row<Real>(
      "lognormal", {"mean", "sigma"},
      [](auto& g, Real mean, Real sigma) { return std::exp(mean + sigma * standard_normal(g)); },
      Domain<Real, Real>([](Real, Real sigma) { return is_negative(sigma) ? "sigma < 0" : nullptr; })));
  add(row<Real>(
      "exponential", {"scale"}, [](auto& g, Real scale) { return scale * standard_exponential(g); },
      Domain<Real>([](Real scale) { return is_negative(scale) ? "scale < 0" : nullptr; })));
  add(row<Real>(
      "standard_gamma", {"shape"}, [](auto& g, Real shape) { return standard_gamma(g, shape); },
      Domain<Real>([](Real shape) { return is_negative(shape) ? "shape < 0" : nullptr; })));
  add(row<Real>(
      "gamma", {"shape", "scale"}, [](auto& g, Real shape, Real scale) { return scale * standard_gamma(g, shape); },
      Domain<Real, Real>([](Real shape, Real scale) {
        return is_negative(shape) ? "shape < 0" : is_negative(scale) ? "scale < 0" : nullptr;
      })));
  add(row<Real>(
      "beta", {"a", "b"}, [](auto& g, Real a, Real b) { return beta(g, a, b); }, Domain<Real, Real>([](Real a, Real b) {
        return !(a > 0) ? "a <= 0" : !(b > 0) ? "b <= 0" : nullptr;
      })));
  add(row<Real>(
      "chisquare", {"df"}, [](auto& g, Real df) { return 2.0 * standard_gamma(g, df / 2.0); },
      Domain<Real>([](Real df) { return !(df > 0) ? "df <= 0" : nullptr; })));
  add(row<Real>(
      "standard_t", {"df"}, [](auto& g, Real df) { return standard_t(g, df); },
      Domain<Real>([](Real df) { return !(df > 0) ? "df <= 0" : nullptr; })));
  add(row<Real>(
      "pareto", {"a"}, [](auto& g, Real a) { return std::expm1(standard_exponential(g) / a); },
      Domain<Real>([](Real a) { return !(a > 0) ? "a <= 0" : nullptr; })));
  add(row<Real>(
      "weibull", {"a"}, [](auto& g, Real a) { return weibull(g, a); },
      Domain<Real>([](Real a) { return is_negative(a) ? "a < 0" : nullptr; })));
  add(row<Real>(
      "power", {"a"}, [](auto& g, Real a) { return std::pow(-std::expm1(-standard_exponential(g)), 1. / a); },
      Domain<Real>([](Real a) { return !(a > 0) ? "a <= 0" : nullptr; })));
  add(row<Real>(
      "laplace", {"loc", "scale"}, [](auto& g, Real loc, Real scale) { return laplace(g, loc, scale); },
      scale_is_not_negative));
  add(row<Real>(
      "gumbel", {"loc", "scale"}, [](auto& g, Real loc, Real scale) { return gumbel(g, loc, scale); },
      scale_is_not_negative));
  add(row<Real>(
      "logistic", {"loc", "scale"}, [](auto& g, Real loc, Real scale) { return logistic(g, loc, scale); },
      scale_is_not_negative));
  add(row<Real>(
      "rayleigh", {"scale"}, [](auto& g, Real scale) { return scale * std::sqrt(2.0 * standard_exponential(g)); },
      Domain<Real>([](Real scale) { return is_negative(scale) ? "scale < 0" : nullptr; })));
  add(row<Real>(
      "wald", {"mean", "scale"}, [](auto& g, Real mean, Real scale) { return wald(g, mean, scale); },
      Domain<Real, Real>([](Real mean, Real scale) {
        return !(mean > 0) ? "mean <= 0" : !(scale > 0) ? "scale <= 0" : nullptr;
      })));
  add(row<Real>(
      "vonmises", {"mu", "kappa"}, [](auto& g, Real mu, Real kappa) { return vonmises(g, mu, kappa); },
      Domain<Real, Real>([](Real, Real kappa) { return is_negative(kappa) ? "kappa < 0" : nullptr; })));
  add(row<Real>(
      "triangular", {"left", "mode", "right"},
      [](auto& g, Real left, Real mode, Real right) { return triangular(g, left, mode, right); },
      Domain<Real, Real, Real>([](Real left, Real mode, Real right) {
        return left > mode ? "left > mode" : mode > right ? "mode > right" : left == right ? "left == right" : nullptr;
      })));
  add(row<Int>(
      "poisson", {"lam"}, [](auto& g, Real lam) { return poisson(g, lam); }, Domain<Real>([](Real lam) {
        return !(lam >= 0) ? "lam < 0 or lam is NaN" : lam > largest_rate ? "lam value too large" : nullptr;
      })));
  add(row<Int>(
      "geometric", {"p"}, [](auto& g, Real p) { return geometric(g, p); },
      Domain<Real>([](Real p) { return p > 0 && p <= 1 ? nullptr : "p <= 0, p > 1 or p contains NaNs"; })));
  add(row<Int>("binomial", {"n", "p"}, Binomial(), Domain<Int, Real>([](Int n, Real p) {
                 return is_negative(n) ? "n < 0" : !is_probability(p) ? "p < 0, p > 1 or p is NaN" : nullptr;
               })));
  add(row<Int>(
      "negative_binomial", {"n", "p"}, [](auto& g, Real n, Real p) { return negative_binomial(g, n, p); },
      Domain<Real, Real>([](Real n, Real p) {
        return !(n > 0)             ? "n <= 0 or n contains NaNs"
               : !(p > 0 && p <= 1) ? "p <= 0, p > 1 or p contains NaNs"
               : (1 - p) / p * (n + 10 * std::sqrt(n)) > largest_rate
                   ? "n too large or p too small, see Generator.negative_binomial Notes"
                   : nullptr;
      })));
  add(row<Int>(
      "hypergeometric", {"ngood", "nbad", "nsample"},
      [](auto& g, Int good, Int bad, Int sample) { return hypergeometric(g, good, bad, sample); },
      Domain<Int, Int, Int>([](Int good, Int bad, Int sample) {
        constexpr Int most = 1000000000;
        return good < 0                      ? "ngood < 0"
               : bad < 0                     ? "nbad < 0"
               : sample < 0                  ? "nsample < 0"
               : good >= most || bad >= most ? "both ngood and nbad must be less than 1000000000"
               : good + bad < sample         ? "ngood + nbad < nsample"
                                             : nullptr;
      })));
  // From low to high, high excluded.
  add(row<Int>("integers", {"low", "high"}, Integers(),
               Domain<Int, Int>([](Int low, Int high) { return low >= high ? "low >= high" : nullptr; })));
  return out;
}

// ---- rows of the table of runtime functions -------------------------------------------------------------------------

template <class Out, class... P>
std::int64_t call(std::int64_t generator, std::int64_t distribution, std::int64_t count, std::uint64_t* state,
                  std::span<const Column> columns, Out* out) {
  const Distribution& self = distributions()[std::size_t(distribution)];
  return draw<Out, P...>(self, BitGenerator(generator), state, count, columns, out);
}

std::int64_t draw_f(std::int64_t generator, std::int64_t distribution, std::int64_t count, std::uint64_t* state,
                    double* out) {
  return call<Real>(generator, distribution, count, state, {}, out);
}
template <class Out, class A>
std::int64_t draw1(std::int64_t generator, std::int64_t distribution, std::int64_t count, std::uint64_t* state,
                   const A* a, std::int64_t a_step, Out* out) {
  const Column columns[] = {{a, a_step}};
  return call<Out, A>(generator, distribution, count, state, columns, out);
}
template <class Out, class A, class B>
std::int64_t draw2(std::int64_t generator, std::int64_t distribution, std::int64_t count, std::uint64_t* state,
                   const A* a, std::int64_t a_step, const B* b, std::int64_t b_step, Out* out) {
  const Column columns[] = {{a, a_step}, {b, b_step}};
  return call<Out, A, B>(generator, distribution, count, state, columns, out);
}
template <class Out, class A, class B, class C>
std::int64_t draw3(std::int64_t generator, std::int64_t distribution, std::int64_t count, std::uint64_t* state,
                   const A* a, std::int64_t a_step, const B* b, std::int64_t b_step, const C* c, std::int64_t c_step,
                   Out* out) {
  const Column columns[] = {{a, a_step}, {b, b_step}, {c, c_step}};
  return call<Out, A, B, C>(generator, distribution, count, state, columns, out);
}

constexpr std::string_view names0 = "generator distribution count inout:state out";
constexpr std::string_view names1 = "generator distribution count inout:state a a_step out";
constexpr std::string_view names2 = "generator distribution count inout:state a a_step b b_step out";
constexpr std::string_view names3 = "generator distribution count inout:state a a_step b b_step c c_step out";

const RegisterFunctions rows{
    sampler_function("bt_random__f", draw_f, names0),
    sampler_function("bt_random_f_f", draw1<Real, Real>, names1),
    sampler_function("bt_random_ff_f", draw2<Real, Real, Real>, names2),
    sampler_function("bt_random_fff_f", draw3<Real, Real, Real, Real>, names3),
    sampler_function("bt_random_f_i", draw1<Int, Real>, names1),
    sampler_function("bt_random_ff_i", draw2<Int, Real, Real>, names2),
    sampler_function("bt_random_if_i", draw2<Int, Int, Real>, names2),
    sampler_function("bt_random_ii_i", draw2<Int, Int, Int>, names2),
    sampler_function("bt_random_iii_i", draw3<Int, Int, Int, Int>, names3),
};

}  // namespace

const std::vector<Distribution>& distributions() {
  static const auto& all = *new std::vector<Distribution>(make_distributions());
  return all;
}

const Distribution* find_distribution(std::string_view name) {
  for (auto& each : distributions())
    if (each.name == name) return &each;
  return nullptr;
}

}  // namespace bitale::runtime::random
