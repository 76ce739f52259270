// Runtime functions that draw by rejection (runtime/random/from_uniform.hpp), for whole tensors: a loop in which each
// lane makes one attempt per step, until no lane is left. They read the same words and give the same draws.
#pragma once

#include <span>
#include <string_view>

#include "ops/tensor_lowering.hpp"

namespace bitale::stablehlo {

// The function's values in the lanes where `active` (bool) is true, and anything in the others.
using LaneFunction = TensorValue (*)(TensorBuilder& builder, const TensorValue& active,
                                     std::span<const TensorValue> in);
// Null where there is none of that name.
LaneFunction rejection_function(std::string_view name);

}  // namespace bitale::stablehlo
