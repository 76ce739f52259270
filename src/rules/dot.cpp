// Matrix products: transposes move to the operands, where they cost nothing.
#include "ops/dot.hpp"

#include "ops/dimshuffle.hpp"
#include "rules/vocabulary.hpp"

namespace bitale::rewriting {

namespace {

// (x y).T is y.T x.T, of two matrices.
std::optional<Variables> transpose_of_dot(FunctionGraph& graph, const Apply& node) {
  const Variable& product = node.input(0);
  if (!op_as<Dot>(product) || graph.clients(product).size() != 1) return std::nullopt;
  if (op_as<DimShuffle>(node.output())->new_order != std::vector<int>{1, 0}) return std::nullopt;
  const Apply dot = product.owner();
  if (dot.input(0).ndim() != 2 || dot.input(1).ndim() != 2) return std::nullopt;
  return one(fit(dot.op()({transpose(dot.input(1)), transpose(dot.input(0))}), node.output()));
}

void declare(Rules& rules) {
  rules.function("transpose_of_dot", Root::op({"DimShuffle"}), transpose_of_dot)
      .doc("(x y).T is y.T x.T.")
      .tags(canonicalize, "local_lift_transpose_through_dot")
      .sample([] { return transpose(dot(sample_matrix(), sample_matrix())); });
}

const RegisterRules registered("dot", declare);

}  // namespace

}  // namespace bitale::rewriting
