// The elementary expansions, interpreted: special values, exact results, huge angles. Their error over the whole range
// of floats is tested compiled (link/math_accuracy_test.cpp).
#include "program/math/math.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <string>

#include "bitale/core/error.hpp"
#include "bitale/runtime/functions.hpp"
#include "program/interpret.hpp"
#include "program/math/core.hpp"
#include "program/math/exp.hpp"
#include "program/math/scale.hpp"
#include "program/math/split.hpp"

using namespace bitale;
using namespace bitale::program;

namespace {

constexpr double inf = std::numeric_limits<double>::infinity(), pi = 3.141592653589793;

using Unary = Expr (*)(Expr);
struct Function {
  const char* name;
  Unary expand;
};
const Function functions[] = {
    {"exp", math::exp},       {"exp2", math::exp2},         {"expm1", math::expm1}, {"log", math::log},
    {"log2", math::log2},     {"log10", math::log10},       {"log1p", math::log1p}, {"sigmoid", math::sigmoid},
    {"tanh", math::tanh},     {"softplus", math::softplus}, {"sinh", math::sinh},   {"cosh", math::cosh},
    {"sin", math::sin},       {"cos", math::cos},           {"tan", math::tan},     {"asin", math::asin},
    {"acos", math::acos},     {"atan", math::atan},         {"asinh", math::asinh}, {"acosh", math::acosh},
    {"atanh", math::atanh},   {"cbrt", math::cbrt},         {"erf", math::erf},     {"erfc", math::erfc},
    {"erfinv", math::erfinv}, {"erfcinv", math::erfcinv},   {"ndtr", math::ndtr},   {"log_ndtr", math::log_ndtr},
};

double value(Unary f, double at, DType dtype = DType::Float64) {
  ExprPool pool;
  const Expr x = pool.var(0, dtype);
  return Interpreter(f(x), std::span<const Expr>(&x, 1), runtime::find_symbol)(at);
}

double binary(Expr (*f)(Expr, Expr), double y, double x, DType dtype) {
  ExprPool pool;
  const Expr variables[] = {pool.var(0, dtype), pool.var(1, dtype)};
  const double values[] = {y, x};
  return Interpreter(f(variables[0], variables[1]), variables, runtime::find_symbol)(values);
}

double angle(double y, double x, DType dtype) { return binary(math::atan2, y, x, dtype); }

bool same(double a, double b) { return a == b ? std::signbit(a) == std::signbit(b) : std::isnan(a) && std::isnan(b); }

}  // namespace

