// Threads: calls that share loops among threads give the same bits and the same errors as calls that do not, with any
// number of threads, after a fork, and with concurrent callers.
#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cfenv>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <thread>
#include <tuple>

#include "bitale/bitale.hpp"
#include "bitale/core/text.hpp"
#include "bitale/ops/registry.hpp"
#include "link/linker.hpp"
#include "runtime/pool.hpp"
#include "support/sampling.hpp"

using namespace bitale;

namespace {

using Arrays = std::vector<Array>;
constexpr int thread_counts[] = {2, 3, 5, 8};

std::unique_ptr<link::Thunk> linked(const Variables& inputs, const Variables& outputs, int threads,
                                    const Mode& mode = Mode("jit", "fast_run")) {
  auto graph = std::make_shared<FunctionGraph>(inputs, outputs);
  rewrite(*graph, mode.query());
  return link::link("jit", graph, {.eager_strides = true, .threads = threads, .eager_threads = true});
}

bool same_bits(const Array& a, const Array& b) {
  if (a.shape() != b.shape() || a.dtype() != b.dtype()) return false;
  const Array x = a.contiguous(), y = b.contiguous();
  return std::memcmp(x.data(), y.data(), std::size_t(x.nbytes())) == 0;
}

class Random {
 public:
  explicit Random(unsigned seed) : random_(seed) {}
  Array normal(DType dtype, const Dims& shape) {
    Array out = Array::empty(DType::Float64, shape);
    std::normal_distribution<double> normal;
    for (std::int64_t i = 0; i < out.size(); ++i) out.mutable_data_as<double>()[i] = normal(random_);
    return out.astype(dtype);
  }
  // Few different values, with zeros of both signs and, rarely, nan.
  Array ties(DType dtype, const Dims& shape, bool with_nan) {
    Array out = Array::empty(DType::Float64, shape);
    for (std::int64_t i = 0; i < out.size(); ++i) {
      const double value = std::round(double(random_() % 5) - 3);
      out.mutable_data_as<double>()[i] = value == 0 ? (random_() % 2 ? 0.0 : -0.0) : value;
      if (with_nan && random_() % 3000 == 0)
        out.mutable_data_as<double>()[i] = std::numeric_limits<double>::quiet_NaN();
    }
    return out.astype(dtype);
  }
  Array indices(const Dims& shape, std::int64_t below) {
    Array out = Array::empty(DType::Int64, shape);
    for (std::int64_t i = 0; i < out.size(); ++i)
      out.mutable_data_as<std::int64_t>()[i] = std::int64_t(random_() % std::uint64_t(below));
    return out;
  }

 private:
  std::mt19937_64 random_;
};

// The number of loops that are shared among threads.
int shared_loops(const link::Thunk& thunk) {
  const std::string text = thunk.text("program");
  int count = 0;
  for (std::size_t at = 0; (at = text.find(", in chunks", at)) != text.npos; ++at) ++count;
  return count;
}

void check_same(const Variables& inputs, const Variables& outputs, const std::vector<Arrays>& calls, int shared) {
  const auto alone = linked(inputs, outputs, 1);
  std::vector<Arrays> expected;
  for (auto& values : calls) expected.push_back(alone->run(values));
  for (int threads : thread_counts) {
    INFO("threads " << threads);
    const auto thunk = linked(inputs, outputs, threads);
    CHECK_MESSAGE(shared_loops(*thunk) == shared, thunk->text("program"));
    for (std::size_t k = 0; k < calls.size(); ++k) {
      const Arrays got = thunk->run(calls[k]);
      for (std::size_t i = 0; i < got.size(); ++i)
        CHECK_MESSAGE(same_bits(got[i], expected[k][i]),
                      cat("output ", i, ": got ", got[i].str(), "\nexpected ", expected[k][i].str()));
    }
  }
}

// Near the ends of vectors, blocks and chunks.
constexpr std::int64_t lengths[] = {0, 1, 63, 64, 1000, 2047, 2048, 4096, 8191, 8192, 12289, 20480, 50021};
constexpr DType floats[] = {DType::Float64, DType::Float32};

}  // namespace

