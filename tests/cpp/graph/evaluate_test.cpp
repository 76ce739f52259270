// The reference interpreter.
#include "graph/evaluate.hpp"

#include <doctest/doctest.h>

#include "graph/test_ops.hpp"

using namespace bitale;
using namespace bitale::testing;

namespace {

std::string message_of(auto&& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

}  // namespace

TEST_CASE("evaluate") {
  Variable x = leaf("x"), y = leaf("y"), a = node("f", {x, constant(Array{1., 1.})}, 2);
  Variables outputs = {h(a, y), a, x, split(a)[1]};
  auto values = evaluate(outputs, Variables{x, y}, std::vector{Array{1., 2.}, Array{10., 20.}});
  CHECK(identical(values[0], Array{14., 26.}));
  CHECK(identical(values[1], Array{4., 6.}));
  CHECK(identical(values[2], Array{1., 2.}));
  CHECK(identical(values[3], Array{-4., -6.}));
  CHECK(identical(evaluate(constant(Array{3.})), Array{3.}));
}

TEST_CASE("a value may be given for an intermediate variable") {
  Variable x = leaf("x"), a = f(x);
  Variables outputs = {g(a), a};
  auto values = evaluate(outputs, Variables{a}, std::vector{Array{5.}});
  CHECK(identical(values[0], Array{5.}));
  CHECK(identical(values[1], Array{5.}));
  Variables both = split(x);
  Variables sum = {h(both[0], both[1])};
  CHECK(identical(evaluate(sum, Variables{both[1], x}, std::vector{Array{5.}, Array{1.}})[0], Array{6.}));
}

TEST_CASE("errors name the node and its location") {
  Variable x = leaf("x"), y = leaf("y"), out;
  {
    LocationScope here(Location::interned("model.py", 12, "predict"));
    out = h(x, y);
  }
  std::string message = message_of([&] { evaluate(out, Variables{x, y}, std::vector{Array{1.}, Array{1., 2.}}); });
  CHECK(message.find("lengths differ") != std::string::npos);
  CHECK(message.find("(x, y)") != std::string::npos);
  CHECK(message.find("x: f64 (1,), strides (8,), [") != std::string::npos);
  CHECK(message.find("model.py:12") != std::string::npos);
  CHECK_THROWS_AS(evaluate(out, Variables{x, y}, std::vector{Array{1.}, Array{1., 2.}}), ShapeError);
  CHECK_THROWS_AS(evaluate(out, Variables{x}, std::vector{Array{1.}}), MissingInputError);
  CHECK_THROWS_AS(evaluate(out, Variables{x, y}, std::vector{Array{1.}}), ValueError);
}

TEST_CASE("a result of perform that contradicts the type of the node is detected") {
  Variable x = leaf("x");
  Apply wrong(make_ref<Sum>("f"), {x}, {tensor_type(DType::Float32, 1)});
  CHECK_THROWS_AS(evaluate(wrong.output(), Variables{x}, std::vector{Array{1.}}), TypeError);
}

TEST_CASE("a chain of a hundred thousand nodes") {
  Variable x = leaf("x");
  CHECK(identical(evaluate(chain(x, 100'000), Variables{x}, std::vector{Array{1.}}), Array{1.}));
}
