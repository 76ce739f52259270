// Systems of equations with complex matrices, general and triangular ones.
#include "ops/complex/systems.hpp"
#include "bitale/ops/ops.hpp"
#include "bitale/ops/registry.hpp"
#include "ops/analysis/lengths.hpp"
#include "ops/linalg/lapack_op.hpp"
#include "ops/sample_values.hpp"
#include "runtime/lapack.hpp"
#include "runtime/lu.hpp"

namespace bitale {

namespace {

// Solves op(a) x = b for the columns of b[m, k]. op(a) is a for `trans` 0, its transpose for 1, its adjoint for 2.
class ComplexSystem : public LapackOp {
 public:
  ComplexSystem(const char* who, int trans, std::string on_error)
      : LapackOp(true), trans(trans), on_error(std::move(on_error)) {
    require_on_error(who, this->on_error);
    if (trans < 0 || trans > 2) throw ValueError(cat(who, ": expected trans 0, 1 or 2, got ", trans));
  }
  int trans;
  std::string on_error;

  // For x = a^-1 b: g_b = a^-H g, g_a = -g_b x^H. With the transpose or the adjoint of a, -g_b x^H is the gradient of
  // that, and g_a its transpose or adjoint.
  Variables pullback(const Apply& node, std::span<const Variable> cotangents) const override {
    if (cotangents[0].is_disconnected()) return no_gradients(node);
    const Variable x = of_pairs(node.output()), g = of_pairs(cotangents[0]);
    const Variable of_b = trans == 1 ? conj(solved(0, node, conj(g))) : solved(2 - trans, node, g);
    const Variable of_a = trans == 0   ? dot(of_b, adjoint(x))
                          : trans == 1 ? dot(conj(x), transpose(of_b))
                                       : dot(x, adjoint(of_b));
    return gradients(node, {where_read(neg(of_a)), of_b});
  }

 protected:
  std::vector<std::string> inputs() const override { return {"mm", "mk"}; }
  std::vector<std::string> outputs() const override { return {"mk"}; }
  std::optional<int> overwritten() const override { return 1; }
  virtual Variable where_read(const Variable& x) const { return x; }
  // The same op for another `trans`.
  virtual Ref<const LapackOp> with_trans(int other) const = 0;
  [[noreturn]] void fail_in_row(std::string_view what, std::int64_t row) const {
    raise_linalg(cat(who(), ": the matrix is singular: ", what, " in row ", row - 1),
                 "on_error=\"nan\" gives a solution that is all nan instead");
  }

 private:
  Variable solved(int other, const Apply& node, const Variable& b) const {
    return of_pairs((*with_trans(other))({node.input(0), as_pairs(b)}));
  }
};

class ComplexSolve final : public ComplexSystem {
 public:
  ComplexSolve(int trans, std::string on_error) : ComplexSystem("solve", trans, std::move(on_error)) {}
  static constexpr auto fields =
      attribute_list(attribute("trans", &ComplexSolve::trans), attribute("on_error", &ComplexSolve::on_error));

  std::string_view name() const override { return "ComplexSolve"; }
  Attributes attributes() const override { return collect_attributes(*this, fields); }

 private:
  TensorValues emit_numbers(TensorLowering& to, const TensorValues& in) const override {
    require_lapack(to);
    return {solve_by_lu(to, in[0], in[1], TransposedForm(trans), on_error, failure())};
  }
  std::vector<std::string> scratch() const override { return {"mm", "mi"}; }
  std::vector<std::int64_t> flags() const override { return {trans, on_error == "nan"}; }
  std::int64_t run(const Call& to) const override {
    return to.with_numbers<true>([&]<class N>(N) {
      return runtime::solve<N>(to.m, to.k, trans, on_error == "nan", to.in<N>(0), to.out<N>(0), to.out<N>(1),
                               to.out<std::int32_t>(2));
    });
  }
  Ref<const LapackOp> with_trans(int other) const override { return make_ref<ComplexSolve>(other, on_error); }
  void fail(std::int64_t status) const override { fail_in_row("no pivot is left", status); }
  const char* who() const override { return "solve"; }
};

class ComplexSolveTriangular final : public ComplexSystem {
 public:
  ComplexSolveTriangular(bool lower, int trans, bool unit_diagonal, std::string on_error)
      : ComplexSystem("solve_triangular", trans, std::move(on_error)), lower(lower), unit_diagonal(unit_diagonal) {}
  bool lower, unit_diagonal;
  static constexpr auto fields = attribute_list(attribute("lower", &ComplexSolveTriangular::lower),
                                                attribute("trans", &ComplexSolveTriangular::trans),
                                                attribute("unit_diagonal", &ComplexSolveTriangular::unit_diagonal),
                                                attribute("on_error", &ComplexSolveTriangular::on_error));

