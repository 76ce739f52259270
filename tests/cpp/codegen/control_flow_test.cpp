// Branches, loops with state and loops with an exit condition: the semantics of the interpreter and of both emitters.
#include <doctest/doctest.h>

#include <cmath>

#include "bitale/core/error.hpp"
#include "bitale/core/text.hpp"
#include "codegen/key.hpp"
#include "program/parse.hpp"
#include "support/program_runner.hpp"

using namespace bitale;
using namespace bitale::program;

namespace {

Array numbers(std::initializer_list<double> values) {
  Array out = Array::zeros(DType::Float64, Dims{std::int64_t(values.size())});
  std::copy(values.begin(), values.end(), static_cast<double*>(out.mutable_data()));
  return out;
}
Array number(double value) {
  Array out = Array::zeros(DType::Float64, Dims{});
  *static_cast<double*>(out.mutable_data()) = value;
  return out;
}

// The outputs as text, which must be equal for the interpreter and both emitters; "check 1" if check 1 fails.
std::string outcome(const char* text, std::vector<Array> inputs) {
  const Program program = parse(text);
  verify(program);
  CHECK(to_string(program) == text);
  CHECK(codegen::digest_of(parse(source_of(program))) == codegen::digest_of(program));
  std::string first;
  for (const char* how : {"interpreter", "llvm", "c"}) {
    const test::ProgramResult run = test::run_program(program, inputs, how);
    std::string result = run.status ? cat("check ", run.status) : "";
    for (auto& output : run.outputs) result += cat(result.empty() ? "" : "; ", output.str());
    CAPTURE(how);
    if (first.empty()) first = result;
    CHECK(result == first);
  }
  return first;
}

void is_refused(const char* text, const char* why) {
  try {
    verify(parse(text));
    FAIL_CHECK("no error, expected: " << why);
  } catch (const InternalError& error) {
    const std::string message = error.what();
    CHECK_MESSAGE(message.find(why) != std::string::npos, message);
  }
}

}  // namespace

TEST_CASE("a branch executes only one of its sides") {
  // The other side would read beyond the end, or fail its check.
  const char* text = R"(program p(x: f64[?], c: f64) -> y: f64[len(x, 0)], s: f64
  output y: f64[len(x, 0)]
  output s: f64
  if (c > 0.0):
    for i in len(x, 0), vector, sum v0:
      y[i] = (x[i] * c)
      v0 += x[i]
    s = (v0 + x[2])
  else:
    v1 = (len(x, 0) * 2)
    require (v1 < 4)
    fill y 1.0
    s = (f64(v1) - c)
)";
  CHECK(outcome(text, {numbers({1, 2, 3}), number(2)}) == cat(numbers({2, 4, 6}).str(), "; ", number(9).str()));
  CHECK(outcome(text, {numbers({5}), number(-1)}) == cat(numbers({1}).str(), "; ", number(3).str()));
  CHECK(outcome(text, {numbers({1, 2, 3}), number(-1)}) == "check 1");
}

TEST_CASE("a branch without else, in a loop and nested in a branch") {
  const char* text = R"(program p(x: f64[?], c: f64) -> y: f64[len(x, 0)]
  output y: f64[len(x, 0)]
  for i in len(x, 0):
    y[i] = 0.0
    if (x[i] > c):
      if (x[i] > 3.0):
        y[i] = (x[i] * x[i])
      else:
        for j in len(x, 0), sum v0:
          v0 += (x[j] * x[i])
        y[i] = v0
)";
  CHECK(outcome(text, {numbers({1, 4, 2}), number(1)}) == numbers({0, 16, 14}).str());
}

TEST_CASE("values known before a branch are available in it, those of one side are not in the other") {
  const char* text = R"(program p(x: f64[?], c: f64) -> y: f64[2], z: f64
  output y: f64[2]
  output z: f64
  v0 = (c * 2.0)
  if (v0 > 1.0):
    y[0] = (v0 + x[0])
    y[1] = (x[0] * 3.0)
  else:
    y[0] = (x[0] * 3.0)
    y[1] = (v0 + x[0])
  z = ((x[0] * 3.0) + (v0 + x[0]))
)";
  CHECK(outcome(text, {numbers({5}), number(1)}) == cat(numbers({7, 15}).str(), "; ", number(22).str()));
  CHECK(outcome(text, {numbers({5}), number(0)}) == cat(numbers({15, 5}).str(), "; ", number(20).str()));
}

