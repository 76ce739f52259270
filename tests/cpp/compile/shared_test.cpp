// Shared variables in concurrent calls: no update is lost, reads are consistent, and no call waits forever.
#include "bitale/compile/shared.hpp"

#include <doctest/doctest.h>

#include <array>
#include <atomic>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "bitale/bitale.hpp"
#include "bitale/compile/maker.hpp"

using namespace bitale;

namespace {

// Runs all tasks concurrently, each in a thread.
void at_once(std::vector<std::function<void()>> tasks) {
  std::atomic<std::size_t> ready{0};
  std::vector<std::thread> threads;
  for (auto& task : tasks)
    threads.emplace_back([&] {
      ++ready;
      while (ready < tasks.size()) std::this_thread::yield();
      task();
    });
  for (auto& thread : threads) thread.join();
}

std::function<void()> repeated(int count, std::function<void()> task) {
  return [=] {
    for (int i = 0; i < count; ++i) task();
  };
}

// Identity that calls a function of the test first.
class Calling final : public Op {
 public:
  explicit Calling(std::function<void()> action) : action_(std::move(action)) {}
  std::string_view name() const override { return "Calling"; }
  Apply make_node(std::span<const Variable> inputs) const override {
    return Apply(OpRef(this), {inputs[0]}, {inputs[0].type()});
  }
  void perform(const Apply&, std::span<const Array> in, std::span<Array> out) const override {
    action_();
    out[0] = in[0].copy();
  }

 private:
  std::function<void()> action_;
};

Variable calling(const Variable& x, std::function<void()> action) {
  return (*OpRef(new Calling(std::move(action))))({x});
}

double value_of(const Variable& shared) { return get_value(shared).item(); }

}  // namespace

TEST_CASE("concurrent calls lose no update of a shared variable, in several functions and by every form of call") {
  auto x = matrix("x");
  auto n = shared(Array(0.0), "n");
  const auto counting = [&](const char* mode) {
    return function({x}, sum(dot(x, x)), {.updates = {{n, n + 1.0}}, .mode = get_mode(mode)});
  };
  const Function f = counting("FAST_RUN"), g = counting("FAST_COMPILE");
  const auto typed = f.as<double(ArrayView<const double, 2>)>();
  const Array value = Array::full(DType::Float64, {12, 12}, 1.0);
  const Array out = Array::empty(DType::Float64, {});
  at_once({repeated(300, [&] { f({value}); }), repeated(300, [&] { g({value}); }),
           repeated(300,
                    [&] {
                      typed({value.data_as<double>(), {12, 12}});
                    }),
           repeated(300, [&] { f.call_some(std::span(&value, 1), {}); }),
           repeated(300, [&, own = Array::empty(DType::Float64, {})] {
             f.run_into(std::span(&value, 1), std::span(&own, 1));
           })});
  CHECK(value_of(n) == 1500);
}

TEST_CASE("updates of several variables are serialized with all their reads") {
  auto a = shared(Array(1.0), "a"), b = shared(Array(0.0), "b"), c = shared(Array(0.0), "c");
  // In any order a + b stays 1: `swap` exchanges them, `gather` moves everything to a, `copy` stores the sum in c.
  const Function swap = function({}, Variables{}, {.updates = {{a, b}, {b, a}}});
  const Function gather = function({}, Variables{}, {.updates = {{b, b * 0.0}, {a, a + b}}});
  const Function both = function({}, {a, b});
  const Function copy = function({}, a + b, {.updates = {{c, a + b}}});
  std::atomic<int> wrong{0};
  const auto check = repeated(2000, [&] {
    const Results now = both();
    wrong += now[0].item() + now[1].item() != 1;
    wrong += copy().item() != 1;
  });
  at_once({repeated(2000, [&] { swap(); }), repeated(2000, [&] { gather(); }), check, check});
  CHECK(wrong == 0);
  CHECK(value_of(a) + value_of(b) == 1);
  CHECK(value_of(c) == 1);
}

TEST_CASE("a variable that a call only reads keeps its value until the call has stored its updates") {
  auto a = shared(Array(0.0), "a"), b = shared(Array(0.0), "b");
  // After any call of a serial order a - b is 1, but not if each reads the other's variable before either has stored.
  const Function f = function({}, Variables{}, {.updates = {{a, b + 1.0}}});
  const Function g = function({}, Variables{}, {.updates = {{b, a - 1.0}}});
  at_once({repeated(3000, [&] { f(); }), repeated(3000, [&] { g(); })});
  const double difference = value_of(a) - value_of(b);
  CHECK(difference == 1);
}

