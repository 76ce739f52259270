// Exported functions at work: a C99 program that calls each of them on given inputs, built by any compiler and run by
// the system or an emulator, and what it computed.
#pragma once

#include <string>
#include <vector>

#include "bitale/compile/export.hpp"

namespace bitale::testing {

// A function that was exported under this name, and a call of it.
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

// Calls them all; `compiler` is one command with flags, `runner` stands before the program and may be empty. Of the
// folder: NAME.h and NAME.o, or NAME.c. What went wrong goes to `trouble`, and the result is then empty.
std::vector<ExportedResult> run_exported(const std::vector<ExportedCall>& calls, const std::string& folder,
                                         const std::string& extension, const std::string& compiler,
                                         const std::string& runner, std::string& trouble);

}  // namespace bitale::testing
