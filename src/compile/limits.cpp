// The limits of the machine, measured with compiled functions of this library: a rate that these can't reach is not a
// useful limit.
#include <algorithm>
#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <utility>

#include "bitale/compile/profile.hpp"
#include "bitale/ops/ops.hpp"
#include "runtime/caches.hpp"

namespace bitale {

namespace {

constexpr std::int64_t mebibyte = std::int64_t(1) << 20;
constexpr std::int64_t near_elements = 4096;  // that fit in the caches of a core
constexpr int chains = 8, chain_length = 16;  // independent chains, each of that many dependent products

// The shortest time of a call, in seconds.
double min_seconds(const Function& function, const Array& input, int runs) {
  const Array out = function({input}).single();
  double least = 1e9;
  for (int run = 0; run < runs; ++run) {
    const auto start = std::chrono::steady_clock::now();
    function.run_into(std::span(&input, 1), std::span(&out, 1));
    least = std::min(least, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
  return std::max(least, 1e-9);
}

FunctionOptions options_for(int threads) {
  FunctionOptions options;
  options.mode = Mode("jit", "None");  // the expression is measured as it is written
  options.threads = threads;
  options.profile = false;
  return options;
}

double measure_bandwidth(int threads) {
  const std::int64_t bytes = std::clamp(4 * runtime::stream_from(), 64 * mebibyte, 128 * mebibyte);
  const Variable x = vector("x");
  const Array values = Array::full(DType::Float64, {bytes / 8}, 1.0);
  return double(bytes) / min_seconds(function({x}, sum(x), options_for(threads)), values, 4);
}

double measure_flops(int threads) {
  const Variable x = vector("x");
  Variable total = x;
  for (int chain = 0; chain < chains; ++chain) {
    const Variable step = constant(Array(0.5 + 0.01 * chain));
    Variable y = x;
    for (int k = 0; k < chain_length; ++k) y = y * x + step;
    total = total + y;
  }
  const std::int64_t count = near_elements * threads;
  const Array values = Array::full(DType::Float64, {count}, 0.25);
  const double operations = double(count) * chains * (2 * chain_length + 1);
  return operations / min_seconds(function({x}, total, options_for(threads)), values, 200);
}

}  // namespace

const MachineLimits& machine_limits(int threads) {
  static std::mutex mutex;
  static std::map<int, MachineLimits> known;
  const std::lock_guard lock(mutex);
  if (auto found = known.find(threads); found != known.end()) return found->second;
  const MachineLimits measured{measure_bandwidth(threads), measure_flops(threads), threads};
  return known.emplace(threads, measured).first->second;
}

}  // namespace bitale