TEST_CASE("threads: elementwise") {
  Random random(1);
  for (DType dtype : floats) {
    const auto x = vector("x", dtype), y = vector("y", dtype), s = scalar("s", dtype);
    std::vector<Arrays> calls;
    for (auto n : lengths)
      calls.push_back({random.normal(dtype, {n}), random.normal(dtype, {n}), random.normal(dtype, {})});
    check_same({x, y, s}, {exp(-0.5 * sqr((x - s) / 2)) * tanh(y) + log1p(sqr(x)), x < y}, calls, 1);
    check_same({x, y, s}, {gammaln(x) * exp(s)}, calls, 1);
  }
}

TEST_CASE("threads: full reductions") {
  Random random(2);
  for (DType dtype : floats) {
    const auto x = vector("x", dtype), y = vector("y", dtype);
    std::vector<Arrays> calls;
    for (auto n : lengths)
      if (n > 0) calls.push_back({random.normal(dtype, {n}), random.normal(dtype, {n})});
    check_same({x, y}, {sum(x), sum(x * y), mean(exp(x)), sum(cast(x > y, DType::Int64))}, calls, 1);
    const auto r = (x - mean(x)) / (1 + abs(y));
    check_same({x, y}, {var(x), sum(-0.5 * sqr(r) - log(1 + sqr(y))), exp(x)}, calls, 2);
  }
}

TEST_CASE("threads: extremes and their positions, with ties, zeros of both signs and nan") {
  Random random(3);
  for (DType dtype : floats) {
    const auto x = vector("x", dtype);
    std::vector<Arrays> calls;
    for (auto n : lengths)
      if (n > 0)
        for (bool with_nan : {false, true}) calls.push_back({random.ties(dtype, {n}, with_nan)});
    calls.push_back({Array::full(dtype, {20001}, -std::numeric_limits<double>::infinity())});
    check_same({x}, {max(x), min(x), argmax(x), argmin(x), all(neq(x, 7)), any(x > 1), sum(x)}, calls, 1);
  }
  const auto i = lvector("i");
  check_same({i}, {sum(i), prod(i), max(i), argmin(i)}, {{random.indices({30001}, 1 << 20)}}, 1);
}

TEST_CASE("threads: rows") {
  Random random(4);
  for (DType dtype : floats) {
    const auto x = matrix("x", dtype), w = vector("w", dtype);
    const auto labels = lvector("labels");
    std::vector<Arrays> calls;
    for (auto& [n, m] : {std::pair<std::int64_t, std::int64_t>{1, 5}, {2, 100}, {37, 19}, {64, 300}, {301, 7}})
      calls.push_back({random.normal(dtype, {n, m}), random.normal(dtype, {m}), random.indices({n}, m)});
    const auto with = [&](const Variables& outputs, int shared) { check_same({x, w, labels}, outputs, calls, shared); };
    with({softmax(x, std::vector<int>{1})}, 1);
    with({log_softmax(x * w, std::vector<int>{1}), logsumexp(x, std::vector<int>{1})}, 1);
    const auto centred = x - mean(x, std::vector<int>{1}, KeepDims::Yes);
    with({centred / sqrt(var(x, std::vector<int>{1}, 0, KeepDims::Yes) + 1e-5) * w}, 1);
    const auto n = shape_i(x, 0);
    with({-mean(subtensor(log_softmax(x, std::vector<int>{1}), {arange(n), labels}))}, 1);
    with({sum(sqr(x - w)), sum(x * w)}, 1);
    with({argmax(x, 1), max(x, std::vector<int>{1}), sum(x, std::vector<int>{1})}, 1);
    // Sums over rows are moved out of a loop that does other work.
    const auto normed = centred / sqrt(var(x, std::vector<int>{1}, 0, KeepDims::Yes) + 1e-5) * w;
    with({grad(sum(sqr(normed) * x), w), grad(sum(sqr(normed) * x), x)},
         dtype == DType::Float32 ? 3 : 2);  // a column of float64 is rounded in a separate loop
    with({sum(tanh(x * w), std::vector<int>{1}), sum(tanh(x * w), std::vector<int>{0})}, 2);
    with({take(w, labels % shape_i(w, 0)) * 2 + sum(x)}, 2);
    // Separate loops with a sum would have more accumulators than the whole loop.
    const auto rows = abs(abs(abs(abs(x - 1) - 2) * w - 3) - abs(abs(x + 5) - 6)) - 7,
               columns = abs(x - w) * abs(x + 4);
    with({sum(rows, std::vector<int>{1}), sum(columns, std::vector<int>{0})}, 2);
  }
}

