// Extremes of vectors together with their indices: what argmax and argmin carry.
#pragma once

#include "codegen/llvm/function_builder.hpp"

namespace bitale::codegen {

// A value and its index, or lanes of both.
struct Extreme {
  FunctionBuilder::Value value, index;
};

// Whether a is more extreme than b, as program::more_extreme tells.
FunctionBuilder::Value more_extreme(FunctionBuilder& builder, program::Combiner combiner, DType dtype,
                                    FunctionBuilder::Value a, FunctionBuilder::Value b);
// The more extreme of two; of equals (two nans are equal), the earlier one.
Extreme extreme_of(FunctionBuilder& builder, program::Combiner combiner, DType dtype, Extreme a, Extreme b);
// That of all lanes.
Extreme extreme_lane(FunctionBuilder& builder, program::Combiner combiner, DType dtype, Extreme lanes);

}  // namespace bitale::codegen
