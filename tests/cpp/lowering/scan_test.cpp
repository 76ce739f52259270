// Scans are loops of the same Program as the rest of the graph: computation of inputs, values shared within a step,
// successive scans.
#include <doctest/doctest.h>

#include "bitale/bitale.hpp"
#include "bitale/core/text.hpp"
#include "link/linker.hpp"
#include "lowering/lower.hpp"
#include "support/passes.hpp"

using namespace bitale;

namespace {

// y[t] = a y[t - 1] + x[t], and the number of elements above 1 so far: two states of two dtypes.
ScanResult recurrence(const Variable& x, const Variable& a, const Variable& y0) {
  return scan({.sequences = {x}, .initial = {y0, constant(std::int64_t(0))}, .non_sequences = {a}},
              [](Variable each, Variable y, Variable above, Variable by) {
                const Variable next = by * y + each;
                return Variables{next, above + cast(gt(next, 1.0), DType::Int64)};
              });
}

Array values(std::int64_t n) {
  Array out = Array::zeros(DType::Float64, Dims{n});
  for (std::int64_t t = 0; t < n; ++t) static_cast<double*>(out.mutable_data())[t] = double(t % 7) - 2.5;
  return out;
}

void agrees(const Variables& inputs, const Variables& outputs, const std::vector<Array>& given) {
  const auto graph = std::make_shared<const FunctionGraph>(inputs, outputs);
  const auto expected = link::link("vm", graph)->run(given);
  for (const char* linker : {"jit", "c"}) {
    CAPTURE(linker);
    const auto got = link::link(linker, graph)->run(given);
    for (std::size_t k = 0; k < got.size(); ++k) {
      const std::string message = cat(got[k].str(), " is not ", expected[k].str());
      CHECK_MESSAGE(allclose(got[k], expected[k], 1e-13, 1e-13), message);
    }
  }
  const std::string trouble = test::pass_trouble(*graph, given, true);
  CHECK_MESSAGE(trouble.empty(), trouble);
}

void is_native(const Variables& inputs, const Variables& outputs) {
  CHECK(lowering::lower(FunctionGraph(inputs, outputs)).callbacks.empty());
}

}  // namespace

TEST_CASE("scan: a loop with two states is native and computes the inputs, too") {
  const Variable x = vector("x"), a = scalar("a"), y0 = scalar("y0");
  const Variables inputs{x, a, y0};
  const ScanResult run = recurrence(x * 2.0, a, y0 + 1.0);
  const Variables outputs{run.traces[0] * 3.0, run.traces[1], sum(run.traces[0])};
  const auto lowered = lowering::lower(FunctionGraph(inputs, outputs));
  CHECK(lowered.callbacks.empty());
  const std::string text = program::to_string(lowered.program);
  CHECK_MESSAGE(text.find(", state v") != std::string::npos, text);
  for (std::int64_t n : {0, 1, 5, 100}) agrees(inputs, outputs, {values(n), Array(0.5), Array(0.25)});
}

TEST_CASE("scan: expensive inputs are computed in lanes before it, joined ones are stored, scans follow scans") {
  const Variable x = vector("x"), a = scalar("a"), y0 = scalar("y0");
  const Variables inputs{x, a, y0};
  const ScanResult first = recurrence(concatenate({exp(x), x}), sum(x) * a, y0);
  const Variable start = subtensor(first.traces[0], {IndexItem(0)});
  const Variables outputs{recurrence(first.traces[0] + 1.0, a, start).traces[0], first.traces[1]};
  is_native(inputs, outputs);
  agrees(inputs, outputs, {values(9), Array(0.1), Array(0.25)});
}

TEST_CASE("scan: a value that a step reads twice is rounded once, and two scans of one step are independent") {
  const Variable x = vector("x"), a = scalar("a"), y0 = scalar("y0");
  const Variables inputs{x, a, y0};
  const auto smooth = [](const Variable& of, const Variable& factor, const Variable& start) {
    return scan({.sequences = {of}, .initial = {start}, .non_sequences = {factor}},
                [](Variable each, Variable y, Variable by) {
                  const Variable product = by * y;
                  return tanh(product + each) + product * 0.5;
                })
        .traces[0];
  };
  const Variable first = smooth(x, a, y0);
  const Variables outputs{first, smooth(first, a * 0.5, y0)};
  is_native(inputs, outputs);
  agrees(inputs, outputs, {values(20), Array(0.9), Array(0.25)});
}

TEST_CASE("scan: a step may create arrays and reduce them") {
  const Variable x = vector("x"), a = scalar("a"), y0 = scalar("y0");
  const Variables inputs{x, a, y0};
  const Variable out =
      scan({.sequences = {x}, .initial = {y0}, .non_sequences = {a}}, [](Variable each, Variable y, Variable by) {
        return sum(stack({y * 0.5, each, by}));
      }).traces[0];
  const Variables outputs{out * 2.0, sum(x)};
  is_native(inputs, outputs);
  agrees(inputs, outputs, {values(6), Array(0.9), Array(0.25)});
}
