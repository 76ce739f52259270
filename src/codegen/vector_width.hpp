// The width of vectors in code for this very processor: the widest that it has, unless a measurement on this machine
// has found narrower ones to be faster. The result is stored in the compile directory, under a key that distinguishes
// processors.
#pragma once

#include <vector>

namespace bitale::codegen {

// In bytes, the widest first: the widths that are worth comparing, or the only width.
const std::vector<int>& vector_widths();

// The width recorded for this machine in the compile directory, else the widest. A process keeps the first answer for a
// directory, so that code that it compiles twice gives the same bits.
int native_vector_bytes();

// Whether the compile directory has a record of this machine.
bool is_vector_width_recorded();

// Records a width for later processes, and for this one if `here`. Returns false when the directory can't be written.
bool record_vector_width(int bytes, bool here);

}  // namespace bitale::codegen
