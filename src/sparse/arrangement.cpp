// Matrices made of others: blocks, selected rows and columns, diagonals, stored zeros left out. The pattern of the
// result, and which stored element is at each position, are found while the expression is built, if they can be.
#include <numeric>

#include "bitale/core/error.hpp"
#include "bitale/core/text.hpp"
#include "bitale/ops/debugging.hpp"
#include "bitale/ops/reductions.hpp"
#include "bitale/ops/segments.hpp"
#include "bitale/sparse/functions.hpp"
#include "ops/analysis/lengths.hpp"
#include "sparse/merge.hpp"

namespace bitale::sparse {

namespace {

// The matrix whose element e, at elements[e], is data[e]. No two elements have the same position.
Matrix arranged(const Elements& elements, const Variable& data, Format format) {
  const Compressed compressed = compress(elements, format);
  std::vector<std::int64_t> source(compressed.stored.size());
  for (std::size_t e = 0; e < source.size(); ++e) source[std::size_t(compressed.stored[e])] = std::int64_t(e);
  return Matrix(compressed.pattern, subtensor(data, {IndexItem(constant(Array(source)))}));
}

// The common length of a row or column of blocks.
void take_length(std::int64_t& known, std::int64_t length, const char* what) {
  if (known >= 0 && known != length)
    throw ShapeError(cat("sparse: block: expected blocks with equally many ", what, ", got ", known, " and ", length));
  known = length;
}

// A matrix of blocks of which some have patterns that only a call knows.
Matrix block_in_call(const std::vector<std::vector<std::optional<Matrix>>>& blocks, Format format) {
  std::vector<Variable> heights(blocks.size()), widths(blocks[0].size());
  // The first block of a row or column says its length; the positions of others are checked against that.
  const auto fitted = [](Variable& known, const Variable& length, const Variable& positions) {
    if (!known.defined()) known = length;
    return with_equal_lengths(positions, length, known, "block");
  };
  std::vector<std::vector<std::optional<Positions>>> all(blocks.size());
  for (std::size_t i = 0; i < blocks.size(); ++i)
    for (std::size_t j = 0; j < widths.size(); ++j) {
      auto& own = all[i].emplace_back();
      if (!blocks[i][j]) continue;
      own = positions_of(*blocks[i][j]);
      own->rows = fitted(heights[i], own->lengths[0], own->rows);
      own->columns = fitted(widths[j], own->lengths[1], own->columns);
    }
  const auto total = [](const std::vector<Variable>& lengths) {
    Variable sum = int64_constant(0);
    for (const Variable& length : lengths) {
      if (!length.defined()) throw ValueError("sparse: block: expected a matrix in each row and each column of blocks");
      sum = lengths::add(sum, length);
    }
    return sum;
  };
  Positions elements{{}, {}, {total(heights), total(widths)}};
  Variables rows, columns, data;
  Variable top = int64_constant(0);
  for (std::size_t i = 0; i < blocks.size(); top = lengths::add(top, heights[i++])) {
    Variable left = int64_constant(0);
    for (std::size_t j = 0; j < widths.size(); left = lengths::add(left, widths[j++])) {
      if (!all[i][j]) continue;
      rows.push_back(all[i][j]->rows + top);
      columns.push_back(all[i][j]->columns + left);
      data.push_back(blocks[i][j]->data());
    }
  }
  const auto joined = [](const Variables& parts) { return parts.size() == 1 ? parts[0] : concatenate(parts, 0); };
  elements.rows = joined(rows);
  elements.columns = joined(columns);
  return added(elements, joined(data), format);
}

}  // namespace

Matrix square_diagonal(const Operand& diagonal) {
  const LocationScope here(diagonal.where);
  const Variable& x = diagonal.variable;
  if (x.ndim() != 1)
    throw TypeError(cat("sparse: square_diagonal: expected a vector, got ", x.str(), " of type ", x.type()->str()));
  const Variable n = length_of(x, 0);
  // A longer pattern takes gigabytes while the expression is built, and belongs to a call.
  constexpr std::int64_t longest_static = 1 << 26;
  if (const auto known = known_integer(n); known && *known <= longest_static) {
    Elements elements(*known, *known);
    for (std::int64_t k = 0; k < *known; ++k) elements.add(k, k);
    return Matrix(compress(elements, Format::csc).pattern, x);
  }
  return Matrix(Pattern::unchecked(Format::csc, arange(n), arange(n + 1), n, n), x);
}

Matrix block(const std::vector<std::vector<std::optional<Matrix>>>& blocks, Format format) {
  if (blocks.empty() || blocks[0].empty()) throw ValueError("sparse: block: expected at least one block");
  bool is_static = true;
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    if (blocks[i].size() != blocks[0].size())
      throw ValueError(
          cat("sparse: block: expected ", blocks[0].size(), " blocks in row ", i, ", got ", blocks[i].size()));
    for (const auto& each : blocks[i]) is_static &= !each || each->pattern().is_static();
  }
  if (!is_static) return block_in_call(blocks, format);
  std::vector<std::int64_t> heights(blocks.size(), -1), widths(blocks[0].size(), -1);
  std::vector<std::vector<std::optional<Elements>>> all;
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    auto& row = all.emplace_back();
    for (std::size_t j = 0; j < widths.size(); ++j) {
      row.emplace_back();
      if (!blocks[i][j]) continue;
      row.back() = elements_of(blocks[i][j]->pattern(), "block");
      take_length(heights[i], row.back()->lengths[0], "rows");
      take_length(widths[j], row.back()->lengths[1], "columns");
    }
  }
  for (const auto& lengths : {heights, widths})
    for (const std::int64_t length : lengths)
      if (length < 0) throw ValueError("sparse: block: expected a matrix in each row and each column of blocks");
  Elements elements(std::reduce(heights.begin(), heights.end()), std::reduce(widths.begin(), widths.end()));
  Variables data;
  std::int64_t top = 0;
  for (std::size_t i = 0; i < blocks.size(); top += heights[i++]) {
    std::int64_t left = 0;
    for (std::size_t j = 0; j < widths.size(); left += widths[j++]) {
      if (!all[i][j]) continue;
      for (std::size_t k = 0; k < all[i][j]->rows.size(); ++k)
        elements.add(all[i][j]->rows[k] + top, all[i][j]->columns[k] + left);
      data.push_back(blocks[i][j]->data());
    }
  }
  return arranged(elements, data.size() == 1 ? data[0] : concatenate(data, 0), format);
}

