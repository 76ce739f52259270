// Non-temporal stores: which loops may use them, and that they write the same bits for all lengths and alignments.
#include <doctest/doctest.h>

#include <cmath>

#include "bitale/compile/function.hpp"
#include "bitale/core/config.hpp"
#include "bitale/core/text.hpp"
#include "bitale/ops/ops.hpp"
#include "link/linker.hpp"

using namespace bitale;

namespace {

Array ramp(const Dims& shape, DType dtype) {
  Array out = Array::empty(DType::Float64, shape);
  for (std::int64_t i = 0; i < out.size(); ++i)
    out.mutable_data_as<double>()[i] = std::round(100 * std::sin(double(i) * 0.7));
  return out.astype(dtype);
}

bool may_stream(const Variables& inputs, const Variables& outputs) {
  return function(inputs, outputs).dprint("llvm").find("nontemporal") != std::string::npos;
}

// Results are equal with and without streaming.
void check_same(const Variables& inputs, const Variables& outputs, const std::vector<Array>& values) {
  auto usual = function(inputs, outputs);
  const config::Change always("stream_from", "1");
  auto streaming = function(inputs, outputs);
  const auto expected = usual(values), got = streaming(values);
  for (std::size_t k = 0; k < expected.size(); ++k) {
    CAPTURE(k);
    CHECK(identical(got[k], expected[k]));
  }
}

}  // namespace

TEST_CASE("loops may stream results that are not read again") {
  auto x = vector("x"), y = vector("y");
  auto m = matrix("m");
  CHECK(may_stream({x, y}, {2.0 * x + y}));
  CHECK(may_stream({x, y}, {where(gt(x, 0.0), x, y)}));
  CHECK(may_stream({m}, {transpose(m)}));
  CHECK_FALSE(may_stream({x}, {sum(x)}));
  CHECK_FALSE(may_stream({x}, {exp(tanh(x)) * log(x) + sin(x)}));  // bound by arithmetic
}

TEST_CASE("streamed results have the same bits at every length") {
  for (DType dtype : {DType::Float64, DType::Float32, DType::Int8, DType::Int32, DType::Bool}) {
    CAPTURE(dtype_name(dtype));
    auto x = vector("x", dtype), y = vector("y", dtype);
    for (std::int64_t n : {0, 1, 3, 7, 8, 15, 16, 17, 31, 63, 64, 65, 100, 1003}) {
      CAPTURE(n);
      check_same({x, y}, {where(gt(x, y), x, y), gt(x, y)}, {ramp({n}, dtype), ramp({n}, dtype)});
    }
  }
}

TEST_CASE("streamed matrices of various shapes") {
  auto m = matrix("m"), k = matrix("k");
  for (auto [rows, columns] : {std::pair(1, 1), {3, 17}, {16, 64}, {33, 65}, {70, 129}, {0, 9}, {9, 0}})
    check_same({m, k}, {transpose(m) + k, transpose(m), subtensor(k, {Slice{1, {}, {}}}) * 2.0},
               {ramp({rows, columns}, DType::Float64), ramp({columns, rows}, DType::Float64)});
}

TEST_CASE("streamed results may have any alignment") {
  auto x = vector("x");
  const config::Change always("stream_from", "1");
  auto f = function({x}, {x + 1.0, x * 2.0});
  const std::int64_t n = 77;
  const Array values = ramp({n}, DType::Float64);
  for (std::int64_t first : {0, 1, 2, 7})
    for (std::int64_t second : {0, 1, 5}) {
      Array a = Array::zeros(DType::Float64, {n + 16}), b = Array::zeros(DType::Float64, {n + 16});
      const Array outputs[] = {a.slice(0, first, n, 1), b.slice(0, second, n, 1)};
      f.run_into(std::vector<Array>{values}, outputs);
      for (std::int64_t i = 0; i < n + 16; ++i) {
        const std::int64_t from_a = i - first, from_b = i - second;
        const auto at = [&](std::int64_t j) { return j >= 0 && j < n; };
        REQUIRE(a.data_as<double>()[i] == (at(from_a) ? values.data_as<double>()[from_a] + 1 : 0));
        REQUIRE(b.data_as<double>()[i] == (at(from_b) ? values.data_as<double>()[from_b] * 2 : 0));
      }
    }
}

TEST_CASE("threads that share a loop stream their chunks") {
  auto x = matrix("x"), y = matrix("y");
  const Variables inputs{x, y}, outputs{transpose(x) + y, x * 2.0, transpose(x)};
  const auto results = [&](int threads) {
    auto graph = std::make_shared<FunctionGraph>(inputs, outputs);
    const auto thunk = link::link("jit", graph, {.threads = threads, .eager_threads = true});
    return thunk->run(std::vector<Array>{ramp({150, 333}, DType::Float64), ramp({333, 150}, DType::Float64)});
  };
  const auto expected = results(1);
  const config::Change always("stream_from", "1");
  for (int threads : {1, 2, 5}) {
    const auto got = results(threads);
    for (std::size_t k = 0; k < expected.size(); ++k) CHECK(identical(got[k], expected[k]));
  }
}