TEST_CASE("set_value is not lost among updates") {
  auto x = scalar("x");
  auto n = shared(Array(0.0), "n");
  std::atomic<bool> is_running{false};
  const Function f = function({x},
                              calling(x,
                                      [&] {
                                        is_running = true;
                                        std::this_thread::yield();
                                      }),
                              {.updates = {{n, n + 1.0}}});
  for (int round = 0; round < 50; ++round) {
    is_running = false;
    std::thread caller([&] { f({Array(1.0)}); });
    while (!is_running) std::this_thread::yield();
    set_value(n, Array(100.0));  // waits for the call, which has begun
    CHECK(value_of(n) == 100);
    caller.join();
    CHECK(value_of(n) == 100);
  }
}

TEST_CASE("a call without updates does not wait for other calls") {
  auto x = scalar("x");
  auto n = shared(Array(1.0), "n"), m = shared(Array(2.0), "m");
  const Function reading = function({}, n + m);
  double seen = 0;
  const Function f = function({x}, calling(x, [&] { std::thread([&] { seen = reading().item(); }).join(); }),
                              {.updates = {{n, n + 10.0}, {m, m + 10.0}}});
  f({Array(1.0)});
  CHECK(seen == 3);
  CHECK(reading().item() == 23);
}

TEST_CASE("a failing update changes nothing and does not block others") {
  auto x = vector("x"), y = vector("y");
  auto n = shared(Array(0.0), "n"), m = shared(Array{1., 2.}, "m");
  const Function f = function({x, y}, sum(x + y), {.updates = {{n, n + 1.0}, {m, m + x + y}}});
  const Array two{1., 1.}, three{1., 1., 1.};
  at_once({repeated(200,
                    [&] {
                      f({two, two});
                    }),
           repeated(200,
                    [&] {
                      CHECK_THROWS_AS(f({two, three}), ShapeError);
                    }),
           repeated(200,
                    [&] {
                      f({two, two});
                    }),
           repeated(200, [&] {
             CHECK_THROWS_AS(f({three, three}), ShapeError);
           })});
  CHECK(value_of(n) == 400);
  CHECK(identical(get_value(m), Array{801., 802.}));
}

TEST_CASE("a nested call that updates a variable of the outer call is refused") {
  auto x = scalar("x");
  auto n = shared(Array(0.0), "n"), m = shared(Array(0.0), "m");
  const Function other = function({}, Variables{}, {.updates = {{m, m + n + 1.0}}});
  const Function same = function({}, Variables{}, {.updates = {{n, n + 1.0}}});
  const auto outer = [&](std::function<void()> action) {
    return function({x}, calling(x, std::move(action)), {.updates = {{n, n + 10.0}}});
  };
  CHECK_THROWS_AS(outer([&] { same(); })({Array(1.0)}), UpdateConflictError);
  CHECK_THROWS_AS(outer([&] { set_value(n, Array(5.0)); })({Array(1.0)}), UpdateConflictError);
  CHECK(value_of(n) == 0);
  outer([&] { other(); })({Array(1.0)});
  CHECK(value_of(m) == 1);
  CHECK(value_of(n) == 10);
  same();  // no lock is held any more
  CHECK(value_of(n) == 11);
}

TEST_CASE("nested calls that would deadlock are refused") {
  auto x = scalar("x");
  std::array<Variable, 2> states{shared(Array(0.0)), shared(Array(0.0))};
  std::atomic<int> inside{0}, refused{0};
  std::vector<std::function<void()>> tasks;
  for (std::size_t i = 0; i < 2; ++i)
    tasks.push_back([&, i] {
      const Function inner = function({}, Variables{}, {.updates = {{states[1 - i], states[1 - i] + 1.0}}});
      const Function outer = function({x},
                                      calling(x,
                                              [&] {
                                                ++inside;
                                                while (inside < 2) std::this_thread::yield();
                                                inner();
                                              }),
                                      {.updates = {{states[i], states[i] + 10.0}}});
      try {
        outer({Array(1.0)});
      } catch (const UpdateConflictError&) {
        ++refused;
      }
    });
  at_once(tasks);
  CHECK(refused == 1);
  CHECK(value_of(states[0]) + value_of(states[1]) == 11);  // one pair of calls succeeded
}

TEST_CASE("a default is read at the time of the call") {
  auto x = scalar("x"), n = scalar("n");
  auto state = shared(Array(0.0), "state");
  FunctionMaker maker({x, n}, {x + n}, {.updates = {{state, state + 1.0}}});
  const Function f = maker.create({}, {}, {Variable(), state});
  CHECK_THROWS_AS(maker.create({}, {}, {x, state}), TypeError);
  CHECK_THROWS_AS(maker.create({}, {}, {state}), ValueError);
  const double one = 1.0;
  const std::array<View, 2> arguments{View{const_cast<double*>(&one), nullptr, nullptr}, View{}};
  std::atomic<double> total{0};
  const auto call = repeated(500, [&] {
    double result = 0;
    const View out{&result, nullptr, nullptr};
    f.run_into(arguments, std::span(&out, 1));
    total += result;
  });
  at_once({call, call});
  CHECK(value_of(state) == 1000);
  CHECK(total == 1000 + 999 * 1000 / 2);  // each call saw a different state
}
