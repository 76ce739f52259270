// Runs exported functions: a C99 program that calls each of them on given inputs is built by any compiler, and run by
// the system or an emulator.
#pragma once

#include <string>
#include <vector>

#include "bitale/compile/export.hpp"

namespace bitale::testing {

// A call of a function that was exported under this name.
struct ExportedCall {
  std::string name;
  const Function* function;
  std::vector<Array> inputs;
};

struct ExportedResult {
  int code = 0;
  std::vector<Array> outputs;  // none after a failure
};

bool is_there(const std::string& program);

// Makes all calls. `compiler` is one command with flags, `runner` precedes the program and may be empty. The folder has
// NAME.h and NAME.o, or NAME.c. After a failure, `trouble` has the message, and the result is empty.
std::vector<ExportedResult> run_exported(const std::vector<ExportedCall>& calls, const std::string& folder,
                                         const std::string& extension, const std::string& compiler,
                                         const std::string& runner, std::string& trouble);

}  // namespace bitale::testing
