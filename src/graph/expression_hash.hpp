// Hashes of expressions over given leaves. They depend on the structure only, so that merged and unmerged copies have
// the same hash.
#pragma once

#include <cstddef>

#include "bitale/graph/variable.hpp"
#include "graph/pointer_map.hpp"

namespace bitale {

class ExpressionHash {
 public:
  void set_leaf(const Variable& leaf, std::size_t hash) { hashes_.insert(leaf.node(), hash); }
  // The hash of a value computed from constants and leaves that have been set.
  std::size_t operator()(const Variable& value);

 private:
  std::size_t known(const Variable& v);
  PointerMap<std::size_t> hashes_;
};

}  // namespace bitale
