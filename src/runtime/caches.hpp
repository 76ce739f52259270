// What the machine's caches say about large loops.
#pragma once

#include <cstdint>

namespace bitale::runtime {

// The bytes from which on a loop had better write past the caches: the flag `stream_from`, or what the caches hold.
std::int64_t stream_from();

}  // namespace bitale::runtime
