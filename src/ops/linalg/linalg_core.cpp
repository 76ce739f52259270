#include "ops/linalg/linalg_core.hpp"

#include <limits>

#include "bitale/ops/complex.hpp"
#include "bitale/ops/ops.hpp"
#include "bitale/runtime/functions.hpp"
#include "core/float_limits.hpp"
#include "ops/analysis/lengths.hpp"
#include "runtime/blas.hpp"
#include "runtime/decompositions.hpp"
#include "runtime/matrix_functions.hpp"

namespace bitale {

DType matrix_dtype(std::span<const Variable> inputs) {
  DType out = inputs[0].dtype();
  for (auto& input : inputs) out = promote(out, input.dtype());
  return computing_dtype(out) == DType::Float32 ? DType::Float32 : DType::Float64;
}

Structure inverse_structure(const Structure& a) {
  Structure out{Fact::Square};
  for (const Fact fact : {Fact::Diagonal, Fact::LowerTriangular, Fact::UpperTriangular, Fact::Symmetric,
                          Fact::PositiveDefinite, Fact::Orthogonal, Fact::Permutation})
    if (a.is(fact)) out.add(fact);
  if (a.is_triangular())
    for (const Fact fact : {Fact::PositiveDiagonal, Fact::UnitDiagonal})
      if (a.is(fact)) out.add(fact);
  return out;
}

Structure product_structure(const Structure& a, const Structure& b) {
  const Structure both = a.common(b);
  Structure out;
  for (const Fact fact : {Fact::Diagonal, Fact::LowerTriangular, Fact::UpperTriangular, Fact::Orthogonal,
                          Fact::Selection, Fact::Permutation})
    if (both.is(fact)) out.add(fact);
  if (both.is(Fact::Square)) out.add(Fact::Square);
  if (out.is_triangular() && both.is(Fact::Square))  // the diagonals' product
    for (const Fact fact : {Fact::PositiveDiagonal, Fact::UnitDiagonal})
      if (both.is(fact)) out.add(fact);
  if (a.is_identity()) out.add(b);
  if (b.is_identity()) out.add(a);
  return out;
}

namespace {

void require_square(std::string_view who, const Dims& shape) {
  const std::int64_t rows = shape[shape.size() - 2], columns = shape.back();
  if (rows == columns || rows == unknown_length || columns == unknown_length) return;
  throw ShapeError(cat(who, ": expected square matrices, got ", rows, " rows and ", columns, " columns"));
}

}  // namespace

void require_square(std::string_view who, const Variable& x) { require_square(who, x.static_shape()); }

std::int64_t square_length(std::string_view who, const Variable& x) {
  require_square(who, x);
  return common_length(x.static_shape()[0], x.static_shape()[1], 0, who);
}

Apply system_node(const OpRef& op, std::string_view who, int b_ndim, std::span<const Variable> inputs) {
  require_inputs(*op, inputs, 2);
  const DType dtype = matrix_dtype(inputs);
  const Variable a = cast(inputs[0], dtype), b = cast(inputs[1], dtype);
  if (a.ndim() != 2 || b.ndim() != b_ndim)
    throw ShapeError(cat(who, ": expected a matrix a and a b of ", b_ndim, " dimensions, got ", a.str(), " with ",
                         a.ndim(), " and ", b.str(), " with ", b.ndim()));
  Dims shape = b.static_shape();
  shape[0] = common_length(shape[0], square_length(who, a), 0, who);
  return Apply(op, {a, b}, {tensor_type(dtype, shape)});
}

void require_on_error(std::string_view who, std::string_view on_error) {
  if (on_error != "raise" && on_error != "nan")
    throw ValueError(cat(who, ": expected on_error \"raise\" or \"nan\", got \"", on_error, "\""));
}

void raise_linalg(std::string message, std::string_view hint) {
  LinAlgError error(std::move(message));
  error.add("hint", std::string(hint));
  throw error;
}

Variable apply_matrices(const Ref<const MatrixOp>& op, std::span<const Variable> inputs) {
  return blockwise(op, op->signature(), inputs).output();
}

std::string_view DecompositionOp::failure() const {
  return runtime::function_named(cat("bt_", runtime_name(), "_f64")).failure;
}

void DecompositionOp::call_runtime(Lowering& to, const Apply& node, std::vector<CallArgument> arguments) const {
  to.call(lapack_name(runtime_name(), node.output(0).dtype()), std::move(arguments));
}

void DecompositionOp::check(std::int64_t status) const {
  if (status == 0) return;
  if (status == runtime::no_lapack) throw NotImplementedError(cat(who(), ": ", runtime::status_text(status)));
  if (status == runtime::no_work_memory) throw LinAlgError(cat(who(), ": ", runtime::status_text(status)));
  throw LinAlgError(std::string(failure()));
}

void DecompositionOp::require_ndim(const Variable& x, int ndim) const {
  if (x.ndim() == ndim) return;
  const std::string expected = ndim == 1 ? "a vector" : ndim == 2 ? "a matrix" : "matrices along a first dimension";
  throw ShapeError(cat(who(), ": expected ", expected, ", got ", x.str(), " with ", x.ndim(), " dimensions"));
}

Variables DecompositionOp::matrices_of(std::span<const Variable> inputs, int count) const {
  require_inputs(*this, inputs, count);
  const DType dtype = matrix_dtype(inputs);
  Variables out;
  for (auto& input : inputs) {
    out.push_back(cast(input, dtype));
    require_ndim(out.back(), 2);
  }
  return out;
}

Variable cotangent_or_zeros(const Apply& node, std::span<const Variable> cotangents, int output) {
  const Variable& given = cotangents[std::size_t(output)];
  return given.is_disconnected() ? zeros_like(node.output(output)) : given;
}

namespace {

Variable constant_of_float(double value, DType dtype) { return cast(Operand(value), dtype); }
Variable zero_or_nan(const Variable& unused, DType dtype) {
  return switch_(unused, constant_of_float(0, dtype),
                 constant_of_float(std::numeric_limits<double>::quiet_NaN(), dtype));
}
// The threshold below which numbers are 0 up to the rounding of these values. It is taken from their sum, not from
// their `max`, which would be an error for an empty vector.
Variable rounding_of(const Variable& values) {
  return mul(sum(abs(values)), constant_of_float(4 * machine_epsilon(values.dtype()), values.dtype()));
}

}  // namespace

Variable over_differences(const Variable& numerator, const Variable& difference, const Variable& unused,
                          const Variable& values) {
  if (is_complex(numerator)) {
    const auto part = [&](const Variable& each) { return over_differences(each, difference, unused, values); };
    return complex(part(real(numerator)), part(imag(numerator)));
  }
  const DType dtype = numerator.dtype();
  const Variable indices = arange(length_of(values, 0));
  const Variable same = eq(expand_dims(indices, 0), expand_dims(indices, 1));
  const Variable neither = or_(same, and_(expand_dims(unused, 0), expand_dims(unused, 1)));
  const Variable equal = or_(same, le(abs(difference), rounding_of(values)));
  return switch_(equal, zero_or_nan(neither, dtype),
                 true_div(numerator, switch_(equal, constant_of_float(1, dtype), difference)));
}

Variable reciprocal_of_used(const Variable& values, const Variable& unused) {
  const Variable vanishes = le(values, rounding_of(values));
  return switch_(vanishes, zero_or_nan(unused, values.dtype()),
                 reciprocal(switch_(vanishes, constant_of_float(1, values.dtype()), values)));
}

Variable zero_columns(const Variable& x) {
  return eq(sum(abs(x), Axes{{0}}), constant_of_float(0, component_dtype(x.dtype())));
}

const Variable& require_matrices(const char* who, const Operand& x) {
  if (x.ndim() < 2)
    throw ShapeError(
        cat(who, ": expected a matrix, or a batch of them, got ", x.variable.str(), " with ", x.ndim(), " dimensions"));
  return x.variable;
}

Variable mirrored(const Variable& x, bool lower) {
  return lower ? add(tril(x), t(tril(x, -1))) : add(triu(x), t(triu(x, 1)));
}

std::string lapack_name(std::string_view name, DType dtype) {
  runtime::require_blas();
  return cat("bt_", name, dtype == DType::Float32 ? "_f32" : "_f64");
}

}  // namespace bitale
