#include "graph/literal.hpp"

#include <algorithm>

#include "bitale/core/config.hpp"
#include "bitale/graph/type.hpp"
#include "graph/rule_scope.hpp"

namespace bitale {

namespace {

struct LiteralData final : LeafData {
  explicit LiteralData(Array value) : value(std::move(value)) {}
  const Array value;
  const Array* constant() const override { return &value; }
};

}  // namespace

Variable literal(Array value) {
  Variable out(tensor_type(value.dtype(), value.shape()));
  out.node()->leaf = make_ref<const LiteralData>(value.read_only());
  return out;
}

bool is_literal(const Variable& v) {
  return v.defined() && !is_in_rule() && dynamic_cast<const LiteralData*>(v.node()->leaf.get()) != nullptr;
}

Variables with_literal_widths(std::span<const Variable> values) {
  Variables out(values.begin(), values.end());
  const auto is_integer_literal = [](const Variable& v) { return is_literal(v) && is_integer(v.dtype()); };
  if (!std::ranges::all_of(out, is_integer_literal) || config::get("cast_policy") == "pytensor") return out;
  for (Variable& v : out) v = constant(v.constant()->astype(DType::Int64));
  return out;
}

}  // namespace bitale
