// What the machine's caches say about large loops.
#pragma once

#include <cstdint>
#include <string>

namespace bitale::runtime {

// The bytes from which on a loop had better write past the caches: the flag `stream_from`, or what the caches hold.
std::int64_t stream_from();

// Bytes that a core reaches in its second cache and in the third, which it may share; 0: not known.
struct CacheSizes {
  std::int64_t second = 0, last = 0;
};
// As Linux describes them in a folder like /sys/devices/system/cpu/cpu0/cache.
CacheSizes cache_sizes(const std::string& folder);
std::int64_t stream_from(const CacheSizes& sizes);

}  // namespace bitale::runtime
