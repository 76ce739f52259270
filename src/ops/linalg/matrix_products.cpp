// Functions of matrices that are expressions over products, inverses and decompositions.
#include <algorithm>
#include <cmath>
#include <limits>

#include "bitale/ops/ops.hpp"
#include "core/call_scope.hpp"
#include "ops/analysis/lengths.hpp"
#include "ops/complex/matrices.hpp"
#include "ops/linalg/linalg_core.hpp"
#include "ops/option_names.hpp"

namespace bitale {

Variable matrix_power(const Operand& m, std::int64_t n) {
  const LocationScope here(m.where);
  const CallScope call("matrix_power");
  const Variable x = required_square("matrix_power", require_matrices("matrix_power", m));
  if (n < 0) {
    if (n == std::numeric_limits<std::int64_t>::min()) throw ValueError("matrix_power: the exponent is too small");
    return matrix_power(inv(x), -n);
  }
  if (n == 0) {
    const Variable unit = eye(length_of(x, x.ndim() - 1), {}, 0, x.dtype());
    return required_square("matrix_power", add(zeros_like(x), unit));
  }
  Variable out, square = x;
  for (std::uint64_t rest = std::uint64_t(n); rest > 0; rest >>= 1) {
    if (rest & 1) out = out.defined() ? matmul(out, square) : square;
    if (rest > 1) square = matmul(square, square);
  }
  return out;
}

Variable matrix_dot(const Operands& factors) {
  const LocationScope here(factors.where);
  if (factors.variables.empty()) throw ValueError("matrix_dot: expected at least one matrix");
  Variable out = factors.variables[0];
  for (std::size_t i = 1; i < factors.variables.size(); ++i) out = dot(out, factors.variables[i]);
  return out;
}

namespace {

// The product of the lengths of dimensions [begin, end).
Variable length_product(const Variable& x, int begin, int end) {
  Variable out = int64_constant(1);
  for (int axis = begin; axis < end; ++axis) out = lengths::mul(out, length_of(x, axis));
  return out;
}

Variables lengths_between(const Variable& x, int begin, int end) {
  Variables out;
  for (int axis = begin; axis < end; ++axis) out.push_back(length_of(x, axis));
  return out;
}

}  // namespace

Variable tensorinv(const Operand& a, int ind) {
  const LocationScope here(a.where);
  const CallScope call("tensorinv");
  if (ind <= 0) throw ValueError(cat("tensorinv: expected ind > 0, got ", ind));
  if (a.ndim() <= ind)
    throw ShapeError(
        cat("tensorinv: expected more than ", ind, " dimensions, got ", a.variable.str(), " with ", a.ndim()));
  const Variable& x = a.variable;
  const Variable matrix = reshape(x, Operands{length_product(x, 0, ind), length_product(x, ind, x.ndim())});
  Variables shape = lengths_between(x, ind, x.ndim());
  for (auto& length : lengths_between(x, 0, ind)) shape.push_back(length);
  return reshape(inv(required_square("tensorinv", matrix)), Operands(shape));
}

Variable tensorsolve(const Operand& a, const Operand& b, const std::vector<int>& axes) {
  const LocationScope here(a.where);
  const CallScope call("tensorsolve");
  Variable x = a.variable;
  if (!axes.empty()) {  // these are moved behind all others
    std::vector<int> order;
    for (int axis = 0; axis < x.ndim(); ++axis) order.push_back(axis);
    for (int axis : axes) {
      const int moved = normal_axis(axis, x.ndim(), "tensorsolve");
      order.erase(std::remove(order.begin(), order.end(), moved), order.end());
      order.push_back(moved);
    }
    x = transpose(x, order);
  }
  if (x.ndim() < b.ndim())
    throw ShapeError(cat("tensorsolve: expected a of at least the dimensions of b, got ", x.ndim(), " and ", b.ndim()));
  const Variable rows = length_product(b.variable, 0, b.ndim()), unknowns = length_product(x, b.ndim(), x.ndim());
  x = required_equal(x, rows, unknowns, "tensorsolve: expected as many unknowns as b has elements");
  const Variable solution = solve(reshape(x, Operands{rows, unknowns}), reshape(b, Operands{rows}), {.b_ndim = 1});
  return reshape(solution, Operands(lengths_between(x, b.ndim(), x.ndim())));
}

Variable block_diag(const Operands& matrices) {
  const LocationScope here(matrices.where);
  if (matrices.variables.empty()) throw ValueError("block_diag: expected at least one matrix");
  int ndim = 2;
  DType dtype = matrices.variables[0].dtype();
  for (auto& x : matrices.variables) {
    require_matrices("block_diag", x);
    ndim = std::max(ndim, x.ndim());
    dtype = promote(dtype, x.dtype());
  }
  // Each matrix is padded with zeros on both sides; the results are concatenated vertically.
  Variable width = int64_constant(0);
  for (auto& x : matrices.variables) width = lengths::add(width, length_of(x, x.ndim() - 1));
  Variables batch;
  if (ndim > 2) {
    Variables leading;
    for (auto& x : matrices.variables) {
      Variable one = zeros(Operands(lengths_between(x, 0, x.ndim() - 2)), DType::Int8);
      while (one.ndim() < ndim - 2) one = expand_dims(one, 0);
      leading.push_back(one);
    }
    Variable all = leading[0];
    for (std::size_t i = 1; i < leading.size(); ++i) all = add(all, leading[i]);
    batch = lengths_between(all, 0, ndim - 2);
  }
  Variables rows;
  Variable before = int64_constant(0);
  for (auto& given : matrices.variables) {
    Variable x = cast(given, dtype);
    const Variable height = length_of(x, x.ndim() - 2), own = length_of(x, x.ndim() - 1);
    if (ndim > 2) {
      Variables shape = batch;
      shape.push_back(height), shape.push_back(own);
      x = broadcast_to(x, Operands(shape));
    }
    const auto nothing = [&](const Variable& columns) {
      Variables shape = batch;
      shape.push_back(height), shape.push_back(columns);
      return zeros(Operands(shape), dtype);
    };
    const Variable after = lengths::sub(lengths::sub(width, before), own);
    rows.push_back(concatenate(Variables{nothing(before), x, nothing(after)}, ndim - 1));
    before = lengths::add(before, own);
  }
  return concatenate(Operands(rows), ndim - 2);
}

// ---- norms ----------------------------------------------------------------------------------------------------------

namespace {

// |x|^2
Variable squares(const Variable& x) { return is_complex(x) ? add(sqr(real(x)), sqr(imag(x))) : sqr(x); }

// The largest of sizes along an axis; 0 for an empty axis, as in NumPy's norms.
Variable largest_size(const Variable& sizes, int axis, KeepDims keepdims = KeepDims::No) {
  const std::int64_t length = sizes.static_shape()[std::size_t(axis)];
  Variable all = sizes;
  if (length == 0 || length == unknown_length) {
    Variables shape = lengths_of(sizes);
    shape[std::size_t(axis)] = int64_constant(1);
    all = concatenate(Variables{sizes, zeros(Operands(shape), sizes.dtype())}, axis);
  }
  return max(all, Axes{{axis}}, keepdims);
}

Variable norm_along(const Variable& x, double ord, int along, KeepDims keepdims) {
  const Variable size = abs(x);
  const Axes axis{{along}};
  if (std::isinf(ord)) return ord > 0 ? largest_size(size, along, keepdims) : min(size, axis, keepdims);
  if (ord == 0) return sum(cast(neq(size, 0), size.dtype()), axis, keepdims);
  if (ord == 1) return sum(size, axis, keepdims);
  if (ord == 2) return sqrt(sum(squares(x), axis, keepdims));
  const Variable power = cast(Operand(ord), size.dtype()), root = cast(Operand(1 / ord), size.dtype());
  return pow(sum(pow(size, power), axis, keepdims), root);
}

}  // namespace

Variable norm(const Operand& given, const NormOrder& ord, const Axes& axes, KeepDims keepdims) {
  const LocationScope here(given.where);
  Variable x = is_continuous(given.dtype()) ? given.variable : cast(given.variable, DType::Float64);
  const auto* name = std::get_if<MatrixNorm>(&ord);
  const auto* number = std::get_if<double>(&ord);
  std::vector<int> axis;
  if (axes) {
    for (int each : *axes) axis.push_back(normal_axis(each, x.ndim(), "norm"));
  } else {
    if (!name && !number) {  // of all elements
      const Variable flat = flatten(x);
      const Variable out = sqrt(sum(squares(flat)));
      if (keepdims == KeepDims::No) return out;
      return reshape(out, Operands(Variables(std::size_t(x.ndim()), int64_constant(1))));
    }
    for (int each = 0; each < x.ndim(); ++each) axis.push_back(each);
  }
  if (axis.size() == 1) {
    if (name)
      throw ValueError(cat("norm: ord \"", option_name(*name), "\" is of matrices; expected two axes, got one"));
    return norm_along(x, number ? *number : 2., axis[0], keepdims);
  }
  if (axis.size() > 2 && !name && !number) return sqrt(sum(squares(x), Axes{axis}, keepdims));
  if (axis.size() != 2)
    throw ValueError(cat("norm: expected one or two axes, got ", axis.size(), "; without ord, it is of all elements"));
  if (axis[0] == axis[1]) throw ValueError("norm: the two axes are the same");
  const auto kept = [&](Variable out) {
    if (keepdims == KeepDims::No) return out;
    const int low = std::min(axis[0], axis[1]), high = std::max(axis[0], axis[1]);
    return expand_dims(expand_dims(out, low), high);
  };
  if (name ? *name == MatrixNorm::Frobenius : !number) return kept(sqrt(sum(squares(x), Axes{axis})));
  const auto by_singular_values = [&] {
    std::vector<int> order;
    for (int each = 0; each < x.ndim(); ++each)
      if (each != axis[0] && each != axis[1]) order.push_back(each);
    order.push_back(axis[0]), order.push_back(axis[1]);
    return svdvals(transpose(x, order));
  };
  const auto over_last = [](const Variable& v) { return Axes{{v.ndim() - 1}}; };
  if (name) {
    const Variable s = by_singular_values();
    return kept(sum(s, over_last(s)));
  }
  const double p = *number;
  if (std::abs(p) == 2) {
    const Variable s = by_singular_values();
    if (p < 0) return kept(min(s, over_last(s)));
    // The largest one is the first, since they are in decreasing order; the sum of the slice is 0 if there are none.
    return kept(sum(subtensor(s, {Ellipsis{}, Slice{.start = {}, .stop = 1, .step = {}}}), over_last(s)));
  }
  if (std::abs(p) == 1 || std::isinf(p)) {
    const int summed = std::isinf(p) ? axis[1] : axis[0], other = std::isinf(p) ? axis[0] : axis[1];
    const Variable sums = sum(abs(x), Axes{{summed}});
    const int rest = other > summed ? other - 1 : other;
    return kept(p > 0 ? largest_size(sums, rest) : min(sums, Axes{{rest}}));
  }
  throw ValueError(cat("norm: expected ord 1, -1, 2, -2, inf, -inf, \"fro\" or \"nuc\" of a matrix, got ", p));
}

}  // namespace bitale
