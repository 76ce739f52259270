// Code for one node alone: the node as a graph of its own, linked.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "link/linker.hpp"

namespace bitale::link {

struct NodeCode {
  std::unique_ptr<Thunk> thunk;     // null: the op's perform
  std::vector<std::size_t> inputs;  // what the thunk takes: which of the node's inputs
};

// By that linker. "opwise": native code where there is some and it does more than a view, else perform.
NodeCode node_code(const Apply& node, std::string_view way, const LinkOptions& options);

}  // namespace bitale::link
