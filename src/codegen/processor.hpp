// What this processor has: as people read it, as keys of code see it, and how far code for it may go.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace bitale::codegen {

// Its instruction sets, as far as they make a difference to what is generated.
std::vector<std::string> processor_features();

// Model and feature bits as the processor tells them, and which registers the system saves: what tells machines apart.
const std::vector<std::int64_t>& processor_words();

// All of AVX-512's parts that are used, those for vectors of 128 and 256 bits included.
bool has_avx_512();

// Its instruction that loads a vector's elements from anywhere takes longer than as many loads do.
bool has_slow_gathers();

// The bytes of its longest vectors, by what it has; its name says nothing.
int widest_vector();

// How many of the levels of its ABI it reaches, counted from the lowest.
std::size_t reached_levels();

}  // namespace bitale::codegen