Matrix select(const Matrix& a, const std::vector<std::int64_t>& rows, const std::vector<std::int64_t>& columns) {
  const Elements before = elements_of(a.pattern(), "slicing");
  std::array<std::vector<std::vector<std::int64_t>>, 2> new_positions;
  const std::vector<std::int64_t>* asked[] = {&rows, &columns};
  for (const std::size_t axis : {std::size_t(0), std::size_t(1)}) {
    new_positions[axis].resize(std::size_t(before.lengths[axis]));
    for (std::size_t k = 0; k < asked[axis]->size(); ++k) {
      const std::int64_t position = (*asked[axis])[k];
      if (position < 0 || position >= before.lengths[axis])
        throw IndexError(cat("sparse: index ", position, " is out of bounds for axis ", axis, " with length ",
                             before.lengths[axis]));
      new_positions[axis][std::size_t(position)].push_back(std::int64_t(k));
    }
  }
  Elements after{std::int64_t(rows.size()), std::int64_t(columns.size())};
  std::vector<std::int64_t> from;
  for (std::size_t k = 0; k < before.rows.size(); ++k)
    for (const std::int64_t i : new_positions[0][std::size_t(before.rows[k])])
      for (const std::int64_t j : new_positions[1][std::size_t(before.columns[k])]) {
        after.add(i, j);
        from.push_back(std::int64_t(k));
      }
  return arranged(after, subtensor(a.data(), {IndexItem(constant(Array(from)))}), a.format());
}

