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

// ---- eight schools: log density of ten parameters and its gradient --------------------------------------------------
constexpr double effects[] = {28, 8, -3, 7, -1, 1, 18, 12}, errors[] = {15, 10, 16, 11, 9, 11, 10, 18};
std::array<double, 10> parameters{1.5, 0.3, 0.1, -0.4, 0.9, -1.1, 0.2, 0.7, -0.3, 1.2};

void eight_schools_typed(benchmark::State& state) {
  const auto q = bt::vector("q");
  const auto numbers = [](const double* values) {
    return bt::constant(bt::Array::from(values, bt::DType::Float64, {8}));
  };
  const auto y = numbers(effects), s = numbers(errors);
  const auto mu = subtensor(q, {0}), log_tau = subtensor(q, {1}), z = subtensor(q, {bt::Slice{2, {}, {}}}),
             tau = exp(log_tau);
  const auto r = (y - (mu + tau * z)) / s;
  const auto value =
      -0.5 * sqr(mu / 5.0) - 0.5 * sqr(tau / 5.0) + log_tau - 0.5 * sum(sqr(z)) + sum(-0.5 * sqr(r) - log(s));
  const auto f =
      bt::function({q}, {value, bt::grad(value, q)}).as<double(std::span<const double>, std::span<double>)>();
  std::array<double, 10> gradient;
  for (auto _ : state) {
    benchmark::DoNotOptimize(f(parameters, gradient));
    benchmark::ClobberMemory();
  }
}
BENCHMARK(eight_schools_typed);

__attribute__((noinline)) double eight_schools(const double* q, double* gradient) {
  const double mu = q[0], tau = std::exp(q[1]);
  double value = -0.5 * mu * mu / 25 - 0.5 * tau * tau / 25 + q[1] - 18.848394, dmu = -mu / 25, dtau = -tau / 25;
  for (int i = 0; i < 8; ++i) {
    const double z = q[2 + i], r = (effects[i] - (mu + tau * z)) / errors[i];
    value -= 0.5 * z * z + 0.5 * r * r;
    dmu += r / errors[i];
    dtau += r / errors[i] * z;
    gradient[2 + i] = r / errors[i] * tau - z;
  }
  gradient[0] = dmu;
  gradient[1] = dtau * tau + 1;
  return value;
}

void eight_schools_by_hand(benchmark::State& state) {
  std::array<double, 10> gradient;
  for (auto _ : state) {
    benchmark::DoNotOptimize(parameters.data());
    benchmark::DoNotOptimize(eight_schools(parameters.data(), gradient.data()));
    benchmark::ClobberMemory();
  }
}
BENCHMARK(eight_schools_by_hand);

}  // namespace

BENCHMARK_MAIN();
