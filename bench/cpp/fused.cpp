// A chain of elementwise operations that is fused to one loop, compared with a handwritten loop.
#include <benchmark/benchmark.h>

#include <bitale/bitale.hpp>
#include <cmath>
#include <random>

namespace bt = bitale;

namespace {

constexpr std::int64_t n = 1'000'000;

bt::Array uniform(double low, double high, unsigned seed) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> distribution(low, high);
  auto array = bt::Array::empty(bt::DType::Float64, {n});
  for (std::int64_t i = 0; i < n; ++i) array.mutable_data_as<double>()[i] = distribution(random);
  return array;
}

struct Inputs {
  bt::Array x = uniform(-3, 3, 1), y = uniform(-3, 3, 2), z = uniform(-0.5, 10, 3);
  static const Inputs& get() {
    static const Inputs inputs;
    return inputs;
  }
};

void fused_bitale(benchmark::State& state) {
  auto x = bt::vector("x"), y = bt::vector("y"), z = bt::vector("z"), mu = bt::scalar("mu"), s = bt::scalar("s");
  const auto f = bt::function({x, y, z, mu, s}, bt::exp(-0.5 * bt::sqr((x - mu) / s)) * bt::tanh(y) + bt::log1p(z));
  const auto& [a, b, c] = Inputs::get();
  const bt::Array arguments[] = {a, b, c, 0.1, 1.3};
  for (auto _ : state) benchmark::DoNotOptimize(f(arguments));
}
BENCHMARK(fused_bitale)->Unit(benchmark::kMillisecond);

void fused_by_hand(benchmark::State& state) {
  const auto& [a, b, c] = Inputs::get();
  const double *x = a.data_as<double>(), *y = b.data_as<double>(), *z = c.data_as<double>();
  double mu = 0.1, s = 1.3;
  benchmark::DoNotOptimize(mu);
  benchmark::DoNotOptimize(s);
  std::vector<double> out(n);
  for (auto _ : state) {
    for (std::size_t i = 0; i < n; ++i) {
      const double r = (x[i] - mu) / s;
      out[i] = std::exp(-0.5 * r * r) * std::tanh(y[i]) + std::log1p(z[i]);
    }
    benchmark::ClobberMemory();
  }
}
BENCHMARK(fused_by_hand)->Unit(benchmark::kMillisecond);

}  // namespace

BENCHMARK_MAIN();