  std::string_view name() const override { return "ComplexSolveTriangular"; }
  Attributes attributes() const override { return collect_attributes(*this, fields); }

 private:
  TensorValues emit_numbers(TensorLowering& to, const TensorValues& in) const override {
    return {
        solve_by_substitution(to, in[0], in[1], {lower, TransposedForm(trans), unit_diagonal}, on_error, failure())};
  }
  std::vector<std::int64_t> flags() const override { return {lower, trans, unit_diagonal, on_error == "nan"}; }
  std::int64_t run(const Call& to) const override {
    return to.with_numbers<true>([&]<class N>(N) {
      return runtime::solve_triangular<N>(to.m, to.k, lower, trans, unit_diagonal, on_error == "nan", to.in<N>(0),
                                          to.out<N>(0));
    });
  }
  Ref<const LapackOp> with_trans(int other) const override {
    return make_ref<ComplexSolveTriangular>(lower, other, unit_diagonal, on_error);
  }
  Variable where_read(const Variable& x) const override {
    const int k = unit_diagonal ? 1 : 0;
    return lower ? tril(x, -k) : triu(x, k);
  }
  void fail(std::int64_t status) const override { fail_in_row("its diagonal is 0", status); }
  const char* who() const override { return "solve_triangular"; }
};

void add_system_sample(std::vector<Sample>& out, const OpRef& op, DType dtype, std::int64_t n, std::int64_t columns,
                       double diagonal, bool smooth = true) {
  constexpr auto any = unknown_length;
  Array a = sample_values(DType::Float64, {n, n, 2}).copy();
  for (std::int64_t k = 0; k < n; ++k) a.mutable_data_as<double>()[2 * (k * n + k)] += diagonal * double(n);
  const Variable both[] = {sample_input(dtype, {any, any, 2}, "a"), sample_input(dtype, {any, any, 2}, "b")};
  out.push_back({op->make_node(both),
                 {a.astype(dtype), sample_values(dtype, {n, columns, 2}, 1)},
                 1e-6,
                 smooth && dtype == DType::Float64});
}

std::vector<Sample> complex_solve_samples() {
  std::vector<Sample> out;
  for (const int trans : {0, 1, 2}) {
    const OpRef op = make_ref<ComplexSolve>(trans, trans == 1 ? "nan" : "raise");
    add_system_sample(out, op, DType::Float64, 3, 2, 3);
    add_system_sample(out, op, DType::Float32, 4, 1, 3);
    add_system_sample(out, op, DType::Float64, 20, 3, 3, false);
  }
  const OpRef op = make_ref<ComplexSolve>(0, "raise");
  add_system_sample(out, op, DType::Float64, 0, 2, 3, false);
  add_system_sample(out, op, DType::Float64, 1, 0, 3, false);
  return out;
}

std::vector<Sample> complex_solve_triangular_samples() {
  std::vector<Sample> out;
  for (const bool lower : {true, false})
    for (const int trans : {0, 1, 2}) {
      for (const bool unit : {true, false})
        add_system_sample(out, make_ref<ComplexSolveTriangular>(lower, trans, unit, unit ? "nan" : "raise"),
                          DType::Float64, 3, 2, 2);
      add_system_sample(out, make_ref<ComplexSolveTriangular>(lower, trans, false, "raise"), DType::Float32, 20, 2, 2);
    }
  add_system_sample(out, make_ref<ComplexSolveTriangular>(true, 0, false, "raise"), DType::Float64, 0, 2, 2, false);
  return out;
}

BITALE_REGISTER_OP(ComplexSolve, "The solution of a general system of complex equations, as pairs, by LU factors.",
                   complex_solve_samples);
BITALE_REGISTER_OP(ComplexSolveTriangular,
                   "The solution of a system of complex equations with a triangular matrix, as pairs.",
                   complex_solve_triangular_samples);

Variable solve_columns(const Ref<const LapackOp>& op, const Variable& a, const Variable& b, int b_ndim) {
  const auto [left, right] = in_common_dtype(a, b);
  const Variable matrices[] = {left, b_ndim == 1 ? expand_dims(right, right.ndim()) : right};
  const Variable x = op->of(matrices)[0];
  return b_ndim == 1 ? subtensor(x, {Ellipsis{}, 0}) : x;
}

}  // namespace

Variable complex_solve(const Variable& a, const Variable& b, int trans, int b_ndim, OnError on_error) {
  return solve_columns(make_ref<ComplexSolve>(trans, on_error_name(on_error)), a, b, b_ndim);
}

Variable complex_solve_triangular(const Variable& a, const Variable& b, const ComplexTriangle& triangle, int b_ndim,
                                  OnError on_error) {
  return solve_columns(
      make_ref<ComplexSolveTriangular>(triangle.lower, triangle.trans, triangle.unit_diagonal, on_error_name(on_error)),
      a, b, b_ndim);
}

}  // namespace bitale
