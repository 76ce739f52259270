// Random graphs over the whole registry: the interpreter on the graph as built is right; each pass of the lowering,
// native code in each mode, and other numbers of threads must agree with it. Failing graphs are shrunk and shown.
// BITALE_TEST_GRAPHS=100000 for more, BITALE_TEST_SEED to begin elsewhere.
#include <doctest/doctest.h>

#include <cstdlib>
#include <iostream>
#include <set>

#include "bitale/bitale.hpp"
#include "bitale/core/text.hpp"
#include "link/linker.hpp"
#include "support/passes.hpp"
#include "support/registry_graphs.hpp"

using namespace bitale;

namespace {

std::int64_t number_from(const char* variable, std::int64_t otherwise) {
  const char* text = std::getenv(variable);
  return text ? std::atoll(text) : otherwise;
}

std::vector<Array> run(const test::Case& graph, const Mode& mode, int threads) {
  const auto linked = std::make_shared<FunctionGraph>(graph.inputs, graph.outputs);
  rewrite(*linked, mode.query());
  return link::link(mode.linker(), linked, {.threads = threads, .eager_threads = threads > 1})->run(graph.values);
}

struct Way {
  std::string name;
  std::function<std::string(const test::Case&)> trouble;  // "" when all is well
};

std::vector<Way> ways_of(std::uint64_t seed) {
  const auto by = [](std::string linker, std::string optimizer, int threads) {
    return [mode = Mode(linker, optimizer), threads](const test::Case& graph) {
      // Rules that widen a domain may find a number where the graph as built has none.
      const bool strict = test::is_finite_throughout(graph);
      return test::difference(graph, run(graph, strict ? mode : mode.excluding({"domain"}), threads),
                              test::reference(graph));
    };
  };
  std::vector<Way> ways = {{"vm, fast_run", by("vm", "fast_run", 1)}};
  if (seed % 4 == 0)
    ways.push_back({"passes", [](const test::Case& graph) {
                      return test::pass_trouble(FunctionGraph(graph.inputs, graph.outputs), graph.values, true);
                    }});
  if (seed % 4 == 1) ways.push_back({"jit, None", by("jit", "None", 1)});
  if (seed % 4 == 2) ways.push_back({"jit, fast_run", by("jit", "fast_run", 1)});
  if (seed % 12 == 3) ways.push_back({"jit, fast_run, 2 threads", by("jit", "fast_run", 2)});
  if (seed % 120 == 7) ways.push_back({"c, fast_run", by("c", "fast_run", 1)});
  return ways;
}

// Nothing, or what failed; an exception is a failure, for the interpreter found a value.
std::string trouble(const Way& way, const test::Case& graph) {
  try {
    return way.trouble(graph);
  } catch (const std::exception& error) {
    return error.what();
  }
}

}  // namespace

TEST_CASE("random graphs over the registry") {
  const std::int64_t count = number_from("BITALE_TEST_GRAPHS", 400), first = number_from("BITALE_TEST_SEED", 1);
  const bool is_long = count > 1000;
  for (std::int64_t seed = first; seed < first + count; ++seed) {
    if (is_long && (seed - first) % 500 == 0) std::cerr << seed - first << " graphs\n";
    const test::Case graph = test::registry_graph(std::uint64_t(seed), 3 + int(seed % 14));
    if (graph.outputs.empty()) continue;
    for (auto& way : ways_of(std::uint64_t(seed))) {
      if (trouble(way, graph).empty()) continue;
      constexpr int most_tries = 400;
      const test::Case small = test::shrink(
          graph, [&](auto& each) { return !trouble(way, each).empty(); }, most_tries);
      FAIL_CHECK("seed " << seed << ", " << way.name << ": " << test::describe(small) << trouble(way, small));
      break;
    }
  }
}

TEST_CASE("the generator reaches every op") {
  test::PairCounts pairs;
  std::set<std::string> seen;
  for (std::uint64_t seed = 1; seed <= 3000; ++seed) test::registry_graph(seed, 12, &pairs);
  for (auto& [pair, count] : pairs) seen.insert(pair.first), seen.insert(pair.second);
  for (auto& name : test::generated_op_names()) CHECK_MESSAGE(seen.count(name), name << " is in no graph");
  if (std::getenv("BITALE_TEST_REPORT"))
    MESSAGE(seen.size() << " ops, " << pairs.size() << " pairs of producer and consumer");
}
