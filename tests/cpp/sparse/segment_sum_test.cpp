// Sums over segments: compiled code against perform, on every sample of the op, and the loop that it becomes.
#include "bitale/ops/segments.hpp"

#include <doctest/doctest.h>

#include "bitale/bitale.hpp"
#include "bitale/ops/cumulative.hpp"
#include "bitale/ops/registry.hpp"

using namespace bitale;

TEST_CASE("sums over segments agree with perform on every sample") {
  int samples = 0;
  for (auto& entry : op_registry())
    if (entry.name == "SegmentSum")
      for (auto& sample : entry.samples()) {
        ++samples;
        Variables inputs;
        for (auto& input : sample.node.inputs())
          if (!input.is_constant()) inputs.push_back(input);
        const auto compiled = function(inputs, sample.node.outputs());
        const auto oracle = function(inputs, sample.node.outputs(), {.mode = get_mode("VM")});
        CHECK(compiled(sample.values)[0].str() == oracle(sample.values)[0].str());
      }
  CHECK(samples > 8);
}

TEST_CASE("a part is a loop whose extent is computed, into which its elements are inlined") {
  const Variable x = dvector("x"), y = dvector("y"), bounds = lvector("bounds");
  const auto f = function({x, y, bounds}, {segment_sum(x * y, bounds) + 1});
  const std::string text = f.dprint("program");
  CHECK(text.find("x[") != std::string::npos);
  CHECK(text.find("temporary") == std::string::npos);
  const auto sums =
      f({Array{1.0, 2.0, 3.0}, Array{2.0, 2.0, 2.0}, Array{std::int64_t(0), std::int64_t(0), std::int64_t(2)}});
  CHECK(sums[0].str() == "[1. 7.]");
}

TEST_CASE("bounds that come in parts are stored before they become extents") {
  const Variable x = dvector("x"), counts = lvector("counts");
  const Variable bounds = concatenate({constant(Array{std::int64_t(0)}), cumsum(counts, 0)}, 0);
  const auto f = function({x, counts}, {segment_sum(sqr(x), bounds)});
  const auto sums = f({Array{1.0, 2.0, 3.0}, Array{std::int64_t(1), std::int64_t(0), std::int64_t(2)}});
  CHECK(sums[0].str() == "[ 1.  0. 13.]");
}

TEST_CASE("bounds that decrease or are out of range") {
  const Variable x = dvector("x"), bounds = lvector("bounds");
  const auto f = function({x, bounds}, {segment_sum(x, bounds)});
  const auto n = [](std::initializer_list<int> list) {
    return Array(std::vector<std::int64_t>(list.begin(), list.end()));
  };
  for (auto& bad : {n({0, 2, 1}), n({-1, 1}), n({0, 4}), n({4, 4})})
    CHECK_THROWS_AS(f({Array{1.0, 2.0, 3.0}, bad}), ValueError);
  CHECK_THROWS_AS(segment_sum(x, n({0, 2, 1})), ValueError);
  CHECK_THROWS_AS(segment_ids(n({1, 3}), 3), ValueError);
  CHECK_THROWS_AS(segment_ids(n({0, 2}), 3), ValueError);
}

TEST_CASE("constant indices are compared with the length once") {
  const Variable x = dvector("x");
  const Array at{std::int64_t(2), std::int64_t(0), std::int64_t(2)};
  const auto f = function({x}, {take(x, constant(at)) * 2});
  CHECK(f.dprint("program").find("all v") == std::string::npos);
  CHECK(f({Array{1.0, 2.0, 3.0}})[0].str() == "[6. 2. 6.]");
  CHECK_THROWS_AS(f({Array{1.0, 2.0}}), IndexError);
  const auto g = function({x}, {take(x, constant(Array{std::int64_t(-1), std::int64_t(0)}))});  // counts from the end
  CHECK(g({Array{1.0, 2.0}})[0].str() == "[2. 1.]");
}
