// How long function() takes for the training step of the digits network (64-128-10): loss, four gradients, four
// updates. The counters say where the time goes (milliseconds, the least of all runs); "first" is the first compilation
// of the process, which loads LLVM.
#include <benchmark/benchmark.h>

#include <bitale/bitale.hpp>

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

  Step() {
    auto hidden = bt::tanh(bt::dot(x, parameters[0]) + parameters[1]);
    auto logits = bt::dot(hidden, parameters[2]) + parameters[3];
    auto log_likelihood = bt::subtensor(logits, {bt::arange(bt::shape_i(y, 0)), y}) - bt::logsumexp(logits, {{1}});
    loss = -bt::mean(log_likelihood);
    auto gradients = bt::grad(loss, parameters);
    for (std::size_t i = 0; i < parameters.size(); ++i)
      updates.emplace_back(parameters[i], parameters[i] - 0.5 * gradients[i]);
  }
  bt::Function compile() const { return bt::function({x, y}, loss, {.updates = updates}); }
};

void build_step(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(Step());
}
BENCHMARK(build_step)->Unit(benchmark::kMillisecond);

void compile_step(benchmark::State& state) {
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

}  // namespace

BENCHMARK_MAIN();
