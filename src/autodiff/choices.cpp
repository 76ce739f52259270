#include "autodiff/choices.hpp"

#include <algorithm>
#include <optional>

#include "bitale/ops/ifelse.hpp"
#include "bitale/ops/ops.hpp"
#include "graph/lazy.hpp"
#include "graph/support.hpp"

namespace bitale {

namespace {

// Each choice around a cotangent is repeated around the terms of every node, so their number is limited.
constexpr std::size_t max_choices = 64;

// A choice between two values.
struct Alternatives {
  Variable condition, if_true, if_false;
};

std::optional<Alternatives> alternatives_of(const Variable& v) {
  if (!v.has_owner()) return {};
  const Apply node = v.owner();
  const LazyInputs* lazy = lazy_inputs(node);
  if (!lazy || !lazy->condition()) return {};
  const auto sides = lazy->alternatives(node);
  const auto k = std::size_t(v.index());
  if (sides.size() != 2 || k >= sides[0].size() || k >= sides[1].size()) return {};
  return Alternatives{node.input(*lazy->condition()), node.input(sides[0][k]), node.input(sides[1][k])};
}

bool is_zero(const Variable& v) { return support_of(v).is_nowhere(); }

Variable plain_sum(std::span<const Variable> terms) {
  Variable total;
  for (const Variable& term : terms) total = total.defined() ? add(total, term) : term;
  return total;
}

// The sum of the terms that are not zero, or a zero.
Variable sum_of_nonzero(std::span<const Variable> terms) {
  Variables nonzero;
  std::ranges::copy_if(terms, std::back_inserter(nonzero), [](const Variable& v) { return !is_zero(v); });
  return nonzero.empty() ? terms[0] : sum_of_terms(nonzero);
}

// The side of a choice whose condition is known within other choices.
Variable resolved(Variable value, std::span<const Choice> choices) {
  while (const auto found = alternatives_of(value)) {
    const auto known =
        std::ranges::find_if(choices, [&](const Choice& c) { return c.condition.same_as(found->condition); });
    if (known == choices.end()) break;
    value = known->side ? found->if_true : found->if_false;
  }
  return value;
}

}  // namespace

ChosenCotangent chosen_cotangent(const Variable& cotangent) {
  ChosenCotangent out{{}, cotangent};
  while (out.choices.size() < max_choices) {
    const auto found = alternatives_of(out.value);
    if (!found || is_zero(found->if_true) == is_zero(found->if_false)) break;
    const bool side = !is_zero(found->if_true);
    out.choices.push_back({found->condition, side});
    out.value = resolved(side ? found->if_true : found->if_false, out.choices);
  }
  return out;
}

bool are_same(std::span<const Choice> a, std::span<const Choice> b) {
  return std::ranges::equal(
      a, b, [](const Choice& x, const Choice& y) { return x.side == y.side && x.condition.same_as(y.condition); });
}

Variables within_choices(std::span<const Choice> choices, Variables terms, std::span<const Variable> variables) {
  std::vector<std::size_t> positions;
  Variables values, zeros;
  for (std::size_t i = 0; i < terms.size(); ++i) {
    if (!terms[i].defined() || terms[i].is_disconnected() || terms[i].is_null()) continue;
    terms[i] = resolved(terms[i], choices);
    if (is_zero(terms[i])) continue;
    positions.push_back(i);
    values.push_back(terms[i]);
    zeros.push_back(zeros_like(variables[i], terms[i].dtype()));
  }
  if (positions.empty()) return terms;
  for (std::size_t level = choices.size(); level-- > 0;) {
    const auto& [condition, side] = choices[level];
    values = side ? ifelse(condition, values, zeros) : ifelse(condition, zeros, values);
  }
  for (std::size_t k = 0; k < positions.size(); ++k) terms[positions[k]] = values[k];
  return terms;
}

Variable sum_of_terms(std::span<const Variable> terms) {
  if (terms.size() == 1) return terms[0];
  struct Group {
    Variable condition;
    Variables if_true, if_false;
  };
  std::vector<Group> groups;
  Variables sums;
  for (const Variable& term : terms) {
    const auto found = alternatives_of(term);
    if (!found) {
      sums.push_back(term);
      continue;
    }
    const auto is_same = [&](const Group& group) { return group.condition.same_as(found->condition); };
    auto group = std::ranges::find_if(groups, is_same);
    if (group == groups.end()) group = groups.insert(groups.end(), {found->condition, {}, {}});
    group->if_true.push_back(found->if_true);
    group->if_false.push_back(found->if_false);
  }
  for (const Group& group : groups)
    sums.push_back(ifelse(group.condition, sum_of_nonzero(group.if_true), sum_of_nonzero(group.if_false)));
  return plain_sum(sums);
}

}  // namespace bitale
