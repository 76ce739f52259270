// What a call of a compiled function costs in C++, when there is next to nothing to compute.
#include <benchmark/benchmark.h>

#include <bitale/bitale.hpp>

namespace bt = bitale;

namespace {

bt::Function scalar_function() {
  auto x = bt::scalar("x"), y = bt::scalar("y");
  return bt::function({x, y}, x * y + 1.0);
}

void call_typed(benchmark::State& state) {
  const auto f = scalar_function().as<double(double, double)>();
  for (auto _ : state) benchmark::DoNotOptimize(f(2.0, 3.0));
}
BENCHMARK(call_typed);

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

void call_typed_vector_of_8(benchmark::State& state) {
  auto x = bt::vector("x");
  const auto f = bt::function({x}, 2.0 * x + 1.0).as<void(std::span<const double>, std::span<double>)>();
  const std::vector<double> argument(8, 1.0);
  std::vector<double> result(8);
  for (auto _ : state) {
    f(argument, result);
    benchmark::DoNotOptimize(result.data());
  }
}
BENCHMARK(call_typed_vector_of_8);

}  // namespace

BENCHMARK_MAIN();
