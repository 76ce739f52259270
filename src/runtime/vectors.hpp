// The instruction sets that functions of the runtime are compiled for beside the one that every x86-64 has.
#pragma once

namespace bitale::runtime {

enum class Vectors { none, avx2, avx512 };

// The widest that the processor has; asked of it once.
Vectors vectors();

}  // namespace bitale::runtime
