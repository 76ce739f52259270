// Without a usable LLVM: the error says what to install, and another linker stands in only when asked for. LLVM stays
// loaded once it is, so this runs in new processes.
#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bitale/bitale.hpp"
#include "support/directory.hpp"

using namespace bitale;

namespace {

// Exit status of one test case of this program, run with these flags; minus 1 for anything else.
int run_with(const std::string& test_case, const std::string& flags) {
  const pid_t child = fork();
  if (child == 0) {
    setenv("BITALE_FLAGS", flags.c_str(), 1);
    const std::string filter = "--test-case=" + test_case;
    execl("/proc/self/exe", "bitale_tests", filter.c_str(), "--no-skip", static_cast<char*>(nullptr));
    _exit(127);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

Array square_of_three() {
  const auto x = scalar("x");
  return function({x}, x * x)({Array(3.)});
}

}  // namespace

TEST_CASE("inner: error without LLVM" * doctest::skip()) {
  CHECK_THROWS_WITH_AS(square_of_three(), doctest::Contains("install the package libllvm19"), NotImplementedError);
}

TEST_CASE("inner: works" * doctest::skip()) { CHECK(square_of_three().item() == 9); }

TEST_CASE("missing LLVM: an error that says what to do") {
  CHECK(run_with("inner: error without LLVM", "llvm_library=/nowhere/libLLVM.so") == 0);
  CHECK(run_with("inner: error without LLVM", "llvm_library=libc.so.6") == 0);  // a library, but not LLVM
}

TEST_CASE("missing LLVM: the next linker, when asked for") {
  CHECK(run_with("inner: works", "llvm_library=/nowhere/libLLVM.so,linker_fallback=True") == 0);
  CHECK(run_with("inner: works", "llvm_library=/nowhere/libLLVM.so,linker=vm") == 0);
}

TEST_CASE("missing LLVM: what was compiled before still runs") {
  const testing::TemporaryDirectory directory;
  CHECK(run_with("inner: works", "compiledir=" + directory.path()) == 0);
  CHECK(run_with("inner: works", "llvm_library=/nowhere/libLLVM.so,compiledir=" + directory.path()) == 0);
}
