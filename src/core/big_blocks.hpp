// Big blocks of memory, kept for the next request when they are freed: fresh memory costs a page fault for each page it
// touches, which for a loop over 8 MB is more than the loop itself. Up to `memory__kept` MiB are kept in the process.
#pragma once

#include <cstddef>

namespace bitale {

// Requests from this size on are worth it.
inline constexpr std::size_t big_block = std::size_t(1) << 20;

struct BigBlock {
  void* memory = nullptr;  // on a page boundary; null: there is none
  std::size_t bytes = 0;   // at least those asked for
};

// Thread-safe, and safe in the child of a fork.
BigBlock take_big_block(std::size_t bytes) noexcept;
void give_big_block(BigBlock block) noexcept;
// Gives back to the system all that is kept; false when there was nothing.
bool release_big_blocks() noexcept;

}  // namespace bitale
