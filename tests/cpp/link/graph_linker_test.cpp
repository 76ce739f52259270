// Linkers of users, which compute whole graphs by a function of their own.
#include <doctest/doctest.h>

#include <algorithm>

#include "bitale/bitale.hpp"
#include "graph/evaluate.hpp"

using namespace bitale;

namespace {

// Runs each graph by `perform`, and counts what it was asked for.
struct Reference {
  std::shared_ptr<int> linked = std::make_shared<int>(), calls = std::make_shared<int>();
  std::vector<Array> (*change)(std::vector<Array>) = nullptr;

  Linker linker() const {
    return graph_linker("reference", [*this](const std::shared_ptr<const FunctionGraph>& graph,
                                             std::span<const std::pair<std::size_t, std::size_t>> updates) {
      ++*linked;
      CHECK(updates.size() <= 1);
      return [*this, graph](std::span<const Array> inputs) {
        ++*calls;
        std::vector<Array> results = evaluate(graph->outputs(), graph->inputs(), inputs);
        return change ? change(std::move(results)) : results;
      };
    });
  }
};

FunctionOptions options_of(const Linker& linker, const std::string& optimizer = "fast_run") {
  FunctionOptions options;
  options.mode = Mode(linker, optimizer);
  return options;
}

Results call(const Function& f, const std::vector<Array>& values) { return f.call(values); }

}  // namespace

TEST_CASE("a function of the user's computes the graph") {
  const Variable x = vector("x"), s = shared(Array(2.0), "s");
  for (auto* optimizer : {"None", "fast_compile", "fast_run"}) {
    const Reference reference;
    FunctionOptions options = options_of(reference.linker(), optimizer);
    options.updates = {{s, s + 1.0}};
    const Function f = function({x}, {exp(x * 0.0) * s, x}, options);
    const double before = get_value(s).item();
    const Results results = call(f, {Array{1., 2.}});
    CHECK(results[0].data_as<double>()[1] == before);
    CHECK(results[1].str() == "[1. 2.]");
    CHECK(get_value(s).item() == before + 1);
    CHECK(*reference.linked == 1);
    CHECK(*reference.calls == 1);
  }
}

TEST_CASE("results are checked, converted without loss, and share no memory") {
  const Variable x = vector("x");
  Reference reference;
  reference.change = [](std::vector<Array> results) { return std::vector<Array>{results[0], results[0]}; };
  const Array given{1., 2.};
  const Results same = call(function({x}, {x, x}, options_of(reference.linker())), {given});
  CHECK(!same[0].shares_memory_with(given));
  CHECK(!same[0].shares_memory_with(same[1]));
  reference.change = [](std::vector<Array>) { return std::vector<Array>{Array{std::int64_t(1), std::int64_t(2)}}; };
  CHECK(call(function({x}, {exp(x)}, options_of(reference.linker())), {given})[0].dtype() == DType::Float64);
  reference.change = [](std::vector<Array>) { return std::vector<Array>{Array::zeros(DType::Float64, Dims{2, 2})}; };
  const Function wrong = function({x}, {exp(x)}, options_of(reference.linker()));
  CHECK_THROWS_WITH_AS(call(wrong, {given}), doctest::Contains("output 0"), TypeError);
  reference.change = [](std::vector<Array>) { return std::vector<Array>(); };
  CHECK_THROWS_WITH_AS(call(function({x}, {exp(x)}, options_of(reference.linker())), {given}),
                       doctest::Contains("0 results for 1 outputs"), ValueError);
  CHECK_THROWS_AS(graph_linker("none", {}), ValueError);
}

TEST_CASE("the linker says which rewrites it can't run") {
  const Variable x = vector("x");
  Reference reference;
  Linker linker = reference.linker();
  CHECK(Mode(linker, "fast_run").query().exclude.empty());
  linker.excluded_rewrites = {"stabilize", "of another library"};
  linker.required_rewrites = {"inplace", "of another library"};
  const RewriteQuery query = Mode(linker, "fast_run").query();
  CHECK(query.exclude == std::vector<std::string>{"stabilize"});
  CHECK(std::ranges::count(query.include, "inplace") == 1);
}
