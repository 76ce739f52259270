// Choices among the elements of an array: positions are drawn, and elements are gathered at them.
#include "bitale/core/error.hpp"
#include "bitale/core/text.hpp"
#include "bitale/ops/debugging.hpp"
#include "bitale/ops/ops.hpp"
#include "bitale/ops/random.hpp"
#include "ops/analysis/lengths.hpp"

namespace bitale::random {

namespace {

Variable as_long_as(const Variable& p, const Variable& population) {
  const Variable length = length_of(p, 0);
  if (is_same_length(length, population)) return p;
  common_length(static_length(population), static_length(length), 0, "choice: a and p");
  return check_and_raise(p, {eq(length, population)}, "ValueError", "choice: a and p must have the same size");
}

}  // namespace

Draw permutation(const Operand& rng, const Operand& x, const Size& size) {
  const LocationScope here(rng.where);
  const bool is_count = x.ndim() == 0;
  Draw drawn = rows("permutation", rng, size.value_or(Operands{}), is_count ? x.variable : length_of(x.variable, 0));
  drawn.value = is_count ? cast(drawn.value, x.dtype()) : take(x, drawn.value);
  return drawn;
}

Draw choice(const Operand& rng, const Operand& a, const Size& size, const ChoiceOptions& options) {
  const LocationScope here(rng.where);
  const auto& p = options.p;
  if (p && p->ndim() != 1)
    throw ValueError(cat("choice: expected a vector of probabilities, got ", p->ndim(), " dimensions"));
  const Variable population = a.ndim() ? length_of(a.variable, 0) : a.variable;
  Draw drawn;
  if (options.replace || !size) {
    const Size one = size ? size : Size(Operands{});
    drawn = p ? categorical(rng, as_long_as(p->variable, as_length(population, "choice")), one)
              : integers(rng, std::int64_t(0), population, one);
  } else {
    const Variable count = lengths::product(size->variables);
    drawn = p ? rows("weighted_choice", rng, {}, count, population, {*p}) : rows("choice", rng, {}, count, population);
    if (size->variables.empty())
      drawn.value = take(drawn.value, std::int64_t(0));
    else if (size->variables.size() > 1)
      drawn.value = reshape(drawn.value, *size);
  }
  if (a.ndim()) drawn.value = take(a, drawn.value);
  return drawn;
}

}  // namespace bitale::random
