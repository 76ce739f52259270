#include "support/math_reference.hpp"

#include <algorithm>
#include <bit>
#include <boost/math/special_functions/digamma.hpp>
#include <boost/math/special_functions/erf.hpp>
#include <boost/math/special_functions/polygamma.hpp>
#include <boost/math/special_functions/trigamma.hpp>
#include <cfloat>
#include <memory>
#if __has_include(<quadmath.h>) && LDBL_MANT_DIG < 113
#include <quadmath.h>
#define BITALE_QUAD
#endif

#include "bitale/graph/function_graph.hpp"
#include "bitale/ops/ops.hpp"
#include "ops/elementwise/elemwise.hpp"

namespace bitale::test {

namespace {

namespace policies = boost::math::policies;
using Quiet =
    policies::policy<policies::domain_error<policies::ignore_error>, policies::pole_error<policies::ignore_error>,
                     policies::overflow_error<policies::ignore_error>,
                     policies::evaluation_error<policies::ignore_error>, policies::promote_double<false>>;

template <class F>
MathReference unary(std::string_view name, F, double allowed = 2.5, std::span<const double> hard = {},
                    double near_zero = 0, long double (*rough)(long double, long double) = nullptr) {
  return {name,
          [](double x, double) -> double { return F{}(x); },
          [](long double x, long double) -> long double { return F{}(x); },
          allowed,
          hard,
          nullptr,
          false,
          near_zero,
          rough};
}

template <class F>
MathReference binary(std::string_view name, F, double (*partner)(double x, double uniform) = nullptr,
                     bool only_domain = false) {
  return {name,
          [](double x, double y) -> double { return F{}(x, y); },
          [](long double x, long double y) -> long double { return F{}(x, y); },
          2.5,
          {},
          partner,
          only_domain,
          0,
          nullptr};
}

template <class W>
constexpr W infinite = std::numeric_limits<W>::infinity();
template <class W>
constexpr W not_a_number = std::numeric_limits<W>::quiet_NaN();

// ---- formulas that the C library does not have ----------------------------------------

template <class W>
W logit_of(W x) {
  return x > W(0.25) && x < W(0.75) ? std::log1p((2 * x - 1) / (1 - x)) : std::log(x / (1 - x));
}

template <class W>
W sigmoid_of(W x) {
  return x < 0 ? std::exp(x) / (1 + std::exp(x)) : 1 / (1 + std::exp(-x));
}

template <class W>
W softplus_of(W x) {
  return x > 0 ? x + std::log1p(std::exp(-x)) : std::log1p(std::exp(x));
}

template <class W>
W log1mexp_of(W x) {
  return x < W(-0.69314718055994530942L) ? std::log1p(-std::exp(x)) : std::log(-std::expm1(x));
}

template <class W>
W erfcx_of(W x) {
  if (x < -1000) return std::numeric_limits<W>::infinity();
  if (x < 20) {
    const W square = x * x, left_out = std::fma(x, x, -square);
    return std::exp(square) * std::erfc(x) * (1 + left_out);
  }
  const W step = W(-0.5) / (x * x);  // the asymptotic series
  W term = 1, total = 1;
  for (int n = 1; n <= 10; ++n) total += term *= step * (2 * n - 1);
  return W(0.564189583547756286948079451560772586L) / x * total;
}

template <class W>
W erfinv_of(W x) {
  if (!(std::abs(x) <= 1)) return not_a_number<W>;
  return std::abs(x) == 1 ? std::copysign(infinite<W>, x) : x == 0 ? x : boost::math::erf_inv(x, Quiet());
}

template <class W>
W erfcinv_of(W x) {
  if (!(x >= 0 && x <= 2)) return not_a_number<W>;
  return x == 0 ? infinite<W> : x == 2 ? -infinite<W> : boost::math::erfc_inv(x, Quiet());
}

double lgamma_of(double x) {
  int sign = 0;
  return ::lgamma_r(x, &sign);
}
long double lgamma_of(long double x) {
  int sign = 0;
  return ::lgammal_r(x, &sign);
}

template <class W>
bool is_whole(W x) {
  return x == std::floor(x);
}

// Below 0 by the reflection of x minus an integer, which is exact.
template <class W>
W digamma_of(W x) {
  if (x == 0) return std::copysign(infinite<W>, -x);
  if (x == -infinite<W> || (x < 0 && is_whole(x))) return not_a_number<W>;
  if (!std::isfinite(x)) return x;
  if (x > 0) return boost::math::digamma(x, Quiet());
  constexpr auto pi = 3.14159265358979323846264338327950288L;
  const long double y = x;
  return W(boost::math::digamma(1 - y, Quiet()) - pi / std::tan(pi * (y - std::rint(y))));
}

template <class W>
W gamma_of(W x) {
  return x == -infinite<W> ? not_a_number<W> : std::tgamma(x);
}

// A rounding error of x / sqrt 2 is amplified by x^2.
double ndtr_of(double x) { return double(std::erfc(-x * 0.707106781186547524400844362104849039L) / 2); }
long double ndtr_of(long double x) {
#ifdef BITALE_QUAD
  static const __float128 sqrt_half = ::sqrtq(__float128(0.5));
  return static_cast<long double>(::erfcq(-x * sqrt_half) / 2);
#else
  return std::erfc(-x * 0.707106781186547524400844362104849039L) / 2;
#endif
}

// Corrects the rounding error of x / sqrt 2 by the derivative.
long double rough_ndtr(long double x) {
  constexpr long double sqrt_half = 0.707106781186547524400844362104849039L, rest = 1.89503255889325707966e-20L;
  const long double a = -x * sqrt_half, lost = std::fma(-x, sqrt_half, -a) - x * rest;
  return (std::erfc(a) - 1.128379167095512573896158903121545172L * std::exp(-a * a) * lost) / 2;
}

template <class W, class F>
W log_of_normal(W x, F normal) {
  if (x >= 0) return std::log1p(-normal(-x));
  constexpr auto sqrt_half = W(0.707106781186547524400844362104849039L);
  if (x > -1) return std::log(normal(x));
  return x < W(-1e100) ? -(x / 2 * x) : std::log(erfcx_of(-x * sqrt_half) / 2) - x * x / 2;
}

template <class W>
W log_ndtr_of(W x) {
  return log_of_normal(x, [](W t) { return ndtr_of(t); });
}

template <class W>
W trigamma_of(W x) {
  if (x == -infinite<W>) return not_a_number<W>;
  if (x <= 0 && is_whole(x)) return infinite<W>;
  return x == infinite<W> ? 0 : std::isnan(x) ? x : boost::math::trigamma(x, Quiet());
}

// The x87 routines lose digits where a large argument is nearly a multiple of pi/2.
#ifdef BITALE_QUAD
#define TRIGONOMETRIC(function)                                                              \
  double function##_of(double x) { return std::function(x); }                                \
  long double function##_of(long double x) {                                                 \
    return std::fabs(x) < 1 ? std::function(x) : static_cast<long double>(::function##q(x)); \
  }
#else
#define TRIGONOMETRIC(function) \
  template <class W>            \
  W function##_of(W x) {        \
    return std::function(x);    \
  }
#endif
TRIGONOMETRIC(sin)
TRIGONOMETRIC(cos)
TRIGONOMETRIC(tan)
#undef TRIGONOMETRIC

// ---- difficult points ----------------------------------------

// Doubles that lie nearest to multiples of pi/2 (Muller, "Elementary Functions", section 11.3, by continued
// fractions), and floats.
constexpr double near_multiples_of_half_pi[] = {0x1.6ac5b262ca1ffp+849,
                                                3483.246826171875,  // the second: worst of all float32
                                                0x1.921fb54442d18p+0,
                                                0x1.921fb54442d18p+1,
                                                0x1.2d97c7f3321d2p+2,
                                                0x1.6a09e667f3bcdp+30,
                                                0x1.8p+52,
                                                0x1.fffffffffffffp+1023,
                                                0x1p+1023,
                                                0x1.921fb6p+0,
                                                0x1.921fb6p+1,
                                                0x1.2d97c8p+2,
                                                16367173.0 * 0x1p+72,
                                                0x1.f55cacp+6,
                                                0x1.5f67ecp+21,
                                                25735.9266};

// The worst arguments that searches of all float32 and of many float64 values found.
constexpr double worst_of_normal[] = {0.81034916639328003, -9.3814697265625, 0.78096778607006456,
                                      4.6970686516221341e-08},
                 worst_of_tanh[] = {0.062353584915399551}, worst_of_trigamma[] = {2.4828929386767307};

const MathReference references[] = {
    unary("arccos", [](auto x) { return std::acos(x); }),
    unary("arccosh", [](auto x) { return std::acosh(x); }),
    unary("arcsin", [](auto x) { return std::asin(x); }),
    unary("arcsinh", [](auto x) { return std::asinh(x); }),
    unary("arctan", [](auto x) { return std::atan(x); }),
    binary("hypot", [](auto x, auto y) { return std::hypot(x, y); }),
    binary("xlogy", [](auto x, auto y) { return x == 0 && y == y ? x - x : x * std::log(y); }),
    binary("xlog1py", [](auto x, auto y) { return x == 0 && y == y ? x - x : x * std::log1p(y); }),
    binary("arctan2", [](auto x, auto y) { return std::atan2(x, y); }),
    unary("arctanh", [](auto x) { return std::atanh(x); }),
    unary("cbrt", [](auto x) { return std::cbrt(x); }),
    unary(
        "cos", [](auto x) { return cos_of(x); }, 2.5, near_multiples_of_half_pi, 0,
        [](long double x, long double) { return std::cos(x); }),
    unary("cosh", [](auto x) { return std::cosh(x); }),
    unary("erf", [](auto x) { return std::erf(x); }),
    unary("erfc", [](auto x) { return std::erfc(x); }),
    unary("erfcinv", [](auto x) { return erfcinv_of(x); }),
    unary("erfcx", [](auto x) { return erfcx_of(x); }),
    unary("erfinv", [](auto x) { return erfinv_of(x); }),
    unary(
        "exp", [](auto x) { return std::exp(x); }, 1),
    unary("exp2", [](auto x) { return std::exp2(x); }),
    unary("expm1", [](auto x) { return std::expm1(x); }),
    unary("gamma", [](auto x) { return gamma_of(x); }),
    unary(
        "gammaln", [](auto x) { return lgamma_of(x); }, 3),
    unary(
        "log", [](auto x) { return std::log(x); }, 1),
    unary("log10", [](auto x) { return std::log10(x); }),
    unary("log1mexp", [](auto x) { return log1mexp_of(x); }),
    unary("log1p", [](auto x) { return std::log1p(x); }),
    unary("logit", [](auto x) { return logit_of(x); }),
    unary("log2", [](auto x) { return std::log2(x); }),
    unary(
        "log_ndtr", [](auto x) { return log_ndtr_of(x); }, 2.5, worst_of_normal, 0,
        [](long double x, long double) { return log_of_normal(x, rough_ndtr); }),
    unary(
        "ndtr", [](auto x) { return ndtr_of(x); }, 2.5, worst_of_normal, 0,
        [](long double x, long double) { return rough_ndtr(x); }),
    binary(
        "polygamma", [](auto n, auto x) { return boost::math::polygamma(int(n), x, Quiet()); }, nullptr, true),
    binary(
        "pow", [](auto x, auto y) { return std::pow(x, y); },
        // Exponents for which the power lies anywhere in the range of doubles.
        [](double x, double uniform) { return uniform * 1490 / std::log(std::fabs(x)); }),
    unary(
        "psi", [](auto x) { return digamma_of(x); }, 2.5, {}, 0x1p-6),
    unary("sigmoid", [](auto x) { return sigmoid_of(x); }),
    unary(
        "sin", [](auto x) { return sin_of(x); }, 2.5, near_multiples_of_half_pi, 0,
        [](long double x, long double) { return std::sin(x); }),
    unary("sinh", [](auto x) { return std::sinh(x); }),
    unary("softplus", [](auto x) { return softplus_of(x); }),
    unary(
        "tan", [](auto x) { return tan_of(x); }, 2.5, near_multiples_of_half_pi, 0,
        [](long double x, long double) { return std::tan(x); }),
    unary(
        "tanh", [](auto x) { return std::tanh(x); }, 2.5, worst_of_tanh),
    unary(
        "tri_gamma", [](auto x) { return trigamma_of(x); }, 2.5, worst_of_trigamma),
};

// Arithmetic, comparisons, selections and roundings: at most one rounding error, and separate tests.
constexpr std::string_view plain[] = {"abs",     "add",  "clip", "conj", "copysign",  "imag",   "int_div",    "maximum",
                                      "minimum", "mod",  "mul",  "neg",  "nextafter", "real",   "reciprocal", "round",
                                      "second",  "sign", "sqr",  "sqrt", "sub",       "switch", "true_div"};

// One call of the runtime for each element: compared with SciPy and mpmath in tests/python/tensor/test_elementwise.py;
// draws are tested by their distributions in tests/python/tensor/random/test_random_stream.py.
constexpr std::string_view called[] = {"betainc",
                                       "betainc_density",
                                       "betainc_derivative",
                                       "betainc_derivative_by_b",
                                       "betaincinv",
                                       "gammainc",
                                       "gammaincc",
                                       "gammaincinv",
                                       "gammainc_density",
                                       "gammainc_derivative",
                                       "gammainccinv",
                                       "hyp2f1",
                                       "hyp2f1_derivative",
                                       "hyp2f1_derivative_by_c",
                                       "i0",
                                       "i1",
                                       "iv",
                                       "ive",
                                       "ive_derivative",
                                       "j0",
                                       "j1",
                                       "jv",
                                       "kv",
                                       "kve",
                                       "kve_derivative",
                                       "ndtri_exp",
                                       "owens_t",
                                       "random_gamma",
                                       "random_log_gamma",
                                       "random_normal",
                                       "random_vonmises"};

bool is_plain(const ScalarOp& op) {
  return std::ranges::find(called, op.name) != std::end(called) || op.has(comparison) || op.has(discrete_output) ||
         std::ranges::find(plain, op.name) != std::end(plain);
}

}  // namespace

