// Runtime functions for whole tensors are loops in which each lane takes its steps sequentially, until no lane is left.
// This file has the operations that such functions are written with.
#pragma once

#include <functional>
#include <limits>
#include <string_view>
#include <utility>

#include "ops/tensor_lowering.hpp"

namespace bitale::stablehlo {

// Tensors of the lanes' shape, and elementwise computations on them.
class Lanes {
 public:
  using Tensors = std::initializer_list<TensorValue>;
  Lanes(TensorBuilder& builder, const TensorValue& like) : builder_(builder), lengths_(like.lengths) {}

  TensorValue real(Tensors in, const ElementwiseRule& rule) const { return builder_.map(DType::Float64, in, rule); }
  TensorValue whole(Tensors in, const ElementwiseRule& rule) const { return builder_.map(DType::UInt64, in, rule); }
  TensorValue truth(Tensors in, const ElementwiseRule& rule) const { return builder_.map(DType::Bool, in, rule); }
  TensorValue full(double value, DType dtype) const { return builder_.full(value, dtype, lengths_); }
  TensorValue nan() const { return full(std::numeric_limits<double>::quiet_NaN(), DType::Float64); }
  TensorValue key_of(const TensorValue& u) const {
    return whole({u}, [](std::span<const Expr> in) { return program::bitcast(in[0], DType::UInt64); });
  }
  TensorValue either(const TensorValue& condition, const TensorValue& a, const TensorValue& b) const {
    return builder_.map(a.dtype, {condition, a, b},
                        [](std::span<const Expr> in) { return select(in[0], in[1], in[2]); });
  }
  TensorValue entry(const void* table, DType dtype, std::int64_t count, const TensorValue& index) const {
    Dims with_one = lengths_;
    with_one.push_back(1);
    const int axes[] = {0};
    const TensorValue at = builder_.reshape(builder_.convert(index, DType::Int64), with_one);
    return builder_.gather(builder_.constant(Array::from(table, dtype, {count})), at, axes);
  }

  // XLA's own function of that name.
  TensorValue function(std::string_view name, const TensorValue& x) const { return builder_.function(name, {&x, 1}); }
  TensorValue log(const TensorValue& x) const { return function("stablehlo.log", x); }

  // Repeats a step until no lane is active; it maps (active, states) to their next values.
  using Step = std::function<TensorValues(const TensorValues& now)>;
  TensorValues repeat(TensorValues initial, const Step& step) const {
    constexpr std::int64_t most = std::int64_t(1) << 40;
    TensorValues made = builder_.repeat(most, initial, true, [&](const TensorValue&, const TensorValues& now) {
      TensorValues next = step(now);
      next.push_back(builder_.none(next[0]));
      return next;
    });
    made.pop_back();
    return made;
  }

  TensorBuilder& builder() const { return builder_; }
  const Dims& lengths() const { return lengths_; }

 private:
  TensorBuilder& builder_;
  const Dims lengths_;
};

}  // namespace bitale::stablehlo
