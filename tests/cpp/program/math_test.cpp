// The elementary expansions against the C library's long double functions: special values exactly, and the error in
// units in the last place over the whole range of floats.
#include "program/math/math.hpp"

#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <functional>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "bitale/core/error.hpp"
#include "program/interpret.hpp"
#include "runtime/symbols.hpp"

using namespace bitale;
using namespace bitale::program;

namespace {

constexpr double inf = std::numeric_limits<double>::infinity();

struct Function {
  const char* name;
  Expr (*expand)(Expr);
  long double (*reference)(long double);
  double low, high;  // random points lie here, besides random bit patterns
  double allowed;    // units in the last place
};

long double sigmoid_reference(long double x) { return 1 / (1 + expl(-x)); }
long double softplus_reference(long double x) { return x > 0 ? x + log1pl(expl(-x)) : log1pl(expl(x)); }

const Function functions[] = {
    {"exp", math::exp, expl, -750, 715, 1.0},
    {"exp2", math::exp2, exp2l, -1080, 1030, 1.0},
    {"expm1", math::expm1, expm1l, -50, 715, 2.0},
    {"log", math::log, logl, 0, 20, 1.5},
    {"log2", math::log2, log2l, 0, 20, 2.5},
    {"log10", math::log10, log10l, 0, 20, 2.5},
    {"log1p", math::log1p, log1pl, -1, 20, 1.5},
    {"sigmoid", math::sigmoid, sigmoid_reference, -750, 50, 2.5},
    {"softplus", math::softplus, softplus_reference, -750, 50, 2.5},
    {"tanh", math::tanh, tanhl, -25, 25, 2.5},
    {"sinh", math::sinh, sinhl, -712, 712, 2.5},
    {"cosh", math::cosh, coshl, -712, 712, 2.5},
};

template <class T>
double ulps(T got, long double expected) {
  const T rounded = T(expected);
  if (std::isnan(expected) || std::isnan(got)) return std::isnan(expected) && std::isnan(got) ? 0 : inf;
  if (got == rounded) return 0;  // also equal infinities
  if (std::isinf(got)) {
    // The result may round to infinity a little early: within the last unit below it.
    return std::fabs(expected) > 0.999999L * std::numeric_limits<T>::max() ? 1 : inf;
  }
  int exponent;
  std::frexp(rounded, &exponent);
  const int lowest = std::numeric_limits<T>::min_exponent - std::numeric_limits<T>::digits;
  const long double unit = ldexpl(1, std::max(exponent - std::numeric_limits<T>::digits, lowest));
  return double(std::fabs(got - expected) / unit);
}

template <class T>
std::vector<T> points(const Function& f) {
  using limits = std::numeric_limits<T>;
  std::vector<T> out{T(0),
                     -T(0),
                     T(1),
                     T(-1),
                     limits::infinity(),
                     -limits::infinity(),
                     limits::quiet_NaN(),
                     limits::denorm_min(),
                     -limits::denorm_min(),
                     limits::min(),
                     -limits::min(),
                     limits::max(),
                     -limits::max(),
                     limits::epsilon(),
                     -limits::epsilon(),
                     T(0.5),
                     T(-0.5),
                     T(2),
                     T(10),
                     T(1000),
                     T(0.70710678118654752),
                     T(1.4142135623730951),
                     T(709.782712893384),
                     T(710),
                     T(-745.2),
                     T(-708.5),
                     T(88.72283),
                     T(88.8),
                     T(-103.98),
                     T(-87.4),
                     T(1024),
                     T(-1074),
                     T(-1075),
                     T(127.99),
                     T(128),
                     T(-149),
                     std::nextafter(T(1), T(2)),
                     std::nextafter(T(1), T(0)),
                     std::nextafter(T(-1), T(0)),
                     T(-2)};
  std::mt19937_64 random(1);
  std::uniform_real_distribution<double> inside(f.low, f.high), near(-2, 2), size(-80, 3);
  for (int i = 0; i < 20000; ++i) out.push_back(T(inside(random)));
  for (int i = 0; i < 10000; ++i) out.push_back(T(near(random)));
  for (int i = 0; i < 10000; ++i) out.push_back(T(std::copysign(std::exp2(size(random)), near(random))));
  for (int i = 0; i < 10000; ++i) {
    if constexpr (sizeof(T) == 8)
      out.push_back(std::bit_cast<T>(random()));
    else
      out.push_back(std::bit_cast<T>(std::uint32_t(random())));
  }
  return out;
}

template <class T>
void check(const Function& f) {
  ExprPool pool;
  const Expr x = pool.var(0, dtype_of<T>::value);
  const Interpreter run(f.expand(x), std::span<const Expr>(&x, 1));
  double worst = 0;
  T where = 0;
  for (T point : points<T>(f)) {
    const T got = T(run(double(point)));
    const long double expected = f.reference(point);
    const double error = ulps(got, expected);
    if (error > worst) {
      worst = error;
      where = point;
    }
    if (expected == 0 && !std::isnan(got)) {
      INFO(std::string(f.name) << " of " << double(point));
      REQUIRE(std::signbit(got) == std::signbit(expected));
    }
  }
  INFO(std::string(f.name) << " " << std::string(dtype_name(dtype_of<T>::value)) << ": " << worst << " ulp at "
                           << double(where));
  CHECK(worst <= f.allowed);
}

}  // namespace

