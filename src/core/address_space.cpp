#include "core/address_space.hpp"

#include <sys/mman.h>
#include <sys/resource.h>

#include "bitale/core/error.hpp"
#include "bitale/core/text.hpp"
#include "core/big_blocks.hpp"

namespace bitale {

namespace {

rlim_t limit() {
  rlimit is{};
  return getrlimit(RLIMIT_AS, &is) == 0 ? is.rlim_cur : RLIM_INFINITY;
}

}  // namespace

bool has_address_space(std::size_t bytes) {
  if (limit() == RLIM_INFINITY) return true;
  void* const reserved = mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (reserved == MAP_FAILED) return false;
  munmap(reserved, bytes);
  return true;
}

void require_address_space(std::size_t bytes, std::string_view doing, std::string_view advice) {
  if (has_address_space(bytes) || (release_big_blocks() && has_address_space(bytes))) return;
  constexpr std::size_t mebibyte = 1 << 20;
  throw OutOfMemoryError(cat(doing, " may take ", (bytes + mebibyte - 1) / mebibyte,
                             " MiB of address space, and the process has less left: its limit is ", limit() / mebibyte,
                             " MiB (ulimit -v). Raise the limit, or ", advice));
}

}  // namespace bitale
