#include "graph/literal.hpp"

#include <algorithm>

#include "bitale/core/config.hpp"
#include "bitale/graph/type.hpp"
#include "graph/rule_scope.hpp"

namespace bitale {

Variable literal(Array value) {
  Variable out(tensor_type(value.dtype(), value.shape()));
  out.node()->leaf = make_ref<const ConstantData>(value.read_only(), ConstantData::Kind::Literal);
  return out;
}

bool is_literal(const Variable& v) {
  if (!v.defined() || is_in_rule()) return false;
  const auto* data = dynamic_cast<const ConstantData*>(v.node()->leaf.get());
  return data && data->is_literal;
}

Variables with_literal_widths(std::span<const Variable> values) {
  Variables out(values.begin(), values.end());
  const auto is_integer_literal = [](const Variable& v) { return is_literal(v) && is_integer(v.dtype()); };
  if (!std::ranges::all_of(out, is_integer_literal) || config::get("cast_policy") == "pytensor") return out;
  for (Variable& v : out) v = constant(v.constant()->astype(DType::Int64));
  return out;
}

}  // namespace bitale
