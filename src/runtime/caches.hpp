// What the machine's caches mean for large loops.
#pragma once

#include <cstdint>
#include <string>

namespace bitale::runtime {

// The number of bytes from which on a loop should write past the caches: the flag `stream_from`, or what the caches
// hold.
std::int64_t stream_from();

// The bytes that a core reaches in its second-level cache and in the third, which may be shared; 0 if not known.
struct CacheSizes {
  std::int64_t second = 0, last = 0;
};
// The sizes that Linux reports in a folder like /sys/devices/system/cpu/cpu0/cache.
CacheSizes cache_sizes(const std::string& folder);
std::int64_t stream_from(const CacheSizes& sizes);

}  // namespace bitale::runtime
