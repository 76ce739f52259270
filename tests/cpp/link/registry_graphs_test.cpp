// Random graphs over the whole registry: the interpreter on the graph as built is the oracle; each pass of the
// lowering, native code in each mode, and other numbers of threads must agree with it. Failing graphs are shrunk and
// shown. BITALE_TEST_PAIRS=1000000 counts the pairs of producers and consumers that occur.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <iostream>
#include <map>
#include <set>
#include <utility>

#include "bitale/bitale.hpp"
#include "bitale/core/text.hpp"
#include "codegen/target.hpp"
#include "link/linker.hpp"
#include "lowering/lower.hpp"
#include "support/graph_comparison.hpp"
#include "support/passes.hpp"
#include "support/registry_graphs.hpp"
#include "support/seeds.hpp"

using namespace bitale;

namespace {

// The processor time of one stage, in microseconds per node of the graph as built.
using Timings = std::map<std::string, double>;

class Stopwatch {
 public:
  Stopwatch(Timings* to, const test::Case& graph) : to_(to) {
    if (to_) nodes_ = double(toposort(graph.outputs).size()) + 1;
  }
  // Records the time since the previous stage.
  void note(const std::string& stage) {
    const std::clock_t now = std::clock();
    if (to_) (*to_)[stage] = 1e6 / CLOCKS_PER_SEC * double(now - begin_) / nodes_;
    begin_ = now;
  }

 private:
  Timings* to_;
  double nodes_ = 1;
  std::clock_t begin_ = std::clock();
};

std::vector<Array> run(const test::Case& graph, const Mode& mode, int threads, Timings* timings) {
  Stopwatch stopwatch(timings, graph);
  const auto linked = std::make_shared<FunctionGraph>(graph.inputs, graph.outputs);
  rewrite(*linked, mode.query());
  stopwatch.note(cat("rewriting, ", mode.optimizer()));
  const auto thunk =
      link::link(mode.linker(), linked, {.cached = false, .threads = threads, .eager_threads = threads > 1});
  stopwatch.note(cat("linker ", mode.linker().name, ", ", mode.optimizer()));
  return thunk->run(graph.values);
}

struct Way {
  std::string name;
  // The failure, or nothing.
  std::function<std::string(const test::Case&, Timings*)> trouble;
};

// Rewriting is tested on every graph, by the interpreter. More expensive checks depend on the seed: the Program after
// each pass on one graph in eight, native code on one in thirty-two, the C compiler on one in two thousand.
std::vector<Way> ways_of(std::uint64_t seed) {
  const auto by = [](std::string linker, std::string optimizer, int threads) {
    const Mode mode(linker, optimizer);
    return Way{cat(linker, ", ", optimizer, threads > 1 ? ", 2 threads" : ""),
               [mode, threads](const test::Case& graph, Timings* timings) {
                 const test::Reference reference = test::reference(graph);
                 // Rules that widen a domain may find a number where the graph as built has none.
                 const Mode allowed = reference.is_finite ? mode : mode.excluding({"domain"});
                 Timings* timed = timings;  // for the graph itself, not for the subgraphs that `difference` runs
                 const test::Run run_all = [&](const test::Case& each) {
                   return run(each, allowed, threads, std::exchange(timed, nullptr));
                 };
                 return test::difference(graph, run_all, reference.results);
               }};
  };
  std::vector<Way> ways = {by("vm", "fast_run", 1)};
  const bool all = std::getenv("BITALE_TEST_ALL_WAYS");  // to examine a single seed
  if (all || seed % 8 == 0)
    ways.push_back({"passes", [](const test::Case& graph, Timings* timings) {
                      const FunctionGraph as_built(graph.inputs, graph.outputs);
                      if (timings) {
                        Stopwatch stopwatch(timings, graph);
                        lowering::lower(as_built);
                        stopwatch.note("lowering");
                      }
                      return test::pass_trouble(as_built, graph.values, true, [&](auto got, auto expected) {
                        return test::difference(graph, got, expected);
                      });
                    }});
  if (all || seed % 64 == 1) ways.push_back(by("jit", "None", 1));
  if (all || seed % 128 == 2) ways.push_back(by("jit", "fast_run", 1));
  if (all || seed % 128 == 66) ways.push_back(by("jit", "fast_run", 2));
  if (all || seed % 2000 == 7) ways.push_back(by("c", "fast_run", 1));
  return ways;
}

// Cycles through the processor levels that this processor supports.
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

test::Case graph_of(std::int64_t seed) { return test::registry_graph(std::uint64_t(seed), 3 + int(seed % 14)); }

// The failure, or nothing. An exception that rounding does not explain is a failure, since the interpreter found a
// value.
std::string trouble(const Way& way, const test::Case& graph, Timings* timings = nullptr) {
  try {
    return way.trouble(graph, timings);
  } catch (const std::exception& error) {
    return error.what();
  }
}

// Whether the interpreter finds a value of the graph as built; otherwise it is not a smaller form of a graph that has
// one.
bool has_value(const test::Case& graph) {
  try {
    test::reference(graph);
    return true;
  } catch (const std::exception&) {
    return false;
  }
}

// A fact inferred about a matrix of the graph that its value contradicts, or nothing.
std::string structure_trouble(const test::Case& graph) {
  test::Case all = graph;
  all.outputs.clear();
  for (auto& node : toposort(graph.outputs))
    for (auto& output : node.outputs())
      if (as_tensor(output.type()) && output.ndim() >= 2) all.outputs.push_back(output);
  if (all.outputs.empty()) return {};
  const auto [values, is_finite] = test::reference(all);
  if (!is_finite) return {};  // facts assume matrices without nan and infinities
  for (std::size_t k = 0; k < values.size(); ++k) {
    const Structure facts = structure_of(all.outputs[k]);
    if (const auto fact = contradicted_fact(values[k], facts))
      return cat("inferred to be ", long_name(*fact), ", but not: ", all.outputs[k].str(), " of ",
                 all.outputs[k].owner().op().label(), " is ", values[k].str());
  }
  return {};
}

// Reports a stage that takes more than ten times the median per node, and in total as long as thousands of nodes, three
// times in a row. This excludes interrupted threads and small graphs with the longest expansions.
class SlowStages {
 public:
  void look(std::int64_t seed, const Way& way, const test::Case& graph, const Timings& timings) {
    for (auto& [stage, time] : timings) {
      std::vector<double>& seen = seen_[stage];
      if (seen.size() < enough) {
        seen.push_back(time);
        if (seen.size() == enough) std::nth_element(seen.begin(), seen.begin() + enough / 2, seen.end());
        continue;
      }
      const double median = seen[enough / 2];
      const double nodes = double(toposort(graph.outputs).size()) + 1;
      const double limit = median * std::max(most, noticeable / nodes);
      double least = time;
      for (int again = 0; again < 2 && least > limit; ++again) {
        Timings once_more;
        trouble(way, graph, &once_more);
        least = std::min(least, once_more[stage]);
      }
      CHECK_MESSAGE(least <= limit, "seed " << seed << ", " << stage << ": " << least
                                            << " us per node, where the median is " << median);
    }
  }
  void report() const {
    for (auto& [stage, times] : seen_)
      if (times.size() == enough) std::cerr << stage << ": median " << times[enough / 2] << " us per node\n";
  }

