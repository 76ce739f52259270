// General systems of equations.
#include "bitale/ops/lowering.hpp"
#include "bitale/ops/ops.hpp"
#include "bitale/ops/registry.hpp"
#include "core/call_scope.hpp"
#include "ops/analysis/lengths.hpp"
#include "ops/complex/systems.hpp"
#include "ops/linalg/solve_definite.hpp"
#include "ops/linalg/solve_structured.hpp"
#include "ops/linalg/system_op.hpp"
#include "ops/sample_values.hpp"
#include "runtime/lu.hpp"

namespace bitale {

namespace {

class Solve final : public SystemOp {
 public:
  Solve(bool trans, int b_ndim, std::string on_error) : SystemOp("solve", trans, b_ndim, std::move(on_error)) {}
  static constexpr auto fields = attribute_list(attribute("trans", &Solve::trans), attribute("b_ndim", &Solve::b_ndim),
                                                attribute("on_error", &Solve::on_error));

  std::string_view name() const override { return "Solve"; }
  Attributes attributes() const override { return collect_attributes(*this, fields); }

  // The inverse of a structured matrix.
  Structure structure(const Apply&, int, InputStructures& inputs) const override {
    if (b_ndim != 2 || !inputs.of(1).is_identity()) return {};
    const Structure a = inputs.of(0);
    return inverse_structure(trans ? a.transposed() : a);
  }

