// Checks of lengths that follow from an op's signature: dimensions of one name are equally long, as m in
// "(m,m),(m,k)->(m,k)".
#pragma once

#include <span>
#include <string_view>

#include "bitale/core/array.hpp"
#include "bitale/graph/variable.hpp"
#include "bitale/ops/lowering.hpp"
#include "ops/tensor_lowering.hpp"

namespace bitale {

// ShapeError naming `who` unless they are, as far as lengths are known.
void check_lengths(std::string_view who, std::string_view signature, std::span<const Array> inputs);
void check_lengths(std::string_view who, std::string_view signature, std::span<const Variable> inputs);
// The same of the last dimensions of each input, after those of a batch.
void check_lengths(std::string_view who, std::string_view signature, TensorLowering& to);
// In native code, where the lengths are values.
void require_lengths(std::string_view who, std::string_view signature, Lowering& to);

}  // namespace bitale
