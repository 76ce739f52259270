// Special functions that are calls of the runtime in native code (incomplete gamma and beta functions, the inverse of
// the logarithm of the normal distribution function), for whole tensors: series, continued fractions and Newton's
// method as loops.
#pragma once

#include "stablehlo/rejection.hpp"

namespace bitale::stablehlo {

// Null where there is none of that name, as in rejection_function.
LaneFunction special_function(std::string_view name);

}  // namespace bitale::stablehlo
