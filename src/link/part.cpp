#include "link/part.hpp"

#include "bitale/graph/test_value.hpp"
#include "lowering/lower.hpp"

namespace bitale::link {

bool is_native(const Apply& node) {
  const TestValuesOff none_are_known;
  Variables inputs, leaves;
  std::vector<Type> types;
  for (auto& input : node.inputs()) {
    inputs.push_back(input.is_constant() ? input : Variable(input.type()));
    if (!input.is_constant()) leaves.push_back(inputs.back());
  }
  for (auto& output : node.outputs()) types.push_back(output.type());
  const Apply alone(node.op_ref(), inputs, types);
  return lowering::lower(FunctionGraph(leaves, alone.outputs())).callbacks.empty();
}

}  // namespace bitale::link
