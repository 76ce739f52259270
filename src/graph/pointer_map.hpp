// PointerMap: from addresses to small values, open addressing in one flat table. Walks over graphs look up every node
// they meet, so this is several times quicker than a node-based map. It only grows, and forgets all at once.
#pragma once

#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

namespace bitale {

template <class Value>
class PointerMap {
 public:
  std::size_t size() const { return size_; }
  Value* find(const void* key) {
    if (slots_.empty()) return nullptr;
    Slot& slot = slots_[position(key)];
    return slot.key ? &slot.value : nullptr;
  }
  const Value* find(const void* key) const { return const_cast<PointerMap*>(this)->find(key); }
  bool contains(const void* key) const { return find(key) != nullptr; }
  // The value of `key`, and whether it was added now. The pointer holds until the next insertion.
  std::pair<Value*, bool> insert(const void* key, Value value = Value()) {
    if (2 * (size_ + 1) > slots_.size()) grow();
    Slot& slot = slots_[position(key)];
    if (slot.key) return {&slot.value, false};
    slot.key = key;
    slot.value = std::move(value);
    ++size_;
    return {&slot.value, true};
  }
  template <class Visit>
  void for_each(Visit&& visit) const {
    for (const Slot& slot : slots_)
      if (slot.key) visit(slot.key, slot.value);
  }

 private:
  struct Slot {
    const void* key = nullptr;
    Value value = Value();
  };

  std::size_t position(const void* key) const {
    std::size_t mask = slots_.size() - 1;
    std::uint64_t mixed = std::uint64_t(reinterpret_cast<std::uintptr_t>(key)) * 0x9E3779B97F4A7C15u;
    std::size_t at = std::size_t(mixed >> 20) & mask;
    while (slots_[at].key && slots_[at].key != key) at = (at + 1) & mask;
    return at;
  }
  void grow() {
    std::vector<Slot> old(slots_.empty() ? 16 : 2 * slots_.size());
    old.swap(slots_);
    for (Slot& slot : old)
      if (slot.key) slots_[position(slot.key)] = std::move(slot);
  }

  std::vector<Slot> slots_;
  std::size_t size_ = 0;
};

// A set of addresses.
class PointerSet {
 public:
  bool insert(const void* key) { return map_.insert(key).second; }  // whether it is new
  bool contains(const void* key) const { return map_.contains(key); }
  std::size_t size() const { return map_.size(); }

 private:
  PointerMap<char> map_;
};

}  // namespace bitale
