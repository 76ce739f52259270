// StableHLO modules as text: every sample of the registry is translated, or refused by name; lengths, checks, regions.
// Values are compared if XLA is installed (tests/xla).
#include "stablehlo/module.hpp"

#include <doctest/doctest.h>

#include "bitale/bitale.hpp"
#include "bitale/core/text.hpp"
#include "bitale/graph/traversal.hpp"
#include "bitale/ops/registry.hpp"
#include "ops/analysis/lengths.hpp"
#include "ops/indexing/advanced_subtensor.hpp"

using namespace bitale;

namespace {

std::size_t occurrences(const std::string& text, std::string_view part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

stablehlo::Module module_of(const Variables& inputs, const Variables& outputs, const std::vector<Dims>& lengths,
                            bool with_checks = true) {
  return stablehlo::write_module(FunctionGraph(inputs, outputs), lengths, {.with_checks = with_checks});
}

}  // namespace

TEST_CASE("every sample of the registry is translated to StableHLO, or refused by name") {
  std::size_t translated = 0, by_lapack = 0;
  for (auto& entry : op_registry())
    for (auto& sample : entry.samples()) {
      const Variables inputs = graph_inputs(sample.node.inputs());
      std::vector<Dims> lengths;
      for (auto& value : sample.values) lengths.push_back(value.shape());
      CAPTURE(entry.name);
      CAPTURE(sample.note);
      try {
        const FunctionGraph graph(inputs, sample.node.outputs());
        const auto module = stablehlo::write_module(graph, lengths, {.platform = "cpu"});
        CHECK(module.results.size() == sample.node.output_count());
        by_lapack += occurrences(module.text, "lapack_") > 0;
        CHECK(occurrences(module.text, "{") == occurrences(module.text, "}"));
        ++translated;
      } catch (const NotImplementedError& error) {
        CHECK(std::string(error.what()).find("StableHLO") != std::string::npos);
      } catch (const InternalError& error) {
        FAIL_CHECK(error.what());
      } catch (const Error&) {  // a sample that fails
      }
    }
  CHECK(translated > 2000);
  CHECK(by_lapack > 100);
}

TEST_CASE("expressions of lengths are folded when the module is written") {
  auto x = matrix("x");
  const auto module = module_of(
      {x}, {reshape(x, Operands{length_of(x, 0) * length_of(x, 1)}) * cast(length_of(x, 1), DType::Float64)}, {{2, 3}});
  CHECK(module.results[0].lengths == Dims{6});
  CHECK(occurrences(module.text, "stablehlo.multiply") == 1);
  CHECK(occurrences(module.text, "xi64>") == 0);
}

TEST_CASE("indices that the caller has at hand are checked by the caller") {
  const Variable x = matrix("x"), i = vector("i", DType::Int64);
  const FunctionGraph graph({x, i}, {take(x, i), take(x, i + 1)});
  const std::vector<Dims> lengths{{5, 3}, {4}};
  CHECK(stablehlo::write_module(graph, lengths).checks.size() == 2);
  const stablehlo::Module module = stablehlo::write_module(graph, lengths, {.on_host = {1}});
  CHECK(module.checks.size() == 1);
  REQUIRE(module.range_checks.size() == 1);
  CHECK(module.range_checks[0].input == 1);
  CHECK(module.range_checks[0].least == -5);
  CHECK(module.range_checks[0].end == 5);
  CHECK(stablehlo::write_module(graph, lengths, {.on_host = {1}, .with_checks = false}).range_checks.empty());
}

// XLA before jax 0.12 replaces (a + c) - c by a.
TEST_CASE("floats are rounded to integers by an operation, not by adding a constant") {
  const Variable x = vector("x");
  for (auto& [value, shifter] :
       {std::pair(log1mexp(x), "0x4338000000000000"), std::pair(log1mexp(cast(x, DType::Float32)), "0x4B400000")}) {
    const std::string text = module_of({x}, {value}, {{3}}).text;
    CHECK(occurrences(text, "stablehlo.round_nearest_even") > 0);
    const std::size_t at = text.rfind('%', text.find(shifter));
    REQUIRE(at != std::string::npos);
    const std::string constant = text.substr(at, text.find(' ', at) - at);
    const std::size_t use = text.rfind('%', text.find(cat("broadcast_in_dim\"(", constant, ")")));
    const std::string repeated = text.substr(use, text.find(' ', use) - use);
    CHECK(occurrences(text, cat(", ", repeated, ")")) > 0);
    for (std::size_t sub = text.find("stablehlo.subtract"); sub != std::string::npos;
         sub = text.find("stablehlo.subtract", sub + 1))
      CHECK(text.substr(sub, text.find(')', sub) - sub).find(cat(", ", repeated)) == std::string::npos);
  }
}

TEST_CASE("positions that count along their axis are not checked") {
  const Variable x = matrix("x"), labels = vector("labels", DType::Int64);
  const auto checks = [&](const Variable& rows, std::int64_t length) {
    const Variable picked = (*make_ref<AdvancedSubtensor>(std::vector<int>{0, 1}))({x, rows, labels});
    return module_of({x, labels}, {picked}, {{5, 3}, {length}}).checks.size();
  };
  CHECK(checks(arange(shape_i(labels, 0)), 5) == 1);
  CHECK(checks(arange(shape_i(labels, 0)), 6) == 2);
  CHECK(checks(arange(shape_i(labels, 0)) + 1, 4) == 2);
}

TEST_CASE("products read transposed operands in place") {
  const auto product = [](const Variable& x, const Variable& y, const std::vector<Dims>& lengths) {
    const std::string text = module_of({x, y}, {dot(transpose(x), y)}, lengths).text;
    const std::size_t at = text.find("stablehlo.dot_general");
    return text.substr(at, text.find("lhs_batching", at) - at);
  };
  CHECK(product(matrix("x"), matrix("y"), {{5, 3}, {5, 2}}).find("(%arg0, %arg1)") != std::string::npos);
  CHECK(product(matrix("x"), vector("y"), {{5, 3}, {5}}).find("(%arg1, %arg0)") != std::string::npos);
}

TEST_CASE("checks are one result, with an element for each node that can fail") {
  auto x = vector("x");
  auto i = scalar("i", DType::Int64), j = scalar("j", DType::Int64);
  const Variable y = subtensor(x, {i}) + subtensor(x, {j});
  const auto module = module_of({x, i, j}, {y}, {{5}, {}, {}});
  CHECK(module.checks.size() == 2);
  CHECK(module.text.find("tensor<2xi1>") != std::string::npos);
  const auto without = module_of({x, i, j}, {y}, {{5}, {}, {}}, false);
  CHECK(without.checks.empty());
  CHECK(without.text.find("xi1>") == std::string::npos);
}

TEST_CASE("lengths that do not match are errors of the node") {
  auto x = vector("x"), y = vector("y");
  CHECK_THROWS_AS(module_of({x, y}, {x + y}, {{3}, {4}}), ShapeError);
  CHECK_THROWS_AS(module_of({x, y}, {dot(x, y)}, {{3}, {4}}), ShapeError);
}

TEST_CASE("a chain of a hundred thousand nodes is translated") {
  auto x = vector("x");
  Variable y = x;
  for (int k = 0; k < 100'000; ++k) y = sin(y);
  const auto module = module_of({x}, {y}, {{2}});
  CHECK(occurrences(module.text, "stablehlo.sine") == 100'000);
}

TEST_CASE("LAPACK is called only on CPUs") {
  auto x = matrix("x");
  const auto text = [&](const Variable& y, const char* platform) {
    return stablehlo::write_module(FunctionGraph({x}, {y}), std::vector<Dims>{{3, 3}}, {.platform = platform}).text;
  };
  CHECK(occurrences(text(cholesky(x), "cpu"), "lapack_dpotrf_ffi") == 1);
  CHECK(occurrences(text(cholesky(x), ""), "custom_call") == 0);
  CHECK(occurrences(text(det(x), "cpu"), "lapack_dgetrf_ffi") == 1);
  CHECK_THROWS_WITH_AS(text(det(x), "tpu"), doctest::Contains("processors alone"), NotImplementedError);
  CHECK_THROWS_AS(text(x, "abacus"), ValueError);
}

TEST_CASE("the error of linker jax without a compiler of modules names what is missing") {
  auto x = vector("x");
  CHECK_THROWS_WITH_AS(function({x}, {x + 1}, {.mode = get_mode("JAX")}), doctest::Contains("JAX"),
                       NotImplementedError);
}
