// The structure of the result of an elementwise operation on matrices with known structure. The elements above, below
// and on the diagonal are treated as groups: within each, the ranges of the operands' elements give the range of
// the result's.
#include <algorithm>
#include <array>
#include <optional>

#include "bitale/core/array.hpp"
#include "ops/analysis/interval.hpp"
#include "ops/analysis/range.hpp"
#include "ops/analysis/symmetry.hpp"
#include "ops/elementwise/elemwise.hpp"
#include "ops/shapes/dimshuffle.hpp"

namespace bitale {

namespace {

// The last group overlaps the first two: what is neither on the diagonal nor next to it.
enum Group { above, below, on_diagonal, far, group_count };
using GroupRanges = std::array<Range, group_count>;

// Whether the operand is repeated along the matrix axis (counted from the end) of the result.
bool is_repeated_along(const Variable& operand, const Variable& result, int from_end) {
  const int axis = operand.ndim() - from_end;
  return operand.tensor().broadcasts(axis) && result.static_shape()[std::size_t(axis)] != 1;
}

// The first number of an operand that counts up by 1 along one axis, as arange does.
std::optional<double> first_count(Variable v) {
  constexpr int max_levels = 6;
  double shift = 0;
  for (int level = 0; level < max_levels; ++level) {
    if (v.is_constant()) {
      const Array& value = *v.constant();
      if (!is_integer(value.dtype()) || value.size() == 0 || value.size() > 4096) return {};
      const Array flat = value.astype(DType::Int64).contiguous();
      const std::int64_t* data = flat.data_as<std::int64_t>();
      for (std::int64_t k = 1; k < flat.size(); ++k)
        if (data[k] != data[0] + k) return {};
      return double(data[0]) + shift;
    }
    if (!v.has_owner()) return {};
    const Apply node = v.owner();
    if (const auto* shuffle = dynamic_cast<const DimShuffle*>(v.owner_op())) {
      if (!shuffle->keeps_order()) return {};
      v = node.input(0);
      continue;
    }
    if (const ScalarOp* scalar = scalar_op_of(v)) {
      if (!is_integer(v.dtype())) return {};
      if (scalar->name.starts_with("cast_int")) {
        v = node.input(0);
        continue;
      }
      if (scalar->name != "add" && scalar->name != "sub") return {};
      const Range right = range_of(node.input(1)), left = range_of(node.input(0));
      const bool is_sum = scalar->name == "add";
      if (right.low == right.high) {
        shift += is_sum ? right.low : -right.low;
        v = node.input(0);
      } else if (is_sum && left.low == left.high) {
        shift += left.low;
        v = node.input(1);
      } else {
        return {};
      }
      continue;
    }
    if (v.owner_op()->name() != "ARange") return {};
    const Range start = range_of(node.input(0)), step = range_of(node.input(2));
    if (start.low != start.high || !step.is_always(1)) return {};
    return start.low + shift;
  }
  return {};
}

// For an operation on row numbers and column numbers, the ranges of their difference y - x in each group.
std::optional<GroupRanges> compared_indices(const Apply& node) {
  const Variable &x = node.input(0), &y = node.input(1), result = node.output();
  const bool x_is_row = is_repeated_along(x, result, 1) && !is_repeated_along(x, result, 2);
  const bool y_is_row = is_repeated_along(y, result, 1) && !is_repeated_along(y, result, 2);
  const bool x_is_column = is_repeated_along(x, result, 2) && !is_repeated_along(x, result, 1);
  const bool y_is_column = is_repeated_along(y, result, 2) && !is_repeated_along(y, result, 1);
  if (!(x_is_row && y_is_column) && !(x_is_column && y_is_row)) return {};
  const auto from_x = first_count(x), from_y = first_count(y);
  if (!from_x || !from_y) return {};
  const double shift = *from_y - *from_x;
  // y - x increases to the right if y counts columns.
  const Range rising = interval::at_least(shift + 1), falling{.high = shift - 1};
  GroupRanges out;
  out[above] = y_is_column ? rising : falling;
  out[below] = y_is_column ? falling : rising;
  out[on_diagonal] = interval::closed(shift, shift);
  out[far] = {};
  return out;
}

Range intersected(const Range& a, const Range& b) {
  return interval::between(interval::larger(interval::low_of(a), interval::low_of(b)),
                           interval::smaller(interval::high_of(a), interval::high_of(b)));
}

GroupRanges of_operand(const Structure& known, const Range& anywhere) {
  GroupRanges out{anywhere, anywhere, anywhere, anywhere};
  if (known.is(Fact::LowerTriangular)) out[above] = interval::closed(0, 0);
  if (known.is(Fact::UpperTriangular)) out[below] = interval::closed(0, 0);
  if (known.is(Fact::Tridiagonal)) out[far] = interval::closed(0, 0);
  if (known.is(Fact::UnitDiagonal))
    out[on_diagonal] = interval::closed(1, 1);
  else if (known.is(Fact::PositiveDiagonal))
    out[on_diagonal] = intersected(anywhere, interval::at_least(0, true));
  return out;
}

// Whether the function of numbers with the absolute value 1 has that absolute value.
bool keeps_unit_magnitude(std::string_view function) {
  return function == "abs" || function == "neg" || function == "reciprocal" || function == "sqr" ||
         function == "sign" || function == "mul" || function == "true_div" || function.starts_with("cast_float");
}

}  // namespace

Structure Elemwise::structure(const Apply& node, int, InputStructures& inputs) const {
  const Variable result = node.output();
  const std::size_t count = node.inputs().size();
  Structure out;
  if (keeps_unit_magnitude(scalar.name)) {
    bool all_unit = true;
    for (std::size_t i = 0; i < count; ++i) all_unit = inputs.of(int(i)).is(Fact::UnitMagnitude) && all_unit;
    if (all_unit) out.add(Fact::UnitMagnitude);
  }
  if (result.ndim() < 2) return out;
  std::vector<Structure> known(count);
  std::vector<GroupRanges> groups(count);
  std::vector<bool> is_whole(count), is_number(count);
  std::vector<Exchanged> exchanged(count, Exchanged::unknown);
  // Sums of semidefinite matrices are semidefinite, and definite if one of them is; likewise for positive multiples.
  bool semidefinite = true, any_definite = false, any_semidefinite = false;
  const bool is_sum = scalar.name == "add", is_product = scalar.name == "mul";
  for (std::size_t i = 0; i < count; ++i) {
    const Variable& x = node.input(int(i));
    const bool rows = is_repeated_along(x, result, 2), columns = is_repeated_along(x, result, 1);
    is_whole[i] = !rows && !columns;
    is_number[i] = rows && columns;
    if (is_whole[i]) known[i] = inputs.of(int(i));
    const Range anywhere = range_of(x);
    groups[i] = of_operand(known[i], anywhere);
    if (is_number[i] || known[i].is(Fact::Symmetric))
      exchanged[i] = Exchanged::same;
    else if (known[i].is(Fact::SkewSymmetric))
      exchanged[i] = Exchanged::negated;
    if (known[i].is(Fact::PositiveSemidefinite)) {
      any_semidefinite = true;
      any_definite = any_definite || known[i].is(Fact::PositiveDefinite);
    } else if (is_sum) {  // a nonnegative diagonal matrix may be added
      semidefinite = semidefinite && known[i].is(Fact::Diagonal) && anywhere.low >= 0;
    } else {
      semidefinite = semidefinite && is_number[i] && anywhere.is_positive();
    }
  }
  const std::optional<GroupRanges> differences =
      scalar.has(comparison) && count == 2 ? compared_indices(node) : std::nullopt;
  for (const Group group : {above, below, on_diagonal, far}) {
    std::vector<Range> of(count);
    for (std::size_t i = 0; i < count; ++i) of[i] = groups[i][group];
    if (differences) of = {interval::closed(0, 0), (*differences)[group]};
    const Range range = range_of_scalar(scalar, of, result.dtype());
    if (group == above && range.is_always(0)) out.add(Fact::LowerTriangular);
    if (group == below && range.is_always(0)) out.add(Fact::UpperTriangular);
    if (group == far && range.is_always(0)) out.add(Fact::Tridiagonal);
    if (group == on_diagonal && range.is_positive()) out.add(Fact::PositiveDiagonal);
    if (group == on_diagonal && range.is_always(1)) out.add(Fact::UnitDiagonal);
  }
  if (const Exchanged found = exchanged_elements(node, exchanged); found != Exchanged::unknown)
    out.add(found == Exchanged::same ? Fact::Symmetric : Fact::SkewSymmetric);
  const bool is_conversion = count == 1 && scalar.name.starts_with("cast_float");
  // The elementwise product of semidefinite matrices is semidefinite as well (Schur), and definite if both are.
  if (semidefinite && any_semidefinite && (is_sum || is_product || is_conversion)) {
    out.add(Fact::PositiveSemidefinite);
    const bool all_definite = std::none_of(known.begin(), known.end(), [](const Structure& of) {
      return of.is(Fact::PositiveSemidefinite) && !of.is(Fact::PositiveDefinite);
    });
    if (any_definite && (is_sum || all_definite)) out.add(Fact::PositiveDefinite);
  }
  return out;
}

}  // namespace bitale
