// Records of scalar ops: the native expansion compared with the reference loop for every record and dtype, dtype rules,
// and error-prone values.
#include "ops/elementwise/scalar_op.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "bitale/core/config.hpp"
#include "bitale/core/error.hpp"
#include "bitale/core/text.hpp"
#include "bitale/ops/ops.hpp"
#include "bitale/runtime/functions.hpp"
#include "graph/evaluate.hpp"
#include "ops/elementwise/elemwise.hpp"
#include "program/interpret.hpp"

using namespace bitale;
using enum DType;

namespace {

constexpr double inf = std::numeric_limits<double>::infinity();
const double no_number = std::nan("");

// Test values for a dtype: those of the record and the extremes of the type.
std::vector<double> values_for(const ScalarOp& op, DType dtype, std::size_t input) {
  if (dtype == Bool) return {0, 1};
  std::vector<double> out;
  if (is_float(dtype)) {
    out = op.edges;
    std::mt19937 random(unsigned(input) + 1);
    std::uniform_real_distribution<double> inside(op.domain[input].low, op.domain[input].high), wide(-50, 50);
    for (int i = 0; i < (op.arity == 1 ? 300 : 12); ++i) {
      out.push_back(inside(random));
      out.push_back(wide(random));
    }
    return out;
  }
  out = {0, 1, 2, 3, 5, 7, 13, 100};
  if (is_signed_int(dtype)) out.insert(out.end(), {-1, -2, -3, -5, -7, -13, -100});
  visit_dtype(dtype, [&]<class T>() {
    // For the widest types, the extremes that a double can represent.
    out.push_back(double(std::numeric_limits<T>::min()));
    out.push_back(std::ldexp(1.0, std::min(std::numeric_limits<T>::digits, 53)) - 1);
  });
  return out;
}

// One element through the reference loop.
double by_loop(const ScalarOp& op, DType compute, const std::vector<double>& values) {
  const auto slot = std::size_t(compute);
  std::vector<std::int64_t> cells(values.size());
  std::vector<const char*> in;
  std::vector<std::int64_t> strides(values.size(), 0);
  for (std::size_t i = 0; i < values.size(); ++i) {
    cells[i] = program::to_bits(values[i], op.input_dtype(int(i), compute));
    in.push_back(reinterpret_cast<const char*>(&cells[i]));
  }
  std::int64_t out = 0;
  op.loops.run[slot](1, in.data(), strides.data(), reinterpret_cast<char*>(&out), 0);
  const DType result = op.loops.out[slot];
  const Array value = Array::from(&out, result, {});
  return value.item();
}

// `scale` is the magnitude of the terms that add up to b.
bool agree(double a, double b, DType dtype, double scale = 0) {
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b);
  if (a == b) return true;
  if (!is_float(dtype)) return false;
  const double epsilon = dtype == Float32 ? 1.2e-7 : 2.3e-16, smallest = dtype == Float32 ? 1.5e-45 : 5e-324;
  return std::fabs(a - b) <= 6 * epsilon * (std::fabs(b) + scale) + 4 * smallest;
}

void check_expansion(const ScalarOp& op, DType compute) {
  program::ExprPool pool;
  std::vector<program::Expr> variables;
  for (int i = 0; i < op.arity; ++i) variables.push_back(pool.var(i, op.input_dtype(i, compute)));
  const program::Expr expanded = op.expand(variables, compute);
  const DType out = op.loops.out[std::size_t(compute)];
  REQUIRE(expanded.dtype() == out);
  const program::Interpreter run(expanded, variables, runtime::find_symbol);
  std::vector<std::vector<double>> choices;
  std::size_t count = 1;
  for (int i = 0; i < op.arity; ++i) {
    choices.push_back(values_for(op, op.input_dtype(i, compute), std::size_t(i)));
    if (op.arity > 3) choices.back().resize(std::min(choices.back().size(), std::size_t(4)));
    count *= choices.back().size();
  }
  int failures = 0;
  for (std::size_t k = 0; k < count; ++k) {
    std::vector<double> values;
    std::size_t rest = k;
    for (auto& choice : choices) {
      const double value = choice[rest % choice.size()];
      values.push_back(compute == Float32 ? double(float(value)) : value);
      rest /= choice.size();
    }
    const double expected = by_loop(op, compute, values), got = run(values);
    const double scale = op.name == "random_vonmises" ? std::fabs(values[1]) + 4 : 0;  // a wrapped sum of angles
    if (agree(got, expected, out, scale) || ++failures > 3) continue;
    std::string at;
    for (double value : values) at += " " + number_text(value);
    INFO(cat(op.name, " ", dtype_name(compute), " of", at, ": ", got, " instead of ", expected));
    CHECK(false);
  }
}

