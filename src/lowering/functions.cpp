// Functions: an elementary function that a graph applies very often is not expanded at each application, which would
// take long to compile. It becomes a function of the program, which is called there. Its body is what the op's own rule
// computes from parameters in place of its inputs. Constants are part of the function, since expansions make use of
// them.
#include "bitale/core/text.hpp"
#include "lowering/costs.hpp"
#include "lowering/definitions.hpp"

namespace bitale::lowering {

bool Definitions::is_called(const Variable& variable, const Value& value) const {
  if (value.own_cost < costs::choose::materialize || !variable.has_owner() || !variable.owner_op()->elementwise())
    return false;
  const auto applied = expensive_calls_.find(variable.owner_op()->kind());
  return applied != expensive_calls_.end() && applied->second > costs::choose::max_expanded;
}

Expr Definitions::called(const Variable& variable, const Value& value, Index at) {
  const Apply node = variable.owner();
  FunctionKey key{node.op().kind(), {}};
  std::vector<Expr> arguments, stand_ins, parameters;
  for (auto& input : node.inputs()) {
    std::vector<Expr> own(at.begin(), at.end());
    for (std::size_t axis = 0; axis < own.size(); ++axis)
      if (input.static_shape()[axis] == 1) own[axis] = pool().integer(0);
    const Expr argument = read(input, own);
    stand_ins.push_back(argument);
    key.inputs.push_back(argument.is_constant() ? argument.id() : -1 - std::int64_t(argument.dtype()));
    if (argument.is_constant()) continue;
    arguments.push_back(argument);
    parameters.push_back(pool().var(-std::int64_t(arguments.size()), argument.dtype()));
    stand_ins.back() = parameters.back();
  }
  if (arguments.empty()) return value.rule(at);
  Definitions* outermost = this;
  while (outermost->outer_) outermost = outermost->outer_;
  auto& functions = outermost->functions_;
  const auto [call, is_new] = functions.try_emplace(std::move(key));
  if (is_new) {
    parameters_ = std::move(stand_ins);
    const Expr body = value.rule(at);
    parameters_.clear();
    const std::string name = cat(node.op().label(), ".", functions.size());
    call->second = {pool().call(name, body.dtype(), arguments).payload(), body.dtype()};
    program.functions[call->second.payload] = {std::move(parameters), body};
  }
  return pool().make(program::Code::call, call->second.dtype, arguments, call->second.payload);
}

}  // namespace bitale::lowering
