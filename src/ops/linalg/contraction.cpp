// tensordot and the products of stacks, as matrix products of transposed and reshaped operands.
#include "bitale/ops/contraction.hpp"

#include <algorithm>
#include <numeric>

#include "bitale/core/error.hpp"
#include "bitale/core/text.hpp"
#include "bitale/ops/complex.hpp"
#include "ops/analysis/lengths.hpp"

namespace bitale {

Variable tensordot(const Operand& a, const Operand& b, const std::vector<int>& axes_a, const std::vector<int>& axes_b) {
  const LocationScope here(a.where);
  if (axes_a.size() != axes_b.size())
    throw ValueError(
        cat("tensordot: ", axes_a.size(), " axes of the first and ", axes_b.size(), " of the second operand"));
  std::vector<int> summed_a, summed_b, order_a, order_b;
  for (std::size_t i = 0; i < axes_a.size(); ++i) {
    summed_a.push_back(normal_axis(axes_a[i], a.ndim(), "tensordot"));
    summed_b.push_back(normal_axis(axes_b[i], b.ndim(), "tensordot"));
    if (std::count(summed_a.begin(), summed_a.end(), summed_a.back()) > 1 ||
        std::count(summed_b.begin(), summed_b.end(), summed_b.back()) > 1)
      throw ValueError("tensordot: an axis is given twice");
    common_length(a.variable.static_shape()[std::size_t(summed_a[i])],
                  b.variable.static_shape()[std::size_t(summed_b[i])], summed_a[i], "tensordot");
  }
  Variables kept, lengths_a, lengths_b;
  const auto is_in = [](const std::vector<int>& axes, int axis) {
    return std::find(axes.begin(), axes.end(), axis) != axes.end();
  };
  for (int axis = 0; axis < a.ndim(); ++axis)
    if (!is_in(summed_a, axis)) order_a.push_back(axis), kept.push_back(length_of(a.variable, axis));
  const Variable rows = lengths::product(kept);
  order_a.insert(order_a.end(), summed_a.begin(), summed_a.end());
  order_b = summed_b;
  for (int axis = 0; axis < b.ndim(); ++axis)
    if (!is_in(summed_b, axis)) {
      order_b.push_back(axis);
      lengths_b.push_back(length_of(b.variable, axis));
      kept.push_back(lengths_b.back());
    }
  for (int axis : summed_a) lengths_a.push_back(length_of(a.variable, axis));
  // Each pair of lengths is checked: their products might be equal by chance.
  Variable right = b.variable;
  std::vector<std::optional<Operand>> known(std::size_t(b.ndim()));
  for (std::size_t i = 0; i < summed_b.size(); ++i) known[std::size_t(summed_b[i])] = Operand(lengths_a[i]);
  if (!summed_b.empty()) right = specify_shape(right, known);
  const Variable depth = lengths::product(lengths_a), columns = lengths::product(lengths_b);
  const Variable left = reshape(dimshuffle(a, order_a), {rows, depth});
  return reshape(dot(left, reshape(dimshuffle(right, order_b), {depth, columns})), Operands(kept));
}

Variable tensordot(const Operand& a, const Operand& b, int axes) {
  const LocationScope here(a.where);
  if (axes < 0 || axes > std::min(a.ndim(), b.ndim()))
    throw ValueError(cat("tensordot: ", axes, " axes of tensors with ", a.ndim(), " and ", b.ndim(), " dimensions"));
  std::vector<int> axes_a = std::vector<int>(std::size_t(axes)), axes_b = axes_a;
  std::iota(axes_a.begin(), axes_a.end(), a.ndim() - axes);
  std::iota(axes_b.begin(), axes_b.end(), 0);
  return tensordot(a, b, axes_a, axes_b);
}

static void require_rank(const Operand& x, int least, const char* who) {
  if (x.ndim() < least)
    throw ValueError(cat(who, ": expected at least ", count_text(least, "dimension"), ", got ", x.variable.str(),
                         " with ", x.ndim()));
}

// NumPy conjugates the first operand of vecdot and vecmat, but not those of its other products.
static Variable conjugate_of_complex(const Operand& x) { return is_complex(x.dtype()) ? conj(x) : x.variable; }

Variable vecdot(const Operand& x, const Operand& y) {
  const LocationScope here(x.where);
  require_rank(x, 1, "vecdot");
  require_rank(y, 1, "vecdot");
  const Variable left = conjugate_of_complex(x);
  if (x.ndim() == 1 && y.ndim() == 1) return dot(left, y);
  return squeeze(matmul(expand_dims(left, -2), expand_dims(y, -1)), std::vector<int>{-2, -1});
}
Variable matvec(const Operand& x, const Operand& y) {
  const LocationScope here(x.where);
  require_rank(x, 2, "matvec");
  require_rank(y, 1, "matvec");
  return squeeze(matmul(x, expand_dims(y, -1)), std::vector<int>{-1});
}
Variable vecmat(const Operand& x, const Operand& y) {
  const LocationScope here(x.where);
  require_rank(x, 1, "vecmat");
  require_rank(y, 2, "vecmat");
  return squeeze(matmul(expand_dims(conjugate_of_complex(x), -2), y), std::vector<int>{-2});
}

Variable kron(const Operand& a, const Operand& b) {
  const LocationScope here(a.where);
  Variable left = a.variable, right = b.variable;
  while (left.ndim() < right.ndim()) left = expand_dims(left, 0);
  while (right.ndim() < left.ndim()) right = expand_dims(right, 0);
  std::vector<int> order_a, order_b;
  Variables lengths;
  for (int axis = 0; axis < left.ndim(); ++axis) {
    order_a.insert(order_a.end(), {axis, new_axis});
    order_b.insert(order_b.end(), {new_axis, axis});
    lengths.push_back(lengths::mul(length_of(left, axis), length_of(right, axis)));
  }
  return reshape(mul(dimshuffle(left, order_a), dimshuffle(right, order_b)), Operands(lengths));
}

}  // namespace bitale
