// Code for a single node: the node is made a graph of its own and linked.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "link/linker.hpp"

namespace bitale::link {

struct NodeCode {
  std::unique_ptr<Thunk> thunk;     // null: the op's perform is used
  std::vector<std::size_t> inputs;  // which of the node's inputs the thunk takes
};

// Links by the named linker. "opwise": native code if there is any and the node is more than a view; otherwise perform.
NodeCode node_code(const Apply& node, std::string_view linker, const LinkOptions& options);

}  // namespace bitale::link
