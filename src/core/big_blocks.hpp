// Big blocks of memory, kept for the next request when they are freed: fresh memory costs a page fault for each page
// that is touched, which is more than most loops over it. That holds for malloc's blocks beyond 128 KiB, too, which it
// returns to the system as soon as they are free. Up to `memory__kept` MiB are kept in the process.
#pragma once

#include <cstddef>

namespace bitale {

// Only requests of at least this size are worth it.
inline constexpr std::size_t big_block = std::size_t(1) << 16;

struct BigBlock {
  void* memory = nullptr;  // on a page boundary; null: no block
  std::size_t bytes = 0;   // at least as many as requested
};

// Thread-safe, and safe in the child of a fork.
BigBlock take_big_block(std::size_t bytes) noexcept;
void give_big_block(BigBlock block) noexcept;
// Returns all kept blocks to the system; false when there were none.
bool release_big_blocks() noexcept;

}  // namespace bitale
