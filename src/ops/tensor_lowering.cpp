// Operations composed of a TensorBuilder's primitive ones, and those that need what a TensorLowering knows.
#include "ops/tensor_lowering.hpp"

#include <numeric>

#include "bitale/core/text.hpp"

namespace bitale {

std::vector<int> axes_below(int count) {
  std::vector<int> axes(static_cast<std::size_t>(count));
  std::iota(axes.begin(), axes.end(), 0);
  return axes;
}

TensorValue TensorBuilder::number(double value, DType dtype) { return constant(Array::full(dtype, {}, value)); }

TensorValue TensorBuilder::full(double value, DType dtype, const Dims& lengths) {
  return broadcast(number(value, dtype), lengths, {});
}

TensorValue TensorBuilder::convert(const TensorValue& x, DType dtype) {
  if (x.dtype == dtype) return x;
  return map(dtype, {x}, [dtype](std::span<const Expr> in) { return program::cast(in[0], dtype); });
}

TensorValue TensorBuilder::repeat(const TensorValue& x, const Dims& lengths) {
  if (x.lengths == lengths) return x;
  return broadcast(x, lengths, axes_below(x.ndim()));
}

TensorValue TensorBuilder::transpose_matrices(const TensorValue& x) {
  std::vector<int> order = axes_below(x.ndim());
  std::swap(order[order.size() - 2], order[order.size() - 1]);
  return transpose(x, order);
}

// Every (n + 1)th of the n * n elements.
TensorValue TensorBuilder::diagonal(const TensorValue& x) {
  Dims flat = x.lengths;
  const std::int64_t n = flat.back();
  flat.erase(flat.size() - 1);
  flat.back() = n * n;
  Dims step(flat.size(), 1);
  step.back() = n + 1;
  return slice(reshape(x, flat), Dims(flat.size(), 0), flat, step);
}

TensorValue TensorBuilder::all(const TensorValue& x) {
  const std::vector<int> axes = axes_below(x.ndim());
  return reduce(x, program::Combiner::bit_and, axes);
}

TensorValue TensorBuilder::none(const TensorValue& x) {
  return all(map(DType::Bool, {x}, [](std::span<const Expr> in) { return ~in[0]; }));
}

const Array& TensorLowering::need_known(int input, std::string_view what) {
  const Array* value = known(input);
  if (!value) refuse(cat(what, " depends on the values of inputs: lengths must be known when the module is made"));
  return *value;
}

TensorValue TensorLowering::positions(int input, int axis, std::int64_t length, std::string_view who) {
  const TensorValue index = builder().convert(in(input), DType::Int64);
  const std::string message = cat(who, ": an index is out of bounds for axis ", axis, " with size ", length);
  if (product(index.lengths) != 0 && !host_checks_range(input, -length, length, message)) {
    const TensorValue inside = builder().map(
        DType::Bool, {index}, [length](std::span<const Expr> in) { return (in[0] >= -length) & (in[0] < length); });
    require(builder().all(inside), message);
  }
  return builder().map(DType::Int64, {index},
                       [length](std::span<const Expr> in) { return select(in[0] < 0, in[0] + length, in[0]); });
}

}  // namespace bitale
