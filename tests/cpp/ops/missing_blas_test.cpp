// The flag blas__library: another library, none, and a file that is no BLAS. A process opens the library once, so the
// tests run in new processes.
#include <doctest/doctest.h>

#include "bitale/bitale.hpp"
#include "runtime/blas.hpp"
#include "support/rerun.hpp"

using namespace bitale;
using bitale::testing::run_with;

namespace {

// Too large for the kernels that need no library.
Array product(const char* mode) {
  const auto x = matrix("x");
  return function({x}, {dot(x, x)}, {.mode = get_mode(mode)})({Array::full(DType::Float64, {20, 20}, 2.)})[0];
}

}  // namespace

TEST_CASE("inner: products of matrices" * doctest::skip()) {
  for (const char* mode : {"FAST_RUN", "FAST_COMPILE"})
    CHECK(identical(product(mode), Array::full(DType::Float64, {20, 20}, 80.)));
}

TEST_CASE("inner: no BLAS library" * doctest::skip()) { CHECK(runtime::blas_library().empty()); }

TEST_CASE("inner: an invalid BLAS library" * doctest::skip()) {
  const auto library = config::get("blas__library");
  for (const char* mode : {"FAST_RUN", "FAST_COMPILE"}) {
    CHECK_THROWS_WITH_AS(product(mode), doctest::Contains(library.c_str()), ValueError);
    CHECK_THROWS_WITH_AS(product(mode), doctest::Contains("cblas_dgemm"), ValueError);
  }
  const auto x = vector("x");  // functions without products still work
  CHECK(identical(function({x}, x * 2.0)({Array{1., 2.}}), Array{2., 4.}));
}

TEST_CASE("the BLAS library can be chosen") {
  CHECK(run_with("inner: products of matrices", "blas__library=none") == 0);
  CHECK(run_with("inner: no BLAS library", "blas__library=none") == 0);
  if (const std::string& file = runtime::blas_library(); !file.empty())
    CHECK(run_with("inner: products of matrices", "blas__library=" + file) == 0);
  CHECK(run_with("inner: an invalid BLAS library", "blas__library=/nowhere/libblas.so") == 0);
  CHECK(run_with("inner: an invalid BLAS library", "blas__library=libc.so.6") == 0);  // a library without cblas_dgemm
}
