// What an op that needs only some of its inputs is, besides an Op: some inputs come in alternatives, of which it needs
// one. Who runs nodes on demand asks it; who computes all inputs anyhow need not know, since `perform` reads no more
// than it needs.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "bitale/graph/op.hpp"

namespace bitale {

class LazyInputs {
 public:
  virtual ~LazyInputs() = default;
  // The alternatives, as positions of inputs. Inputs that are in none are always needed.
  virtual std::vector<std::vector<int>> alternatives(const Apply& node) const = 0;
  // Which one is needed, as the values of those other inputs say. Ops of one name choose alike.
  virtual std::size_t chosen(const Apply& node, std::span<const Array> in) const = 0;
  // The scalar input that chooses the first of two alternatives where it is not 0, if that is how it is done.
  virtual std::optional<int> condition() const { return std::nullopt; }
};

// Those of the node's op; nullptr for an op that needs all its inputs.
inline const LazyInputs* lazy_inputs(const Apply& node) { return dynamic_cast<const LazyInputs*>(&node.op()); }

// The inputs that are always needed.
inline std::vector<int> needed_first(const Apply& node, const LazyInputs& lazy) {
  std::vector<bool> may_wait(node.inputs().size(), false);
  for (auto& alternative : lazy.alternatives(node))
    for (int input : alternative) may_wait[std::size_t(input)] = true;
  std::vector<int> out;
  for (std::size_t i = 0; i < may_wait.size(); ++i)
    if (!may_wait[i]) out.push_back(int(i));
  return out;
}

}  // namespace bitale
