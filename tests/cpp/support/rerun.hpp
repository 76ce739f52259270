// Runs one test case of this program in a new process with other flags, for decisions that are made once per process.
#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

namespace bitale::testing {

// Returns the exit status; -1 if a signal ended the process.
inline int run_with(const std::string& test_case, const std::string& flags) {
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

}  // namespace bitale::testing
