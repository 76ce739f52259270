// Pattern: where the stored elements of a sparse matrix are. It is two ordinary integer vectors in the compressed form
// of rows (csr) or of columns (csc), as in SciPy: `indices`, the position of each stored element along the other axis,
// and `indptr`, where each row or column begins among them. A pattern of constants is static: everything that depends
// on it alone is computed while expressions are built.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string_view>

#include "bitale/ops/operand.hpp"

namespace bitale::sparse {

enum class Format : std::uint8_t { csr, csc };

std::string_view format_name(Format format);
// ValueError for other names than "csr" and "csc".
Format format_of(std::string_view name);

// ValueError naming the argument unless these are vectors of integers with the bounds and positions of a matrix of
// `major` compressed rows or columns of `minor` elements: bounds begin at 0, don't decrease, and end at the number of
// positions; positions are in range. Returns whether positions also ascend in each row or column, without duplicates.
bool has_sorted_indices(const Array& indices, const Array& indptr, std::int64_t major, std::int64_t minor);

class Pattern {
 public:
  // ValueError naming the argument unless these are the indices of a matrix, sorted: now for constants, for others
  // when a function is called.
  Pattern(Format format, const Operand& indices, const Operand& indptr, const Operand& rows, const Operand& columns);
  // Makes no checks when a function is called: the caller takes care of them.
  static Pattern unchecked(Format format, const Operand& indices, const Operand& indptr, const Operand& rows,
                           const Operand& columns);

  Format format() const;
  const Variable& indices() const;
  const Variable& indptr() const;
  // The lengths of the matrix, int64 scalars; constants where they are known.
  const Variable& length(int axis) const;
  Dims static_shape() const;
  Variable count() const;  // of stored elements
  bool is_static() const;
  // Along this axis the matrix is compressed: 0 for csr, 1 for csc.
  int major_axis() const { return format() == Format::csr ? 0 : 1; }
  // The position of each stored element along an axis.
  const Variable& position(int axis) const;
  // The pattern of the transposed matrix.
  Pattern transposed() const;
  // Whether it is known that both have the same elements in the same order.
  bool same_as(const Pattern& other) const;

 private:
  struct Record;
  explicit Pattern(std::shared_ptr<Record> record) : record_(std::move(record)) {}
  std::shared_ptr<Record> record_;
};

// A static pattern in the making: elements by their positions, in any order, possibly with duplicates.
struct Elements {
  Elements(std::int64_t given_rows, std::int64_t given_columns) : lengths{given_rows, given_columns} {}
  void add(std::int64_t row, std::int64_t column) {
    rows.push_back(row);
    columns.push_back(column);
  }
  std::array<std::int64_t, 2> lengths;
  std::vector<std::int64_t> rows, columns;
};
// The pattern of the elements without duplicates, and for each element the index of its stored one.
struct Compressed {
  Pattern pattern;
  std::vector<std::int64_t> stored;
};
Compressed compress(const Elements& elements, Format format);
// The positions of a static pattern. NotImplementedError that names `who` for another pattern.
Elements elements_of(const Pattern& pattern, std::string_view who);

}  // namespace bitale::sparse
