// How wide vectors are in code for this very processor: as wide as it has them, unless a measurement on this machine
// has found narrower ones to be faster. What was found lies in the compile directory, by what tells processors apart.
#pragma once

#include <vector>

namespace bitale::codegen {

// In bytes, the widest first: widths that are worth a comparison, or the only one.
const std::vector<int>& vector_widths();

// By the record of this machine in the compile directory, else the widest. A process keeps the first answer that it
// gets for a directory, so that what it compiles twice has the same bits.
int native_vector_bytes();

// Whether the compile directory knows this machine.
bool is_vector_width_recorded();

// For processes to come, and for this one if `here`. False when the directory can't be written.
bool record_vector_width(int bytes, bool here);

}  // namespace bitale::codegen