 private:
  TensorValue solve_tensors(TensorLowering& to, const TensorValue& a, const TensorValue& b) const override {
    require_lapack(to);
    return solve_by_lu(to, a, b, TransposedForm(trans), on_error, failure());
  }
  std::vector<std::string> scratch() const override { return {"mm", "mi"}; }
  std::vector<std::int64_t> flags_of(bool transposed) const override {
    return {trans != transposed, on_error == "nan"};
  }
  std::int64_t run(const Call& to) const override {
    return to.with_numbers<false>([&]<class T>(T) {
      return runtime::solve(to.m, columns(to), trans, on_error == "nan", to.in<T>(0), to.out<T>(0), to.out<T>(1),
                            to.out<std::int32_t>(2));
    });
  }
  void fail(std::int64_t status) const override { fail_in_row("no pivot is left", status); }
  const char* who() const override { return "solve"; }
  Variable solved(bool transposed, const Variable& a, const Variable& b) const override {
    return (*make_ref<Solve>(transposed, b_ndim, on_error))({a, b});
  }
};

std::vector<Sample> solve_samples() {
  constexpr auto any = unknown_length;
  std::vector<Sample> out;
  const auto add = [&](DType dtype, std::int64_t n, const Dims& b_type, const Dims& b_shape, bool trans,
                       bool smooth = true, const char* on_error = "raise") {
    Array a = sample_values(DType::Float64, {n, n}).copy();  // pivots are not on the diagonal
    for (std::int64_t k = 0; k < n; ++k) a.mutable_data_as<double>()[k * n + (k + 1) % n] += 3 * double(n);
    const Variable both[] = {sample_input(dtype, {any, any}, "a"), sample_input(dtype, b_type, "b")};
    out.push_back({make_ref<Solve>(trans, int(b_type.size()), on_error)->make_node(both),
                   {a.astype(dtype), sample_values(dtype, b_shape, 1)},
                   1e-6,
                   smooth && dtype == DType::Float64});
  };
  for (const bool trans : {true, false}) {
    add(DType::Float64, 3, {any}, {3}, trans);
    add(DType::Float64, 3, {any, 2}, {3, 2}, trans);
    add(DType::Float32, 4, {any, any}, {4, 3}, trans);
    add(DType::Float64, 33, {any}, {33}, trans, false);
    add(DType::Float64, 33, {any, any}, {33, 5}, trans, false);
  }
  add(DType::Float64, 1, {1, any}, {1, 3}, false);
  add(DType::Float64, 0, {any, any}, {0, 3}, false);
  add(DType::Float64, 3, {any, any}, {3, 0}, false);
  add(DType::Int64, 3, {any}, {3}, false);
  add(DType::Float64, 3, {any, any}, {3, 2}, true, true, "nan");
  return out;
}

// A matrix of which one triangle is read is completed; bands use the real matrix of twice the length
// (complex_matrices.hpp).
Variable solve_complex(const Variable& a, const Variable& b, const SolveOptions& options, int b_ndim) {
  const Assume kind = options.assume_a;
  const auto general = [&](const Variable& matrix) {
    return complex_solve(matrix, b, options.transposed, b_ndim, options.on_error);
  };
  if (kind == Assume::LowerTriangular || kind == Assume::UpperTriangular)
    return solve_triangular(a, b,
                            {.lower = kind == Assume::LowerTriangular,
                             .trans = options.transposed,
                             .b_ndim = b_ndim,
                             .on_error = options.on_error});
  if (kind == Assume::General) return general(a);
  if (kind == Assume::Symmetric) return general(mirrored(required_square("solve", a), options.lower));
  if (kind == Assume::Hermitian) return general(hermitian(required_square("solve", a), options.lower));
  if (kind == Assume::PositiveDefinite) {  // its transpose is the conjugate, with the conjugate factor
    const Variable factor = cholesky(a, {.lower = options.lower, .on_error = options.on_error});
    return cho_solve(options.transposed ? conj(factor) : factor, b, {.lower = options.lower, .b_ndim = b_ndim});
  }
  const int width = kind == Assume::Diagonal ? 0 : 1;
  const Variable matrix = kind == Assume::Banded ? a : triu(tril(a, width), -width);
  if (options.on_error == OnError::Nan) return general(matrix);
  const Variable square = required_square("solve", matrix);
  const Variable blocks = as_blocks(options.transposed ? matrix_transpose(square) : square);
  return of_columns(solve(blocks, as_columns(b, b_ndim), {.assume_a = Assume::Banded, .b_ndim = b_ndim}), b_ndim);
}

BITALE_REGISTER_OP(Solve, "The solution of a general system of equations, by LU factors with partial pivoting.",
                   solve_samples);

}  // namespace

Variable solve(const Operand& a, const Operand& b, const SolveOptions& options) {
  const LocationScope here(a.where);
  if (a.ndim() < 2 || b.ndim() < 1)
    throw ShapeError(cat("solve: expected a matrix a and a vector or matrix b, or batches of them, got ",
                         a.variable.str(), " with ", a.ndim(), " dimensions and ", b.variable.str(), " with ",
                         b.ndim()));
  const Assume kind = options.assume_a;
  const CallScope call(kind == Assume::General ? nullptr : "solve");
  const int b_ndim = core_ndim(options.b_ndim, b.variable);
  if (any_complex({a.variable, b.variable})) {
    const auto [left, right] = in_common_dtype(a.variable, b.variable);
    return solve_complex(left, right, options, b_ndim);
  }
  const auto triangular = [&](bool lower) {
    return solve_triangular(
        a, b, {.lower = lower, .trans = options.transposed, .b_ndim = b_ndim, .on_error = options.on_error});
  };
  const auto general = [&](const Variable& matrix, bool transposed) {
    const Variable inputs[] = {matrix, b.variable};
    return apply_matrices(make_ref<Solve>(transposed, b_ndim, on_error_name(options.on_error)), inputs);
  };
  const auto diagonal_of = [&](int k) { return diagonal(a, k, a.ndim() - 2, a.ndim() - 1); };
  if (kind == Assume::General) return general(a.variable, options.transposed);
  if (kind == Assume::Banded)
    return solve_structured("banded", a.variable, b.variable, b_ndim, options.transposed, options.on_error);
  if (kind == Assume::PositiveDefinite)
    return solve_definite(a.variable, b.variable, options.lower, b_ndim, options.on_error);
  if (kind == Assume::LowerTriangular) return triangular(true);
  if (kind == Assume::UpperTriangular) return triangular(false);
  if (kind == Assume::Symmetric || kind == Assume::Hermitian)
    return solve_structured("symmetric", mirrored(required_square("solve", a.variable), options.lower), b.variable,
                            b_ndim, false, options.on_error);
  // Elements outside the diagonals are not read; for a singular matrix only the general solver gives nan.
  const bool has_nan = options.on_error == OnError::Nan;
  if (kind == Assume::Diagonal) {
    const Variable d = diagonal_of(0);
    if (has_nan) return general(mul(expand_dims(d, d.ndim()), eye(length_of(d, d.ndim() - 1))), false);
    const Variable beside = zeros_like(diagonal_of(1));
    return solve_tridiagonal(beside, d, beside, b, b_ndim);
  }
  require_square("solve", a.variable);
  if (has_nan) return general(triu(tril(a, 1), -1), options.transposed);
  const int below = options.transposed ? 1 : -1;
  return solve_tridiagonal(diagonal_of(below), diagonal_of(0), diagonal_of(-below), b, b_ndim);
}

Variable inv(const Operand& a) {
  const LocationScope here(a.where);
  const CallScope call("inv");
  if (a.ndim() < 2)
    throw ShapeError(
        cat("inv: expected a matrix, or a batch of them, got ", a.variable.str(), " with ", a.ndim(), " dimensions"));
  const DType dtype = is_complex(a.dtype()) ? a.dtype() : matrix_dtype({&a.variable, 1});
  return solve(a, eye(length_of(a.variable, a.ndim() - 1), {}, 0, dtype), {.b_ndim = 2});
}

}  // namespace bitale
