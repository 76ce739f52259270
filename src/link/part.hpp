// A part of a graph as a separate graph.
#pragma once

#include "link/linker.hpp"

namespace bitale::link {

// From these inputs to these outputs; the new inputs keep their names for messages.
inline LinkedGraph part_of_graph(const Variables& inputs, const Variables& outputs) {
  const auto part = std::make_shared<FunctionGraph>(inputs, outputs);
  for (std::size_t i = 0; i < inputs.size(); ++i) part->inputs()[i].set_name(inputs[i].str());
  return part;
}

// Whether lowering generates native code for the node by itself.
bool is_native(const Apply& node);

}  // namespace bitale::link
