// The interpreter's results are those of generated code, bit for bit: for every op and sample of the registry, and for
// sums of all lengths. Every Program is interpreted at first, without LLVM.
#include <doctest/doctest.h>

#include <cmath>

#include "bitale/bitale.hpp"
#include "bitale/core/config.hpp"
#include "bitale/core/error.hpp"
#include "bitale/core/text.hpp"
#include "bitale/graph/traversal.hpp"
#include "bitale/ops/registry.hpp"
#include "codegen/target.hpp"
#include "link/linker.hpp"
#include "support/sampling.hpp"

using namespace bitale;

namespace {

using Arrays = std::vector<Array>;

std::string described(const OpEntry& entry, const Sample& sample) {
  std::string text = cat(entry.name, " ", sample.node.op().label(), " ", sample.note);
  for (auto& input : sample.node.inputs()) text += " " + input.type()->str();
  return text;
}

// What a call of the linker returns, or the message of the error.
struct Outcome {
  Arrays results;
  std::string error;
};
Outcome outcome(const std::unique_ptr<link::Thunk>& thunk, const Arrays& values) {
  try {
    return {thunk->run(values), ""};
  } catch (const std::exception& error) {
    return {{}, error.what()};
  }
}

void compare(const Outcome& got, const Outcome& expected) {
  CHECK(got.error == expected.error);
  REQUIRE(got.results.size() == expected.results.size());
  for (std::size_t k = 0; k < got.results.size(); ++k)
    CHECK_MESSAGE(identical(got.results[k], expected.results[k]),
                  cat("interpreted ", got.results[k].str(), "\ncompiled    ", expected.results[k].str()));
}

}  // namespace

TEST_CASE("interpreted: ops of the registry, with vectors of each width") {
  std::vector<std::string> targets;
  for (const char* name : {"native", "x86-64-v2", "x86-64-v3"}) try {
      codegen::target_named(name);
      targets.emplace_back(name);
    } catch (const ValueError&) {  // not for this processor
    }
  for (auto& entry : op_registry())
    for (auto& sample : test::part_of(entry.samples())) {
      INFO(described(entry, sample));
      const Variables outputs = sample.node.outputs();
      const auto graph = std::make_shared<FunctionGraph>(graph_inputs(outputs), outputs);
      for (auto& target : targets) {
        INFO(target);
        const link::LinkOptions options{.target = target, .cached = false};
        const auto interpreted = link::link("tiered", graph, options), compiled = link::link("jit", graph, options);
        CHECK(interpreted->times.code == "interpreted");
        const Outcome expected = outcome(compiled, sample.values);
        for (int call = 0; call < 2; ++call) compare(outcome(interpreted, sample.values), expected);
      }
    }
}

namespace {

Array numbers(const Dims& shape, double step) {
  Array out = Array::empty(DType::Float64, shape);
  for (std::int64_t i = 0; i < out.size(); ++i) out.mutable_data_as<double>()[i] = std::sin(0.1 + step * double(i));
  return out;
}

// Both link the graph as it is; calls of the first are interpreted.
struct Both {
  Both(const Variables& inputs, const Variables& outputs, const link::LinkOptions& options = {.cached = false})
      : graph(std::make_shared<FunctionGraph>(inputs, outputs)),
        interpreted(link::link("tiered", graph, options)),
        compiled(link::link("jit", graph, options)) {
    CHECK(interpreted->times.code == "interpreted");
  }
  void compare_at(const Arrays& values) const { compare(outcome(interpreted, values), outcome(compiled, values)); }
  std::shared_ptr<const FunctionGraph> graph;
  std::unique_ptr<link::Thunk> interpreted, compiled;
};

}  // namespace

