// RandomBits: words of one draw from a counter-based stream, each a function of the stream's key and the element's
// position, as an element rule. Distributions of such a stream are formulas over these words (ops/random_formulas).
#pragma once

#include <span>
#include <string_view>

#include "bitale/ops/random.hpp"

namespace bitale {

// Draws with these lengths from a state of RandomType(Threefry). form: "bits" (uint64), "unit" (float64 from 0 up to 1,
// 1 not included, multiples of 2^-53), "open" (between 0 and 1, odd multiples of 2^-53). word: the index among the
// numbers that one draw provides for each element.
random::Draw random_bits(const Variable& state, std::span<const Variable> lengths, std::string_view form, int word = 0);

}  // namespace bitale
