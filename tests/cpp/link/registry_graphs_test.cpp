// Random graphs over the whole registry: the interpreter on the graph as built is right; each pass of the lowering,
// native code in each mode, and other numbers of threads must agree with it. Failing graphs are shrunk and shown.
// BITALE_TEST_GRAPHS=100000 for more, BITALE_TEST_SEED to begin elsewhere, BITALE_TEST_PAIRS=1000000 for a report of
// which ops have consumed what which others produce.
#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <iostream>
#include <set>

#include "bitale/bitale.hpp"
#include "bitale/core/text.hpp"
#include "codegen/target.hpp"
#include "link/linker.hpp"
#include "lowering/lower.hpp"
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

// The levels of processors in turns, as far as this one reaches.
std::string target_of(std::uint64_t seed) {
  constexpr const char* levels[] = {"native", "x86-64-v3", "native-256", "x86-64-v2"};
  const char* level = levels[seed / 4 % std::size(levels)];
  try {
    codegen::target_named(level);
    return level;
  } catch (const ValueError&) {
    return "native";
  }
}

// What rewriting and lowering take per node. No assertion depends on it; a long run prints what is far from the median.
test::Case graph_of(std::int64_t seed) { return test::registry_graph(std::uint64_t(seed), 3 + int(seed % 14)); }

struct Timing {
  std::int64_t seed;
  double rewriting, lowering;  // microseconds per node
};

Timing timing_of(std::int64_t seed, const test::Case& graph) {
  using Clock = std::chrono::steady_clock;
  const auto microseconds = [](auto duration) { return std::chrono::duration<double, std::micro>(duration).count(); };
  FunctionGraph fgraph(graph.inputs, graph.outputs);
  const double nodes = double(fgraph.toposort().size()) + 1;
  const auto begin = Clock::now();
  rewrite(fgraph, Mode("jit", "fast_run").query());
  const auto rewritten = Clock::now();
  lowering::lower(fgraph);
  return {seed, microseconds(rewritten - begin) / nodes, microseconds(Clock::now() - rewritten) / nodes};
}

// The slowest are measured again, for a thread that had to wait is no finding.
void report_slow(std::vector<Timing> timings) {
  if (timings.empty()) return;
  for (auto [stage, time] : {std::pair("rewriting", &Timing::rewriting), std::pair("lowering", &Timing::lowering)}) {
    std::sort(timings.begin(), timings.end(), [&](auto& a, auto& b) { return a.*time < b.*time; });
    const double median = timings[timings.size() / 2].*time;
    std::cerr << stage << ": median " << median << " us per node; slowest:";
    for (std::size_t k = 0; k < 5 && k < timings.size(); ++k) {
      const Timing& each = timings[timings.size() - 1 - k];
      double least = each.*time;
      for (int again = 0; again < 3; ++again) least = std::min(least, timing_of(each.seed, graph_of(each.seed)).*time);
      std::cerr << " seed " << each.seed << " " << least / median << " times;";
    }
    std::cerr << "\n";
  }
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
  std::vector<Timing> timings;
  for (std::int64_t seed = first; seed < first + count; ++seed) {
    if (is_long && (seed - first) % 1000 == 0) std::cerr << seed - first << " of " << count << " graphs\n";
    const config::Change target("target", target_of(std::uint64_t(seed)));
    const test::Case graph = graph_of(seed);
    if (graph.outputs.empty()) continue;
    if (is_long) timings.push_back(timing_of(seed, graph));
    for (auto& way : ways_of(std::uint64_t(seed))) {
      if (trouble(way, graph).empty()) continue;
      constexpr int most_tries = 400;
      const test::Case small = test::shrink(
          graph, [&](auto& each) { return !trouble(way, each).empty(); }, most_tries);
      FAIL_CHECK("seed " << seed << ", " << way.name << ": " << test::describe(small) << trouble(way, small));
      break;
    }
  }
  report_slow(std::move(timings));
}

TEST_CASE("the generator reaches every op") {
  const std::int64_t count = number_from("BITALE_TEST_PAIRS", 3000);
  test::PairCounts pairs;
  for (std::int64_t seed = 1; seed <= count; ++seed) test::registry_graph(std::uint64_t(seed), 12, &pairs);
  std::set<std::string> seen;
  for (auto& [pair, times] : pairs) seen.insert(pair.first), seen.insert(pair.second);
  const auto names = test::generated_op_names();
  for (auto& name : names) CHECK_MESSAGE(seen.count(name), name << " is in no graph");
  if (!std::getenv("BITALE_TEST_PAIRS")) return;
  std::string missing;
  for (auto& producer : names)
    for (auto& consumer : names)
      if (!pairs.count({producer, consumer})) missing += cat(" ", producer, ">", consumer);
  MESSAGE(count << " graphs: " << names.size() << " ops, " << pairs.size() << " of " << names.size() * names.size()
                << " pairs of producer and consumer; not:" << missing);
}
