// Bound calls: a C function with one argument more, at a fixed value, as the address of a function without it. This is
// how C code, which knows addresses only, calls what needs to know more.
#pragma once

#include <cstdint>

namespace bitale::codegen {

// A few instructions that put `value` into the place of integer or pointer argument number `position` (0 to 5, those of
// floating point not counted), and jump to `target`. They stay in memory until the process ends.
// NotImplementedError on a processor that is not known; OutOfMemoryError.
void* bind_argument(void* target, int position, const void* value);

}  // namespace bitale::codegen