TEST_CASE("expansions at special values") {
  struct Row {
    const char* name;
    Unary f;
    double at, expected;
  };
  const double nan = std::nan("");
  const Row rows[] = {
      {"exp", math::exp, -inf, 0},
      {"exp", math::exp, inf, inf},
      {"exp", math::exp, -0.0, 1},
      {"log", math::log, -0.0, -inf},
      {"log", math::log, inf, inf},
      {"log", math::log, -1, nan},
      {"log1p", math::log1p, -1, -inf},
      {"log1p", math::log1p, -2, nan},
      {"log1p", math::log1p, -0.0, -0.0},
      {"expm1", math::expm1, -inf, -1},
      {"expm1", math::expm1, -0.0, -0.0},
      {"tanh", math::tanh, -inf, -1},
      {"sin", math::sin, -0.0, -0.0},
      {"sin", math::sin, inf, nan},
      {"sin", math::sin, 0, 0},
      {"cos", math::cos, -0.0, 1},
      {"cos", math::cos, -inf, nan},
      {"tan", math::tan, -0.0, -0.0},
      {"tan", math::tan, 0, 0},
      {"tan", math::tan, inf, nan},
      {"asin", math::asin, -0.0, -0.0},
      {"asin", math::asin, 1.5, nan},
      {"acos", math::acos, 1, 0},
      {"acos", math::acos, -1.5, nan},
      {"atan", math::atan, -0.0, -0.0},
      {"sinh", math::sinh, -inf, -inf},
      {"cosh", math::cosh, -inf, inf},
      {"asinh", math::asinh, -0.0, -0.0},
      {"asinh", math::asinh, -inf, -inf},
      {"acosh", math::acosh, 1, 0},
      {"acosh", math::acosh, 0.5, nan},
      {"acosh", math::acosh, -inf, nan},
      {"acosh", math::acosh, inf, inf},
      {"atanh", math::atanh, -1, -inf},
      {"atanh", math::atanh, 1.5, nan},
      {"atanh", math::atanh, -0.0, -0.0},
      {"sigmoid", math::sigmoid, -inf, 0},
      {"softplus", math::softplus, inf, inf},
      {"cbrt", math::cbrt, -0.0, -0.0},
      {"cbrt", math::cbrt, -inf, -inf},
      {"cbrt", math::cbrt, -8, -2},
      {"erfinv", math::erfinv, -0.0, -0.0},
      {"erfinv", math::erfinv, -1, -inf},
      {"erfinv", math::erfinv, 1.5, nan},
      {"erfcinv", math::erfcinv, -0.0, inf},
      {"erfcinv", math::erfcinv, 1, 0},
      {"erfcinv", math::erfcinv, 2, -inf},
      {"erfcinv", math::erfcinv, inf, nan},
      {"ndtr", math::ndtr, -inf, 0},
      {"ndtr", math::ndtr, -0.0, 0.5},
      {"ndtr", math::ndtr, inf, 1},
      {"log_ndtr", math::log_ndtr, inf, -0.0},
      {"log_ndtr", math::log_ndtr, -inf, -inf},
      {"gamma", math::gamma, -0.0, -inf},
      {"gamma", math::gamma, -1, nan},
      {"gamma", math::gamma, inf, inf},
      {"gamma", math::gamma, -inf, nan},
  };
  for (auto& row : rows)
    for (DType dtype : {DType::Float32, DType::Float64}) {
      const double got = value(row.f, row.at, dtype);
      INFO(std::string(row.name) << " of " << row.at << " is " << got);
      CHECK(same(got, row.expected));
    }
  for (auto& f : functions) CHECK_MESSAGE(std::isnan(value(f.expand, nan)), std::string(f.name));
}

TEST_CASE("atan2 in every direction") {
  for (DType dtype : {DType::Float32, DType::Float64}) {
    const auto rounded = [&](double x) { return dtype == DType::Float32 ? double(float(x)) : x; };
    const double directions[] = {0.0, -0.0, 1, -1, inf, -inf, 1e-40, -1e30};
    for (double y : directions)
      for (double x : directions) {
        INFO(y << ", " << x);
        const double expected = rounded(std::atan2(rounded(y), rounded(x)));
        CHECK(angle(y, x, dtype) == doctest::Approx(expected).epsilon(1e-7));
        CHECK(std::signbit(angle(y, x, dtype)) == std::signbit(expected));
      }
    CHECK(angle(1, 1, dtype) == rounded(pi / 4));
    CHECK(angle(0.0, -1, dtype) == rounded(pi));
    CHECK(std::isnan(angle(std::nan(""), 1, dtype)));
    CHECK(std::isnan(angle(1, std::nan(""), dtype)));
  }
}

TEST_CASE("a power whose exponent lies next to a multiple of log 2") {
  const double power = binary(math::pow, 0.70710678118654702, -2006.6537645066392, DType::Float64);
  CHECK(std::fabs(power / 1.0751944508013081802e+302 - 1) < 3e-16);
}

TEST_CASE("trigonometric functions of huge angles") {
  // Expected values were computed with 2,000 bits.
  CHECK(value(math::cos, 0x1.6ac5b262ca1ffp+849) == doctest::Approx(-4.6871659242546276e-19).epsilon(1e-15));
  CHECK(value(math::sin, 0x1.6ac5b262ca1ffp+849) == 1);
  CHECK(value(math::tan, 0x1.6ac5b262ca1ffp+849) == doctest::Approx(-2.1334853857537038e+18).epsilon(1e-15));
  CHECK(value(math::sin, 1e22) == doctest::Approx(-0.8522008497671888).epsilon(1e-15));
  CHECK(value(math::sin, -1e22) == doctest::Approx(0.8522008497671888).epsilon(1e-15));
  CHECK(value(math::cos, 1e300) == doctest::Approx(-0.57538611195754905).epsilon(1e-15));
}

