// The instruction sets that functions of the runtime are compiled for, in addition to the one of every x86-64.
#pragma once

namespace bitale::runtime {

enum class Vectors { none, avx2, avx512 };

// The widest that the processor has; detected once.
Vectors vectors();

}  // namespace bitale::runtime
