// Sizes are rounded up to eighths of a power of two, so that requests of similar sizes reuse each other's blocks. The
// block that was freed last is taken first, since it may still be in a cache; the block that was freed first is
// returned to the system when more is kept than the flag allows.
#include "core/big_blocks.hpp"

#include <pthread.h>
#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <mutex>
#include <vector>

#include "bitale/core/config.hpp"

namespace bitale {

namespace {

constexpr std::size_t huge_page = std::size_t(2) << 20;
constexpr std::size_t worth_huge_pages = huge_page / 4 * 3;  // a smaller block would waste too much of the last one

std::size_t rounded(std::size_t bytes) {
  const std::size_t step = std::max<std::size_t>(std::bit_ceil(bytes) / 16, 4096);
  bytes = (bytes + step - 1) / step * step;
  return bytes >= worth_huge_pages ? std::max(bytes, huge_page) : bytes;
}

void unmap(BigBlock block) { munmap(block.memory, block.bytes); }

// Large blocks begin at the boundary of a huge page: one fault then serves 512 pages.
BigBlock map(std::size_t bytes) {
  const bool huge = bytes >= worth_huge_pages;
  const std::size_t asked = bytes + (huge ? huge_page : 0);
  void* memory = mmap(nullptr, asked, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return {};
  if (!huge) return {memory, bytes};
  char* begin = static_cast<char*>(memory);
  const std::size_t lead = (huge_page - reinterpret_cast<std::uintptr_t>(begin) % huge_page) % huge_page;
  if (lead) munmap(begin, lead);
  if (huge_page - lead) munmap(begin + lead + bytes, huge_page - lead);
#ifdef MADV_HUGEPAGE
  madvise(begin + lead, bytes, MADV_HUGEPAGE);  // a hint only
#endif
  return {begin + lead, bytes};
}

class Kept {
 public:
  BigBlock take(std::size_t bytes) {
    std::lock_guard lock(mutex_);
    for (std::size_t i = blocks_.size(); i-- > 0;)
      if (blocks_[i].bytes == bytes) {
        const BigBlock found = blocks_[i];
        blocks_.erase(blocks_.begin() + std::ptrdiff_t(i));
        bytes_ -= found.bytes;
        return found;
      }
    return {};
  }

  void give(BigBlock block, std::size_t most) {
    std::vector<BigBlock> dropped;
    {
      std::lock_guard lock(mutex_);
      if (block.bytes <= most) {
        blocks_.push_back(block);
        bytes_ += block.bytes;
      } else {
        dropped.push_back(block);
      }
      std::size_t oldest = 0;
      for (; bytes_ > most; ++oldest) {
        dropped.push_back(blocks_[oldest]);
        bytes_ -= blocks_[oldest].bytes;
      }
      blocks_.erase(blocks_.begin(), blocks_.begin() + std::ptrdiff_t(oldest));
    }
    for (auto& each : dropped) unmap(each);
  }

  bool release() {
    std::vector<BigBlock> dropped;
    {
      std::lock_guard lock(mutex_);
      dropped.swap(blocks_);
      bytes_ = 0;
    }
    for (auto& each : dropped) unmap(each);
    return !dropped.empty();
  }

  std::mutex& mutex() { return mutex_; }

 private:
  std::mutex mutex_;
  std::vector<BigBlock> blocks_;  // in the order in which they were freed
  std::size_t bytes_ = 0;
};

// Never destroyed: arrays may outlive every static object.
Kept& kept() {
  static Kept& instance = *[] {
    auto* made = new Kept;
    pthread_atfork([] { kept().mutex().lock(); }, [] { kept().mutex().unlock(); }, [] { kept().mutex().unlock(); });
    return made;
  }();
  return instance;
}

std::size_t max_kept() {
  const auto mebibytes = config::get_int("memory__kept");
  return mebibytes <= 0 ? 0 : std::size_t(mebibytes) << 20;
}

}  // namespace

BigBlock take_big_block(std::size_t bytes) noexcept {
  constexpr std::size_t beyond_any_system = std::size_t(1) << 62;
  if (bytes > beyond_any_system) return {};
  const std::size_t whole = rounded(bytes);
  try {
    if (const BigBlock block = kept().take(whole); block.memory) return block;
  } catch (...) {
    return {};
  }
  BigBlock block = map(whole);
  if (!block.memory && release_big_blocks()) block = map(whole);
  return block;
}

void give_big_block(BigBlock block) noexcept {
  try {
    kept().give(block, max_kept());
  } catch (...) {  // no memory for the list, or an invalid flag
    unmap(block);
  }
}

bool release_big_blocks() noexcept { return kept().release(); }

}  // namespace bitale