DType result_dtype(std::string_view name, const std::vector<DType>& dtypes) {
  Variables inputs;
  for (DType dtype : dtypes) inputs.push_back(vector("v", dtype));
  return elemwise(name)->make_node(inputs).output().dtype();
}

double value(const Variable& v) { return evaluate(v).item(); }
Variable number(double x) { return constant(Array(x)); }
Variable integer(std::int64_t x) { return constant(Array(x)); }

}  // namespace

TEST_CASE("records are complete") {
  CHECK(scalar_ops().size() >= 60);
  for (const ScalarOp* op : scalar_ops()) {
    INFO(std::string(op->name));
    CHECK(!op->doc.empty());
    CHECK(!op->title.empty());
    CHECK(!op->symbol.empty());
    CHECK_FALSE(!op->dtypes);
    if (op->name.starts_with("cast_complex")) {
      CHECK(op->complex);
      continue;
    }
    CHECK_FALSE(!op->expand);
    CHECK(op->domain.size() == std::size_t(op->arity));
    CHECK(&scalar_op(op->name) == op);
    bool has_loop = false;
    for (DType dtype : real_dtypes()) {
      const std::vector<DType> in(std::size_t(op->arity), dtype);
      ScalarTypes types;
      try {
        types = op->dtypes(in);
      } catch (const TypeError&) {
        continue;
      }
      has_loop = true;
      const bool has_own = op->loops.run[std::size_t(types.compute)];
      CHECK((has_own || op->loops.run[std::size_t(computing_dtype(types.compute))]));
      // Every op with a float result has derivatives.
      if (is_float(types.out)) CHECK(op->partials.size() == std::size_t(op->arity));
    }
    CHECK(has_loop);
  }
  CHECK_THROWS_WITH_AS(scalar_op("sqroot"), doctest::Contains("did you mean \"sqrt\""), KeyError);
}

TEST_CASE("expansions agree with the reference loops") {
  for (const ScalarOp* op : scalar_ops())
    for (DType dtype : real_dtypes())
      if (op->loops.run[std::size_t(dtype)]) check_expansion(*op, dtype);
}

TEST_CASE("traits hold") {
  const double points[] = {-2.5, -1.0, -0.3, 0.4, 1.0, 1.7, 3.0};
  for (const ScalarOp* op : scalar_ops()) {
    if (!op->loops.run[std::size_t(Float64)]) continue;
    INFO(std::string(op->name));
    auto f = [&](double x) { return by_loop(*op, Float64, {x}); };
    auto g = [&](double x, double y) { return by_loop(*op, Float64, {x, y}); };
    auto same = [](double a, double b) {
      if (std::isnan(a) || std::isnan(b)) return std::isnan(a) == std::isnan(b);
      return a == b || std::fabs(a - b) <= 1e-12 * std::fabs(b);
    };
    if (op->arity == 1 && op->has(keeps_zero)) CHECK(f(0) == 0);
    for (double x : points) {
      if (op->arity == 1) {
        if (op->has(odd)) CHECK(same(f(-x), -f(x)));
        if (op->has(even)) CHECK(same(f(-x), f(x)));
        if (op->has(idempotent)) CHECK(same(f(f(x)), f(x)));
        if (op->has(involution)) CHECK(same(f(f(x)), x));
        for (double y : points) {
          if (op->has(increasing) && x < y && !std::isnan(f(x)) && !std::isnan(f(y))) CHECK(f(x) <= f(y));
          if (op->has(decreasing) && x < y && !std::isnan(f(x)) && !std::isnan(f(y))) CHECK(f(x) >= f(y));
        }
      }
      if (op->arity == 2) {
        if (op->has(idempotent)) CHECK(same(g(x, x), x));
        if (op->has_identity) CHECK(same(g(x, op->identity), x));
        for (double y : points) {
          if (op->has(commutative)) CHECK(same(g(x, y), g(y, x)));
          if (op->has(associative)) CHECK(same(g(g(x, y), 1.7), g(x, g(y, 1.7))));
        }
      }
    }
  }
}

