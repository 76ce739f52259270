// The time from an empty graph to a callable for a huge function: a chain of 10,000 and of 100,000 steps with its
// gradient, of scalars and of vectors; and a function of many loops.
#include <benchmark/benchmark.h>

#include <bitale/bitale.hpp>

namespace bt = bitale;

namespace {

void count_times(benchmark::State& state, const bt::Function& f) {
  const auto times = f.times();
  state.counters["rewrite"] = times.rewrite / 1e3;
  state.counters["lower"] = times.lower / 1e3;
  state.counters["codegen"] = times.codegen / 1e3;
}

void chain(benchmark::State& state, const bt::Variable& x) {
  const bt::config::Change off("cache", "off");
  (void)bt::function({x}, bt::sin(x));  // loads LLVM
  for (auto _ : state) {
    bt::Variable y = x;
    for (std::int64_t i = 0; i < state.range(0); ++i) y = bt::sin(y) * 1.0001 + 0.5;
    count_times(state, bt::function({x}, {y, bt::grad(bt::sum(y), x)}));
  }
}

void scalars(benchmark::State& state) { chain(state, bt::scalar("x")); }
void vectors(benchmark::State& state) { chain(state, bt::vector("x")); }

void loops(benchmark::State& state) {
  const bt::config::Change off("cache", "off");
  for (auto _ : state) {
    bt::Variables inputs, outputs;
    for (std::int64_t i = 0; i < state.range(0); ++i) {
      inputs.push_back(bt::vector("x"));
      outputs.push_back(bt::exp(inputs.back()) * 2 + 1);
    }
    count_times(state, bt::function(inputs, outputs));
  }
}

void once(benchmark::internal::Benchmark* b) { b->Iterations(1)->Unit(benchmark::kSecond); }
BENCHMARK(scalars)->Arg(10'000)->Arg(100'000)->Apply(once);
BENCHMARK(vectors)->Arg(10'000)->Arg(100'000)->Apply(once);
BENCHMARK(loops)->Arg(500)->Arg(5'000)->Apply(once);

}  // namespace

BENCHMARK_MAIN();
