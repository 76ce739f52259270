// What code is generated for, known without any code generator: the processor and how wide its vectors are used.
#pragma once

#include "core/digest.hpp"

namespace bitale::codegen {

struct Target {
  int vector_bytes = 16;
  void add_to(Digester& digester) const;  // all that code may depend on
};

// The processor this process runs on.
const Target& this_target();

}  // namespace bitale::codegen
