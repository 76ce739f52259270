// The processor as people read it.
#pragma once

#include <string>
#include <vector>

namespace bitale::codegen {

// Its instruction sets, as far as they make a difference to what is generated.
std::vector<std::string> processor_features();

}  // namespace bitale::codegen