TEST_CASE("expansions are exact where the result is representable") {
  for (int k = -1074; k < 1024; ++k) {
    CHECK(value(math::exp2, k) == std::ldexp(1.0, k));
    CHECK(value(math::log2, std::ldexp(1.0, k)) == k);
  }
  CHECK(value(math::log10, 1000) == 3);
  CHECK(value(math::exp, 0) == 1);
  CHECK(value(math::sigmoid, 0) == 0.5);
  CHECK(value(math::tanh, 1000) == 1);
  CHECK(value(math::asin, 1) == pi / 2);
  CHECK(value(math::acos, 0) == pi / 2);
  CHECK(value(math::acos, -1) == pi);
  CHECK(value(math::atan, 1) == pi / 4);
  CHECK(value(math::atan, inf) == pi / 2);
}

TEST_CASE("multiplying by a power of two rounds once, and is recognised") {
  for (DType dtype : {DType::Float32, DType::Float64}) {
    ExprPool pool;
    const Expr variables[] = {pool.var(0, dtype), pool.var(1, dtype)};
    const Expr product = math::scale(variables[0], variables[1]);
    const auto parts = math::as_scaled(product);
    REQUIRE(parts.has_value());
    CHECK(parts->value == variables[0]);
    CHECK(parts->n == variables[1]);
    CHECK(!math::as_scaled(variables[0] * variables[1]).has_value());
    CHECK(math::as_scaled(add_contracted(product, variables[0]).argument(0)).has_value());
    CHECK(!math::as_scaled(product.argument(0)).has_value());
    CHECK(!math::as_scaled((product.argument(0) + 1.0) * product.argument(1)).has_value());
    const Interpreter interpreter(product, variables);
    const int most = dtype == DType::Float64 ? 1100 : 155;
    for (int n = -most; n <= most; ++n)
      for (double x : {1.0, 1.5, -0.0078125, 1.9999998807907104, 0.10000000149011612}) {
        const double values[] = {x, double(n)};
        const double expected = dtype == DType::Float64 ? std::ldexp(x, n) : std::ldexp(float(x), n);
        CHECK(same(interpreter(values), expected));
      }
  }
}

TEST_CASE("exp is recognized with and without its upper bound") {
  for (DType dtype : {DType::Float32, DType::Float64}) {
    ExprPool pool;
    const Expr x = pool.var(0, dtype), bounded = min(pool.number(710, dtype), x);
    const auto full = math::as_exp(math::exp(x)), negative = math::as_exp(math::exp_of_negative(x));
    REQUIRE(full.has_value());
    REQUIRE(negative.has_value());
    CHECK(full->x == x);
    CHECK(!full->is_negative);
    CHECK(negative->x == x);
    CHECK(negative->is_negative);
    CHECK(full->normal == negative->normal);
    const Expr variables[] = {x};
    const Interpreter with_bounds(math::exp(x), variables), without(full->normal, variables);
    for (double value = -full->normal_up_to; value <= full->normal_up_to; value += 0.25) {
      const double values[] = {value};
      CHECK(with_bounds(values) == without(values));
    }
    CHECK(math::as_exp(math::exp_of_negative(bounded))->x == (dtype == DType::Float64 ? x : bounded));
    CHECK(!math::as_exp(math::exp2(x)).has_value());
    CHECK(!math::as_exp(math::half_exp(x)).has_value());
    CHECK(!math::as_exp(math::scale(x, x)).has_value());
  }
}

