// What can be known from a graph about values and lengths.
#include "bitale/ops/known.hpp"

#include "bitale/core/error.hpp"
#include "bitale/core/text.hpp"
#include "bitale/graph/traversal.hpp"
#include "graph/evaluate.hpp"

namespace bitale {

namespace {

// The common value of all elements, or nothing.
std::optional<Array> common_value(const Array& value) {
  if (value.size() == 0) return {};
  const Array flat = value.reshape({value.size()});
  const Array first = flat.take_index(0, 0);
  return identical(first.broadcast_to(flat.shape()).contiguous(), flat.contiguous()) ? std::optional(first.copy())
                                                                                     : std::nullopt;
}

// Ops whose output has the elements of the first input, and no others.
bool keeps_elements(std::string_view op) {
  return op == "Alloc" || op == "DimShuffle" || op == "Reshape" || op == "SpecifyShape";
}

}  // namespace

Variable tensor_from_scalar(const Operand& x) {
  if (x.ndim() != 0)
    throw TypeError(cat("expected a scalar, got ", x.variable.str(), " with ", x.ndim(), " dimensions"));
  return x.variable;
}

Variable transfer(const Operand& x, const std::string& target) {
  if (target != "cpu") throw ValueError(cat("transfer: expected the target \"cpu\", got \"", target, "\""));
  return x.variable;
}

std::int64_t get_vector_length(const Operand& x) {
  if (x.ndim() != 1)
    throw ValueError(
        cat("get_vector_length: expected a vector, got ", x.variable.str(), " with ", x.ndim(), " dimensions"));
  const std::int64_t length = x.variable.static_shape()[0];
  if (length == unknown_length)
    throw ValueError(cat("get_vector_length: the length of ", x.variable.str(), " is not known"));
  return length;
}

Array get_underlying_scalar_constant_value(const Operand& x) {
  const Variable& v = x.variable;
  std::optional<Array> value;
  if (v.constant())
    value = common_value(*v.constant());
  else if (graph_inputs({&v, 1}).empty())
    value = common_value(evaluate(v));
  if (value) return *value;
  if (v.has_owner() && keeps_elements(v.owner().op().name()))
    return get_underlying_scalar_constant_value(v.owner().input(0));
  throw NotScalarConstantError(cat(v.str(), " has no common constant value of all its elements"));
}

Array get_scalar_constant_value(const Operand& x) {
  for (const std::int64_t length : x.variable.static_shape())
    if (length != 1) throw NotScalarConstantError(cat(x.variable.str(), " is not a scalar"));
  return get_underlying_scalar_constant_value(x);
}

}  // namespace bitale
