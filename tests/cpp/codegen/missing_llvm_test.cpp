// Without a usable LLVM, the error says what to install, and another linker is used only with linker_fallback. LLVM is
// never unloaded, so the tests run in new processes.
#include <doctest/doctest.h>

#include "bitale/bitale.hpp"
#include "codegen/generate.hpp"
#include "link/linker.hpp"
#include "support/directory.hpp"
#include "support/rerun.hpp"

using namespace bitale;
using bitale::testing::run_with;

namespace {

Array square_of_three() {
  const auto x = scalar("x");
  return function({x}, x * x)({Array(3.)});
}

}  // namespace

TEST_CASE("inner: error without LLVM" * doctest::skip()) {
  CHECK_THROWS_WITH_AS(square_of_three(), doctest::Contains("install the package libllvm"), NotImplementedError);
}

TEST_CASE("inner: works" * doctest::skip()) { CHECK(square_of_three().item() == 9); }

TEST_CASE("inner: other strides" * doctest::skip()) {
  const auto x = vector("x");
  const auto thunk =
      link::link("jit", std::make_shared<FunctionGraph>(Variables{x}, Variables{x + 0.5}), {.eager_strides = true});
  CHECK(identical(thunk->run(std::vector{Array{1., 2., 3.}})[0], Array{1.5, 2.5, 3.5}));
  if (config::get("llvm_library").empty()) return;
  for (int turn = 0; turn < 3; ++turn)
    CHECK(identical(thunk->run(std::vector{Array{1., 2., 3.}.slice(0, 2, 3, -1)})[0], Array{3.5, 2.5, 1.5}));
}

TEST_CASE("Bitale uses its bundled LLVM if it was built with one") {
  const std::string& version = codegen::generator_version();
  CHECK((version.starts_with("LLVM 19.1") || version.starts_with("LLVM 23.1")));
  CHECK(version.ends_with(", libbitale_llvm.so") == bool(BITALE_BUNDLE_LLVM));
}

TEST_CASE("missing LLVM: an error that says what to do") {
  const testing::TemporaryDirectory empty;
  const std::string compiledir = ",compiledir=" + empty.path();
  CHECK(run_with("inner: error without LLVM", "llvm_library=/nowhere/libLLVM.so" + compiledir) == 0);
  CHECK(run_with("inner: error without LLVM", "llvm_library=libc.so.6" + compiledir) == 0);  // a library, but not LLVM
}

TEST_CASE("missing LLVM: the interpreter does not need it") {
  const testing::TemporaryDirectory empty;
  CHECK(run_with("inner: works", "llvm_library=/nowhere/libLLVM.so,linker=tiered,compiledir=" + empty.path()) == 0);
}

TEST_CASE("missing LLVM: linker_fallback selects the next linker") {
  const testing::TemporaryDirectory empty;
  const std::string flags = "llvm_library=/nowhere/libLLVM.so,compiledir=" + empty.path();
  CHECK(run_with("inner: works", flags + ",linker_fallback=True") == 0);
  CHECK(run_with("inner: works", flags + ",linker=vm") == 0);
  for (const std::string linker : {"opwise", "dual"}) {
    CHECK(run_with("inner: error without LLVM", flags + ",linker=" + linker) == 0);
    CHECK(run_with("inner: works", flags + ",linker_fallback=True,linker=" + linker) == 0);
  }
}

TEST_CASE("missing LLVM: cached code still runs") {
  const testing::TemporaryDirectory directory;
  CHECK(run_with("inner: works", "compiledir=" + directory.path()) == 0);
  CHECK(run_with("inner: works", "llvm_library=/nowhere/libLLVM.so,compiledir=" + directory.path()) == 0);
}

TEST_CASE("missing LLVM: inputs are copied if no code for their strides is cached") {
  const testing::TemporaryDirectory directory;
  CHECK(run_with("inner: other strides", "compiledir=" + directory.path()) == 0);
  CHECK(run_with("inner: other strides", "llvm_library=/nowhere/libLLVM.so,compiledir=" + directory.path()) == 0);
}
