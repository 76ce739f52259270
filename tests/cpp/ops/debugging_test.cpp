// Checks, prints and breakpoints in compiled functions: when they act, and that they do not hinder optimization.
#include "bitale/ops/debugging.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "bitale/bitale.hpp"
#include "lowering/lower.hpp"
#include "program/steps.hpp"

using namespace bitale;

namespace {

constexpr std::string_view linkers[] = {"vm", "jit", "c"};

Function compiled(std::string_view linker, const Variables& inputs, const Variables& outputs,
                  const std::string& optimizer = "fast_run") {
  FunctionOptions options;
  options.mode = Mode(std::string(linker), optimizer);
  return function(inputs, outputs, options);
}

// Collects the printed lines during its lifetime.
struct Printed {
  std::vector<std::string> lines;
  Printed() {
    set_print_handler([this](const PrintRequest& request) { lines.push_back(request.message + request.value.str()); });
  }
  ~Printed() { set_print_handler({}); }
};

std::size_t count(const std::string& text, std::string_view word) {
  std::size_t found = 0;
  for (auto at = text.find(word); at != text.npos; at = text.find(word, at + 1)) ++found;
  return found;
}

}  // namespace

TEST_CASE("checks: the error has the message and class of the user, and names the node") {
  for (auto linker : linkers) {
    const auto x = dvector("x");
    const Variable positive = all(gt(x, 0));
    const auto f = compiled(linker, {x}, {log(assert_op(x, {positive}, "x must be positive"))});
    CHECK(f({Array{1.0, 1.0}})[0].at(std::vector<std::int64_t>{1}) == 0.0);
    try {
      f({Array{1.0, -2.0}});
      FAIL_CHECK("nothing was raised");
    } catch (const AssertionError& error) {
      const std::string text = error.what();
      CHECK(text.starts_with("x must be positive\n  node     Assert{msg=x must be positive}(x, "));
      CHECK(text.find("x: f64 (2,), strides (8,), from -2.0 to 1.0, [1.0, -2.0]") != text.npos);
      CHECK(failing_node(error));
    }
    const auto raising = [&](const std::string& exc_type) {
      return compiled(linker, {x}, {check_and_raise(x, {positive}, exc_type, "wrong")});
    };
    CHECK_THROWS_AS(raising("ValueError")({Array{-1.0}}), ValueError);
    CHECK_THROWS_AS(raising("IndexError")({Array{-1.0}}), IndexError);
    CHECK_THROWS_AS(raising("MemoryError")({Array{-1.0}}), OutOfMemoryError);
    try {
      raising("CustomError")({Array{-1.0}});
      FAIL_CHECK("nothing was raised");
    } catch (const RaisedError& error) {
      CHECK(error.exc_type() == "CustomError");
    }
  }
}

TEST_CASE("checks: where rounding decides, the error is the same, without values") {
  const auto x = dscalar("x"), y = dscalar("y");
  const auto native = compiled("jit", {x}, {exp(x)}), performed = compiled("vm", {x}, {exp(x)});
  const auto f = compiled("jit", {x, y}, {assert_op(x, {neq(exp(x), y)}, "equal")});
  int found = 0;
  for (int k = 1; k < 5000 && !found; ++k) {
    const Array at(0.001 * k), value = native({at})[0];
    if (identical(value, performed({at})[0])) continue;
    ++found;
    try {
      f({at, value});
      FAIL_CHECK("nothing was raised");
    } catch (const AssertionError& error) {
      const std::string text = error.what();
      CHECK(text.starts_with("equal\n"));
      CHECK(text.find("does not fail: by rounding") != text.npos);
      CHECK(text.find("inputs   ") == text.npos);
    }
  }
  CHECK(found == 1);
}

TEST_CASE("checks: a check shares the loop of the guarded expression") {
  const auto x = dvector("x");
  const Variable y = exp(assert_op(x, {all(gt(x, 0))}));
  const auto program = lowering::lower(FunctionGraph({x}, {y})).program;
  std::size_t loops = 0, checks = 0;
  program::visit_steps(program.steps, [&](const program::Step& step) {
    loops += std::holds_alternative<program::Loop>(step.what);
    checks += std::holds_alternative<program::Check>(step.what);
  });
  CHECK(loops == 1);
  CHECK(checks == 1);
}

TEST_CASE("checks: calls and allocations follow the checks") {
  for (auto linker : {"vm", "jit"}) {
    const Printed printed;
    const auto x = dvector("x");
    const Variable safe = assert_op(x, {all(gt(x, 0))});
    const auto f = compiled(linker, {x}, {print(safe * 2, "seen")});
    CHECK_THROWS_AS(f({Array{-1.0}}), AssertionError);
    CHECK(printed.lines.empty());
    const auto n = sum(cast(x, DType::Int64));
    const auto g = compiled(linker, {x}, {alloc(constant(Array(1.0)), {assert_op(n, {lt(n, 10)}, "too long")})});
    CHECK_THROWS_AS(g({Array{1e15, 1.0}}), AssertionError);
    CHECK(g({Array{1.0, 2.0}})[0].size() == 3);
  }
}

