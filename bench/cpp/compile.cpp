// Measures the time that function() takes for the training step of the digits network (64-128-10): loss, four
// gradients, four updates; without a cache (compile_step), and with its code in the object cache (compile_kept). The
// counters show how the time is spent (milliseconds, the least of all runs; for compile_kept the median); "first" is
// the first compilation of the process, which loads LLVM. Given a directory and a number, the program compiles that
// many steps, which differ in a constant, with the directory as compiledir, and prints the times of the last one in
// milliseconds: all of function(), rewriting, lowering, native code.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <bitale/bitale.hpp>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <vector>

#include "models.hpp"

namespace bt = bitale;

namespace {

bt::Variable parameter(const char* name, const bt::Dims& shape) {
  return bt::shared(bt::Array::full(bt::DType::Float64, shape, 0.1), name);
}

struct Step {
  bt::Variable x = bt::matrix("x"), y = bt::lvector("y");
  bt::Variables parameters{parameter("W1", {64, 128}), parameter("b1", {128}), parameter("W2", {128, 10}),
                           parameter("b2", {10})};
  bt::Variable loss;
  bt::Replacements updates;

  explicit Step(double rate = 0.5) {
    auto hidden = bt::tanh(bt::dot(x, parameters[0]) + parameters[1]);
    auto logits = bt::dot(hidden, parameters[2]) + parameters[3];
    auto log_likelihood = bt::subtensor(logits, {bt::arange(bt::shape_i(y, 0)), y}) - bt::logsumexp(logits, {{1}});
    loss = -bt::mean(log_likelihood);
    auto gradients = bt::grad(loss, parameters);
    for (std::size_t i = 0; i < parameters.size(); ++i)
      updates.emplace_back(parameters[i], parameters[i] - rate * gradients[i]);
  }
  bt::Function compile() const { return bt::function({x, y}, loss, {.updates = updates}); }
};

void build_step(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(Step());
}
BENCHMARK(build_step)->Unit(benchmark::kMillisecond);

void compile_step(benchmark::State& state) {
  const bt::config::Change off("cache", "off");
  static const double first = Step().compile().times().total;
  const Step step;
  bt::CompileTimes least{1e9, 1e9, 1e9, 1e9};
  for (auto _ : state) {
    const auto times = step.compile().times();
    least.rewrite = std::min(least.rewrite, times.rewrite);
    least.lower = std::min(least.lower, times.lower);
    least.codegen = std::min(least.codegen, times.codegen);
  }
  state.counters["rewrite"] = least.rewrite;
  state.counters["lower"] = least.lower;
  state.counters["codegen"] = least.codegen;
  state.counters["first"] = first;
}
BENCHMARK(compile_step)->Unit(benchmark::kMillisecond);

// The graph and its gradient have been built before.
void compile_model(benchmark::State& state, const bench::Model& model) {
  const bt::config::Change off("cache", "off");
  for (auto _ : state) benchmark::DoNotOptimize(bt::function(model.inputs, model.outputs()));
}
BENCHMARK_CAPTURE(compile_model, eight_schools, bench::eight_schools())->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(compile_model, group_model, bench::group_model())->Unit(benchmark::kMillisecond);

void compile_kept(benchmark::State& state) {
  const auto directory = std::filesystem::temp_directory_path() / "bitale-bench-compiled";
  const bt::config::Change on("cache", "on"), change("compiledir", directory.string());
  const Step step;
  (void)step.compile();
  std::vector<double> beyond_rewriting;
  for (auto _ : state) {
    const auto times = step.compile().times();
    beyond_rewriting.push_back(times.total - times.rewrite);
  }
  const auto middle = beyond_rewriting.begin() + std::ptrdiff_t(beyond_rewriting.size() / 2);
  std::nth_element(beyond_rewriting.begin(), middle, beyond_rewriting.end());
  state.counters["beyond_rewriting"] = *middle;
  std::filesystem::remove_all(directory);
}
BENCHMARK(compile_kept)->Unit(benchmark::kMillisecond);

}  // namespace

int main(int count, char** arguments) {
  if (count == 3 && std::filesystem::is_directory(arguments[1])) {
    const bt::config::Change change("compiledir", arguments[1]);
    bt::CompileTimes times;
    for (int i = 0; i < std::atoi(arguments[2]); ++i) times = Step(0.5 + i / 1024.0).compile().times();
    std::printf("%g %g %g %g\n", times.total, times.rewrite, times.lower, times.codegen);
    return 0;
  }
  benchmark::Initialize(&count, arguments);
  benchmark::RunSpecifiedBenchmarks();
}
