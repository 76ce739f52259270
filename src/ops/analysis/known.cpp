// What can be known from a graph about values and lengths.
#include "bitale/ops/known.hpp"

#include "bitale/core/error.hpp"
#include "bitale/core/text.hpp"
#include "bitale/graph/traversal.hpp"
#include "bitale/ops/ops.hpp"
#include "graph/evaluate.hpp"
#include "ops/analysis/support_masks.hpp"

namespace bitale {

std::optional<Array> common_element(const Array& value) {
  if (value.size() == 0) return {};
  const Array flat = value.reshape({value.size()});
  const Array first = flat.take_index(0, 0);
  return identical(first.broadcast_to(flat.shape()).contiguous(), flat.contiguous()) ? std::optional(first.copy())
                                                                                     : std::nullopt;
}

Variable tensor_copy(const Operand& x) { return second(x, x); }

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

Array get_underlying_scalar_constant_value(const Operand& x, int max_depth) {
  const Variable& given = x.variable;
  if (max_depth > 0 && !given.constant() && graph_inputs({&given, 1}).empty())
    if (const auto value = common_element(evaluate(given))) return *value;
  Variable v = given;
  // Elements of a tensor whose elements are all equal are equal, too.
  for (; max_depth > 0 && v.has_owner() && dynamic_cast<const MovesElements*>(&v.owner().op()); --max_depth)
    v = v.owner().input(0);
  if (v.constant())
    if (const auto value = common_element(*v.constant())) return *value;
  throw NotScalarConstantError(cat(given.str(), " has no common constant value of all its elements"));
}

Array get_scalar_constant_value(const Operand& x, int max_depth) {
  for (const std::int64_t length : x.variable.static_shape())
    if (length != 1) throw NotScalarConstantError(cat(x.variable.str(), " is not a scalar"));
  return get_underlying_scalar_constant_value(x, max_depth);
}

}  // namespace bitale
