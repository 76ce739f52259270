#include "bitale/sparse/lu.hpp"

#include <algorithm>
#include <utility>

#include "bitale/core/error.hpp"
#include "bitale/core/text.hpp"
#include "bitale/ops/complex.hpp"
#include "bitale/ops/ops.hpp"
#include "ops/analysis/lengths.hpp"
#include "ops/sparse/lu.hpp"
#include "ops/sparse/order.hpp"
#include "runtime/sparse_ordering.hpp"
#include "sparse/index_vector.hpp"
#include "sparse/real_form.hpp"

namespace bitale::sparse {

namespace {

runtime::LuPlan plan_for(const Pattern& at, bool with_factors) {
  const Elements elements = elements_of(at, "lu");
  return runtime::lu_plan({elements.lengths[0], elements.rows, elements.columns}, with_factors);
}

// The matrix in compressed columns. ShapeError.
Matrix in_columns(const Matrix& a) {
  const auto height = known_integer(a.length(0)), width = known_integer(a.length(1));
  if (height && width && *height != *width)
    throw ShapeError(cat("sparse: lu: expected a square matrix, got ", a.str()));
  return a.to(Format::csc);
}

SparseLuMatrix operands(const Matrix& a, const Variable& order) {
  return {a.data(), a.pattern().indptr(), a.pattern().indices(), order};
}

}  // namespace

struct Lu::Complex {
  RealForm form;
  Lu factors;
};

Lu::Lu(const Matrix& a) : matrix_(in_columns(a)) {
  if (is_complex(a.dtype())) {
    const Pattern& at = matrix_.pattern();
    const RealForm form = sparse_real_form(at.indptr(), at.indices(), false);
    const Variable two = int64_constant(2), height = lengths::mul(a.length(0), two),
                   width = lengths::mul(a.length(1), two);
    const Pattern pattern = Pattern::unchecked(Format::csc, form.rows, form.bounds, height, width);
    complex_ = std::make_shared<const Complex>(Complex{form, Lu(Matrix(pattern, in_real_form(matrix_.data(), form)))});
    return;
  }
  Variables pattern;
  if (matrix_.pattern().is_static()) {
    runtime::LuPlan plan = plan_for(matrix_.pattern(), true);
    order_ = std::move(plan.order);
    permutation_ = index_vector(order_);
    if (!plan.factors.bounds.empty()) pattern = {index_vector(plan.factors.bounds), index_vector(plan.factors.rows)};
  } else {
    const OrderForLu found =
        sparse_lu_order(matrix_.pattern().indptr(), matrix_.pattern().indices(), matrix_.length(0));
    permutation_ = found.order;
    pattern = {found.bounds, found.rows};
  }
  const SparseLuFactors factors = sparse_lu(operands(matrix_, permutation_), pattern);
  values_ = factors.values;
  bounds_ = factors.bounds;
  rows_ = factors.rows;
  row_order_ = factors.row_order;
}

const std::vector<std::int64_t>& Lu::column_order() const {
  if (complex_) return complex_->factors.column_order();
  if (!matrix_.pattern().is_static())
    throw NotImplementedError(
        "sparse: lu: the elimination order is known only in a call, because the pattern comes with the call");
  return order_;
}

Variable Lu::solve(const Operand& b, Trans trans) const {
  const LocationScope here(b.where);
  if (b.ndim() != 1 && b.ndim() != 2)
    throw TypeError(cat("sparse: lu: expected a vector or a matrix, got ", b.variable.str(), " of type ",
                        b.variable.type()->str()));
  const auto given = known_integer(length_of(b.variable, 0)), expected = known_integer(matrix_.length(0));
  if (given && expected && *given != *expected)
    throw ShapeError(cat("sparse: lu: expected length ", *expected, ", got ", b.variable.str(), " with ", *given));
  std::vector<std::optional<Operand>> lengths(std::size_t(b.ndim()));
  lengths[0] = matrix_.length(0);
  const Variable right = specify_shape(b, lengths);
  // The transposed real form is that of the adjoint matrix.
  if (complex_ && trans == Trans::transpose) return conj(solve(conj(b), Trans::adjoint));
  if (complex_) return from_interleaved(complex_->factors.solve(interleaved(right), trans));
  if (is_complex(b.dtype())) return complex(solve(real(b), trans), solve(imag(b), trans));
  return sparse_lu_solve(operands(matrix_, permutation_), {values_, bounds_, rows_, row_order_}, right,
                         trans != Trans::none);
}

Variable Lu::logdet() const { return complex_ ? complex_->factors.logdet() / 2 : slogdet()[1]; }

Variables Lu::slogdet() const {
  if (complex_) {
    const auto& [form, own] = *complex_;
    const Pattern& at = matrix_.pattern();
    const Variable order = at.is_static() ? index_vector(plan_for(at, false).order)
                                          : sparse_lu_order(at.indptr(), at.indices(), matrix_.length(0)).order;
    const Variables sign = sparse_lu_complex_sign(operands(own.matrix_, own.permutation_),
                                                  {own.values_, own.bounds_, own.rows_, own.row_order_},
                                                  {form.real, form.imaginary, at.indptr(), at.indices(), order});
    return {complex(sign[0], sign[1]), logdet()};
  }
  return sparse_lu_slogdet(operands(matrix_, permutation_), {values_, bounds_, rows_, row_order_});
}

}  // namespace bitale::sparse
