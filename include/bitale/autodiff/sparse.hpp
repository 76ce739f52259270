// Jacobians and Hessians as sparse matrices, whose patterns are given or found. Rows and columns that share no nonzero
// are computed by one product together (Curtis, Powell and Reid 1974): a band of width w takes w products, whatever its
// length, a diagonal 1, an arrow 3.
#pragma once

#include "bitale/autodiff/gradient.hpp"
#include "bitale/sparse/matrix.hpp"

namespace bitale {

// The elements that may be nonzero in the Jacobian of a vector with respect to another, as a csr pattern. It is found
// by a walk over the graph: each op says which elements of its inputs an element of its output reads; an op that does
// not say counts as dense. NotImplementedError where the length of a tensor between the two is not known statically.
sparse::Pattern jacobian_pattern(const Variable& expression, const Variable& wrt, const GradOptions& options = {},
                                 Source where = Source::current());
// The same for the Hessian of a scalar: the pattern of its gradient's Jacobian.
sparse::Pattern hessian_pattern(const Variable& cost, const Variable& wrt, const GradOptions& options = {},
                                Source where = Source::current());

// The matrices with the elements of a given static pattern. A nonzero that the pattern leaves out is not detected, and
// may be added to others. ShapeError where the lengths differ from those of the pattern.
sparse::Matrix sparse_jacobian(const Variable& expression, const Variable& wrt, const sparse::Pattern& pattern,
                               const GradOptions& options = {}, Source where = Source::current());
sparse::Matrix sparse_hessian(const Variable& cost, const Variable& wrt, const sparse::Pattern& pattern,
                              const GradOptions& options = {}, Source where = Source::current());
// The same with the pattern that the functions above find.
sparse::Matrix sparse_jacobian(const Variable& expression, const Variable& wrt, const GradOptions& options = {},
                               Source where = Source::current());
sparse::Matrix sparse_hessian(const Variable& cost, const Variable& wrt, const GradOptions& options = {},
                              Source where = Source::current());

}  // namespace bitale