Matrix take(const Matrix& a, const Operand& positions, int axis) {
  const LocationScope here(positions.where);
  const int along = normal_axis(axis, 2, "sparse: take");
  const Variable& given = positions.variable;
  if (given.ndim() != 1 || !is_integer(given.dtype()))
    throw TypeError(
        cat("sparse: take: expected a vector of integers, got ", given.str(), " of type ", given.type()->str()));
  // Positions from the end count from there, and those out of range are refused, as by any read of a vector.
  const Variable which = subtensor(arange(a.length(along)), {IndexItem(given)});
  if (along == a.pattern().major_axis()) return take_major(a, which);
  return take_major(a.to(along == 0 ? Format::csr : Format::csc), which).to(a.format());
}

Matrix remove_zeros(const Matrix& a) { return kept(a, neq(a.data(), zeros_like(a.data()))); }

Matrix from_elements(const Operand& data, const Operand& rows, const Operand& columns,
                     const std::array<Operand, 2>& shape, Format format) {
  const LocationScope here(data.where);
  Positions elements{rows.variable, columns.variable, {}};
  const auto accept = [&](Variable& positions, std::size_t axis, const char* name) {
    if (positions.ndim() != 1 || !is_integer(positions.dtype()))
      throw TypeError(cat("sparse: ", name, ": expected a vector of integers, got ", positions.str(), " of type ",
                          positions.type()->str()));
    elements.lengths[axis] = as_length(shape[axis].variable, cat("sparse: ", name));
    positions = with_equal_lengths(positions, length_of(positions, 0), length_of(data.variable, 0), name);
    positions = check_and_raise(positions, {all(ge(positions, 0)), all(lt(positions, elements.lengths[axis]))},
                                "ValueError", cat("sparse: ", name, ": expected positions in the matrix"));
  };
  if (data.ndim() != 1)
    throw TypeError(
        cat("sparse: data: expected a vector, got ", data.variable.str(), " of type ", data.variable.type()->str()));
  accept(elements.rows, 0, "rows");
  accept(elements.columns, 1, "columns");
  return added(elements, data.variable, format);
}

// Of each pair, all elements of its row (or column) are looked at, and the one of its other position is taken.
Variable elements(const Matrix& a, const Operand& rows, const Operand& columns) {
  const LocationScope here(rows.where);
  std::array<Variable, 2> which = {rows.variable, columns.variable};
  for (const std::size_t axis : {0, 1}) {
    if (which[axis].ndim() != 1 || !is_integer(which[axis].dtype()))
      throw TypeError(cat("sparse: elements: expected two vectors of integers, got ", which[axis].str(), " of type ",
                          which[axis].type()->str()));
    which[axis] = subtensor(arange(a.length(int(axis))), {IndexItem(which[axis])});
  }
  which[0] = with_equal_lengths(which[0], length_of(which[1], 0), length_of(which[0], 0), "elements");
  const Pattern& at = a.pattern();
  const std::size_t major = at.major_axis() == 0 ? 0 : 1;
  const Variable begin = subtensor(at.indptr(), {IndexItem(which[major])}),
                 end = subtensor(at.indptr(), {IndexItem(which[major] + 1)});
  const Variable lengths = cast(end - begin, DType::Int64);
  const Ranges looked_at = ranges(begin, lengths);
  const auto taken = [](const Variable& x, const Variable& index) { return subtensor(x, {IndexItem(index)}); };
  const Variable is_asked = eq(taken(at.indices(), looked_at.element), taken(which[1 - major], looked_at.part));
  const Variable values = taken(a.data(), looked_at.element);
  return segment_sum(switch_(is_asked, values, zeros_like(values)),
                     cumulative_sum(lengths, {.axis = 0, .include_initial = true}));
}

Variable element(const Matrix& a, const Operand& row, const Operand& column) {
  const LocationScope here(row.where);
  if (row.ndim() != 0 || column.ndim() != 0) throw TypeError("sparse: element: expected two scalars");
  const Pattern& at = a.pattern();
  // A position from the end counts from there; one that is out of range is refused by the read of a vector as long.
  const auto position = [&](const Variable& index, int axis) {
    return subtensor(arange(at.length(axis)), {IndexItem(index)});
  };
  const Variable is_there =
      eq(at.position(0), position(row.variable, 0)) && eq(at.position(1), position(column.variable, 1));
  return cast(sum(switch_(is_there, a.data(), zeros_like(a.data()))), a.dtype());
}

}  // namespace bitale::sparse
