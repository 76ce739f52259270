// Elements whose absolute value is stated to be 1: their absolute values, and signs of what they multiply.
#include "bitale/ops/assume.hpp"
#include "rules/vocabulary.hpp"

namespace bitale::rewriting {

namespace {

bool is_unit(FunctionGraph& graph, const Variable& v) { return structure_of(graph, v).is(Fact::UnitMagnitude); }

std::optional<Variables> abs_of_unit(FunctionGraph& graph, const Apply& node) {
  if (!is_unit(graph, node.input(0))) return std::nullopt;
  return one(fit(constant_like(1, node.output().dtype()), node.output()));
}

std::optional<Variables> sign_of_unit(FunctionGraph& graph, const Apply& node) {
  const Variable &x = node.input(0), output = node.output();
  if (is_complex(x.dtype())) return std::nullopt;
  if (is_unit(graph, x)) return one(fit(x, output));
  if (!is_elemwise(x, "mul")) return std::nullopt;
  for (const int k : {0, 1}) {
    const Variable &unit = x.owner().input(k), &other = x.owner().input(1 - k);
    if (is_unit(graph, unit)) return one(fit(cast(unit, output.dtype()) * sign(cast(other, output.dtype())), output));
  }
  return std::nullopt;
}

Variable sample_signs() { return assume(switch_(gt(sample_vector(), 0.3), 1.0, -1.0), Structure{Fact::UnitMagnitude}); }

void declare_units(Rules& rules) {
  rules.function("abs_of_unit", Root::scalar({"abs"}), abs_of_unit)
      .doc("Rewrites abs(x) as 1 where each element of x is known to have the absolute value 1.")
      .tags(canonicalize, structural, "local_abs_mul_unit")
      .sample([] { return abs(sample_signs()); })
      .sample([] { return abs(-sample_signs()); });
  rules.function("sign_of_unit", Root::scalar({"sign"}), sign_of_unit)
      .doc("Rewrites sign(u) as u, and sign(u * x) as u * sign(x), where each element of u is known to be 1 or -1.")
      .tags(canonicalize, structural, "local_sign_unit")
      .sample([] { return sign(sample_signs()); })
      .sample([] { return sign(sample_signs() * sample_vector()); });
}

const RegisterRules register_units("elements of unit magnitude", declare_units);

}  // namespace

}  // namespace bitale::rewriting
