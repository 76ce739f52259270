// A part of a graph as a graph of its own.
#pragma once

#include "link/linker.hpp"

namespace bitale::link {

// From these variables to those; messages call the former as they were called.
inline LinkedGraph part_of_graph(const Variables& inputs, const Variables& outputs) {
  const auto part = std::make_shared<FunctionGraph>(inputs, outputs);
  for (std::size_t i = 0; i < inputs.size(); ++i) part->inputs()[i].set_name(inputs[i].str());
  return part;
}

// Whether the lowering makes native code of the node by itself.
bool is_native(const Apply& node);

}  // namespace bitale::link