TEST_CASE("splits into m 2^k and limits of a logarithm are recognized") {
  for (DType dtype : {DType::Float32, DType::Float64}) {
    ExprPool pool;
    const Expr x = pool.var(0, dtype), other = pool.var(1, dtype);
    for (const math::Split& parts : {math::split(x), math::split_normal(x)}) {
      CHECK((math::as_split_m(parts.m) == x));
      CHECK((math::as_split_k(parts.k) == x));
      CHECK(!math::as_split_m(parts.k).has_value());
      CHECK(!math::as_split_k(parts.m).has_value());
      CHECK(!math::as_split_k(parts.k + 1.0).has_value());
      CHECK(!math::as_split_m(parts.m.argument(0)).has_value());
    }
    const auto limits = math::as_log_limits(math::with_log_limits(x, other));
    REQUIRE(limits.has_value());
    CHECK((limits->x == x));
    CHECK((limits->value == other));
    CHECK(!math::as_log_limits(select(x > 0, other, x)).has_value());
    CHECK(!math::as_split_k(select(x < 1.0, x - 1.0, x)).has_value());

    const auto [m, k] = math::split(x);
    const Interpreter m_of(m, std::span<const Expr>(&x, 1)), k_of(k, std::span<const Expr>(&x, 1));
    const double least = dtype == DType::Float64 ? 0x1p-1074 : 0x1p-149;
    for (double at : {1.0, 0.75, 1.5, 0.7499, 1.25, 3.5, least, 5 * least, 1.75e4, least * 0x1p60 * 1.5}) {
      const double value = dtype == DType::Float64 ? at : double(float(at)), got = m_of(value);
      INFO(value);
      CHECK(got >= 0.75);
      CHECK(got < 1.5);
      CHECK(std::ldexp(got, int(k_of(value))) == value);
    }
  }
}

TEST_CASE("elements of small tables are read at positions modulo their length") {
  for (DType dtype : {DType::Float32, DType::Float64}) {
    ExprPool pool;
    const Expr at = pool.var(0, dtype == DType::Float64 ? DType::UInt64 : DType::UInt32);
    const double table[] = {2.5, -1, 0, 1e10};
    const Interpreter read(lookup(at, table, dtype), std::span<const Expr>(&at, 1));
    for (int i = 0; i < 9; ++i) CHECK(read(i) == table[i % 4]);
    CHECK_THROWS_AS(lookup(at, std::span(table, 3), dtype), InternalError);
    CHECK_THROWS_AS(lookup(pool.var(1, dtype), table, dtype), InternalError);
  }
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

TEST_CASE("the interpreter supports every operation") {
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
  // What does not fit is the smallest int32 or int64, of which narrower integers are the low bits, as in compiled code.
  CHECK(run(cast(x, DType::Int32), 0, 0, std::nan("")) == -2147483648.0);
  CHECK(run(cast(x, DType::Int8), 0, 0, std::nan("")) == 0);
  CHECK(run(cast(x, DType::Int8), 0, 0, 300) == 44);
  CHECK(run(cast(x, DType::Int8), 0, 0, -128) == -128);
  CHECK(run(cast(x, DType::Bool), 0, 0, 0.5) == 1);
  CHECK(run(cast(i, DType::UInt8), -1) == 255);
  CHECK(run(select(i < j, x, 7.0), 1, 2, 0.25) == 0.25);
  CHECK(run(select(i < j, x, 7.0), 2, 1, 0.25) == 7);
  CHECK(run(copysign(floor(x), x) + ceil(x) + trunc(x) + rint(x), 0, 0, 2.5) == 2 + 3 + 2 + 2);
  CHECK(run(fma(x, x, sqrt(x)), 0, 0, 4) == 18);
  CHECK(run(math_call("fmod", {x + 4.0, x}), 0, 0, 3) == 1);
  CHECK(run(rare_math_call("fmod", x < 4, x, {x + 4.0, x}), 0, 0, 3) == 1);
  CHECK(run(rare_math_call("fmod", x < 3, x, {x + 4.0, x}), 0, 0, 3) == 3);
  CHECK(run(cast(bitcast(x, DType::Int64) >> 52, DType::Float64), 0, 0, 1) == 1023);
  CHECK_THROWS_AS(Interpreter(pool.index(0), variables), InternalError);
  CHECK_THROWS_WITH_AS(Interpreter(math_call("fmod", {x, x}), variables), doctest::Contains("no function fmod"),
                       InternalError);
}
