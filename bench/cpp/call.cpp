// What a call of a compiled function costs in C++, when there is next to nothing to compute.
#include <benchmark/benchmark.h>

#include <bitale/bitale.hpp>

namespace bt = bitale;

namespace {

bt::Function scalar_function() {
  auto x = bt::scalar("x"), y = bt::scalar("y");
  return bt::function({x, y}, x * y + 1.0);
}

void call_scalars(benchmark::State& state) {
  const auto f = scalar_function();
  const double arguments[] = {2, 3};
  for (auto _ : state) benchmark::DoNotOptimize(f.call_scalars(arguments));
}
BENCHMARK(call_scalars);

void call_arrays(benchmark::State& state) {
  const auto f = scalar_function();
  const bt::Array arguments[] = {2.0, 3.0};
  for (auto _ : state) benchmark::DoNotOptimize(f(arguments));
}
BENCHMARK(call_arrays);

void call_vector_of_8(benchmark::State& state) {
  auto x = bt::vector("x");
  const auto f = bt::function({x}, 2.0 * x + 1.0);
  const bt::Array arguments[] = {bt::Array::full(bt::DType::Float64, {8}, 1.0)};
  for (auto _ : state) benchmark::DoNotOptimize(f(arguments));
}
BENCHMARK(call_vector_of_8);

}  // namespace

BENCHMARK_MAIN();