TEST_CASE("threads: columns, transposed reads and stencils") {
  Random random(5);
  for (DType dtype : floats) {
    const auto x = matrix("x", dtype), y = matrix("y", dtype);
    std::vector<Arrays> calls;
    for (auto& [n, m] : {std::pair<std::int64_t, std::int64_t>{3, 5}, {33, 100}, {20, 1500}, {5, 1024}})
      calls.push_back({random.normal(dtype, {n, m}), random.normal(dtype, {m, n})});
    check_same({x, y}, {sum(x, std::vector<int>{0}), sum(y)}, calls, 2);
    check_same({x, y}, {var(x, std::vector<int>{0}), mean(y)}, calls, 4);
    check_same({x, y}, {transpose(x) + y}, calls, 1);
  }
  const auto v = vector("v");
  std::vector<Arrays> calls;
  for (auto n : {5, 700, 20000}) calls.push_back({random.normal(DType::Float64, {n})});
  const auto inner = subtensor(v, {Slice{Operand(1), Operand(-1), {}}});
  const auto before = subtensor(v, {Slice{{}, Operand(-2), {}}}), after = subtensor(v, {Slice{Operand(2), {}, {}}});
  check_same({v}, {before - 2 * inner + after, sum(sqr(after - before))}, calls, 1);
}

TEST_CASE("threads: sequential loops keep their order") {
  Random random(6);
  const auto x = vector("x"), base = vector("base");
  const auto at = lvector("at");
  std::vector<Arrays> calls;
  for (auto n : {1, 100, 5000})
    calls.push_back({random.normal(DType::Float64, {n}), random.normal(DType::Float64, {40}), random.indices({n}, 40)});
  const auto scattered = inc_subtensor(base, {IndexItem(at)}, x);
  check_same({x, base, at}, {scattered}, calls, 1);  // the copy of base
  check_same({x, base, at}, {set_subtensor(base, {IndexItem(at)}, x)}, calls, 1);
  check_same({x, base, at}, {cumsum(x, 0) + sum(base) * sum(cast(at, DType::Float64))}, calls, 2);
  check_same({x, base, at}, {prod(x), sum(base), max(at)}, calls, 2);
  for (auto& call : calls) std::ranges::sort(call[2].mutable_span_as<std::int64_t>());
  const Variable r = x - take(base, at);
  check_same({x, base, at}, {grad(sum(sqr(r)), base), sum(sqr(r))}, calls, 1);
  check_same({x, base, at}, {grad(sum(exp(tanh(r))), base), exp(tanh(r))}, calls, 1);
}

TEST_CASE("threads: products of matrices") {
  Random random(11);
  for (DType dtype : floats) {
    const auto x = matrix("x", dtype), y = matrix("y", dtype);
    for (auto& [m, n, k] : {std::tuple<int, int, int>{1100, 300, 70}, {40, 1700, 400}, {1537, 20, 700}, {90, 80, 70}}) {
      const Arrays values{random.normal(dtype, {m, k}), random.normal(dtype, {k, n})};
      const Arrays transposed{values[0].transpose().copy(), values[1].transpose().copy()};
      check_same({x, y}, {dot(x, y)}, {values}, 0);
      check_same({x, y}, {dot(transpose(x), transpose(y))}, {transposed}, 0);
      const Array got = linked({x, y}, {dot(x, y)}, 3)->run(values)[0];
      double worst = 0;
      for (auto& [i, j] : {std::pair<int, int>{0, 0}, {m - 1, n - 1}, {m / 2, n / 2}, {m - 1, 0}, {m / 3, n - 2}}) {
        double expected = 0;
        for (int l = 0; l < k; ++l)
          expected += values[0].at(std::vector<std::int64_t>{i, l}) * values[1].at(std::vector<std::int64_t>{l, j});
        worst = std::max(worst, std::abs(got.at(std::vector<std::int64_t>{i, j}) - expected));
      }
      CHECK(worst < (dtype == DType::Float32 ? 1e-3 : 1e-11));
    }
  }
}

