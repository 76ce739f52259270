// Matrices made of others: blocks, selected rows and columns, diagonals. The pattern of the result, and which stored
// element is at each, are found while the expression is built.
#include <numeric>

#include "bitale/core/error.hpp"
#include "bitale/core/text.hpp"
#include "bitale/sparse/functions.hpp"
#include "ops/analysis/lengths.hpp"

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

}  // namespace

Matrix square_diagonal(const Operand& diagonal) {
  const LocationScope here(diagonal.where);
  const Variable& x = diagonal.variable;
  if (x.ndim() != 1)
    throw TypeError(cat("sparse: square_diagonal: expected a vector, got ", x.str(), " of type ", x.type()->str()));
  const Variable n = length_of(x, 0);
  return Matrix(Pattern::unchecked(Format::csc, arange(n), arange(n + 1), n, n), x);
}

Matrix block(const std::vector<std::vector<std::optional<Matrix>>>& blocks, Format format) {
  if (blocks.empty() || blocks[0].empty()) throw ValueError("sparse: block: expected at least one block");
  std::vector<std::int64_t> heights(blocks.size(), -1), widths(blocks[0].size(), -1);
  std::vector<std::vector<std::optional<Elements>>> all;
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    if (blocks[i].size() != widths.size())
      throw ValueError(
          cat("sparse: block: expected ", widths.size(), " blocks in row ", i, ", got ", blocks[i].size()));
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
