// Builder: writes operations on tensors as text of a StableHLO module, in MLIR's generic form. Constants precede
// everything else, so that each is written once and every region may use it.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "ops/tensor_lowering.hpp"

namespace bitale::stablehlo {

std::string element_text(DType dtype);                            // "f64"
std::string tensor_text(DType dtype, const Dims& lengths);        // "tensor<2x3xf64>"
std::string integers_text(std::span<const std::int64_t> values);  // "array<i64: 0, 2>"

class Builder final : public TensorBuilder {
 public:
  // For a platform by JAX's name, or for any: with calls of LAPACK on CPUs, and of cuSOLVER's Cholesky factors with
  // CUDA.
  explicit Builder(std::string_view platform) : with_lapack_(platform == "cpu"), with_cusolver_(platform == "cuda") {}
  using TensorBuilder::map;
  TensorValue constant(const Array& value) override;
  TensorValue map(DType dtype, std::span<const TensorValue> in, const ElementwiseRule& rule) override;
  TensorValue function(std::string_view name, std::span<const TensorValue> in) override;
  TensorValue iota(DType dtype, const Dims& lengths, int axis) override;
  TensorValue broadcast(const TensorValue& x, const Dims& lengths, std::span<const int> axes) override;
  TensorValue reshape(const TensorValue& x, const Dims& lengths) override;
  TensorValue transpose(const TensorValue& x, std::span<const int> order) override;
  TensorValue reverse(const TensorValue& x, std::span<const int> axes) override;
  TensorValue slice(const TensorValue& x, const Dims& start, const Dims& stop, const Dims& step) override;
  TensorValue pad(const TensorValue& x, const TensorValue& fill, const Dims& low, const Dims& high,
                  const Dims& between) override;
  TensorValue concatenate(std::span<const TensorValue> parts, int axis) override;
  TensorValue part(const TensorValue& x, std::span<const TensorValue> start, const Dims& lengths) override;
  TensorValue with_part(const TensorValue& x, const TensorValue& part, std::span<const TensorValue> start) override;
  TensorValue reduce(const TensorValue& x, program::Combiner combiner, std::span<const int> axes) override;
  TensorValues reduce_pair(const TensorValue& x, const TensorValue& number, const TensorValue& initial_x,
                           const TensorValue& initial_number, int axis, const ElementwiseRule& first_wins) override;
  TensorValue dot(const TensorValue& x, const TensorValue& y, int batch, std::span<const int> x_axes,
                  std::span<const int> y_axes) override;
  TensorValue correlate(const TensorValue& x, const TensorValue& y, std::int64_t groups) override;
  TensorValue gather(const TensorValue& x, const TensorValue& at, std::span<const int> axes) override;
  TensorValue scatter(const TensorValue& x, const TensorValue& at, const TensorValue& updates,
                      std::span<const int> axes, std::optional<program::Combiner> combiner) override;
  TensorValues sort(std::span<const TensorValue> x, int axis, const ElementwiseRule& before) override;
  TensorValue cholesky(const TensorValue& x, bool lower) override;
  TensorValue solve_triangular(const TensorValue& a, const TensorValue& b, const TriangularSystem& system) override;
  bool has_lapack() const override { return with_lapack_; }
  TensorValues lapack(const LapackCall& call) override;
  TensorValue as_pairs(const TensorValue& x) override;
  TensorValue complex(const TensorValue& real, const TensorValue& imaginary) override;
  TensorValue fft(const TensorValue& x, FourierTransform transform, std::int64_t length) override;
  TensorValues repeat(std::int64_t count, const TensorValues& initial, bool has_until, const Step& step) override;
  TensorValues either(const TensorValue& condition, const Branch& then, const Branch& otherwise) override;

  TensorValue argument(DType dtype, const Dims& lengths);
  // The module with the function `main`, which has the arguments so far and these results.
  std::string module_text(std::string_view name, const TensorValues& results) const;

 private:
  struct Result {
    DType dtype;
    Dims lengths;
  };
  std::string fresh(std::string_view prefix);
  // `name`: with the dialect, "stablehlo.add".
  TensorValues operation(std::string_view name, std::span<const TensorValue> operands, std::string_view attributes,
                         std::span<const Result> results, std::string_view regions = {});
  TensorValue operation(std::string_view name, std::span<const TensorValue> operands, std::string_view attributes,
                        DType dtype, const Dims& lengths, std::string_view regions = {});
  TensorValue elementwise(std::string_view name, std::span<const TensorValue> operands, DType dtype,
                          std::string_view attributes = {});
  // An operand of a product with its summed axes. That of a transposed operand is the tensor before the transpose.
  struct Factor {
    TensorValue value;
    std::vector<int> summed;
  };
  Factor factor_of(const TensorValue& x, int batch, std::span<const int> summed) const;
  TensorValue constant_text(std::string_view text, DType dtype, const Dims& lengths);
  TensorValue lower_expr(Expr expr, std::span<const TensorValue> in, const Dims& lengths);
  TensorValue lower_node(Expr expr, std::span<const TensorValue> arguments, const Dims& lengths);
  // The text "{...}" of a region: what `make` writes for arguments of these types.
  using Body = std::function<TensorValues(const TensorValues&)>;
  std::string region(std::span<const Result> arguments, const Body& make);
  std::string combining_region(program::Combiner combiner, DType dtype);

  const bool with_lapack_, with_cusolver_;
  std::string constants_, body_;
  std::unordered_map<std::string, TensorValue> known_constants_;
  struct Transpose {
    TensorValue of;
    std::vector<int> order;
  };
  std::unordered_map<std::string, Transpose> transposes_;  // by the names of the results
  TensorValues arguments_;
  std::size_t count_ = 0;
};

}  // namespace bitale::stablehlo
