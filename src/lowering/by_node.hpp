// ByNode: one T for each node of a graph, created at its first use. A flat table finds it, and its address is stable.
#pragma once

#include <cstddef>
#include <vector>

#include "graph/pointer_map.hpp"

namespace bitale::lowering {

template <class T>
class ByNode {
 public:
  T& operator[](const void* node) {
    const auto [object, is_new] = objects_.insert(node);
    if (!is_new) return **object;
    if (blocks_.empty() || blocks_.back().size() == block_size) blocks_.emplace_back().reserve(block_size);
    return *(*object = &blocks_.back().emplace_back());
  }
  T* find(const void* node) {
    T** object = objects_.find(node);
    return object ? *object : nullptr;
  }

 private:
  static constexpr std::size_t block_size = 64;

  PointerMap<T*> objects_;
  std::vector<std::vector<T>> blocks_;
};

}  // namespace bitale::lowering
