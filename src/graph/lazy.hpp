// Interface of lazy ops, which need only some of their inputs: some inputs come in alternatives, one of which is
// needed. Only linkers that run nodes on demand query it; others can compute all inputs, since `perform` reads only the
// ones it needs.
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
  // The alternatives, as positions of inputs. Inputs in none of them are always needed.
  virtual std::vector<std::vector<int>> alternatives(const Apply& node) const = 0;
  // The index of the needed alternative, by the values of the inputs that are always needed. Ops of one name choose
  // alike.
  virtual std::size_t chosen(const Apply& node, std::span<const Array> in) const = 0;
  // The scalar input that chooses between two alternatives, the first if it is not 0; none if the op chooses otherwise.
  virtual std::optional<int> condition() const { return std::nullopt; }
};

// The interface of the node's op; nullptr for an op that needs all its inputs.
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
