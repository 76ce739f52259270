// Cholesky factors of sparse matrices, in the pattern of the factor: columns that are compressed, each with its
// diagonal element first and its rows ascending. The pattern is closed: where a column has rows i > k, column k has row
// i.
#pragma once

#include <cstdint>

namespace bitale::runtime {

struct FactorPattern {
  std::int64_t size;           // of the matrix
  const std::int64_t* bounds;  // size + 1: where each column begins
  const std::int64_t* rows;
  bool is_known_closed = false;  // Then a column whose first row below the diagonal is the next column, and which has
                                 // one element more than that one, has its rows: they are not compared.
};

// The factor of a matrix of which `triangle` is the lower one; both may be the same array. Returns 0, or 1 + the first
// column at which the matrix turns out not to be positive definite, or -1 for a pattern that is not closed.
template <class T>
std::int64_t sparse_cholesky(const FactorPattern& pattern, const T* triangle, T* factor);
// `gradient` has that by the elements of the factor, and then that by the elements of the lower triangle: the factor's
// steps in reverse order (Smith 1995, "Differentiation of the Cholesky algorithm").
template <class T>
void sparse_cholesky_gradient(const FactorPattern& pattern, const T* factor, T* gradient);
// The derivative of the factor's elements when the matrix changes in the direction of a symmetric matrix, of which
// `direction` has the lower triangle, and then the result. False for a pattern that is not closed.
template <class T>
bool sparse_cholesky_derivative(const FactorPattern& pattern, const T* factor, T* direction);
// x, of `columns` columns, becomes the solution of a system with the factor, or with its transpose.
template <class T>
void sparse_solve_triangular(const FactorPattern& pattern, const T* factor, bool transposed, std::int64_t columns,
                             T* x);
// The same of a system with the factor, and then with its transpose.
template <class T>
void sparse_solve(const FactorPattern& pattern, const T* factor, std::int64_t columns, T* x);
// The elements of the inverse in the factor's pattern (Takahashi, Fagan and Chin 1973). False for a pattern that is not
// closed.
template <class T>
bool sparse_selected_inverse(const FactorPattern& pattern, const T* factor, T* inverse);
// The derivative of these elements when the matrix A changes in the direction of a symmetric matrix D, -A^-1 D A^-1 in
// the pattern, by the derivatives of elimination and of the inverse. `direction` has the lower triangle of D, and then
// the result's. False for a pattern that is not closed.
template <class T>
bool sparse_inverse_derivative(const FactorPattern& pattern, const T* factor, T* direction);

}  // namespace bitale::runtime