 private:
  static constexpr std::size_t enough = 500;
  static constexpr double most = 10, noticeable = 3'000;  // times the median of one node; for the whole graph
  std::map<std::string, std::vector<double>> seen_;
};

}  // namespace

TEST_CASE("random graphs over the registry") {
  const bool is_fuzzing = test::Seeds::is_fuzzing();
  SlowStages slow;
  for (const std::int64_t seed : test::Seeds(3000)) {
    const config::Change target("target", target_of(std::uint64_t(seed)));
    const test::Case graph = graph_of(seed);
    if (graph.outputs.empty()) continue;
    const std::string structure = structure_trouble(graph);
    CHECK_MESSAGE(structure.empty(), "seed " << seed << ": " << test::describe(graph) << structure);
    for (auto& way : ways_of(std::uint64_t(seed))) {
      Timings timings;
      if (trouble(way, graph, &timings).empty()) {
        if (is_fuzzing) slow.look(seed, way, graph, timings);
        continue;
      }
      constexpr int max_tries = 400;
      const test::Case small = test::shrink(
          graph, [&](auto& each) { return has_value(each) && !trouble(way, each).empty(); }, max_tries);
      FAIL_CHECK("seed " << seed << ", " << way.name << ": " << test::describe(small) << trouble(way, small));
      break;
    }
  }
  if (is_fuzzing) slow.report();
}

