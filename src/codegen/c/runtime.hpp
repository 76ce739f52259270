// The functions of the runtime in plain C, for code that is given away: definitions that need C's library alone, or
// CBLAS where the reader of the code asks for it.
#pragma once

#include <string>
#include <vector>

namespace bitale::codegen::c {

struct Definition {
  std::vector<std::string> needs;  // other functions, defined before it
  std::string text;                // empty when there is none
};
Definition portable_definition(const std::string& function);
bool uses_blas(const std::string& function);

}  // namespace bitale::codegen::c
