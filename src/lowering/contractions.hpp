// Products of matrices. How one is computed, by loops or by a library, is decided in one place (Definitions::contract),
// and the calls that this makes are read here, as work on rows: products whose result has a row for each row of the
// left factor, and products that add up what pairs of rows give. Both can be computed for some of the rows at a time.
#pragma once

#include <cstddef>
#include <optional>

#include "program/program.hpp"

namespace bitale::lowering {

// Whether the step is a call of a library for a product of matrices.
bool is_product(const program::Step& step);

// A call that computes the rows of a product one by one: the positions of its arguments, the number of rows, and how
// far apart the rows of its factors and of its result are (0: all rows use the same right factor). Rows are matrices in
// a stack of products.
struct RowProduct {
  std::size_t rows_at = 0, left_at = 0, right_at = 0, result_at = 0;
  program::Expr rows = {}, left_step = {}, right_step = {}, result_step = {};
  program::Expr inner = {};         // the length of the sum that gives an element
  program::Expr bytes_of_row = {};  // of the result
  bool is_stack = false;
  bool is_vector = false;  // a row is a number
};
std::optional<RowProduct> row_product(const program::Step& step, program::ExprPool& pool);

// A call that computes the transpose of its left factor times its right one: the sum over rows of outer products of
// a row of each.
struct SumOverRows {
  std::size_t left_at = 0, right_at = 0, result_at = 0;
  program::Expr rows, left_step, right_step;
  program::Expr m, n;  // the lengths of the result; n is 1 for a vector
};
std::optional<SumOverRows> sum_over_rows(const program::Step& step, program::ExprPool& pool);

// The call for the rows from `first_left` and `first_right` on, elements of the factors: the terms of the sum over
// `rows` rows, which are added to the result where `add`, an integer, is not 0.
program::Step part_of_sum(const program::Step& step, program::ExprPool& pool, program::Expr rows,
                          program::Expr first_left, program::Expr first_right, program::Expr add);

}  // namespace bitale::lowering
