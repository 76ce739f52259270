#include "bitale/sparse/cholesky.hpp"

#include <algorithm>

#include "bitale/core/error.hpp"
#include "bitale/core/text.hpp"
#include "bitale/ops/complex.hpp"
#include "bitale/ops/ops.hpp"
#include "ops/analysis/lengths.hpp"
#include "ops/sparse/factor.hpp"
#include "ops/sparse/order.hpp"
#include "runtime/sparse_ordering.hpp"
#include "sparse/index_vector.hpp"
#include "sparse/real_form.hpp"

namespace bitale::sparse {

struct Cholesky::Complex {
  HermitianForm form;
  Cholesky factor;
};

Cholesky::Cholesky(const Matrix& a) : Cholesky(a, 0) {}

Cholesky::Cholesky(const Matrix& a, std::int64_t named_rows) : matrix_(a) {
  const Pattern& at = a.pattern();
  const auto height = known_integer(a.length(0)), width = known_integer(a.length(1));
  if (height && width && *height != *width)
    throw ShapeError(cat("sparse: cholesky: expected a square matrix, got ", a.str()));
  if (is_complex(a.dtype())) {
    HermitianForm form = hermitian_form(a);
    const Matrix matrix = form.matrix;
    complex_ = std::make_shared<const Complex>(Complex{std::move(form), Cholesky(matrix, *height)});
    return;
  }
  if (!at.is_static()) {
    const OrderForCholesky found = sparse_cholesky_order(at.indptr(), at.indices(), a.length(1 - at.major_axis()));
    bounds_ = found.bounds, rows_ = found.rows, permutation_ = found.order, inverse_order_ = found.inverse;
    slots_ = found.slots;
    // Elements of the other triangle, which are not read, add zeros.
    const Variable lower = switch_(ge(at.position(0), at.position(1)), a.data(), zeros_like(a.data()));
    triangle_ = inc_subtensor(zeros(Operands{length_of(rows_, 0)}, a.dtype()), {IndexItem(slots_)}, lower);
    factor_ = sparse_cholesky(triangle_, bounds_, rows_, permutation_, false);
    return;
  }
  const Elements elements = elements_of(at, "cholesky");
  runtime::CholeskyPlan plan = runtime::cholesky_plan({elements.lengths[0], elements.rows, elements.columns});
  std::vector<std::int64_t> own_slots, sources;
  for (std::size_t k = 0; k < elements.rows.size(); ++k)
    if (elements.rows[k] >= elements.columns[k]) {
      own_slots.push_back(plan.slots[k]);
      sources.push_back(std::int64_t(k));
    }
  order_ = std::move(plan.order);
  bounds_ = index_vector(plan.columns.bounds);
  rows_ = index_vector(plan.columns.rows);
  permutation_ = index_vector(order_);
  inverse_order_ = index_vector(plan.inverse);
  slots_ = index_vector(plan.slots);
  const Variable empty = zeros({std::int64_t(plan.columns.rows.size())}, a.dtype());
  triangle_ = set_subtensor(empty, {IndexItem(index_vector(own_slots))},
                            subtensor(a.data(), {IndexItem(index_vector(sources))}));
  std::vector<std::int64_t> names = order_;
  if (named_rows > 0)
    for (std::int64_t& each : names) each %= named_rows;
  factor_ = sparse_cholesky(triangle_, bounds_, rows_, index_vector(names), plan.dense);
}

const std::vector<std::int64_t>& Cholesky::order() const {
  if (complex_) return complex_->factor.order();
  if (!matrix_.pattern().is_static())
    throw NotImplementedError(
        "sparse: cholesky: the order of elimination is known in a call only, for a pattern that is given there");
  return order_;
}

Matrix Cholesky::factor() const {
  if (complex_)
    throw NotImplementedError(
        "sparse: cholesky: the factor L of a complex matrix is not implemented; solve, logdet, selected_inverse and "
        "sample are");
  const Variable& n = matrix_.length(0);
  return Matrix(Pattern::unchecked(Format::csc, rows_, bounds_, n, n), factor_);
}

Variable Cholesky::ordered(const Operand& b) const {
  if (b.ndim() != 1 && b.ndim() != 2)
    throw TypeError(cat("sparse: cholesky: expected a vector or a matrix, got ", b.variable.str(), " of type ",
                        b.variable.type()->str()));
  const auto given = known_integer(length_of(b.variable, 0)), expected = known_integer(matrix_.length(0));
  if (given && expected && *given != *expected)
    throw ShapeError(
        cat("sparse: cholesky: expected length ", *expected, ", got ", b.variable.str(), " with ", *given));
  std::vector<std::optional<Operand>> lengths(std::size_t(b.ndim()));
  lengths[0] = matrix_.length(0);
  return subtensor(specify_shape(b, lengths), {IndexItem(permutation_)});
}

Variable Cholesky::restored(const Variable& x) const { return subtensor(x, {IndexItem(inverse_order_)}); }

Variable Cholesky::solve(const Operand& b) const {
  const LocationScope here(b.where);
  if (complex_) return from_real_form(complex_->factor.solve(real_form(b.variable)));
  if (is_complex(b.dtype())) return complex(solve(real(b)), solve(imag(b)));
  return restored(sparse_solve(triangle_, factor_, bounds_, rows_, ordered(b)));
}

Variable Cholesky::logdet() const {
  if (complex_) return complex_->factor.logdet() / 2;
  return sparse_logdet(triangle_, factor_, bounds_, rows_, permutation_);
}

Matrix Cholesky::selected_inverse() const {
  if (complex_) return matrix_.with_data(elements_of_form(complex_->form, complex_->factor.selected_inverse().data()));
  return matrix_.with_data(subtensor(sparse_selected_inverse(triangle_, factor_, bounds_, rows_), {IndexItem(slots_)}));
}

Variable Cholesky::sample(const Operand& z) const {
  const LocationScope here(z.where);
  if (complex_) return from_real_form(complex_->factor.sample(real_form(z.variable)));
  return restored(sparse_solve_triangular(factor_, bounds_, rows_, ordered(z), true));
}

}  // namespace bitale::sparse
