// Errors of running functions with every linker: their class, the node, values and strides of its inputs, and the
// source line of the user.
#include <doctest/doctest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <string>

#include "bitale/bitale.hpp"

using namespace bitale;

namespace {

constexpr std::string_view linkers[] = {"vm", "jit", "c"};

Function compiled(std::string_view linker, const Variables& inputs, const Variables& outputs,
                  FunctionOptions options = {}) {
  options.mode = Mode(std::string(linker), "fast_run");
  return function(inputs, outputs, options);
}

// The message of the error that the action raises, which must be about a node of this op.
template <class E>
std::string failure(std::string_view op, const std::function<void()>& action) {
  try {
    action();
  } catch (const E& error) {
    const Apply* node = failing_node(error);
    CHECK(node);
    if (node) CHECK(node->op().name() == op);
    return error.what();
  }
  FAIL_CHECK("nothing was raised");
  return {};
}

bool holds(const std::string& text, std::string_view part) {
  const bool found = text.find(part) != text.npos;
  CHECK_MESSAGE(found, text, "\nlacks: ", part);
  return found;
}

}  // namespace

TEST_CASE("failures: the node, its inputs with strides and values, and the line") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (std::string_view linker : {"jit", "c"}) {
    const auto x = dvector("x"), y = dvector("y");
    const int line = __LINE__ + 1;
    const Variable z = exp(x) + y;
    const auto f = compiled(linker, {x, y}, {z}, {.name = "model"});
    const Array long_y = Array{-1.5, nan, 4.0, 2.0, nan, 7.0, 8.0};
    const std::string text = failure<ShapeError>("Elemwise", [&] { f({Array{1.0, 2.0, 3.0}, long_y}); });
    holds(text, "inputs   Exp.0: f64 (3,), strides (8,), from ");
    holds(text, "y: f64 (7,), strides (8,), from -1.5 to 8.0, 2 nan, [-1.5, nan, 4.0, 2.0, nan, ...]");
    holds(text, "failures_test.cpp:" + std::to_string(line));
    holds(text, "function model");
    CHECK(text.find("storage") == text.npos);
    CHECK(text.find("[id A]") == text.npos);
  }
}

TEST_CASE("failures: strides are those of the caller's memory") {
  for (auto linker : linkers) {
    const auto x = dmatrix("x"), y = dvector("y");
    const auto f = compiled(linker, {x, y}, {x + y});
    const Array wide = Array::zeros(DType::Float64, {4, 3}).transpose();
    holds(failure<ShapeError>("Elemwise",
                              [&] {
                                f({wide, Array{1.0, 2.0}});
                              }),
          "x: f64 (3, 4), strides (8, 24), from 0.0 to 0.0, [0.0, 0.0, 0.0, 0.0, 0.0, ...]");
  }
}

TEST_CASE("failures: an index out of range is an IndexError") {
  for (auto linker : linkers) {
    const auto x = dvector("x");
    const auto i = lvector("i");
    const auto f = compiled(linker, {x, i}, {exp(take(x, i))});
    const std::string text = failure<IndexError>("AdvancedSubtensor", [&] {
      f({Array{1.0, 2.0}, Array{std::int64_t(0), std::int64_t(5)}});
    });
    holds(text, "i: i64 (2,), strides (8,), from 0 to 5, [0, 5]");
  }
}

TEST_CASE("failures: more with exception_verbosity") {
  for (auto linker : linkers) {
    const auto x = dvector("x"), y = dvector("y");
    const auto f = compiled(linker, {x, y}, {exp(x) + y});
    const auto text = [&](std::string_view verbosity) {
      const config::Change change("exception_verbosity", verbosity);
      return failure<ShapeError>("Elemwise", [&] { f({Array{1.0, 2.0, 3.0}, Array{1.0, 2.0}}); });
    };
    const std::string medium = text("medium"), high = text("high");
    holds(medium, "[id A] <Vector(float64, shape=(?,))>");
    CHECK(medium.find("storage") == medium.npos);
    holds(high, "[id A] <Vector(float64, shape=(?,))>");
    holds(high, "storage  64 bytes in 3 values");
    holds(high, "x: f64 (3,), 24 bytes");
  }
}

TEST_CASE("failures: states and memory of results are unchanged, and messages show the old values") {
  for (auto linker : linkers) {
    const auto state = shared(Array{1.0, 2.0, 3.0}, "state");
    const auto y = dvector("y");
    FunctionOptions options;
    options.updates = {{state, state * 10.0}};
    const auto f = compiled(linker, {y}, {state + y}, options);
    holds(failure<ShapeError>("Elemwise",
                              [&] {
                                f({Array{1.0, 2.0}});
                              }),
          "state: f64 (3,), strides (8,), from 1.0 to 3.0, [1.0, 2.0, 3.0]");
    CHECK(identical(get_value(state), Array{1.0, 2.0, 3.0}));
    Array out{7.0, 8.0, 9.0};
    CHECK_THROWS_AS(f.run_into(std::vector<Array>{Array{1.0, 2.0}}, std::vector<Array>{out}), ShapeError);
    CHECK(identical(out, Array{7.0, 8.0, 9.0}));
    f({Array{1.0, 2.0, 3.0}});
    holds(failure<ShapeError>("Elemwise", [&] { f({Array{1.0, 2.0}}); }), "[10.0, 20.0, 30.0]");
  }
}

TEST_CASE("failures: a failed allocation names the node") {
  for (auto linker : linkers) {
    const auto n = lscalar("n");
    const auto f = compiled(linker, {n}, {alloc(constant(Array(1.0)), {n, n, n})});
    const std::string text = failure<OutOfMemoryError>("Alloc", [&] { f({Array(std::int64_t(1) << 18)}); });
    holds(text, "node     Alloc");
  }
}

TEST_CASE("failures: long inputs are summarized") {
  const auto x = dvector("x"), y = dvector("y");
  const auto f = compiled("jit", {x, y}, {x + y});
  const std::string text = failure<ShapeError>("Elemwise", [&] {
    f({Array::zeros(DType::Float64, {100000}), Array::full(DType::Float64, {9}, std::nan(""))});
  });
  holds(text, "y: f64 (9,), strides (8,), all nan, [nan, nan, nan, nan, nan, ...]");
  CHECK(text.size() < 1000);
}

TEST_CASE("failures: an input that the op may have overwritten is marked as such") {
  const auto x = dvector("x"), y = dvector("y");
  const auto f = compiled("vm", {x, y}, {exp(x) + y});
  holds(failure<ShapeError>("Elemwise",
                            [&] {
                              f({Array{0.0, 0.0}, Array{1.0, 2.0, 3.0}});
                            }),
        "Exp.0: f64 (2,), strides (8,), overwritten by the op or about to be, now from 1.0 to 1.0, [1.0, 1.0]");
}
