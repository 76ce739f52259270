// Systems of equations with triangular matrices.
#include <algorithm>

#include "bitale/ops/lowering.hpp"
#include "bitale/ops/ops.hpp"
#include "bitale/ops/registry.hpp"
#include "core/call_scope.hpp"
#include "ops/analysis/lengths.hpp"
#include "ops/complex/systems.hpp"
#include "ops/linalg/system_op.hpp"
#include "ops/sample_values.hpp"
#include "runtime/lapack.hpp"

namespace bitale {

namespace {

class SolveTriangular final : public SystemOp {
 public:
  SolveTriangular(bool lower, bool trans, bool unit_diagonal, int b_ndim, std::string on_error)
      : SystemOp("solve_triangular", trans, b_ndim, std::move(on_error)), lower(lower), unit_diagonal(unit_diagonal) {}
  bool lower, unit_diagonal;
  static constexpr auto fields =
      attribute_list(attribute("lower", &SolveTriangular::lower), attribute("trans", &SolveTriangular::trans),
                     attribute("unit_diagonal", &SolveTriangular::unit_diagonal),
                     attribute("b_ndim", &SolveTriangular::b_ndim), attribute("on_error", &SolveTriangular::on_error));

  std::string_view name() const override { return "SolveTriangular"; }
  Attributes attributes() const override { return collect_attributes(*this, fields); }

  // The inverse of a triangular matrix is triangular; so is its product with another one.
  Structure structure(const Apply&, int, InputStructures& inputs) const override {
    if (b_ndim != 2) return {};
    const Structure b = inputs.of(1);
    const Fact side = lower != trans ? Fact::LowerTriangular : Fact::UpperTriangular;
    Structure out;
    if (b.is(side)) {
      out.add(side);
      if (b.is(Fact::UnitDiagonal) && unit_diagonal) out.add(Fact::UnitDiagonal);
      if (b.is(Fact::PositiveDiagonal) && (unit_diagonal || inputs.of(0).is(Fact::PositiveDiagonal)))
        out.add(Fact::PositiveDiagonal);
    }
    return out;
  }

 private:
  TensorValue solve_tensors(TensorLowering& to, const TensorValue& a, const TensorValue& b) const override {
    return solve_by_substitution(to, a, b, {lower, TransposedForm(trans), unit_diagonal}, on_error, failure());
  }
  // The transpose of a has the other triangle.
  std::vector<std::int64_t> flags_of(bool transposed) const override {
    return {lower != transposed, trans != transposed, unit_diagonal, on_error == "nan"};
  }
  std::int64_t run(const Call& to) const override {
    return to.with_numbers<false>([&]<class T>(T) {
      return runtime::solve_triangular(to.m, columns(to), lower, trans, unit_diagonal, on_error == "nan", to.in<T>(0),
                                       to.out<T>(0));
    });
  }
  void fail(std::int64_t status) const override { fail_in_row("its diagonal is 0", status); }
  const char* who() const override { return "solve_triangular"; }
  Variable solved(bool transposed, const Variable& a, const Variable& b) const override {
    return (*make_ref<SolveTriangular>(lower, transposed, unit_diagonal, b_ndim, on_error))({a, b});
  }
  Variable gradient_read(const Variable& x) const override {
    const int k = unit_diagonal ? 1 : 0;
    return lower ? tril(x, -k) : triu(x, k);
  }
  Variable whole(const Variable& x) const override { return gradient_read(x); }
};

std::vector<Sample> solve_triangular_samples() {
  constexpr auto any = unknown_length;
  std::vector<Sample> out;
  const auto regular = [](std::int64_t n) {
    Array values = sample_values(DType::Float64, {n, n}).copy();
    for (std::int64_t k = 0; k < n; ++k) values.mutable_data_as<double>()[k * n + k] = double(n) + double(k);
    return values;
  };
  const auto add = [&](DType dtype, std::int64_t n, const Dims& b_type, const Dims& b_shape, bool lower, bool trans,
                       bool unit, bool smooth = true) {
    const Variable both[] = {sample_input(dtype, {any, any}, "a"), sample_input(dtype, b_type, "b")};
    const auto op = make_ref<SolveTriangular>(lower, trans, unit, int(b_type.size()), unit ? "nan" : "raise");
    out.push_back({op->make_node(both),
                   {regular(n).astype(dtype), sample_values(dtype, b_shape, 1)},
                   1e-6,
                   smooth && dtype == DType::Float64});
  };
  for (const bool lower : {true, false})
    for (const bool trans : {true, false}) {
      for (const bool unit : {true, false}) {
        add(DType::Float64, 3, {any}, {3}, lower, trans, unit);
        add(DType::Float64, 3, {any, 2}, {3, 2}, lower, trans, unit);
      }
      add(DType::Float32, 4, {any, any}, {4, 3}, lower, trans, false);
      add(DType::Float64, 33, {any}, {33}, lower, trans, false, false);
      add(DType::Float64, 33, {any, any}, {33, 5}, lower, trans, false, false);
    }
  add(DType::Float64, 1, {1, any}, {1, 3}, true, false, false);
  add(DType::Float64, 0, {any, any}, {0, 3}, true, false, false);
  add(DType::Float64, 3, {any, any}, {3, 0}, true, false, false);
  add(DType::Int64, 3, {any}, {3}, true, false, false);
  return out;
}

BITALE_REGISTER_OP(SolveTriangular, "The solution of a system of equations with a triangular matrix.",
                   solve_triangular_samples);

}  // namespace

Variable solve_triangular(const Operand& a, const Operand& b, const SolveTriangularOptions& options) {
  const LocationScope here(a.where);
  if (a.ndim() < 2 || b.ndim() < 1)
    throw ShapeError(cat("solve_triangular: expected a matrix a and a vector or matrix b, or batches of them, got ",
                         a.variable.str(), " with ", a.ndim(), " dimensions and ", b.variable.str(), " with ",
                         b.ndim()));
  if (any_complex({a.variable, b.variable}))
    return complex_solve_triangular(
        a.variable, b.variable,
        {.lower = options.lower, .unit_diagonal = options.unit_diagonal, .trans = options.trans},
        core_ndim(options.b_ndim, b.variable), options.on_error);
  const Variable inputs[] = {a.variable, b.variable};
  return apply_matrices(
      make_ref<SolveTriangular>(options.lower, options.trans, options.unit_diagonal,
                                core_ndim(options.b_ndim, b.variable), on_error_name(options.on_error)),
      inputs);
}

Variable cho_solve(const Operand& factor, const Operand& b, const CholeskySolveOptions& options) {
  const LocationScope here(factor.where);
  const CallScope call("cho_solve");
  const bool lower = options.lower;
  const int core = core_ndim(options.b_ndim, b.variable);
  if (any_complex({factor.variable, b.variable})) {
    const auto solved = [&](const Variable& right, int trans) {
      return complex_solve_triangular(factor.variable, right, {.lower = lower, .trans = trans}, core);
    };
    return solved(solved(b.variable, lower ? 0 : 2), lower ? 2 : 0);
  }
  const Variable half = solve_triangular(factor, b, {.lower = lower, .trans = !lower, .b_ndim = core});
  return solve_triangular(factor, half, {.lower = lower, .trans = lower, .b_ndim = core});
}

}  // namespace bitale