TEST_CASE("dtype rules are PyTensor's") {
  CHECK(result_dtype("add", {Int8, Int32}) == Int32);
  CHECK(result_dtype("add", {Int64, Float32}) == Float64);
  CHECK(result_dtype("add", {Int16, Float32}) == Float32);
  CHECK(result_dtype("add", {UInt64, Int64}) == Float64);
  CHECK(result_dtype("add", {Bool, Bool}) == Bool);
  CHECK(result_dtype("mul", {Bool, Int8}) == Int8);
  CHECK(result_dtype("sub", {Bool, Int8}) == Int8);
  CHECK(result_dtype("true_div", {Int64, Int64}) == Float64);
  CHECK(result_dtype("true_div", {Int8, Float32}) == Float32);
  CHECK(result_dtype("exp", {Bool}) == Float32);
  CHECK(result_dtype("exp", {Int16}) == Float32);
  CHECK(result_dtype("exp", {Int32}) == Float64);
  CHECK(result_dtype("exp", {Float32}) == Float32);
  CHECK(result_dtype("arctan2", {Int8, UInt16}) == Float32);
  CHECK(result_dtype("floor", {Int64}) == Float64);
  CHECK(result_dtype("floor", {Float32}) == Float32);
  CHECK(result_dtype("sqr", {UInt8}) == UInt8);
  CHECK(result_dtype("lt", {Int64, Float32}) == Bool);
  CHECK(result_dtype("isnan", {Int64}) == Bool);
  CHECK(result_dtype("and", {Bool, Int16}) == Int16);
  CHECK(result_dtype("pow", {Bool, Bool}) == Int8);
  CHECK(result_dtype("switch", {Float64, Int8, Float32}) == Float32);
  CHECK(result_dtype("second", {Float64, Int8}) == Int8);
  CHECK(result_dtype("cast_uint8", {Float64}) == UInt8);
  config::Change change("floatX", "float32");
  CHECK(result_dtype("true_div", {Int64, Int64}) == Float32);
}

TEST_CASE("operands of the wrong dtype are refused with a hint") {
  const Variable flag = vector("flag", Bool), x = dvector("x"), i = lvector("i");
  CHECK_THROWS_WITH_AS(sub(flag, flag), doctest::Contains("xor_"), TypeError);
  CHECK_THROWS_WITH_AS(neg(flag), doctest::Contains("invert"), TypeError);
  CHECK_THROWS_WITH_AS(and_(x, i), doctest::Contains("and: expected bool or integers, got float64"), TypeError);
  CHECK_THROWS_WITH_AS(invert(x), doctest::Contains("x: f64[?]"), TypeError);
  CHECK_THROWS_AS(and_(i, vector("u", UInt64)), TypeError);
}

TEST_CASE("numbers become the smallest constants that hold them") {
  CHECK(Operand(1).dtype() == Int8);
  CHECK(Operand(-129).dtype() == Int16);
  CHECK(Operand(40000).dtype() == Int32);
  CHECK(Operand(std::int64_t(1) << 40).dtype() == Int64);
  CHECK(Operand(~std::uint64_t(0)).dtype() == UInt64);
  CHECK(value(Operand(~std::uint64_t(0)).variable) == 18446744073709551615.0);
  CHECK(Operand(true).dtype() == Bool);
  CHECK(Operand(0.5).dtype() == Float32);
  CHECK(Operand(0.1).dtype() == Float64);
  CHECK(Operand(no_number).dtype() == Float32);
  CHECK(Operand(inf).dtype() == Float32);
  CHECK(Operand(1e300).dtype() == Float64);
  CHECK((fvector() + 0.1).dtype() == Float64);
  config::Change change("floatX", "float32");
  CHECK(Operand(0.1).dtype() == Float32);
  CHECK((fvector() + 0.1).dtype() == Float32);
}

TEST_CASE("division is Python's") {
  struct Row {
    double x, y, quotient, remainder;
  };
  for (auto& row : {Row{7, 2, 3, 1}, Row{-7, 2, -4, 1}, Row{7, -2, -4, -1}, Row{-7, -2, 3, -1}, Row{6, 3, 2, 0}}) {
    CHECK(value(int_div(number(row.x), number(row.y))) == row.quotient);
    CHECK(value(mod(number(row.x), number(row.y))) == row.remainder);
    CHECK(value(int_div(integer(std::int64_t(row.x)), integer(std::int64_t(row.y)))) == row.quotient);
    CHECK(value(mod(integer(std::int64_t(row.x)), integer(std::int64_t(row.y)))) == row.remainder);
  }
  CHECK(value(int_div(number(1), number(0.1))) == 9);  // as 1 // 0.1 in Python
  CHECK(value(int_div(integer(5), integer(0))) == 0);
  CHECK(value(mod(integer(5), integer(0))) == 0);
  CHECK(value(int_div(number(5), number(0))) == inf);
  CHECK(std::isnan(value(mod(number(5), number(0)))));
  const auto lowest = std::numeric_limits<std::int64_t>::min();
  CHECK(evaluate(int_div(integer(lowest), integer(-1))).int_item() == lowest);
  CHECK(evaluate(mod(integer(lowest), integer(-1))).int_item() == 0);
  CHECK(evaluate(neg(integer(lowest))).int_item() == lowest);
  CHECK(evaluate(abs(integer(lowest))).int_item() == lowest);
}