std::span<const MathReference> math_references() { return references; }

const MathReference* math_reference(std::string_view name) {
  const auto found = std::ranges::find(references, name, &MathReference::name);
  return found == std::end(references) ? nullptr : found;
}

std::vector<const ScalarOp*> mathematical_ops() {
  std::vector<const ScalarOp*> out;
  for (auto* op : scalar_ops())
    if (op->loops.run[std::size_t(DType::Float64)] && op->loops.out[std::size_t(DType::Float64)] == DType::Float64 &&
        !op->name.starts_with("cast") && !is_plain(*op))
      out.push_back(op);
  return out;
}

CompiledMath::CompiledMath(const ScalarOp& op, DType dtype) {
  Variables inputs;
  for (int i = 0; i < op.arity; ++i) inputs.push_back(vector({}, dtype));
  const auto graph = std::make_shared<FunctionGraph>(inputs, Variables{apply_elemwise(op.name, inputs)});
  code_ = link::link("jit", graph);
}

Array CompiledMath::operator()(std::span<const Array> inputs) const { return code_->run(inputs)[0]; }

template <class T>
MathPoints<T>::MathPoints(const ScalarOp& op, const MathReference& reference, std::uint64_t seed)
    : op_(op), reference_(reference), random_(seed) {
  using Limits = std::numeric_limits<T>;
  for (double edge : op.edges) points_.push_back(T(edge));
  for (double x : reference.hard) points_.push_back(T(x));
  for (T x : {T(0), T(1), T(2), T(0.5), T(0.70710678118654752L), Limits::min(), Limits::denorm_min(), Limits::max(),
              Limits::epsilon(), Limits::infinity(), Limits::quiet_NaN(), T(710), T(88.72284), T(745.13), T(103.97)})
    points_.insert(points_.end(), {x, -x});
}