TEST_CASE("checks: rewriting removes checks that always hold and merges others") {
  const auto x = dvector("x");
  const auto yes = constant(Array(true)), no = constant(Array(false));
  const Variable first = gt(sum(x), 0), second = lt(sum(x), 9);
  const auto text = [&](const Variable& y, const std::string& optimizer = "fast_run") {
    return compiled("vm", {x}, {y}, optimizer).dprint();
  };
  CHECK(count(text(exp(assert_op(x, {yes}))), "Assert{") == 0);
  CHECK(count(text(exp(assert_op(x, {no}))), "Assert{") == 1);
  CHECK_THROWS_AS(compiled("jit", {x}, {exp(assert_op(x, {no}))})({Array{1.0}}), AssertionError);
  CHECK(count(text(assert_op(assert_op(x, {first}, "a"), {second}, "a")), "Assert{") == 1);
  CHECK(count(text(assert_op(assert_op(x, {first}, "a"), {second}, "b")), "Assert{") == 2);
  FunctionOptions options;
  options.mode = Mode("vm", "fast_run").including({"local_remove_all_assert"});
  CHECK(count(function({x}, exp(assert_op(x, {first})), options).dprint(), "Assert{") == 0);
}

TEST_CASE("checks: invalid conditions") {
  const auto x = dvector("x");
  CHECK_THROWS_AS(assert_op(x, {gt(x, 0)}), TypeError);
  CHECK_THROWS_AS(breakpoint("b", x, {x}), TypeError);
  CHECK_THROWS_AS(breakpoint("b", constant(Array(true)), {}), ValueError);
}

TEST_CASE("prints: each call prints each value once, with every linker") {
  for (auto linker : linkers) {
    Printed printed;
    const auto x = dvector("x");
    const Variable y = print(x * 2, "y ");
    const auto f = compiled(linker, {x}, {sum(y) + print(sum(exp(y) * 0.0), "zero "), y});
    CHECK(printed.lines.empty());  // compiling prints nothing
    const auto results = f({Array{1.0, 2.0}});
    CHECK(results[0].item() == 6.0);
    CHECK(identical(results[1], Array{2.0, 4.0}));
    CHECK(printed.lines == std::vector<std::string>{"y [2. 4.]", "zero 0.0"});
    f({Array{0.0}});
    CHECK(printed.lines.size() == 4);
  }
}

TEST_CASE("prints: calls print constants, and a failure repeats no print") {
  for (auto linker : linkers) {
    Printed printed;
    const auto x = dvector("x"), y = dvector("y");
    const auto f = compiled(linker, {x, y}, {print(constant(Array(2.0)), "c") * x, print(x, "x") + y});
    f({Array{1.0}, Array{1.0}});
    CHECK(printed.lines.size() == 2);
    printed.lines.clear();
    CHECK_THROWS_AS(f({Array{1.0}, Array{1.0, 2.0, 3.0}.slice(0, 0, 2, 1)}), ShapeError);
    CHECK(printed.lines.size() <= 2);
  }
}

TEST_CASE("prints: different prints stay separate, equal ones are merged, gradients pass through") {
  Printed printed;
  const auto x = dvector("x");
  const auto f = compiled("jit", {x}, {sum(print(x, "a") + print(x, "b") + print(x, "a"))});
  f({Array{1.0}});
  CHECK(printed.lines.size() == 2);
  printed.lines.clear();
  const auto g = compiled("jit", {x}, {grad(sum(sqr(print(x, "x"))), Variables{x})[0]});
  CHECK(identical(g({Array{3.0}})[0], Array{6.0}));
}

TEST_CASE("prints: an exception of a handler reaches the caller") {
  const auto x = dvector("x");
  const auto f = compiled("jit", {x}, {print(x)});
  set_print_handler([](const PrintRequest&) { throw ValueError("paper is out"); });
  try {
    f({Array{1.0}});
    FAIL_CHECK("nothing was raised");
  } catch (const ValueError& error) {
    CHECK(std::string(error.what()).starts_with("paper is out\n  node     Print"));
  }
  set_print_handler({});
}

TEST_CASE("breakpoints: stop when the condition holds; values can be changed") {
  for (auto linker : linkers) {
    const auto x = dvector("x");
    const auto stopped = breakpoint("large", gt(sum(x), 10), {x, sum(x)});
    const auto f = compiled(linker, {x}, {stopped[0] * 2, stopped[1]});
    int stops = 0;
    set_break_handler([&](std::string_view why, std::span<Array> values) {
      ++stops;
      CHECK(why.find("large") != why.npos);
      REQUIRE(values.size() == 2);
      values[0].mutable_data_as<double>()[0] = 1.0;
      values[1] = Array(0.5);
    });
    CHECK(identical(f({Array{1.0, 2.0}})[0], Array{2.0, 4.0}));
    CHECK(stops == 0);
    const Array given{20.0, 2.0};
    const auto results = f({given});
    CHECK(stops == 1);
    CHECK(identical(results[0], Array{2.0, 4.0}));
    CHECK(results[1].item() == 0.5);
    CHECK(identical(given, Array{20.0, 2.0}));
    set_break_handler([](std::string_view, std::span<Array> values) { values[0] = Array{1.0}; });
    CHECK_THROWS_AS(f({given}), ShapeError);
    set_break_handler({});
  }
}
