// The features of this processor: as names for readers, as words for keys of code, and as the limits for code that it
// can run.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace bitale::codegen {

// Its instruction sets, as far as generated code depends on them.
std::vector<std::string> processor_features();

// Model and feature bits as the processor reports them, and which registers the system saves: these distinguish
// machines.
const std::vector<std::int64_t>& processor_words();

// Whether it has all parts of AVX-512 that are used, including those for vectors of 128 and 256 bits.
bool has_avx_512();

// Whether its gather instructions take longer than the same number of scalar loads.
bool has_slow_gathers();

// The bytes of its longest vectors, derived from its features; its name is not considered.
int widest_vector();

// How many levels of its ABI it supports, counted from the lowest.
std::size_t reached_levels();

}  // namespace bitale::codegen
