// Code so long that it is split into several functions computes what the interpreter does.
#include <doctest/doctest.h>

#include <cmath>

#include "bitale/bitale.hpp"

using namespace bitale;

namespace {

// Forward values are needed again, last first, by the gradient: many cross from one part to another.
Variables chain(const Variable& x, int steps) {
  Variable y = x;
  for (int i = 0; i < steps; ++i) y = y * (1 - 0.001 * i) + exp(-y * y);
  return {y, grad(sum(y), x)};
}

void compare(const Variable& x, const Array& at, int steps) {
  const auto outputs = chain(x, steps);
  const auto fast = function({x}, outputs), slow = function({x}, outputs, {.mode = get_mode("FAST_COMPILE")});
  CHECK(fast.dprint("llvm").find("@part1") != std::string::npos);
  const std::vector<Array> inputs{at};
  const auto got = fast.call(inputs), expected = slow.call(inputs);
  for (std::size_t k = 0; k < got.size(); ++k)
    for (std::int64_t i = 0; i < got[k].size(); ++i) {
      const double a = static_cast<const double*>(got[k].data())[i],
                   b = static_cast<const double*>(expected[k].data())[i];
      CHECK(std::fabs(a - b) <= 1e-9 * (1 + std::fabs(b)));
    }
}

}  // namespace

TEST_CASE("split: straight code of scalars") { compare(scalar("x"), Array(0.3), 80); }

TEST_CASE("split: a long body of a loop, whole vectors and the rest") {
  compare(vector("x"), Array{0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0, 1.1, 1.2, 1.3}, 80);
}
