// Options of functions that Python writes as texts or numbers, where several files read them.
#pragma once

#include <string>

#include "arguments.hpp"
#include "bitale/ops/linalg.hpp"
#include "bitale/ops/signal.hpp"

namespace bitale::python {

NormOrder as_order(const Any& ord);
// ValueError for another text than "full", "valid" and "same".
ConvolutionMode as_convolution_mode(const std::string& mode, const char* who);

}  // namespace bitale::python
