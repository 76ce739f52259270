// Threads compile, call and free functions concurrently, with inputs of new strides, for which code is generated during
// calls. All get the results of a single thread. The tests also run under ThreadSanitizer.
#include <doctest/doctest.h>

#include <atomic>
#include <thread>

#include "bitale/bitale.hpp"
#include "link/linker.hpp"
#include "support/directory.hpp"

using namespace bitale;

namespace {

using Arrays = std::vector<Array>;

std::unique_ptr<link::Thunk> linked(const std::string& linker, const Variables& inputs, const Variables& outputs,
                                    const link::LinkOptions& options = {}) {
  const auto graph = std::make_shared<FunctionGraph>(inputs, outputs);
  rewrite(*graph, Mode(linker, "fast_run").query());
  return link::link(linker, graph, options);
}

Array numbered(const Dims& shape) {
  Array out = Array::empty(DType::Float64, shape);
  for (std::int64_t i = 0; i < out.size(); ++i) out.mutable_data_as<double>()[i] = std::sin(double(i));
  return out;
}

// The same values in more memory layouts than a function has entries for.
std::vector<Array> arrangements() {
  const Array rows = numbered({24, 18});
  std::vector<Array> out{rows, rows.transpose().copy().transpose()};
  for (std::int64_t step = 2; step < 6; ++step) {
    out.push_back(Array::zeros(DType::Float64, {24, 18 * step}).slice(1, 0, 18, step));
    out.push_back(Array::zeros(DType::Float64, {24 * step, 18}).slice(0, 0, 24, step));
  }
  for (auto& each : out) each.assign(rows);
  return out;
}

// Runs the work in `count` threads; false if one of them throws or returns false.
template <class Work>
bool in_threads(int count, Work&& work) {
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < count; ++t)
    threads.emplace_back([&, t] {
      try {
        wrong += !work(t);
      } catch (const std::exception&) {
        ++wrong;
      }
    });
  for (auto& thread : threads) thread.join();
  return wrong == 0;
}

bool close(const Arrays& a, const Arrays& b) {
  for (std::size_t i = 0; i < a.size(); ++i)
    if (!allclose(a[i], b[i], 1e-12, 1e-12)) return false;
  return true;
}

}  // namespace

TEST_CASE("callers: code for new strides is generated during concurrent calls") {
  const testing::TemporaryDirectory directory;
  const config::Change change("compiledir", directory.path());
  const auto x = matrix("x");
  const Variables outputs{exp(x) * 2.25, sum(sqr(x), std::vector<int>{0})};
  const std::vector<Array> values = arrangements();
  const Arrays expected = linked("vm", {x}, outputs)->run(Arrays{values[0]});
  for (int threads : {1, 3}) {
    const auto thunk =
        linked("jit", {x}, outputs, {.eager_strides = true, .threads = threads, .eager_threads = threads > 1});
    CHECK(in_threads(6, [&](int t) {
      bool right = true;
      for (std::size_t k = 0; k < 4 * values.size(); ++k) {
        right &= close(thunk->run(Arrays{values[(k * std::size_t(t + 1)) % values.size()]}), expected);
        if (t == 0) thunk->free();
      }
      return right;
    }));
  }
}

TEST_CASE("callers: threads compile equal and different graphs concurrently") {
  const testing::TemporaryDirectory directory;
  const auto compile_and_call = [](int number) {
    const auto x = vector("x");
    const Variables outputs{tanh(x * (1 + number / 8.0)), sum(x) + number};
    const Arrays values{numbered({30})};
    return close(linked("jit", {x}, outputs)->run(values), linked("vm", {x}, outputs)->run(values));
  };
  for (const char* setting : {"on", "off"}) {
    const config::Change cache("cache", setting), change("compiledir", directory.path());
    CHECK(in_threads(6, [&](int t) {
      bool right = true;
      for (int k = 0; k < 6; ++k) right &= compile_and_call(k % 2 ? k : 10 * t + k);
      return right;
    }));
  }
}

TEST_CASE("callers: functions are compiled and called while flags change") {
  const auto x = vector("x");
  const Arrays values{numbered({30})};
  CHECK(in_threads(4, [&](int t) {
    bool right = true;
    for (int k = 0; k < 20; ++k) {
      if (t == 0) config::set("traceback__limit", std::to_string(k));
      const auto f = function({x}, sum(exp(x)) + 0.125);
      right &= f({values[0]}).item() > 0;
    }
    return right;
  }));
  config::set("traceback__limit", "8");
}
