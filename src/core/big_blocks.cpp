// Sizes are rounded up to eighths of a power of two, so that requests of similar sizes reuse each other's blocks. The
// block that was freed last is taken first, since it may still be in a cache; the block that was freed first is
// returned to the system when more is kept than the flag allows.
#include "core/big_blocks.hpp"

#include <pthread.h>
#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstdlib>
#include <deque>
#include <map>
#include <mutex>
#include <vector>

#include "bitale/core/config.hpp"

namespace bitale {

namespace {

constexpr std::size_t page = 4096;
constexpr std::size_t mapped = std::size_t(1) << 20;  // smaller blocks come from malloc: the system counts mappings
constexpr std::size_t huge_page = std::size_t(2) << 20;
constexpr std::size_t worth_huge_pages = huge_page / 4 * 3;  // a smaller block would waste too much of the last one

std::size_t rounded(std::size_t bytes) {
  const std::size_t step = std::max<std::size_t>(std::bit_ceil(bytes) / 16, page);
  bytes = (bytes + step - 1) / step * step;
  return bytes >= worth_huge_pages ? std::max(bytes, huge_page) : bytes;
}

void release(BigBlock block) {
  if (block.bytes < mapped)
    std::free(block.memory);
  else
    munmap(block.memory, block.bytes);
}

// Blocks of huge pages begin at the boundary of a huge page: one fault then serves 512 pages.
BigBlock obtain(std::size_t bytes) {
  if (bytes < mapped) return {std::aligned_alloc(page, bytes), bytes};
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
    const auto found = by_size_.find(bytes);
    if (found == by_size_.end() || found->second.empty()) return {};
    const BigBlock block = found->second.back().block;
    found->second.pop_back();
    bytes_ -= block.bytes;
    return block;
  }

  void give(BigBlock block, std::size_t most) {
    if (block.bytes > most) return release(block);
    std::vector<BigBlock> dropped;
    {
      std::lock_guard lock(mutex_);
      by_size_[block.bytes].push_back({block, ++given_});
      bytes_ += block.bytes;
      while (bytes_ > most) dropped.push_back(take_oldest());
    }
    for (auto& each : dropped) release(each);
  }

  bool release_all() {
    std::map<std::size_t, std::deque<Freed>> dropped;
    {
      std::lock_guard lock(mutex_);
      dropped.swap(by_size_);
      bytes_ = 0;
    }
    bool any = false;
    for (auto& [size, blocks] : dropped)
      for (auto& each : blocks) release(each.block), any = true;
    return any;
  }

  std::mutex& mutex() { return mutex_; }

 private:
  struct Freed {
    BigBlock block;
    std::uint64_t when;
  };

  BigBlock take_oldest() {
    std::deque<Freed>* oldest = nullptr;
    for (auto& [size, blocks] : by_size_)
      if (!blocks.empty() && (!oldest || blocks.front().when < oldest->front().when)) oldest = &blocks;
    const BigBlock block = oldest->front().block;
    oldest->pop_front();
    bytes_ -= block.bytes;
    return block;
  }

  std::mutex mutex_;
  std::map<std::size_t, std::deque<Freed>> by_size_;  // in the order in which they were freed
  std::uint64_t given_ = 0;
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
  BigBlock block = obtain(whole);
  if (!block.memory && release_big_blocks()) block = obtain(whole);
  return block;
}

void give_big_block(BigBlock block) noexcept {
  try {
    kept().give(block, max_kept());
  } catch (...) {  // no memory for the list, or an invalid flag
    release(block);
  }
}

bool release_big_blocks() noexcept { return kept().release_all(); }

}  // namespace bitale
