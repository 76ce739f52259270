#include "ops/linalg_core.hpp"

#include "runtime/blas.hpp"

namespace bitale {

DType matrix_dtype(std::span<const Variable> inputs) {
  DType out = inputs[0].dtype();
  for (auto& input : inputs) out = promote(out, input.dtype());
  return out == DType::Float32 ? DType::Float32 : DType::Float64;
}

namespace {

void require_square(std::string_view who, const Dims& shape) {
  const std::int64_t rows = shape[shape.size() - 2], columns = shape.back();
  if (rows == columns || rows == unknown_length || columns == unknown_length) return;
  throw ShapeError(cat(who, ": expected square matrices, got ", rows, " rows and ", columns, " columns"));
}

}  // namespace

void require_square(std::string_view who, const Variable& x) { require_square(who, x.static_shape()); }
void require_square(std::string_view who, const Array& x) { require_square(who, x.shape()); }

Variable apply_matrices(const Ref<const MatrixOp>& op, std::span<const Variable> inputs) {
  return blockwise(op, op->signature(), inputs).output();
}

std::string lapack_name(std::string_view name, DType dtype) {
  runtime::require_blas();
  return cat("bt_", name, dtype == DType::Float32 ? "_f32" : "_f64");
}

}  // namespace bitale
