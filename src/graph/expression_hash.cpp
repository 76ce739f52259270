#include "graph/expression_hash.hpp"

#include <span>

#include "bitale/graph/op.hpp"
#include "graph/hash.hpp"
#include "graph/walk.hpp"

namespace bitale {

std::size_t ExpressionHash::known(const Variable& v) {
  if (auto* found = hashes_.find(v.node())) return *found;
  return *hashes_.insert(v.node(), hash_array(*v.constant())).first;
}

std::size_t ExpressionHash::operator()(const Variable& value) {
  visit_nodes(
      std::span(&value, 1), [&](const VariableNode* v) { return hashes_.contains(v); },
      [&](ApplyNode* node) {
        std::size_t hash = node->op->hash();
        for (auto& input : node->inputs) hash = hash_mix(hash, known(input));
        for (std::size_t o = 0; o < node->output_count; ++o) hashes_.insert(&node->outputs[o], hash_mix(hash, o));
      });
  return known(value);
}

}  // namespace bitale
