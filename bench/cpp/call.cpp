// The cost of a call of a compiled function in C++, when there is next to nothing to compute.
#include <benchmark/benchmark.h>

#include <cmath>

#include "models.hpp"
#include "peers/by_hand.hpp"

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
std::array<double, 10> parameters{1.5, 0.3, 0.1, -0.4, 0.9, -1.1, 0.2, 0.7, -0.3, 1.2};

void eight_schools_typed(benchmark::State& state) {
  const bench::Model model = bench::eight_schools();
  const auto f = bt::function(model.inputs, model.outputs()).as<double(std::span<const double>, std::span<double>)>();
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
  for (std::size_t i = 0; i < 8; ++i) {
    const double z = q[2 + i], r = (bench::effects[i] - (mu + tau * z)) / bench::errors[i];
    value -= 0.5 * z * z + 0.5 * r * r;
    dmu += r / bench::errors[i];
    dtau += r / bench::errors[i] * z;
    gradient[2 + i] = r / bench::errors[i] * tau - z;
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

// ---- the group model, and small products: compared with the handwritten kernels of peers/ ---------------------------
struct Rows {
  static constexpr std::size_t count = 919, groups = 85;
  std::vector<double> y = numbers(count), x = numbers(count), mu = numbers(groups), by_mu = std::vector<double>(groups);
  std::vector<std::int64_t> index = std::vector<std::int64_t>(count);
  double value = 0, by_b = 0, by_log_sigma = 0;

  Rows() {
    for (std::size_t i = 0; i < count; ++i) index[i] = std::int64_t(i * groups / count);
  }
  static std::vector<double> numbers(std::size_t count) {
    std::vector<double> out(count);
    for (std::size_t i = 0; i < count; ++i) out[i] = std::sin(double(i));
    return out;
  }
};

void group_value_typed(benchmark::State& state) {
  const bench::Model model = bench::group_model();
  const Rows rows;
  using In = std::span<const double>;
  const auto f =
      bt::function(model.inputs, model.value).as<double(In, In, std::span<const std::int64_t>, In, double, double)>();
  for (auto _ : state) benchmark::DoNotOptimize(f(rows.y, rows.x, rows.index, rows.mu, 0.3, 0.1));
}
BENCHMARK(group_value_typed);

void group_value_by_hand(benchmark::State& state) {
  Rows rows;
  const auto group_value = bench::by_hand<bench::GroupValue>("group_value");
  for (auto _ : state) {
    group_value(Rows::count, rows.y.data(), rows.x.data(), rows.index.data(), rows.mu.data(), 0.3, 0.1, &rows.value);
    benchmark::DoNotOptimize(rows.value);
  }
}
BENCHMARK(group_value_by_hand);

void group_gradient_typed(benchmark::State& state) {
  const bench::Model model = bench::group_model();
  Rows rows;
  using In = std::span<const double>;
  const auto f =
      bt::function(model.inputs, model.outputs())
          .as<double(In, In, std::span<const std::int64_t>, In, double, double, std::span<double>, double&, double&)>();
  for (auto _ : state) {
    benchmark::DoNotOptimize(
        f(rows.y, rows.x, rows.index, rows.mu, 0.3, 0.1, rows.by_mu, rows.by_b, rows.by_log_sigma));
    benchmark::ClobberMemory();
  }
}
BENCHMARK(group_gradient_typed);

void group_gradient_by_hand(benchmark::State& state) {
  Rows rows;
  const auto group_model = bench::by_hand<bench::GroupModel>("group_model");
  for (auto _ : state) {
    group_model(Rows::count, rows.y.data(), rows.x.data(), rows.index.data(), Rows::groups, rows.mu.data(), 0.3, 0.1,
                &rows.value, rows.by_mu.data(), &rows.by_b, &rows.by_log_sigma);
    benchmark::ClobberMemory();
  }
}
BENCHMARK(group_gradient_by_hand);

void product_typed(benchmark::State& state) {
  const std::int64_t n = state.range(0);
  const auto a = bt::matrix("a"), b = bt::matrix("b");
  using In = bt::ArrayView<const double, 2>;
  const auto f = bt::function({a, b}, bt::dot(a, b)).as<void(In, In, bt::ArrayView<double, 2>)>();
  const auto x = Rows::numbers(std::size_t(n * n)), y = x;
  auto out = x;
  for (auto _ : state) {
    f(In(x.data(), {n, n}), In(y.data(), {n, n}), bt::ArrayView<double, 2>(out.data(), {n, n}));
    benchmark::ClobberMemory();
  }
}
BENCHMARK(product_typed)->Arg(4)->Arg(8)->Arg(16);

void product_by_hand(benchmark::State& state) {
  const std::int64_t n = state.range(0);
  const auto x = Rows::numbers(std::size_t(n * n)), y = x;
  auto out = x;
  const auto matmul = bench::by_hand<bench::Matmul>("matmul");
  for (auto _ : state) {
    matmul(n, x.data(), y.data(), out.data());
    benchmark::ClobberMemory();
  }
}
BENCHMARK(product_by_hand)->Arg(4)->Arg(8)->Arg(16);

}  // namespace

BENCHMARK_MAIN();