TEST_CASE("powers of integers") {
  CHECK(evaluate(pow(integer(3), integer(4))).int_item() == 81);
  CHECK(evaluate(pow(integer(2), integer(64))).int_item() == 0);
  CHECK(evaluate(pow(integer(2), integer(-1))).int_item() == 0);
  CHECK(evaluate(pow(integer(-1), integer(-3))).int_item() == -1);
  CHECK(evaluate(pow(integer(0), integer(0))).int_item() == 1);
}

TEST_CASE("special values") {
  CHECK(std::isnan(value(maximum(number(no_number), number(1)))));
  CHECK(std::isnan(value(maximum(number(1), number(no_number)))));
  CHECK(std::isnan(value(minimum(number(1), number(no_number)))));
  CHECK(std::isnan(value(clip(number(1), number(no_number), number(2)))));
  CHECK(std::isnan(value(sign(number(no_number)))));
  CHECK(value(bitale::round(number(2.5))) == 2);
  CHECK(value(bitale::round(number(-0.5))) == 0);
  CHECK(value(sigmoid(number(-800))) == 0);
  CHECK(value(sigmoid(number(-740))) > 0);
  CHECK(value(softplus(number(800))) == 800);
  CHECK(value(switch_(number(no_number), number(1), number(2))) == 1);  // nan is not zero
  CHECK(value(isfinite(number(inf))) == 0);
  CHECK(value(isfinite(number(1))) == 1);
  CHECK(value(cast(number(no_number), Int32)) == std::numeric_limits<std::int32_t>::min());
  CHECK(value(log1mexp(number(-1e-20))) == doctest::Approx(std::log(1e-20)));
  CHECK(value(log1mexp(number(-50))) == doctest::Approx(-std::exp(-50.0)));
  CHECK(value(log1mexp(number(0))) == -inf);
  CHECK(std::isnan(value(log1mexp(number(1)))));
  CHECK(value(erfcx(number(1))) == doctest::Approx(0.427583576155807).epsilon(1e-14));
  CHECK(value(erfcx(number(24.99))) == doctest::Approx(0.0225585814822939).epsilon(1e-13));
  CHECK(value(erfcx(number(30))) == doctest::Approx(0.0187958888614168).epsilon(1e-13));
  CHECK(value(erfcx(number(-3))) == doctest::Approx(16205.988853999586).epsilon(1e-13));
  CHECK(value(erfinv(number(0.5))) == doctest::Approx(0.476936276204469873).epsilon(1e-15));
  CHECK(value(erfinv(number(1))) == inf);
  CHECK(value(erfinv(number(-1))) == -inf);
  CHECK(std::isnan(value(erfinv(number(1.5)))));
  CHECK(value(erfcinv(number(1e-300))) == doctest::Approx(26.209469960516124).epsilon(1e-14));
  CHECK(value(erfcinv(number(0.5))) == value(erfinv(number(0.5))));
  CHECK(value(erfcinv(number(0))) == inf);
  CHECK(value(erfcinv(number(2))) == -inf);
  CHECK(std::isnan(value(erfcinv(number(-0.5)))));
  CHECK(value(gammaln(number(-1))) == inf);
  CHECK(value(psi(number(0))) == -inf);
  CHECK(std::isnan(value(psi(number(-2)))));
  CHECK(value(psi(number(1))) == doctest::Approx(-0.5772156649015329));
  CHECK(value(tri_gamma(number(1))) == doctest::Approx(M_PI * M_PI / 6));
  CHECK(value(polygamma(2, number(1))) == doctest::Approx(-2.404113806319188));
}

TEST_CASE("logaddexp") {
  CHECK(value(logaddexp(number(1000), number(1000))) == doctest::Approx(1000 + std::log(2)));
  CHECK(value(logaddexp(number(0), number(-40))) == doctest::Approx(std::log1p(std::exp(-40.0))));
  CHECK(value(logaddexp(number(-inf), number(-inf))) == -inf);
  CHECK(value(logaddexp(number(-inf), number(3))) == 3);
  CHECK(value(logaddexp(number(3), number(-inf))) == 3);
  CHECK(value(logaddexp(number(inf), number(-inf))) == inf);
  CHECK(value(logaddexp(number(inf), number(inf))) == inf);
  CHECK(std::isnan(value(logaddexp(number(no_number), number(1)))));
}
