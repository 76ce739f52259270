// Bound calls: a C function with one argument fixed to a value, as the address of a function without this argument. C
// code, which knows only addresses, can thus call functions that need a context.
#pragma once

#include <cstdint>

namespace bitale::codegen {

// Creates a few instructions that set integer or pointer argument number `position` (0 to 5, floating-point arguments
// not counted) to `value` and jump to `target`. They are kept in memory until the process ends. Throws
// NotImplementedError on an unknown processor, and OutOfMemoryError.
void* bind_argument(void* target, int position, const void* value);

}  // namespace bitale::codegen
