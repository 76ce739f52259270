// User checks: checks that always hold are removed, and nested checks are merged into one.
#include <algorithm>

#include "bitale/ops/debugging.hpp"
#include "bitale/ops/registry.hpp"
#include "ops/control/check_and_raise.hpp"
#include "rules/vocabulary.hpp"

namespace bitale::rewriting {

namespace {

bool always_holds(const Variable& condition) {
  const Array* value = condition.constant();
  return value && value->item() != 0;
}

// The conditions without duplicates and without those that always hold.
Variables needed(std::span<const Variable> conditions) {
  Variables out;
  for (auto& condition : conditions) {
    const auto same = [&](const Variable& other) { return other.same_as(condition); };
    if (!always_holds(condition) && std::none_of(out.begin(), out.end(), same)) out.push_back(condition);
  }
  return out;
}

Variable checked(const Op& op, const Variable& x, Variables conditions) {
  if (conditions.empty()) return x;
  conditions.insert(conditions.begin(), x);
  return op(conditions);
}

std::optional<Variables> useless_check(FunctionGraph&, const Apply& node) {
  Variables conditions = needed(std::span(node.inputs()).subspan(1));
  if (conditions.size() + 1 == node.inputs().size() && !conditions.empty()) return std::nullopt;
  return one(checked(node.op(), node.input(0), std::move(conditions)));
}

std::optional<Variables> check_of_check(FunctionGraph& graph, const Apply& node) {
  const Variable& inner = node.input(0);
  if (!inner.has_owner() || !inner.owner_op()->equals(node.op()) || !only_user(graph, inner)) return std::nullopt;
  const Apply first = inner.owner();
  Variables conditions(first.inputs().begin() + 1, first.inputs().end());
  conditions.insert(conditions.end(), node.inputs().begin() + 1, node.inputs().end());
  return one(checked(node.op(), first.input(0), needed(conditions)));
}

std::optional<Variables> remove_assert(FunctionGraph&, const Apply& node) {
  if (!op_as<CheckAndRaise>(node.output())->is_assert()) return std::nullopt;
  return one(node.input(0));
}

std::optional<Variables> useless_domain(FunctionGraph&, const Apply& node) {
  if (!always_holds(node.inputs().back())) return std::nullopt;
  return Variables(node.inputs().begin(), node.inputs().end() - 1);
}

Variable has_length(const Variable& x) { return ge(shape_i(x, 0), 0); }

void declare_checks(Rules& rules) {
  rules.function("useless_check", Root::op({"CheckAndRaise"}), useless_check)
      .doc("Removes conditions that always hold and duplicate conditions from a check.")
      .tags(useless, canonicalize, specialize, "local_remove_useless_assert")
      .sample([] { return exp(assert_op(sample_vector(), {constant(Array(true))})); })
      .sample([] {
        const Variable x = sample_vector(), condition = has_length(x);
        return assert_op(x, {condition, condition});
      });
  rules.function("check_of_check", Root::op({"CheckAndRaise"}), check_of_check)
      .doc("Merges nested checks that raise the same exception with the same message.")
      .tags(canonicalize, specialize)
      .sample([] {
        const Variable x = sample_vector();
        return assert_op(assert_op(x, {has_length(x)}), {ge(shape_i(x, 0) + 1, 1)});
      });
  rules.function("useless_domain", Root::op({"RandomDomain"}), useless_domain)
      .doc("Removes the domain check of distribution parameters that are always valid.")
      .tags(useless, canonicalize, specialize)
      .sample([] {
        const OpRef domain = op_from("RandomDomain", {{"distribution", std::string("normal")}});
        return exp(domain->make_node({{sample_vector(), constant(Array(2.0)), constant(Array(true))}}).output(0));
      });
  rules.function("remove_all_asserts", Root::op({"CheckAndRaise"}), remove_assert)
      .doc("Removes all asserts. Opt-in, since violations then go undetected.")
      .tags(canonicalize, stabilize, structural, specialize, opt_in, unsafe, "local_remove_all_assert")
      .sample([] {
        const Variable x = sample_vector();
        return exp(assert_op(x, {has_length(x)}));
      });
}

const RegisterRules register_checks("checks", declare_checks);

}  // namespace

}  // namespace bitale::rewriting
