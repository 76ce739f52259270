#include "graph/literal.hpp"

#include "bitale/graph/type.hpp"

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

bool is_literal(const Variable& v) { return dynamic_cast<const LiteralData*>(v.node()->leaf.get()) != nullptr; }

}  // namespace bitale
