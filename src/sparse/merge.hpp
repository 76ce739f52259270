// Matrices whose pattern only a call knows. What is found for static patterns while expressions are built (the order
// of another format, which elements meet in a product, where the union of two patterns stores) are expressions here: of
// vectors of positions, which are sorted and merged when the function is called.
#pragma once

#include <array>
#include <string_view>

#include "bitale/sparse/matrix.hpp"

namespace bitale::sparse {

// Elements in any order, possibly several at one position.
struct Positions {
  Variable rows, columns;
  std::array<Variable, 2> lengths;
};
Positions positions_of(const Matrix& a);

// The pattern of the elements, each position once, and for each element the index of its stored one.
struct Merged {
  Pattern pattern;
  Variable stored;
};
Merged merge(const Positions& elements, Format format);
// The matrix of these elements, of which those at one position are added.
Matrix added(const Positions& elements, const Variable& data, Format format);

// The matrix in its other format.
Matrix recompressed(const Matrix& a);
// Rows of a csr matrix, or columns of a csc one, by a vector of positions from 0 on.
Matrix take_major(const Matrix& a, const Variable& which);
// The elements for which a vector of bool is true.
Matrix kept(const Matrix& a, const Variable& is_kept);
// For parts of these lengths: the number of each element's part, and `starts` of its part plus its position in it.
struct Ranges {
  Variable part, element;
};
Ranges ranges(const Variable& starts, const Variable& lengths);

// The length along an axis, which is checked to be `expected` when the function is called, and with it x: what is
// returned is x. ShapeError where both are known and differ.
Variable with_equal_lengths(const Variable& x, const Variable& length, const Variable& expected, std::string_view who);

}  // namespace bitale::sparse