TEST_CASE("all states are updated at once at the end of an iteration") {
  // Fibonacci numbers: the next value of each state reads the current value of the other.
  const char* fibonacci = R"(program p(n: f64) -> y: f64[10], s: f64
  output y: f64[10]
  output s: f64
  for i in 10, state v0 = 0.0, state v1 = n:
    next v0 = v1
    next v1 = (v0 + v1)
    y[i] = v0
  s = v0
)";
  CHECK(outcome(fibonacci, {number(1)}) ==
        cat(numbers({0, 1, 1, 2, 3, 5, 8, 13, 21, 34}).str(), "; ", number(55).str()));
  const char* autoregressive = R"(program p(x: f64[?], a: f64) -> y: f64[len(x, 0)]
  output y: f64[len(x, 0)]
  for t in len(x, 0), state v0 = 0.5:
    y[t] = ((a * v0) + x[t])
    next v0 = ((a * v0) + x[t])
)";
  CHECK(outcome(autoregressive, {numbers({1, 2, 3}), number(0.5)}) == numbers({1.25, 2.625, 4.3125}).str());
  CHECK(outcome(autoregressive, {numbers({}), number(0.5)}) == numbers({}).str());
}

TEST_CASE("an inner loop initializes its states in every iteration of the outer loop") {
  const char* text = R"(program p(x: f64[?, ?]) -> y: f64[len(x, 0)]
  output y: f64[len(x, 0)]
  for i in len(x, 0), state v2 = 0.0:
    for t in len(x, 1), state v0 = v2, sum v1:
      next v0 = ((0.5 * v0) + x[i, t])
      v1 += v0
    y[i] = (v0 + v1)
    next v2 = v0
)";
  Array x = Array::zeros(DType::Float64, Dims{2, 2});
  for (int k = 0; k < 4; ++k) static_cast<double*>(x.mutable_data())[k] = k + 1;
  // rows: v0 = 0, 1, 2.5; then 2.5, 4.25, 6.125
  CHECK(outcome(text, {x}) == numbers({2.5 + 1, 6.125 + 2.5 + 4.25}).str());
}

TEST_CASE("a loop ends after the iteration in which its exit condition holds") {
  // Newton's iteration for the square root, and how many steps it took.
  const char* text = R"(program p(a: f64, limit: f64) -> y: f64, count: i64
  output y: f64
  output count: i64
  for i in i64(limit), state v0 = a, state v1 = 0:
    v2 = (0.5 * (v0 + (a / v0)))
    next v0 = v2
    next v1 = (v1 + 1)
    until (abs((v2 - v0)) < 0.001)
  y = v0
  count = v1
)";
  const std::string result = outcome(text, {number(2), number(100)});
  CHECK(result.find("1.41421") != std::string::npos);
  CHECK(result.substr(result.find("; ")) == "; 4");
  CHECK(outcome(text, {number(2), number(2)}).find("; 2") != std::string::npos);
  CHECK(outcome(text, {number(2), number(0)}) == "2.0; 0");
}

TEST_CASE("checks, calls and branches in a loop with state") {
  const char* text = R"(program p(x: f64[?]) -> y: f64
  output y: f64
  for i in len(x, 0), state v0 = 1.0, all v3:
    require (x[i] < 100.0)
    if (x[i] > v0):
      y = x[i]
    else:
      y = v0
    next v0 = max(v0, x[i])
    v3 &= (x[i] != v0)
  require v3
)";
  CHECK(outcome(text, {numbers({0, 3, 2})}) == "3.0");
  CHECK(outcome(text, {numbers({0, 300, 2})}) == "check 1");
  CHECK(outcome(text, {numbers({0, 1, 2})}) == "check 2");
}

