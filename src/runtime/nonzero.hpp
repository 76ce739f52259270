// Where a mask is true, for generated code and for `perform`.
#pragma once

#include <cstdint>

extern "C" {
// Writes the positions of the bytes that are not 0, in increasing order: `count` of them, which the caller has counted.
// Only positions are written, even if another thread changes the mask.
void bt_nonzero(std::int64_t length, std::int64_t count, const std::uint8_t* mask, std::int64_t* to) noexcept;
}