TEST_CASE("interpreted: sums of all lengths") {
  for (const DType dtype : {DType::Float64, DType::Float32, DType::Int32}) {
    const Variable x = vector("x", dtype), y = vector("y", dtype), m = matrix("m", dtype);
    const Variables outputs{sum(x * y),  prod(x),         min(x),    max(y),       sum(m, std::vector<int>{1}),
                            sum(exp(m)), cumsum(x),       argmax(x), argmin(m, 1), sum(m, std::vector<int>{0}),
                            x * y + 1,   transpose(m) * 2};
    const Both both({x, y, m}, outputs);
    for (const std::int64_t n :
         {0, 1, 2, 7, 8, 9, 31, 32, 33, 255, 256, 257, 511, 513, 1023, 1024, 1025, 3000, 20000}) {
      INFO(dtype_name(dtype), " ", n);
      both.compare_at(
          {numbers({n}, 1.7).astype(dtype), numbers({n}, 0.3).astype(dtype), numbers({3, n}, 1.1).astype(dtype)});
    }
  }
}

TEST_CASE("interpreted: sums by groups") {
  for (const DType dtype : {DType::Float64, DType::Float32}) {
    const Variable y = vector("y", dtype), mu = vector("mu", dtype), index = lvector("index");
    const Variable r = y - take(mu, index);
    const Both both({y, mu, index}, {sum(sqr(r)), grad(sum(sqr(r)), mu), inc_subtensor(mu, {IndexItem(index)}, r)});
    for (const std::int64_t n : {1, 8, 17, 500, 3000})
      for (const std::int64_t groups : {1, 40, 300}) {
        INFO(n, ", ", groups);
        Array at = Array::empty(DType::Int64, {n});
        for (std::int64_t i = 0; i < n; ++i)
          at.mutable_data_as<std::int64_t>()[i] = i % 100 < 90 ? i * groups / n : (i * 7919) % groups;
        both.compare_at({numbers({n}, 1.7).astype(dtype), numbers({groups}, 0.9).astype(dtype), at});
      }
  }
}

TEST_CASE("interpreted: all values of a vector loop stored to one element") {
  for (const DType dtype : {DType::Float64, DType::Int8}) {
    const Variable x = vector("x", dtype), values = vector("values", dtype);
    for (const std::int64_t n : {2, 9, 700}) {
      Array at = Array::zeros(DType::Int64, {n});
      const Both both({x, values}, {set_subtensor(x, {IndexItem(constant(at))}, values)});
      both.compare_at({numbers({3}, 1.7).astype(dtype), numbers({n}, 0.3).astype(dtype)});
    }
  }
}

TEST_CASE("interpreted: loops that several threads share") {
  const Variable x = vector("x"), m = matrix("m");
  const Both both({x, m}, {sum(exp(x)), x * 2.0, sum(m, std::vector<int>{1}), argmax(x), matmul(m, transpose(m))},
                  {.cached = false, .threads = 3, .eager_threads = true});
  for (const std::int64_t n : {1, 100, 5000}) both.compare_at({numbers({n}, 1.7), numbers({9, n}, 0.3)});
}

TEST_CASE("interpreted: functions that the program defines, and values that are seldom computed otherwise") {
  const Variable x = vector("x");
  Variables outputs;
  for (int k = 0; k < 6; ++k) outputs.push_back(gammaln(x * double(k + 1)) + sin(x * 1e9 * double(k)));
  const Both both({x}, outputs);
  Array values = numbers({100}, 0.77);
  values.mutable_data_as<double>()[3] = -2.5;
  values.mutable_data_as<double>()[50] = 1e300;
  both.compare_at({values});
}

TEST_CASE("interpreted: errors are those of code, and calls can be repeated") {
  const Variable x = vector("x"), y = vector("y");
  const Both both({x, y}, {x + y, max(x)});
  for (int call = 0; call < 2; ++call) {
    both.compare_at({Array{1.0, 2.0}, Array{1.0, 2.0, 3.0}});
    both.compare_at({Array{1.0, 2.0}, Array{1.0, 2.0}});
    both.compare_at({Array::zeros(DType::Float64, {0}), Array::zeros(DType::Float64, {0})});
  }
}
