// Generated code in which every load and store is checked (flag memory__check): an access beyond an array, scalar,
// vector or masked, ends the process. This needs the runtime of AddressSanitizer, which bitale_checked_tests has.
#include <dlfcn.h>
#include <doctest/doctest.h>

#include "bitale/core/error.hpp"
#include "bitale/core/text.hpp"
#include "program/parse.hpp"
#include "support/program_runner.hpp"
#include "support/rerun.hpp"

using namespace bitale;

namespace {

constexpr std::int64_t length = 11;  // whole vectors and a partial one, at any width

// Runs y = f(x, z), whose arrays all have `length` elements according to the Program.
void run(const char* body, std::int64_t x_length) {
  const std::string text = cat("program p(x: f64[11], z: f64[11]) -> y: f64[11]\n  output y: f64[11]\n", body);
  const std::vector<Array> inputs{Array::zeros(DType::Float64, Dims{x_length}),
                                  Array::zeros(DType::Float64, Dims{length})};
  test::run_program(program::parse(text), inputs, "llvm");
}

constexpr const char* vector_loop = "  for i in 11, vector:\n    y[i] = (x[i] + z[i])\n";
constexpr const char* scalar_loop = "  for i in 11:\n    y[i] = (x[i] + z[i])\n";
constexpr const char* lookup = "  for i in 11:\n    y[i] = 0.0\n  y[0] = x[10]\n";
constexpr const char* temporary =
    "  stack t: f64[11]\n  for i in 11:\n    t[i] = x[i]\n  for i in 11:\n    y[i] = t[(i + 1)]\n";

bool has_runtime() { return dlsym(RTLD_DEFAULT, "__asan_load8"); }

}  // namespace

TEST_CASE("inner: arrays of the declared lengths" * doctest::skip()) {
  for (const char* body : {vector_loop, scalar_loop, lookup}) run(body, length);
}
TEST_CASE("inner: a vector beyond an array" * doctest::skip()) { run(vector_loop, length - 1); }
TEST_CASE("inner: a scalar beyond an array" * doctest::skip()) { run(scalar_loop, length - 1); }
TEST_CASE("inner: an element beyond an array" * doctest::skip()) { run(lookup, length - 1); }
TEST_CASE("inner: an element beyond a temporary on the stack" * doctest::skip()) { run(temporary, length); }

TEST_CASE("checked memory: a load beyond an array ends the process") {
  const std::string flags = "memory__check=True,cache=False";
  const bool passes = testing::run_with("inner: arrays of the declared lengths", flags) == 0;
  CHECK(passes == has_runtime());  // without the runtime the flag is refused
  if (!has_runtime()) return;
  for (const char* wrong : {"inner: a vector beyond an array", "inner: a scalar beyond an array",
                            "inner: an element beyond an array", "inner: an element beyond a temporary on the stack"}) {
    CAPTURE(wrong);
    CHECK(testing::run_with(wrong, flags) != 0);
  }
}