TEST_CASE("threads: batches of matrices") {
  Random random(12);
  for (DType dtype : floats) {
    const auto x = tensor("x", dtype, {unknown_length, unknown_length, unknown_length}),
               y = tensor("y", dtype, {unknown_length, unknown_length, unknown_length});
    for (const int n : {1, 5, 16, 40}) {
      const Array a = random.normal(dtype, {300, n, n}), b = random.normal(dtype, {300, n, 3});
      const auto definite = matmul(x, matrix_transpose(x)) + eye(n, {}, 0, dtype);
      const std::vector<Arrays> one{{a}}, two{{a, b}};
      check_same({x}, {eigh(x).values}, one, 1);
      check_same({x}, {svd(x).u, qr(x)[0]}, one, 2);
      const Variables by_lanes[] = {{cholesky(definite)}, {det(x)}, {solve(x, y)}, {solve_triangular(x, y)}};
      for (auto& outputs : by_lanes) {
        const bool has_y = graph_inputs(outputs).size() == 2;
        const auto inputs = has_y ? Variables{x, y} : Variables{x};
        const auto alone = linked(inputs, outputs, 1);
        for (int threads : thread_counts)
          CHECK(same_bits(linked(inputs, outputs, threads)->run(has_y ? two[0] : one[0])[0],
                          alone->run(has_y ? two[0] : one[0])[0]));
      }
    }
  }
}

TEST_CASE("threads: the failing matrix of a batch is reported as without threads") {
  Random random(13);
  const auto x = tensor("x", DType::Float64, {unknown_length, unknown_length, unknown_length});
  const auto square = matmul(x, matrix_transpose(x));
  for (const int n : {5, 40}) {
    Array a = random.normal(DType::Float64, {400, n, n});
    for (const int which : {123, 350}) std::fill_n(a.mutable_data_as<double>() + which * n * n, n, 0.0);
    // By the runtime, in lanes or one by one, and by a loop of calls.
    for (auto& output : {cholesky(square), solve(square, x, {.assume_a = Assume::Symmetric})}) {
      const auto message = [&](int threads) -> std::string {
        try {
          linked({x}, {output}, threads)->run(Arrays{a});
        } catch (const Error& error) {
          return error.what();
        }
        return {};
      };
      const std::string expected = message(1);
      CHECK(!expected.empty());
      for (int threads : thread_counts) CHECK(message(threads) == expected);
    }
  }
}

TEST_CASE("threads: strided inputs") {
  Random random(7);
  const auto x = matrix("x"), y = matrix("y");
  const Array a = random.normal(DType::Float64, {120, 90}), b = random.normal(DType::Float64, {90, 120});
  const std::vector<Arrays> calls{{a, b.transpose()}, {a.slice(0, 119, 120, -1), b.transpose()}};
  const auto alone = linked({x, y}, {tanh(x) + y, sum(x * y)}, 1);
  for (int threads : thread_counts) {
    const auto thunk = linked({x, y}, {tanh(x) + y, sum(x * y)}, threads);
    for (auto& values : calls) {
      const Arrays got = thunk->run(values), expected = alone->run(values);
      for (std::size_t i = 0; i < got.size(); ++i) CHECK(same_bits(got[i], expected[i]));
    }
  }
}

TEST_CASE("threads: every op at every sample") {
  for (auto& entry : op_registry())
    for (auto& sample : test::part_of(entry.samples())) {
      INFO(entry.name << " " << sample.node.op().label() << " " << sample.note);
      const Variables outputs = sample.node.outputs();
      const auto graph = std::make_shared<FunctionGraph>(graph_inputs(outputs), outputs);
      const auto run = [&](int threads) {
        return link::link("jit", graph, {.threads = threads, .eager_threads = true})->run(sample.values);
      };
      try {
        const Arrays expected = run(1), got = run(3);
        for (std::size_t i = 0; i < got.size(); ++i) CHECK(same_bits(got[i], expected[i]));
      } catch (const std::exception& error) {
        const std::string message = error.what();
        FAIL_CHECK(message);
      }
    }
}