TEST_CASE("expansions of elementary functions, float64") {
  for (auto& f : functions) check<double>(f);
}

TEST_CASE("expansions of elementary functions, float32") {
  for (auto& f : functions) check<float>(f);
}

TEST_CASE("expansions are exact where the result is") {
  ExprPool pool;
  const Expr x = pool.var(0, DType::Float64);
  auto value = [&](Expr (*f)(Expr), double at) { return Interpreter(f(x), std::span<const Expr>(&x, 1))(at); };
  for (int k = -1074; k < 1024; ++k) {
    CHECK(value(math::exp2, k) == std::ldexp(1.0, k));
    CHECK(value(math::log2, std::ldexp(1.0, k)) == k);
  }
  CHECK(value(math::log10, 1000) == 3);
  CHECK(value(math::exp, 0) == 1);
  CHECK(value(math::sigmoid, 0) == 0.5);
  CHECK(value(math::tanh, 1000) == 1);
}

TEST_CASE("expansions use no calls") {
  for (auto& f : functions)
    for (DType dtype : {DType::Float32, DType::Float64}) {
      ExprPool pool;
      f.expand(pool.var(0, dtype));
      for (std::uint32_t id = 0; id < pool.size(); ++id) {
        INFO(std::string(f.name));
        CHECK(pool.node(id).code != Code::call);
      }
    }
}

TEST_CASE("the interpreter knows every operation") {
  ExprPool pool;
  const Expr i = pool.var(0, DType::Int64), j = pool.var(1, DType::Int64), x = pool.var(2, DType::Float64);
  const Expr variables[] = {i, j, x};
  auto run = [&](Expr expr, double a, double b = 0, double c = 0) {
    const double values[] = {a, b, c};
    return Interpreter(expr, variables, runtime::find_symbol)(values);
  };
  CHECK(run(i / j, -7, 2) == -3);
  CHECK(run(rem(i, j), -7, 2) == -1);
  CHECK(run((i & j) | (i ^ j), 12, 10) == 14);
  CHECK(run(~i, 5) == -6);
  CHECK(run(i << j, 3, 4) == 48);
  CHECK(run(i >> j, -16, 2) == -4);
  CHECK(run(min(i, j) + max(i, j), 3, 9) == 12);
  CHECK(run(abs(-i), 3) == 3);
  CHECK(run(cast(x, DType::Int8), 0, 0, std::nan("")) == -128);
  CHECK(run(cast(x, DType::Int8), 0, 0, 300) == -128);
  CHECK(run(cast(x, DType::Bool), 0, 0, 0.5) == 1);
  CHECK(run(cast(i, DType::UInt8), -1) == 255);
  CHECK(run(select(i < j, x, 7.0), 1, 2, 0.25) == 0.25);
  CHECK(run(select(i < j, x, 7.0), 2, 1, 0.25) == 7);
  CHECK(run(copysign(floor(x), x) + ceil(x) + trunc(x) + rint(x), 0, 0, 2.5) == 2 + 3 + 2 + 2);
  CHECK(run(fma(x, x, sqrt(x)), 0, 0, 4) == 18);
  CHECK(run(math_call("hypot", {x, x + 1.0}), 0, 0, 3) == 5);
  CHECK(run(rare_math_call("hypot", x < 4, x, {x, x + 1.0}), 0, 0, 3) == 5);
  CHECK(run(rare_math_call("hypot", x < 3, x, {x, x + 1.0}), 0, 0, 3) == 3);
  CHECK(run(cast(bitcast(x, DType::Int64) >> 52, DType::Float64), 0, 0, 1) == 1023);
  CHECK_THROWS_AS(Interpreter(pool.index(0), variables), InternalError);
  CHECK_THROWS_WITH_AS(Interpreter(math_call("hypot", {x, x}), variables), doctest::Contains("no function hypot"),
                       InternalError);
}
