// A hash table for small entries that are never removed: one flat array, at most half full, with linear probing. It
// serves the lookups that graph traversals and the lowering do millions of times.
//
// An Entry has hash(), and is_free(), which holds for Entry{} only.
#pragma once

#include "bitale/core/language.hpp"

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace bitale {

// The hash of consecutive numbers: the high bits of a product with 2^32 over the golden ratio.
inline std::uint32_t hash_of_number(std::uint32_t number) { return number * 0x9E3779B1u >> 7; }

template <class Entry, std::size_t first_size = 64>
class FlatTable {
 public:
  std::size_t size() const { return size_; }

  // The entry of this hash for which `is_it` holds, or null.
  template <class IsIt>
  const Entry* find(std::size_t hash, IsIt is_it) const {
    if (entries_.empty()) return nullptr;
    const Entry& found = entries_[position(hash, is_it)];
    return found.is_free() ? nullptr : &found;
  }
  template <class IsIt>
  Entry* find(std::size_t hash, IsIt is_it) {
    return const_cast<Entry*>(std::as_const(*this).find(hash, is_it));
  }

  // Returns the entry that `is_it` recognises, else inserts `entry`; and whether it was inserted. The reference is
  // valid until the next insertion.
  template <class IsIt>
  std::pair<Entry&, bool> insert(Entry entry, IsIt is_it) {
    if (2 * (size_ + 1) > entries_.size()) grow();
    Entry& found = entries_[position(entry.hash(), is_it)];
    const bool is_new = found.is_free();
    if (is_new) {
      found = std::move(entry);
      ++size_;
    }
    return {found, is_new};
  }

  template <std::invocable<const Entry&> Visit>
  void for_each(Visit&& visit) const {
    for (const Entry& entry : entries_)
      if (!entry.is_free()) visit(entry);
  }

 private:
  template <class IsIt>
  std::size_t position(std::size_t hash, IsIt is_it) const {
    const std::size_t mask = entries_.size() - 1;
    std::size_t at = hash & mask;
    while (!entries_[at].is_free() && !is_it(entries_[at])) at = (at + 1) & mask;
    return at;
  }
  void grow() {
    std::vector<Entry> old(entries_.empty() ? first_size : 2 * entries_.size());
    old.swap(entries_);
    for (Entry& entry : old)
      if (!entry.is_free()) entries_[position(entry.hash(), [](const Entry&) { return false; })] = std::move(entry);
  }

  std::vector<Entry> entries_;
  std::size_t size_ = 0;
};

}  // namespace bitale
