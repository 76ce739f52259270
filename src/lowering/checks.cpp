// Checks: conditions that must hold at run time. Checks of what is known at entry come first of all; others are
// computations, and everything that relies on a check comes after it.
#include <algorithm>

#include "lowering/definitions.hpp"
#include "program/checked_index.hpp"

namespace bitale::lowering {

namespace {
// In range_checks_, in place of a length: the elements are known, and none is negative.
constexpr std::uint32_t never_negative = ~std::uint32_t(0);

// Larger ones are out of range for any length; comparisons with the neighbour of such a number would overflow.
constexpr std::int64_t max_known_index = std::int64_t(1) << 62;

// The least and the largest element of a constant that is not empty.
std::pair<std::int64_t, std::int64_t> extremes_of(const Array& constant) {
  const Array values = constant.astype(DType::Int64).contiguous();
  const std::int64_t* v = values.data_as<std::int64_t>();
  const auto [least, largest] = std::minmax_element(v, v + values.size());
  return {*least, *largest};
}
}  // namespace

// A check has the same number in all enclosing graphs; each of them records which of its computations makes the check.
int Definitions::new_check(std::string message) {
  if (!outer_) program.checks.push_back(std::move(message));
  const int id = outer_ ? outer_->new_check(std::move(message)) : int(program.checks.size()) - 1;
  computations.checks.resize(program.checks.size());
  computations.checks.back().node = Apply::of(node_);
  return id;
}

void Definitions::add_check(Expr condition, int check) {
  if (known_at_entry(condition))
    computations.entry_checks.push_back({program::Check{condition, check}});
  else
    builders_[node_].push_back([this, condition, check] { make_check(condition, check); });
}

// Adds a check on which the outputs of the node rely.
void Definitions::require_check(Expr condition, int check) {
  add_check(condition, check);
  for (std::uint32_t k = 0; k < node_->output_count; ++k) values_[&node_->outputs[k]].checks.push_back(check);
}

// Withdraws the declarations of an inner graph that cannot be lowered to steps.
void Definitions::withdraw(const Declarations::Mark& behind) {
  declare.withdraw(behind);
  for (Definitions* each = this; each; each = each->outer_) each->computations.checks.resize(program.checks.size());
}

// The computation that is added next makes this check.
void Definitions::make_check(Expr condition, int check) {
  computations.checks[std::size_t(check)].computation = int(computations.list.size());
  add_step({{program::Check{condition, check}}});
}

void Definitions::require(Expr condition, std::string message) {
  if (condition.is_constant(1)) return;
  if (condition.code() == program::Code::eq && known_at_entry(condition)) {
    const Expr a = equal_lengths.canonical(condition.argument(0)), b = equal_lengths.canonical(condition.argument(1));
    if (a == b) return;
    condition = equal(a, b);
    equal_lengths.equate(a, b);
  }
  require_check(condition, new_check(std::move(message)));
}

void Definitions::expect(Expr condition, std::string message) {
  if (condition.is_constant(1)) return;
  const int check = new_check(std::move(message));
  computations.checks[std::size_t(check)].is_expected = true;
  add_check(condition, check);
}

// Whether `index` counts along an axis of that length, so that it is always in range.
bool Definitions::counts_along(Expr index, Expr length) const {
  return index.code() == program::Code::index && declare.extent_of(index) == equal_lengths.canonical(length);
}

// The check is made in the loop that reads the index, together with the other work of that loop; until it is made, an
// index out of range reads and writes element 0.
void Definitions::require_in_range(int input, Expr length, std::string message) {
  const Variable variable = node_->inputs[std::size_t(input)];
  if (variable.storage().ndim() == 0) {
    const Expr index = program::cast(in(input, {}), DType::Int64);
    require((index >= -length) & (index < length), std::move(message));
    return;
  }
  length = equal_lengths.canonical(length);
  if (!range_checks_.emplace(variable.node(), length.id()).second) return;
  if (const Array* known = variable.constant(); known && known->size() > 0) {
    const auto [least, largest] = extremes_of(*known);
    if (least >= 0 && largest < max_known_index) {
      range_checks_.emplace(variable.node(), never_negative);
      return require(length > largest, std::move(message));
    }
  }
  Expr count = pool().integer(1);
  for (auto& extent : value_of(variable).shape) count = count * extent;
  require((length > 0) | equal(count, pool().integer(0)), message);
  const int id = new_check(std::move(message));
  const Expr var = declare.var(DType::Bool);
  builders_[node_].push_back([this, variable, length, id, var] {
    const std::vector<Expr> domain = equal_lengths.canonical(value_of(variable).shape);
    const std::vector<Expr> indices = declare.indices_of(domain);
    Expr seen;
    resolve([&] { seen = program::cast(read(variable, indices), DType::Int64); });
    if (counts_along(seen, length)) return;
    const std::vector<bool> all(domain.size(), true);
    add_computation(
        Scanned{{.domain = domain}, CarryKind::reduce, Combiner::bit_and, all, var},
        [&](Index at) {
          const Expr index = program::cast(read(variable, at), DType::Int64);
          return program::is_in_range(index, length);
        },
        nullptr);
    make_check(var, id);
  });
}

Expr Definitions::index_in(int input, Index at, Expr length, Sign sign) {
  const Expr index = program::cast(in(input, at), DType::Int64);
  const bool wraps = sign == Sign::Any;
  if (counts_along(index, length)) return index;
  if (range_checks_.contains({node_->inputs[std::size_t(input)].node(), never_negative})) return index;
  if (node_->inputs[std::size_t(input)].ndim() > 0) return program::checked_index(index, length, wraps);
  return wraps ? program::wrapped_index(index, length) : index;  // checked before
}

}  // namespace bitale::lowering
