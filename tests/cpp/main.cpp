// Runs the tests. A filter that selects none fails, so that a renamed file does not make its ctest entry a silent pass.
// Compiled code is kept in a temporary directory, not in that of the user.
#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <string>

#include "bitale/core/config.hpp"
#include "support/directory.hpp"

namespace {

constexpr const char* directory_variable = "BITALE_TEST_DIRECTORY";

unsigned selected = 0;

struct CountSelected : doctest::IReporter {
  explicit CountSelected(const doctest::ContextOptions&) {}
  void report_query(const doctest::QueryData&) override {}
  void test_run_start() override {}
  void test_run_end(const doctest::TestRunStats& stats) override { selected = stats.numTestCasesPassingFilters; }
  void test_case_start(const doctest::TestCaseData&) override {}
  void test_case_reenter(const doctest::TestCaseData&) override {}
  void test_case_end(const doctest::CurrentTestCaseStats&) override {}
  void test_case_exception(const doctest::TestCaseException&) override {}
  void subcase_start(const doctest::SubcaseSignature&) override {}
  void subcase_end() override {}
  void log_assert(const doctest::AssertData&) override {}
  void log_message(const doctest::MessageData&) override {}
  void test_case_skipped(const doctest::TestCaseData&) override {}
};

REGISTER_LISTENER("count", 1, CountSelected);

}  // namespace

// Objects with static storage read the configuration before main begins. The process is therefore started again with
// its flags set.
int restart_with(const std::string& directory, char** argv) {
  const char* flags = std::getenv("BITALE_FLAGS");
  const std::string test_flags = std::string(flags ? flags : "") + ",base_compiledir=" + directory;
  setenv("BITALE_FLAGS", test_flags.c_str(), 1);
  setenv(directory_variable, directory.c_str(), 1);
  execv("/proc/self/exe", argv);
  std::perror("execv");
  return 1;
}

int main(int argc, char** argv) {
  const char* known = std::getenv(directory_variable);
  if (!known) return restart_with(bitale::testing::TemporaryDirectory::make(), argv);
  const bitale::testing::TemporaryDirectory compiled(known);
  unsetenv(directory_variable);
  if (bitale::config::get("base_compiledir") != compiled.path()) {
    std::cerr << "the tests do not use the directory " << compiled.path() << '\n';
    return 1;
  }
  doctest::Context context(argc, argv);
  int failed = context.run();
  if (context.shouldExit()) return failed;  // a query such as --list-test-cases
  if (selected == 0) {
    std::cerr << "no test selected\n";
    return 1;
  }
  return failed;
}
