// Dense matrices from sparse ones, and back.
#include "bitale/core/error.hpp"
#include "bitale/core/text.hpp"
#include "bitale/ops/cumulative.hpp"
#include "bitale/sparse/functions.hpp"
#include "ops/analysis/lengths.hpp"

namespace bitale::sparse {

Variable to_dense(const Matrix& a) {
  const Pattern& at = a.pattern();
  return set_subtensor(zeros({at.length(0), at.length(1)}, a.dtype()),
                       {IndexItem(at.position(0)), IndexItem(at.position(1))}, a.data());
}

Matrix from_dense(const Operand& x, Format format) {
  const LocationScope here(x.where);
  if (x.ndim() != 2)
    throw TypeError(
        cat("sparse: from_dense: expected a matrix, got ", x.variable.str(), " of type ", x.variable.type()->str()));
  const Variable by_row = format == Format::csr ? x.variable : transpose(x);
  const Variables at = nonzero(by_row);
  const Variable counts = sum(neq(by_row, 0), {1}, KeepDims::No, DType::Int64);
  const Variable bounds = concatenate({zeros({1}, DType::Int64), cumsum(counts, 0)}, 0);
  return Matrix(Pattern::unchecked(format, at[1], bounds, length_of(x.variable, 0), length_of(x.variable, 1)),
                subtensor(by_row, {IndexItem(at[0]), IndexItem(at[1])}));
}

}  // namespace bitale::sparse
