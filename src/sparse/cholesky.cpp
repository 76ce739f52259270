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

namespace {

// Elements of a Hermitian matrix, of which some stand on the other side of the diagonal.
Variable mirrored(const Variable& x, const Variable& is_other_side) { return switch_(is_other_side, conj(x), x); }

}  // namespace

Cholesky::Cholesky(const Matrix& a) : matrix_(a) {
  const Pattern& at = a.pattern();
  const auto height = known_integer(a.length(0)), width = known_integer(a.length(1));
  if (height && width && *height != *width)
    throw ShapeError(cat("sparse: cholesky: expected a square matrix, got ", a.str()));
  const bool complex_values = is_complex(a.dtype());
  bool dense = false;
  Variable triangle;
  if (!at.is_static()) {
    const OrderForCholesky found = sparse_cholesky_order(at.indptr(), at.indices(), a.length(1 - at.major_axis()));
    factor_bounds_ = found.bounds, factor_rows_ = found.rows, permutation_ = found.order,
    inverse_order_ = found.inverse;
    slots_ = found.slots;
    // Elements of the other triangle, which are not read, add zeros.
    Variable lower = switch_(ge(at.position(0), at.position(1)), a.data(), zeros_like(a.data()));
    if (complex_values) {
      const auto rank = [&](int axis) { return subtensor(inverse_order_, {IndexItem(at.position(axis))}); };
      is_mirrored_ = lt(rank(0), rank(1));
      lower = mirrored(lower, is_mirrored_);
    }
    triangle = inc_subtensor(zeros(Operands{length_of(factor_rows_, 0)}, a.dtype()), {IndexItem(slots_)}, lower);
  } else {
    const Elements elements = elements_of(at, "cholesky");
    runtime::CholeskyPlan plan = runtime::cholesky_plan({elements.lengths[0], elements.rows, elements.columns});
    std::vector<std::int64_t> own_slots, sources, are_mirrored;
    for (std::size_t k = 0; k < elements.rows.size(); ++k) {
      are_mirrored.push_back(plan.inverse[std::size_t(elements.rows[k])] <
                             plan.inverse[std::size_t(elements.columns[k])]);
      if (elements.rows[k] >= elements.columns[k]) {
        own_slots.push_back(plan.slots[k]);
        sources.push_back(std::int64_t(k));
      }
    }
    order_ = std::move(plan.order);
    dense = plan.dense;
    factor_bounds_ = index_vector(plan.columns.bounds);
    factor_rows_ = index_vector(plan.columns.rows);
    permutation_ = index_vector(order_);
    inverse_order_ = index_vector(plan.inverse);
    slots_ = index_vector(plan.slots);
    const IndexItem read(index_vector(sources));
    Variable lower = subtensor(a.data(), {read});
    if (complex_values) {
      is_mirrored_ = constant(Array(are_mirrored).astype(DType::Bool));
      lower = mirrored(lower, subtensor(is_mirrored_, {read}));
    }
    triangle = set_subtensor(zeros({std::int64_t(plan.columns.rows.size())}, a.dtype()),
                             {IndexItem(index_vector(own_slots))}, lower);
  }
  if (complex_values) {
    form_ = std::make_shared<const RealForm>(sparse_real_form(factor_bounds_, factor_rows_, true));
    triangle_ = in_real_form(triangle, *form_);
    bounds_ = form_->bounds, rows_ = form_->rows;
    named_rows_ = flatten(stack({permutation_, permutation_}, 1));
  } else {
    triangle_ = triangle, bounds_ = factor_bounds_, rows_ = factor_rows_, named_rows_ = permutation_;
  }
  factor_ = sparse_cholesky(triangle_, bounds_, rows_, named_rows_, dense);
}

const std::vector<std::int64_t>& Cholesky::order() const {
  if (!matrix_.pattern().is_static())
    throw NotImplementedError(
        "sparse: cholesky: the elimination order is known only in a call, because the pattern comes with the call");
  return order_;
}

Matrix Cholesky::factor() const {
  const Variable& n = matrix_.length(0);
  return Matrix(Pattern::unchecked(Format::csc, factor_rows_, factor_bounds_, n, n),
                form_ ? from_real_form(factor_, *form_) : factor_);
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
  const Variable x = subtensor(specify_shape(b, lengths), {IndexItem(permutation_)});
  return form_ ? interleaved(x) : x;
}

Variable Cholesky::restored(const Variable& x) const {
  return subtensor(form_ ? from_interleaved(x) : x, {IndexItem(inverse_order_)});
}

Variable Cholesky::solve(const Operand& b) const {
  const LocationScope here(b.where);
  if (!form_ && is_complex(b.dtype())) return complex(solve(real(b)), solve(imag(b)));
  return restored(sparse_solve(triangle_, factor_, bounds_, rows_, ordered(b)));
}

Variable Cholesky::logdet() const {
  const Variable logdet = sparse_logdet(triangle_, factor_, bounds_, rows_, named_rows_);
  return form_ ? logdet / 2 : logdet;
}

Matrix Cholesky::selected_inverse() const {
  const Variable own = sparse_selected_inverse(triangle_, factor_, bounds_, rows_);
  if (!form_) return matrix_.with_data(subtensor(own, {IndexItem(slots_)}));
  return matrix_.with_data(mirrored(subtensor(from_real_form(own, *form_), {IndexItem(slots_)}), is_mirrored_));
}

Variable Cholesky::sample(const Operand& z) const {
  const LocationScope here(z.where);
  if (!form_ && is_complex(z.dtype())) return complex(sample(real(z)), sample(imag(z)));
  return restored(sparse_solve_triangular(factor_, bounds_, rows_, ordered(z), true));
}

}  // namespace bitale::sparse
