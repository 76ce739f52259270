// The time of rewriting with the full query: a log density of about 300 nodes with its gradient, long chains (time per
// node), and the gradient of a chain of 100,000 steps from an empty graph to the rewritten one.
#include <benchmark/benchmark.h>

#include <optional>

#include <bitale/bitale.hpp>

namespace bt = bitale;

namespace {

// A regression with several normal and Poisson terms, as a modelling language would generate it.
struct Density {
  bt::Variables parameters;
  bt::Variable value;

  explicit Density(int terms) {
    value = bt::constant(bt::Array(0.0));
    for (int i = 0; i < terms; ++i) {
      auto mean = bt::vector("mean"), log_scale = bt::vector("log_scale"), data = bt::vector("data");
      auto scale = bt::exp(log_scale), score = (data - mean) / scale;
      auto normal = -0.5 * score * score - bt::log(scale) - 0.5 * 1.8378770664093453;
      auto counts = data * bt::log(bt::exp(mean)) - bt::exp(mean);
      value = value + bt::sum(normal) + bt::sum(counts) + bt::sum(bt::log(1 / (1 + bt::exp(-mean))));
      for (auto& each : {mean, log_scale, data}) parameters.push_back(each);
    }
  }
  bt::FunctionGraph with_gradient() const {
    bt::Variables outputs = bt::grad(value, parameters);
    outputs.insert(outputs.begin(), value);
    return bt::FunctionGraph(parameters, outputs);
  }
};

void rewrite_all(benchmark::State& state, const bt::FunctionGraph& graph) {
  std::size_t after = 0;
  for (auto _ : state) {
    state.PauseTiming();
    auto copy = graph.clone();
    state.ResumeTiming();
    bt::rewrite(copy, bt::OPT_FAST_RUN);
    state.PauseTiming();
    after = copy.node_count();
    copy = graph.clone();  // the time to release the rewritten graph is not counted
    state.ResumeTiming();
  }
  state.counters["nodes"] = double(graph.node_count());
  state.counters["after"] = double(after);
}

void density(benchmark::State& state) { rewrite_all(state, Density(5).with_gradient()); }
BENCHMARK(density)->Unit(benchmark::kMillisecond);

bt::Variable chain(const bt::Variable& x, std::int64_t steps) {
  bt::Variable out = x;
  for (std::int64_t i = 0; i < steps; ++i) out = bt::sin(out) * 1.0001 + 0.5;
  return out;
}

void per_node(benchmark::State& state) {
  const auto x = bt::vector("x");
  const bt::Variable end = chain(x, state.range(0) / 3);
  rewrite_all(state, bt::FunctionGraph({x}, {end}));
}
BENCHMARK(per_node)->Arg(1'000)->Arg(100'000)->Unit(benchmark::kMillisecond);

void chain_gradient(benchmark::State& state) {
  for (auto _ : state) {
    const auto x = bt::scalar("x");
    std::optional<bt::Variable> end = chain(x, 100'000), slope = bt::grad(*end, x);
    std::optional<bt::FunctionGraph> graph(std::in_place, bt::Variables{x}, bt::Variables{*end, *slope});
    bt::rewrite(*graph, bt::OPT_FAST_RUN);
    benchmark::DoNotOptimize(graph->node_count());
    state.PauseTiming();  // the time to release them is not counted
    graph.reset();
    end.reset();
    slope.reset();
    state.ResumeTiming();
  }
}
BENCHMARK(chain_gradient)->Unit(benchmark::kMillisecond)->Iterations(1);

}  // namespace

BENCHMARK_MAIN();
