// Values carried by loops: cumulative sums and arg-reductions fuse with their operands into one loop, at every length
// and number of lanes, and agree with the interpreter bit for bit.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "bitale/core/error.hpp"
#include "bitale/core/text.hpp"
#include "bitale/graph/function_graph.hpp"
#include "bitale/ops/cumulative.hpp"
#include "bitale/ops/ops.hpp"
#include "link/linker.hpp"
#include "lowering/lower.hpp"

using namespace bitale;

namespace {

struct Counts {
  int innermost_loops = 0, vector_loops = 0, temporaries = 0, host_calls = 0;
};

void count(const program::Steps& steps, Counts& counts) {
  for (auto& step : steps) {
    counts.host_calls += std::holds_alternative<program::HostCall>(step.what);
    auto* loop = std::get_if<program::Loop>(&step.what);
    if (!loop) continue;
    const bool innermost = std::none_of(loop->body.begin(), loop->body.end(), [](const program::Step& inner) {
      return std::holds_alternative<program::Loop>(inner.what);
    });
    counts.innermost_loops += innermost;
    counts.vector_loops += loop->vector;
    count(loop->body, counts);
  }
}

Counts counts_of(const Variables& inputs, const Variables& outputs) {
  const FunctionGraph graph(inputs, outputs);
  const auto lowered = lowering::lower(graph);
  Counts out;
  count(lowered.program.steps, out);
  for (auto& buffer : lowered.program.buffers)
    out.temporaries += buffer.role == program::Role::temporary && buffer.slot >= 0;
  return out;
}

Array run(const char* linker, const Variable& x, const Variable& y, const Array& value) {
  const Variables inputs{x}, outputs{y};
  return link::link(linker, std::make_shared<FunctionGraph>(inputs, outputs))->run(std::vector<Array>{value})[0];
}

// Repeating values, with fractions that are rounded.
Array values(DType dtype, const Dims& shape) {
  const Array out = Array::empty(DType::Float64, shape);
  for (std::int64_t i = 0; i < out.size(); ++i)
    out.mutable_data_as<double>()[i] = is_float(dtype) ? double((i * 37) % 11 - 5) / 3.0 : double((i * 37) % 11);
  return out.astype(dtype);
}

}  // namespace

TEST_CASE("cumulative sums and products of every length agree with the interpreter bit for bit") {
  for (DType dtype : {DType::Float64, DType::Float32, DType::Int64, DType::UInt8})
    for (std::int64_t length : {0, 1, 2, 7, 8, 9, 15, 16, 17, 40, 67}) {
      INFO(dtype_name(dtype), " ", length);
      const Variable x = tensor("x", dtype, {unknown_length});
      // Expensive enough to be computed in lanes, without operations that may be contracted.
      const Variable expensive = switch_(x > 1, abs(x) * 2, switch_(x < -1, x / 3, maximum(minimum(-x, sqr(x)), 0.25)));
      for (auto& y : {cumsum(x), cumprod(x), cumsum(expensive), cumprod(expensive), cumsum(x) + x}) {
        const Array value = values(dtype, {length});
        CHECK(identical(run("jit", x, y, value), run("vm", x, y, value)));
      }
      const Variable z = tensor("z", dtype, {unknown_length, unknown_length});
      for (int axis : {0, 1}) {
        const Array value = values(dtype, {5, length});
        CHECK(identical(run("jit", z, cumsum(z, axis), value), run("vm", z, cumsum(z, axis), value)));
      }
    }
}

TEST_CASE("the sign of a zero that starts a cumulative sum is kept") {
  const Variable x = vector("x", DType::Float64);
  const Array y = run("jit", x, cumsum(x), Array{-0.0, -0.0, 0.0});
  CHECK(std::signbit(y.data_as<double>()[1]));
  CHECK(!std::signbit(y.data_as<double>()[2]));
}

TEST_CASE("cumulative sums and differences are one loop without temporaries") {
  const Variable x = vector("x", DType::Float64), m = matrix("m", DType::Float64);
  for (auto& y : {cumsum(exp(x)), exp(cumsum(x)) * x, sqr(diff(x)), sum(sqr(diff(x)))}) {
    const Counts counts = counts_of({x}, {y});
    CHECK(counts.innermost_loops == 1);
    CHECK(counts.temporaries == 0);
  }
  const Counts rows = counts_of({m}, {cumsum(exp(m), 1)}), columns = counts_of({m}, {cumsum(exp(m), 0)});
  CHECK(rows.innermost_loops == 1);
  CHECK(columns.innermost_loops == 1);
  CHECK(columns.vector_loops == 1);
  CHECK(columns.temporaries == 0);
}

TEST_CASE("writes over a cumulative sum are not accumulated") {
  const Variable m = matrix("m", DType::Float64);
  for (int axis : {0, 1}) {
    const Variable y = set_subtensor(cumsum(m, axis), {IndexItem(Slice{})}, m);
    const Array value = values(DType::Float64, {5, 9});
    CHECK(identical(run("jit", m, y, value), value));
    const Variable z = inc_subtensor(cumsum(m, axis), {IndexItem(Slice{})}, m);
    CHECK(identical(run("jit", m, z, value), run("vm", m, z, value)));
  }
}

TEST_CASE("arg-reductions are one vector loop, for every operand and axis") {
  const Variable x = vector("x", DType::Float64), m = matrix("m", DType::Float64);
  for (auto& y : {argmax(x), argmin(exp(x) + 1), argmax(m), argmax(m, 1), argmin(m, 0)}) {
    const Counts counts = counts_of({x, m}, {y});
    CHECK(counts.innermost_loops == 1);
    CHECK(counts.vector_loops == 1);
    CHECK(counts.host_calls == 0);
  }
  const Counts both = counts_of({x}, {max(x), argmax(x)});
  CHECK(both.innermost_loops == 1);
}

TEST_CASE("arg-reductions at every length") {
  for (DType dtype : {DType::Float64, DType::Float32, DType::Int8, DType::UInt64, DType::Bool})
    for (std::int64_t length : {1, 2, 7, 8, 9, 31, 33, 64, 131}) {
      INFO(dtype_name(dtype), " ", length);
      const Variable x = tensor("x", dtype, {unknown_length, unknown_length});
      for (auto& y : {argmax(x), argmin(x), argmax(x, 0), argmin(x, 0), argmax(x, 1), argmin(x, 1)})
        for (auto& shape : {Dims{3, length}, Dims{length, 3}, Dims{length, 1}}) {
          const Array value = values(dtype, shape);
          CHECK(identical(run("jit", x, y, value), run("vm", x, y, value)));
        }
    }
}

TEST_CASE("argmax and argmin give the first nan, and refuse an empty array") {
  const double nan = std::nan("");
  const Variable x = vector("x", DType::Float64);
  for (std::int64_t at : {0, 1, 8, 31, 32, 40}) {
    Array value = values(DType::Float64, {41});
    value.mutable_data_as<double>()[at] = value.mutable_data_as<double>()[40] = nan;
    CHECK(run("jit", x, argmax(x), value).int_item() == at);
    CHECK(run("jit", x, argmin(x), value).int_item() == at);
  }
  CHECK_THROWS_AS(run("jit", x, argmax(x), Array::empty(DType::Float64, {0})), ValueError);
}