template <class T>
double MathPoints<T>::uniform(double low, double high) {
  return std::uniform_real_distribution<double>(low, high)(random_);
}

template <class T>
T MathPoints<T>::first() {
  using Bits = std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>;
  if (next_point_ < points_.size()) return points_[next_point_++];
  const Interval domain = op_.domain[0];
  switch (random_() % 8) {
    case 0:
    case 1: return T(uniform(domain.low, domain.high));
    case 2: return T(uniform(-2, 2));
    case 3: return T(uniform(-750, 750));
    case 4: return T(std::copysign(std::exp2(uniform(-80, 3)), uniform(-1, 1)));
    case 5: return T(std::nearbyint(std::exp2(uniform(0, 20))) * 0.78539816339744830962L);  // near zeros of sin, cos
    case 6: {  // next to a difficult point, or at any relative distance from it
      const T point = points_[random_() % points_.size()];
      if (random_() % 2) return std::bit_cast<T>(Bits(std::bit_cast<Bits>(point) + random_() % 17 - 8));
      return T(point * (1 + std::copysign(std::exp2(uniform(-60, -1)), uniform(-1, 1))));
    }
    default: return std::bit_cast<T>(Bits(random_()));
  }
}

// The C library gives pow(1, nan) = 1 only for quiet nans.
template <class T>
static T quiet(T x) {
  return std::isnan(x) ? std::numeric_limits<T>::quiet_NaN() : x;
}

template <class T>
void MathPoints<T>::next(std::span<T> point) {
  if (reference_.only_domain) {
    for (std::size_t i = 0; i < point.size(); ++i) point[i] = T(uniform(op_.domain[i].low, op_.domain[i].high));
    return;
  }
  point[0] = first();
  if (point.size() == 1) return;
  if (reference_.partner && random_() % 2)
    point[1] = T(reference_.partner(double(point[0]), uniform(-1, 1)));
  else
    point[1] = random_() % 4 ? first() : T(uniform(op_.domain[1].low, op_.domain[1].high));
  for (T& x : point) x = quiet(x);
}

template class MathPoints<float>;
template class MathPoints<double>;

}  // namespace bitale::test
