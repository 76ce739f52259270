// A last cache of up to 64 MiB lies beside the processor's core and takes stores faster than memory does. A larger one
// is spread over a whole server chip and takes them no faster: there the core's own caches are what counts. Measured on
// one machine of each kind (docs/performance.md).
#include "runtime/caches.hpp"

#include <unistd.h>

#include "bitale/core/config.hpp"

namespace bitale::runtime {

namespace {

constexpr std::int64_t mebibyte = std::int64_t(1) << 20, near_cache = 64 * mebibyte, unknown = 32 * mebibyte;

[[maybe_unused]] std::int64_t from_sizes(std::int64_t second, std::int64_t last) {
  if (last <= 0) return unknown;
  return last <= near_cache || second <= 0 ? last : 4 * second;
}

std::int64_t from_machine() {
#if defined(_SC_LEVEL2_CACHE_SIZE) && defined(_SC_LEVEL3_CACHE_SIZE)
  return from_sizes(sysconf(_SC_LEVEL2_CACHE_SIZE), sysconf(_SC_LEVEL3_CACHE_SIZE));
#else
  return unknown;
#endif
}

}  // namespace

std::int64_t stream_from() {
  if (const auto wanted = config::get_int("stream_from"); wanted > 0) return wanted;
  static const std::int64_t found = from_machine();
  return found;
}

}  // namespace bitale::runtime
