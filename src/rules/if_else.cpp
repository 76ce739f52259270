// IfElse nodes whose choice is decided: by a constant condition, by equal branches, or by an outer IfElse on the same
// condition; and lengths that don't depend on the choice.
#include "ops/control/if_else.hpp"

#include "bitale/ops/ifelse.hpp"
#include "ops/analysis/lengths.hpp"
#include "ops/shapes/shape.hpp"
#include "rules/vocabulary.hpp"

namespace bitale::rewriting {

namespace {

const IfElse& choice_of(const Apply& node) { return dynamic_cast<const IfElse&>(node.op()); }

// The values converted to the types of the node's outputs; nothing if one does not fit. A null value keeps its output.
std::optional<Variables> fitted_branches(Variables values, const Apply& node) {
  for (std::size_t k = 0; k < values.size(); ++k) {
    if (!values[k].defined()) continue;
    const std::optional<Variable> value = fit(values[k], node.output(int(k)));
    if (!value) return std::nullopt;
    values[k] = *value;
  }
  return values;
}

std::optional<Variables> settled_ifelse(FunctionGraph&, const Apply& node) {
  const std::optional<double> condition = scalar_constant(node.input(0));
  if (!condition) return std::nullopt;
  const IfElse& choice = choice_of(node);
  Variables out;
  for (int k = 0; k < int(node.output_count()); ++k)
    out.push_back(node.input(*condition != 0 ? choice.then_input(k) : choice.else_input(k)));
  return fitted_branches(out, node);
}

std::optional<Variables> ifelse_of_the_same(FunctionGraph&, const Apply& node) {
  const IfElse& choice = choice_of(node);
  Variables out(node.output_count());
  bool any = false;
  for (int k = 0; k < int(out.size()); ++k) {
    const Variable& value = node.input(choice.then_input(k));
    if (!value.same_as(node.input(choice.else_input(k)))) continue;
    out[std::size_t(k)] = value;
    any = true;
  }
  return any ? fitted_branches(out, node) : std::nullopt;
}

// Within a branch the condition is known.
std::optional<Variables> ifelse_of_ifelse(FunctionGraph&, const Apply& node) {
  const IfElse& choice = choice_of(node);
  Variables inputs = node.inputs();
  bool any = false;
  for (int k = 0; k < int(node.output_count()); ++k)
    for (const bool is_then : {true, false}) {
      Variable& value = inputs[std::size_t(is_then ? choice.then_input(k) : choice.else_input(k))];
      const auto* inner = dynamic_cast<const IfElse*>(value.owner_op());
      if (!inner || !value.owner().input(0).same_as(node.input(0))) continue;
      value = value.owner().input(is_then ? inner->then_input(value.index()) : inner->else_input(value.index()));
      any = true;
    }
  if (!any) return std::nullopt;
  return fitted_branches(choice.make_node(inputs).outputs(), node);
}

// The length of a choice between values of the same length does not need the choice.
std::optional<Variables> length_of_ifelse(FunctionGraph&, const Apply& node) {
  const Variable& chosen = node.input(0);
  const auto* choice = dynamic_cast<const IfElse*>(chosen.owner_op());
  if (!choice) return std::nullopt;
  const int axis = op_as<ShapeI>(node.output())->i;
  const Variable length = length_of(chosen.owner().input(choice->then_input(chosen.index())), axis),
                 other = length_of(chosen.owner().input(choice->else_input(chosen.index())), axis);
  return is_same_length(length, other) ? one(length) : std::nullopt;
}

Variable sample_choice(const Variable& condition, const Variable& a, const Variable& b) {
  return ifelse(condition, a, b);
}

void declare_if_else(Rules& rules) {
  const Root root = Root::op({"IfElse"});
  rules.function("settled_ifelse", root, settled_ifelse)
      .doc("Replaces an ifelse with a constant condition by the selected branch.")
      .tags(useless, canonicalize, specialize)
      .sample([] { return sample_choice(constant(Array(true)), sample_vector(), exp(sample_vector())); });
  rules.function("ifelse_of_the_same", root, ifelse_of_the_same)
      .doc("Rewrites ifelse(c, a, a) as a.")
      .tags(useless, canonicalize, specialize, "cond_remove_identical")
      .sample([] {
        const Variable a = exp(sample_vector());
        return sample_choice(sum(a) > 1.0, a, a);
      });
  rules.function("ifelse_of_ifelse", root, ifelse_of_ifelse)
      .doc("Rewrites ifelse(c, ifelse(c, a, b), d) as ifelse(c, a, d), likewise in the other branch.")
      .tags(canonicalize, specialize, "cond_merge_ifs_true", "cond_merge_ifs_false")
      .sample([] {
        const Variable a = sample_vector(), c = sum(a) > 1.0;
        return sample_choice(c, sample_choice(c, exp(a), a), sin(a));
      })
      .sample([] {
        const Variable a = sample_vector(), c = sum(a) > 1.0;
        return sample_choice(c, sin(a), sample_choice(c, exp(a), a));
      });
  rules.function("length_of_ifelse", Root::op({"Shape_i"}), length_of_ifelse)
      .doc("Rewrites the length of ifelse(c, a, b) as that of a, where b has the same length.")
      .tags(useless, canonicalize, specialize)
      .sample([] {
        const Variable a = sample_vector();
        return (*make_ref<ShapeI>(0))({sample_choice(sum(a) > 1.0, exp(a), sin(a))});
      });
}

const RegisterRules register_if_else("if_else", declare_if_else);

}  // namespace

}  // namespace bitale::rewriting