TEST_CASE("the generator reaches every op") {
  const std::int64_t count = test::number_from("BITALE_TEST_PAIRS").value_or(10'000);
  test::PairCounts pairs;
  for (std::int64_t seed = 1; seed <= count; ++seed) test::registry_graph(std::uint64_t(seed), 12, &pairs);
  std::set<std::string> seen;
  for (auto& [pair, times] : pairs) seen.insert(pair.first), seen.insert(pair.second);
  for (auto& name : test::generated_op_names()) CHECK_MESSAGE(seen.count(name), name << " is in no graph");
  if (std::getenv("BITALE_TEST_PAIRS"))
    MESSAGE(count << " graphs: " << pairs.size() << " pairs of producer and consumer");
}

namespace {

// Why the generator has no graph of some pairs. "*" stands for every op.
struct WithoutGraph {
  std::string_view producers, consumers, reason;
};

// Square matrices, and the stacks of real and imaginary parts that stand for complex ones.
constexpr std::string_view of_fixed_lengths =
    "Cholesky CholeskyGradient ComplexCholesky ComplexEigh ComplexLUFactor ComplexLstsq ComplexPinv ComplexQR "
    "ComplexQZ ComplexSLogDet ComplexSVD "
    "ComplexExpm ComplexExpmDerivative ComplexSchur ComplexSolve ComplexSolveContinuousARE ComplexSolveDiscreteARE "
    "ComplexSolveSylvester ComplexSolveTriangular Det Eig Eigh Eigvalsh Expm ExpmDerivative QZ SLogDet Schur "
    "SolveContinuousARE";

constexpr WithoutGraph without_graph[] = {
    {"Alloc ComposedDraw RandomBits RandomVariable Reshape SegmentScatter SegmentSum SparseLuSolve SparseSolve "
     "SparseSolveTriangular",
     of_fixed_lengths, "the lengths are values"},
    {"Convolve", of_fixed_lengths, "the lengths are sums of lengths"},
    {"Convolve", "SparseRealForm", "the lengths are sums of lengths"},
    {"SolveLUFactorTridiagonal DimShuffle", of_fixed_lengths, "tensors of rank 3 have an independent length"},
    {"SpecifyAssumptions", "ComplexCholesky ComplexSolveContinuousARE", "what is assumed does not hold"},
    {"AdvancedIncSubtensor IRFFT", "ComplexSolveContinuousARE SolveContinuousARE",
     "the Riccati equation has no stabilizing solution"},
    {"ArgSortOp", "Cholesky", "permutations are not positive definite"},
    {"SparseCholesky SparseCholeskyDerivative SparseCholeskyGradient SparseInverseDerivative SparseLuInverseDerivative "
     "SparseLuSelectedInverse SparseSelectedInverse",
     "SolveDefinite", "a random matrix with as many rows as there are stored elements is not positive definite"},
    {"*", "RandomRows ComposedDraw RandomVariable", "parameters have a domain, and a size that fits their lengths"},
    {"*", "SpecifyAssumptions", "what is assumed does not hold"},
    {"*", "SpecifyShape RuntimeBroadcast CheckMask", "lengths have to match other inputs"},
    {"*", "FFT IRFFT", "the length of the transform is an attribute"},
    {"*", "LUFactorTridiagonal SolveLUFactorTridiagonal SolveTridiagonal", "diagonals differ in length"},
    {"*",
     "SparseCholesky SparseCholeskyDerivative SparseCholeskyGradient SparseInverseDerivative SparseLogDeterminant "
     "SparseSelectedInverse SparseSolve SparseSolveTriangular",
     "the number of stored elements is an attribute"},
    {"SparseLuSolve SparseSolve SparseSolveTriangular", "RandomDomain SegmentSum",
     "the length of the vector is an attribute"},
    {"*", "SparseCholeskyOrder", "the values are a pattern"},
    {"SegmentScatter SolveTridiagonal", "SegmentSum", "the bounds of segments are values"},
    {"*", "SegmentScatter", "the bounds of segments and the columns are values"},
    {"*", "Alloc Reshape", "the values are lengths"},
    {"*", "AdvancedSubtensor AdvancedIncSubtensor", "the values are positions"},
    {"ComplexExpmDerivative ComplexPinv ComplexSchur ComplexSolveContinuousARE ComplexSolveDiscreteARE "
     "ComplexSolveSylvester ComplexSolveTriangular",
     "DimShuffle", "the dimension that it drops has length 2"},
};

bool mentions(std::string_view words, const std::string& word) {
  return words == "*" || cat(" ", words, " ").find(cat(" ", word, " ")) != std::string::npos;
}

bool has_reason(const std::string& producer, const std::string& consumer) {
  return std::any_of(std::begin(without_graph), std::end(without_graph), [&](const WithoutGraph& each) {
    return mentions(each.producers, producer) && mentions(each.consumers, consumer);
  });
}

}  // namespace

// Every pair of a producer and a consumer that dtypes and ranks allow, each as a separate graph.
TEST_CASE("every op reads what every other one produces") {
  const auto names = test::generated_op_names();
  const Way rewritten = ways_of(1)[0];
  std::size_t legal = 0, made = 0;
  for (auto& producer : names)
    for (auto& consumer : names) {
      const test::PairGraph pair = test::pair_graph(producer, consumer);
      legal += pair.is_legal;
      if (!pair.graph) {
        const bool is_known = !pair.is_legal || has_reason(producer, consumer);
        CHECK_MESSAGE(is_known, producer << " > " << consumer << ": no graph");
        continue;
      }
      made += pair.is_legal;
      const std::string found = trouble(rewritten, *pair.graph) + structure_trouble(*pair.graph);
      CHECK_MESSAGE(found.empty(), producer << " > " << consumer << ": " << test::describe(*pair.graph) << found);
    }
  // The reasons apply to ops as a whole; nearly all of their pairs have a graph nevertheless.
  CHECK_MESSAGE(made * 1000 >= legal * 975, made << " of " << legal << " pairs have a graph");
}
