// PointerMap: a map from addresses to small values in one flat table. Walks over graphs look up every node they visit,
// and this is several times faster than a node-based map. Entries are only added, and cleared all at once.
#pragma once

#include <cstdint>
#include <utility>

#include "bitale/core/flat_table.hpp"

namespace bitale {

template <class Value>
class PointerMap {
 public:
  std::size_t size() const { return table_.size(); }
  Value* find(const void* key) {
    Slot* slot = table_.find(hash_of(key), Is{key});
    return slot ? &slot->value : nullptr;
  }
  const Value* find(const void* key) const { return const_cast<PointerMap*>(this)->find(key); }
  bool contains(const void* key) const { return find(key) != nullptr; }
  // The value of `key`, and whether it is new. The pointer is valid until the next insertion.
  std::pair<Value*, bool> insert(const void* key, Value value = Value()) {
    auto [slot, is_new] = table_.insert({key, std::move(value)}, Is{key});
    return {&slot.value, is_new};
  }
  template <class Visit>
  void for_each(Visit&& visit) const {
    table_.for_each([&](const Slot& slot) { visit(slot.key, slot.value); });
  }

 private:
  static std::size_t hash_of(const void* key) {
    return std::size_t(std::uint64_t(reinterpret_cast<std::uintptr_t>(key)) * 0x9E3779B97F4A7C15u >> 20);
  }
  struct Slot {
    const void* key = nullptr;
    Value value = Value();
    std::size_t hash() const { return hash_of(key); }
    bool is_free() const { return !key; }
  };
  struct Is {
    const void* key;
    bool operator()(const Slot& slot) const { return slot.key == key; }
  };

  FlatTable<Slot, 16> table_;
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
