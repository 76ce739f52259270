// Programs long enough to be split into several functions agree with the interpreter, and have the same exits as short
// ones.
#include <doctest/doctest.h>
#include <sched.h>

#include <cmath>

#include "bitale/bitale.hpp"

using namespace bitale;

namespace {

// The gradient reads the forward values in reverse order, so many values cross from one part to another.
Variables chain(const Variable& x, int steps) {
  Variable y = x;
  for (int i = 0; i < steps; ++i) y = y * (1 - 0.0001 * i) + 0.1 * sin(y);
  return {y, grad(sum(y), x)};
}

bool has(const Function& f, std::string_view text) { return f.dprint("llvm").find(text) != std::string::npos; }

void compare(const Function& fast, const Variables& inputs, const Variables& outputs, const std::vector<Array>& at) {
  const auto slow = function(inputs, outputs, {.mode = get_mode("FAST_COMPILE")});
  const auto got = fast.call(at), expected = slow.call(at);
  for (std::size_t k = 0; k < got.size(); ++k) {
    REQUIRE(got[k].size() == expected[k].size());
    const Array a = got[k].astype(DType::Float64), b = expected[k].astype(DType::Float64);
    for (std::int64_t i = 0; i < a.size(); ++i) {
      const double x = static_cast<const double*>(a.data())[i], y = static_cast<const double*>(b.data())[i];
      CHECK(std::fabs(x - y) <= (got[k].dtype() == DType::Float32 ? 1e-3 : 1e-9) * (1 + std::fabs(y)));
    }
  }
}

}  // namespace

TEST_CASE("parts: straight code of scalars") {
  const auto x = scalar("x");
  const auto outputs = chain(x, 600);
  const auto f = function({x}, outputs);
  CHECK(has(f, "@part1"));
  compare(f, {x}, outputs, {Array(0.3)});
}

// Compiled by several threads, if there are several processors, and by one.
TEST_CASE("parts: compiled in pieces or as a whole, code gives the same bits") {
  const auto x = vector("x");
  const auto outputs = chain(x, 300);
  const Array at{0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0, 1.1};
  const auto results = [&] {
    const config::Change no_cache("cache", "off");
    const auto f = function({x}, outputs);
    CHECK(has(f, "@part1"));
    return f.call(std::vector{at});
  };
  const auto in_pieces = results();
  cpu_set_t all, one;
  REQUIRE(sched_getaffinity(0, sizeof all, &all) == 0);
  CPU_ZERO(&one);
  CPU_SET(std::size_t(sched_getcpu()), &one);
  REQUIRE(sched_setaffinity(0, sizeof one, &one) == 0);
  const auto whole = results();
  REQUIRE(sched_setaffinity(0, sizeof all, &all) == 0);
  for (std::size_t k = 0; k < whole.size(); ++k) CHECK(identical(in_pieces[k], whole[k]));
}

TEST_CASE("parts: successive long loops are in different functions") {
  const auto x = vector("x");
  Variable y = x;
  for (int i = 0; i < 60; ++i) y = y * (1 - 0.01 * i) + 0.1 * tanh(y);
  const auto total = sum(y);
  const Variables outputs{total, y / total + sin(y) * cos(y)};
  const auto f = function({x}, outputs);
  CHECK(has(f, "@part1"));
  compare(f, {x}, outputs, {Array{0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9}});
}

TEST_CASE("parts: vector loops and their remainders") {
  for (auto dtype : {DType::Float64, DType::Float32}) {
    const auto x = tensor("x", dtype, {unknown_length});
    const auto outputs = chain(x, 300);
    const auto f = function({x}, outputs);
    CHECK(has(f, "@part1"));
    const Array at{0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0, 1.1, 1.2, 1.3, 1.4, 1.5, 1.6, 1.7};
    compare(f, {x}, outputs, {at.astype(dtype)});
  }
}

TEST_CASE("parts: small temporaries on the stack outlive the part that makes them") {
  const auto x = tensor("x", DType::Float64, {8});
  const auto outputs = chain(x, 300);
  const auto f = function({x}, outputs);
  CHECK(has(f, "@part1"));
  CHECK(f.dprint("program").find("stack ") != std::string::npos);
  compare(f, {x}, outputs, {Array{0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8}});
}

TEST_CASE("parts: one expression of thousands of scalars is split between parts") {
  Variables inputs, level;
  std::vector<Array> at;
  for (int i = 0; i < 3000; ++i) {
    inputs.push_back(scalar("x"));
    level.push_back(exp(inputs.back()) + double(i));
    at.push_back(Array(1e-4 * i));
  }
  while (level.size() > 1) {
    Variables next;
    for (std::size_t i = 0; i + 1 < level.size(); i += 2) next.push_back(level[i] * 0.5 + level[i + 1]);
    if (level.size() % 2) next.push_back(level.back());
    level = next;
  }
  const auto f = function(inputs, level);
  CHECK(has(f, "@part1"));
  compare(f, inputs, level, at);
}

TEST_CASE("parts: many loops, sums among them, and a check that fails in a later part") {
  Variables inputs, outputs;
  std::vector<Array> at;
  const auto index = lvector("index");
  for (int i = 0; i < 200; ++i) {
    inputs.push_back(vector("x"));
    outputs.push_back(inputs.back() * sum(tanh(inputs.back())) + double(i));
    at.push_back(Array::full(DType::Float64, {i % 7}, 0.1 * i));
  }
  outputs.push_back(subtensor(outputs[6], {index}) + subtensor(outputs[13], {std::int64_t(0)}));
  inputs.push_back(index);
  const Array good{std::int64_t(0), std::int64_t(5)}, bad{std::int64_t(0), std::int64_t(6)};
  at.push_back(good);
  const auto f = function(inputs, outputs);
  CHECK(has(f, "@part1"));
  compare(f, inputs, outputs, at);
  at.back() = bad;
  CHECK_THROWS_AS(f.call(at), Error);
  at.back() = good;
  CHECK_NOTHROW(f.call(at));
}

TEST_CASE("functions: an elementary function that is used very often is outlined") {
  const auto x = vector("x"), few = vector("few");
  Variable y = x, z = few;
  for (int i = 0; i < 120; ++i) y = y + 0.01 * sin(y) * pow(abs(y) + 0.5, 0.3);
  for (int i = 0; i < 20; ++i) z = z + 0.01 * sin(z);
  const Array at{-1.0, 0.0, 1e6, 1e300, 2.0, 3.0, 4.0, 0.1, 0.2};
  const auto often = function({x}, y), seldom = function({few}, z);
  CHECK(has(often, "@Sin."));
  CHECK(often.dprint("program").find("Sin.") != std::string::npos);
  CHECK_FALSE(has(seldom, "@Sin."));
  compare(often, {x}, {y}, {at});
  const auto s = scalar("s");
  Variable t = s;
  for (int i = 0; i < 120; ++i) t = t + 0.01 * sin(t);
  compare(function({s}, t), {s}, {t}, {Array(1e9)});
}

TEST_CASE("long: a chain of 20,000 nodes is lowered, compiled and run without recursion") {
  const auto x = scalar("x");
  Variable y = x;
  for (int i = 0; i < 10000; ++i) y = sin(y) * 1.0001 + 0.5;
  const auto f = function({x}, y);
  compare(f, {x}, {y}, {Array(0.3)});
}
