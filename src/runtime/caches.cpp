// A last-level cache of up to 64 MiB is close to the core and takes stores faster than memory does. A larger one is
// spread over a whole server chip and is not faster: there the core's own caches count. Measured on machines of both
// kinds (docs/measurements/performance.md). Linux reports what this core reaches; the C library, which is used if that
// is not available, may count the caches of all chips together.
#include "runtime/caches.hpp"

#include <unistd.h>

#include <fstream>
#include <string>

#include "bitale/core/config.hpp"

namespace bitale::runtime {

namespace {

constexpr std::int64_t mebibyte = std::int64_t(1) << 20, near_cache = 64 * mebibyte, unknown = 32 * mebibyte;

CacheSizes sysconf_cache_sizes() {
#if defined(_SC_LEVEL2_CACHE_SIZE) && defined(_SC_LEVEL3_CACHE_SIZE)
  return {sysconf(_SC_LEVEL2_CACHE_SIZE), sysconf(_SC_LEVEL3_CACHE_SIZE)};
#else
  return {};
#endif
}

std::int64_t from_machine() {
  const CacheSizes sizes = cache_sizes("/sys/devices/system/cpu/cpu0/cache");
  return stream_from(sizes.last > 0 ? sizes : sysconf_cache_sizes());
}

}  // namespace

CacheSizes cache_sizes(const std::string& folder) {
  CacheSizes sizes;
  for (int index = 0; index < 16; ++index) {
    const std::string cache = folder + "/index" + std::to_string(index) + "/";
    std::int64_t level = 0, size = 0;
    char unit = 0;
    if (!(std::ifstream(cache + "level") >> level) || !(std::ifstream(cache + "size") >> size >> unit)) break;
    size *= unit == 'M' ? mebibyte : unit == 'K' ? 1024 : 1;
    if (level == 2) sizes.second = size;
    if (level == 3) sizes.last = size;
  }
  return sizes;
}

std::int64_t stream_from(const CacheSizes& sizes) {
  if (sizes.last <= 0) return unknown;
  return sizes.last <= near_cache || sizes.second <= 0 ? sizes.last : 4 * sizes.second;
}

std::int64_t stream_from() {
  if (const auto wanted = config::get_int("stream_from"); wanted > 0) return wanted;
  static const std::int64_t found = from_machine();
  return found;
}

}  // namespace bitale::runtime
