// A chain of 100,000 and of 1,000,000 nodes: all traversals of graphs are iterative and linear.
#include <benchmark/benchmark.h>

#include <bitale/bitale.hpp>

namespace bt = bitale;

namespace {

bt::Variable chain(std::int64_t length) {
  auto x = bt::vector("x");
  for (std::int64_t i = 0; i < length; ++i) x = bt::sin(x);
  return x;
}

void build(benchmark::State& state) {
  for (auto _ : state) {
    auto end = chain(state.range(0));
    state.PauseTiming();
    end = {};
    state.ResumeTiming();
  }
}

void destroy(benchmark::State& state) {
  for (auto _ : state) {
    state.PauseTiming();
    auto end = chain(state.range(0));
    state.ResumeTiming();
    end = {};
  }
}

void clone(benchmark::State& state) {
  const bt::Variable ends[] = {chain(state.range(0))};
  for (auto _ : state) {
    bt::VariableMap memo;
    auto copy = bt::clone(ends, memo);
    state.PauseTiming();
    copy.clear();
    memo.clear();
    state.ResumeTiming();
  }
}

void toposort(benchmark::State& state) {
  const bt::Variable ends[] = {chain(state.range(0))};
  for (auto _ : state) benchmark::DoNotOptimize(bt::toposort(ends));
}

void dprint(benchmark::State& state) {
  const auto end = chain(state.range(0));
  for (auto _ : state) benchmark::DoNotOptimize(bt::dprint(end, {.depth = 3}));
}

void lengths(benchmark::internal::Benchmark* b) { b->Arg(100'000)->Arg(1'000'000)->Unit(benchmark::kMillisecond); }
BENCHMARK(build)->Apply(lengths);
BENCHMARK(clone)->Apply(lengths);
BENCHMARK(toposort)->Apply(lengths);
BENCHMARK(dprint)->Apply(lengths);
BENCHMARK(destroy)->Apply(lengths);

}  // namespace

BENCHMARK_MAIN();