TEST_CASE("a value that was read from memory is read again after a step that writes there") {
  // At the top level: the first loop starts with an element that the next step stores and the second loop reads.
  const char* between_loops = R"(program p(x: f64[?]) -> y: f64[2], z: f64[2]
  output y: f64[2]
  output z: f64[2]
  stack b: f64[2]
  for i in 2:
    b[i] = x[i]
  for t in 3, state v0 = b[0], state v1 = (b[1] + 1.0):
    next v0 = (v0 + v1)
    next v1 = v0
  b[0] = v0
  b[1] = v1
  for k in 2, state v2 = 0.0:
    next v2 = (v2 + b[0])
    y[k] = ((b[1] + 1.0) + v2)
  for k in 2:
    z[k] = b[k]
)";
  // v0, v1 = 5, 8; 13, 5; 18, 13; 31, 18
  const Array x = numbers({5, 7});
  const std::string first = outcome(between_loops, {x});
  CHECK(first == cat(numbers({19, 50}).str(), "; ", numbers({31, 18}).str()));
  // In a body: before and after a store, an inner loop, a sum in memory, a call, and one side of a branch.
  const char* in_a_body = R"(program p(x: f64[?], c: f64) -> y: f64[8]
  output y: f64[8]
  stack b: f64[2]
  for i in 2:
    b[i] = x[i]
  for t in 2, state v0 = 0.0:
    y[0] = (b[0] * 2.0)
    b[0] = ((b[0] * 2.0) + v0)
    y[1] = (b[0] * 2.0)
    for i in 2, state v1 = b[0]:
      b[i] = ((b[0] * 2.0) + v1)
      next v1 = (b[i] + 1.0)
    y[2] = (b[0] * 2.0)
    y[3] = b[1]
    b[1] += b[0]
    y[4] = b[1]
    if (c > (b[1] + f64(t))):
      y[5] = b[1]
      b[1] = (b[1] + 3.0)
      y[6] = b[1]
    else:
      y[5] = (b[1] + 3.0)
      y[6] = b[1]
    y[7] = (b[1] + 3.0)
    next v0 = b[1]
)";
  outcome(in_a_body, {x, number(0)});
  outcome(in_a_body, {x, number(1e9)});
}

TEST_CASE("verify refuses invalid branches and states") {
  is_refused("program p(c: f64) -> y: f64\n  output y: f64\n  if (c > 0.0):\n    y = c\n  call bt_test(in y)\n",
             "y is read before anything is written");
  is_refused("program p(c: f64) -> y: f64\n  output y: f64\n  if (c > 0.0):\n    v0 = c\n  y = v0\n",
             "v0 is read before it is known");
  is_refused("program p(c: f64) -> y: f64\n  if (c > 0.0):\n    output y: f64\n    y = c\n",
             "an allocation is in a branch");
  is_refused("program p(c: f64) -> y: f64\n  output y: f64\n  for i in 3, state v0 = 0.0:\n    y = v0\n",
             "the state v0 has 0 next values");
  is_refused(
      "program p(c: f64) -> y: f64\n  output y: f64\n  for i in 3, state v0 = 0.0:\n    next v0 = c\n    next v0 = c\n",
      "the state v0 has 2 next values");
  is_refused(
      "program p(c: f64) -> y: f64\n  output y: f64\n  for i in 3, state v0 = 0.0:\n    for j in 3:\n      next v0 = "
      "c\n",
      "v0 is not a state of the loop");
  is_refused("program p(c: f64) -> y: f64\n  output y: f64\n  for i in 3, vector, state v0 = 0.0:\n    next v0 = c\n",
             "a next value is in a vector loop");
  is_refused(
      "program p(c: f64) -> y: f64\n  output y: f64\n  for i in 3, state v0 = 0.0:\n    if (c > 0.0):\n      next v0 = "
      "c\n",
      "a next value is in a branch");
  is_refused(
      "program p(c: f64) -> y: f64[3]\n  output y: f64[3]\n  for i in 3, vector:\n    y[i] = c\n    until (c > 0.0)\n",
      "a vector loop with an end of its own");
  is_refused(
      "program p(c: f64) -> y: f64\n  output y: f64\n  for i in 3, in chunks, state v0 = 0.0:\n    next v0 = c\n",
      "in chunks");
}