TEST_CASE("threads: an index out of range is reported as without threads") {
  Random random(8);
  const auto x = vector("x");
  const auto at = lvector("at");
  const Variables outputs{exp(take(x, at)), sum(take(x, at))};
  Array indices = random.indices({30000}, 100);
  indices.mutable_data_as<std::int64_t>()[12345] = 100;
  indices.mutable_data_as<std::int64_t>()[29999] = -500;
  const Array values = random.normal(DType::Float64, {100});
  const auto message = [&](int threads) -> std::string {
    try {
      linked({x, at}, outputs, threads)->run(Arrays{values, indices});
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  };
  const std::string expected = message(1);
  CHECK(expected.find("100") != expected.npos);
  for (int threads : thread_counts) CHECK(message(threads) == expected);
}

TEST_CASE("threads: workers round as the caller does") {
  Random random(12);
  const auto x = vector("x");
  const Variables outputs{exp(x) / 3, sum(x * x)};
  const auto alone = linked({x}, outputs, 1), shared = linked({x}, outputs, 5);
  const Arrays values{random.normal(DType::Float64, {100000})};
  const Arrays nearest = alone->run(values);
  for (int mode : {FE_UPWARD, FE_TOWARDZERO, FE_TONEAREST}) {
    std::fesetround(mode);
    const Arrays expected = alone->run(values);
    bool same = true;
    for (int turn = 0; turn < 20; ++turn) {
      const Arrays got = shared->run(values);
      for (std::size_t i = 0; i < got.size(); ++i) same &= same_bits(got[i], expected[i]);
    }
    std::fesetround(FE_TONEAREST);
    CHECK(same);
    CHECK(same_bits(expected[1], nearest[1]) == (mode == FE_TONEAREST));
  }
}

TEST_CASE("threads: many callers of one function") {
  Random random(9);
  const auto x = matrix("x");
  const auto thunk = linked({x}, {softmax(x, std::vector<int>{1}), sum(x)}, 4);
  const auto alone = linked({x}, {softmax(x, std::vector<int>{1}), sum(x)}, 1);
  std::vector<Arrays> inputs, expected;
  for (int k = 0; k < 6; ++k) {
    inputs.push_back({random.normal(DType::Float64, {50 + k, 40})});
    expected.push_back(alone->run(inputs.back()));
  }
  std::vector<std::thread> callers;
  std::vector<int> wrong(inputs.size(), 0);
  for (std::size_t k = 0; k < inputs.size(); ++k)
    callers.emplace_back([&, k] {
      for (int turn = 0; turn < 50; ++turn) {
        const Arrays got = thunk->run(inputs[k]);
        for (std::size_t i = 0; i < got.size(); ++i) wrong[k] += !same_bits(got[i], expected[k][i]);
      }
    });
  for (auto& caller : callers) caller.join();
  for (int count : wrong) CHECK(count == 0);
}

TEST_CASE("threads: the pool serves one job at a time and refuses others meanwhile") {
  struct Count {
    std::atomic<int> runs = 0, inner = 0;
    std::atomic<bool> refused = false;
  } count;
  const auto run = [](void* context, int worker) {
    auto& c = *static_cast<Count*>(context);
    ++c.runs;
    const auto inner = [](void* inner_context, int) { ++static_cast<Count*>(inner_context)->inner; };
    if (worker == 0) c.refused = !runtime::WorkerPool::try_share({inner, context}, 1);
  };
  for (int turn = 0; turn < 200; ++turn) CHECK(runtime::WorkerPool::try_share({run, &count}, 3));
  CHECK(count.refused);
  CHECK(count.inner == 0);
  CHECK(count.runs >= 200);
  CHECK(count.runs <= 800);
}

#if !defined(__SANITIZE_THREAD__)  // ThreadSanitizer allows no threads after such a fork
TEST_CASE("threads: a forked child has separate workers") {
  Random random(10);
  const auto x = vector("x");
  const auto thunk = linked({x}, {sum(exp(x))}, 3);
  const Arrays values{random.normal(DType::Float64, {60000})};
  const Arrays expected = thunk->run(values);
  // Another thread keeps the pool busy while the process forks.
  std::atomic<bool> stop = false;
  std::thread busy([&] {
    while (!stop) thunk->run(values);
  });
  for (int turn = 0; turn < 10; ++turn) {
    const pid_t child = fork();
    if (child == 0) {
      alarm(60);
      bool same = true;
      for (int k = 0; k < 20; ++k) same &= same_bits(thunk->run(values)[0], expected[0]);
      _exit(same ? 0 : 1);
    }
    int status = -1;
    waitpid(child, &status, 0);
    CHECK(status == 0);
  }
  stop = true;
  busy.join();
}
#endif

TEST_CASE("threads: invalid numbers of threads are refused, large ones work") {
  const auto x = vector("x");
  for (int threads : {0, -1, 1025}) {
    const auto make = [&] { function({x}, {x + 1}, {.threads = threads}); };
    CHECK_THROWS_WITH_AS(make(), doctest::Contains("from 1 to 1024"), ValueError);
  }
  const auto f = function({x}, {sum(x)}, {.threads = 1000});
  CHECK(f({Array::full(DType::Float64, {300000}, 1)}).item() == 300000);
}
