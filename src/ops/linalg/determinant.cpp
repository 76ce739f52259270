// Determinants, and their signs and logarithms.
#include "bitale/ops/lowering.hpp"
#include "bitale/ops/ops.hpp"
#include "bitale/ops/registry.hpp"
#include "bitale/runtime/functions.hpp"
#include "ops/analysis/lengths.hpp"
#include "ops/complex/matrices.hpp"
#include "ops/complex/systems.hpp"
#include "ops/linalg/lapack_forms.hpp"
#include "ops/linalg/linalg_core.hpp"
#include "ops/sample_values.hpp"
#include "runtime/lu.hpp"

namespace bitale {

namespace {

// Common base of Det and SLogDet.
class DeterminantOp : public MatrixOp, public EmitsTensors {
 public:
  std::string_view failure() const override { return "a determinant can't be computed"; }

  Apply make_node(std::span<const Variable> inputs) const override {
    require_inputs(*this, inputs, 1);
    const Variable x = cast(inputs[0], matrix_dtype(inputs));
    if (x.ndim() != 2)
      throw ShapeError(cat(who(), ": expected a matrix, got ", x.str(), " with ", x.ndim(), " dimensions"));
    require_square(who(), x);
    return Apply(OpRef(this), {x}, std::vector<Type>(std::size_t(outputs()), tensor_type(x.dtype(), Dims{})));
  }
  std::vector<Shape> infer_shape(const Apply&, std::span<const Shape>) const override {
    return std::vector<Shape>(std::size_t(outputs()));
  }
  void perform(const Apply&, std::span<const Array> in, std::span<Array> out) const override {
    check_lengths(in);
    const Array a = in[0].contiguous();
    const std::int64_t n = a.shape(0);
    const Array factor = Array::empty(a.dtype(), {n, n}), pivots = Array::empty(DType::Int32, {n});
    for (auto& each : out) each = Array::empty(a.dtype(), {});
    visit_dtype(a.dtype(), [&]<class T>() {
      if constexpr (std::is_floating_point_v<T>) {
        auto* rows = pivots.mutable_data_as<std::int32_t>();
        if (outputs() == 1)
          runtime::det(n, a.data_as<T>(), out[0].mutable_data_as<T>(), factor.mutable_data_as<T>(), rows);
        else
          runtime::slogdet(n, a.data_as<T>(), out[0].mutable_data_as<T>(), out[1].mutable_data_as<T>(),
                           factor.mutable_data_as<T>(), rows);
      }
    });
  }
  bool emit(Lowering& to, const Apply& node) const override {
    const Expr n = to.shape_in(0)[0];
    require_lengths(to);
    const DType dtype = node.output(0).dtype();
    std::vector<CallArgument> arguments{n, InputData{0}, OutputData{0}};
    if (outputs() == 2) arguments.push_back(OutputData{1});
    arguments.push_back(Scratch{dtype, n * n});
    arguments.push_back(Scratch{DType::Int32, n});
    to.call(lapack_name(who(), dtype), arguments);
    return true;
  }
  // The product of the diagonal of U, whose sign changes with each exchange of rows.
  void emit_tensors(TensorLowering& to, const Apply&) const override {
    TensorBuilder& builder = to.builder();
    const TensorValue x = to.in(0);
    const Dims batch = batch_of(x, 2);
    const int last[] = {int(batch.size())};
    check_lengths(to);
    if (product(x.lengths) == 0) {
      to.out(0, builder.full(1, x.dtype, batch));
      if (outputs() == 2) to.out(1, builder.full(0, x.dtype, batch));
      return;
    }
    require_lapack(to);
    const auto [factors, pivots] = lu_of(builder, x);
    const TensorValue diagonal = builder.diagonal(factors);
    const TensorValue row = builder.iota(DType::Int32, pivots.lengths, last[0]);
    const bool with_size = outputs() == 1;
    const TensorValue signed_ = builder.map(x.dtype, {diagonal, pivots, row}, [&](std::span<const Expr> in) {
      const Expr one = in[0].pool().number(1, in[0].dtype()), zero = in[0].pool().number(0, in[0].dtype());
      const Expr sign = select(in[0] > zero, one, select(in[0] < zero, -one, in[0]));
      const Expr value = with_size ? in[0] : sign;
      return select(equal(in[1], in[2]), value, -value);
    });
    to.out(0, builder.reduce(signed_, program::Combiner::mul, last));
    if (outputs() == 1) return;
    const TensorValue sizes = builder.map(x.dtype, {diagonal}, [](std::span<const Expr> in) { return abs(in[0]); });
    to.out(1, builder.reduce(builder.function("stablehlo.log", {&sizes, 1}), program::Combiner::add, last));
  }
  bool has_pushforward() const override { return true; }

 protected:
  virtual int outputs() const = 0;
  // d log |det A| = trace(A^-1 dA)
  static Variable relative(const Apply& node, const Variable& tangent) { return trace(solve(node.input(0), tangent)); }
};

class Det final : public DeterminantOp {
 public:
  std::string_view name() const override { return "Det"; }
  std::string signature() const override { return "(m,m)->()"; }
  Variables pullback(const Apply& node, std::span<const Variable> cotangents) const override {
    if (cotangents[0].is_disconnected()) return no_gradients(node);
    const Variable of_x = mul(mul(cotangents[0], node.output()), transpose(inv(node.input(0))));
    return {with_static_shape_of(node.input(0), of_x)};
  }
  Variables pushforward(const Apply& node, std::span<const Variable> tangents) const override {
    if (tangents[0].is_disconnected()) return {disconnected()};
    return {mul(node.output(), relative(node, tangents[0]))};
  }
  std::vector<std::vector<bool>> connection_pattern(const Apply&) const override { return {{true}}; }

 private:
  const char* who() const override { return "det"; }
  int outputs() const override { return 1; }
};

class SLogDet final : public DeterminantOp {
 public:
  std::string_view name() const override { return "SLogDet"; }
  std::string signature() const override { return "(m,m)->(),()"; }
  // The sign is constant in a neighbourhood of every matrix whose determinant is not 0.
  Variables pullback(const Apply& node, std::span<const Variable> cotangents) const override {
    if (cotangents[1].is_disconnected()) return no_gradients(node);
    const Variable of_x = mul(cotangents[1], transpose(inv(node.input(0))));
    return {with_static_shape_of(node.input(0), of_x)};
  }
  Variables pushforward(const Apply& node, std::span<const Variable> tangents) const override {
    if (tangents[0].is_disconnected()) return {disconnected(), disconnected()};
    return {disconnected(), relative(node, tangents[0])};
  }
  std::vector<std::vector<bool>> connection_pattern(const Apply&) const override { return {{false, true}}; }

 private:
  const char* who() const override { return "slogdet"; }
  int outputs() const override { return 2; }
};

template <class Kind>
std::vector<Sample> determinant_samples() {
  constexpr auto any = unknown_length;
  std::vector<Sample> out;
  const auto add = [&](DType dtype, const Dims& type, std::int64_t n, double more, bool smooth = true) {
    Array a = sample_values(DType::Float64, {n, n}).copy();
    for (std::int64_t k = 0; k < n; ++k) a.mutable_data_as<double>()[k * n + (k + 1) % n] += more;
    const Variable x[] = {sample_input(dtype, type, "x")};
    out.push_back({make_ref<Kind>()->make_node(x), {a.astype(dtype)}, 1e-6, smooth && dtype == DType::Float64});
  };
  add(DType::Float64, {any, any}, 3, 4);
  add(DType::Float64, {4, 4}, 4, -5);
  add(DType::Float32, {any, any}, 3, 4);
  add(DType::Int64, {any, any}, 3, 4);
  add(DType::Float64, {any, any}, 1, 2);
  add(DType::Float64, {any, any}, 0, 0);
  add(DType::Float64, {any, any}, 20, 7, false);
  return out;
}

BITALE_REGISTER_OP(Det, "The determinant of a matrix, by LU factors with partial pivoting.", determinant_samples<Det>);
BITALE_REGISTER_OP(SLogDet, "The sign of the determinant of a matrix, and the logarithm of its absolute value.",
                   determinant_samples<SLogDet>);

const Variable& matrices(const char* who, const Operand& a) {
  if (a.ndim() < 2)
    throw ShapeError(
        cat(who, ": expected a matrix, or a batch of them, got ", a.variable.str(), " with ", a.ndim(), " dimensions"));
  return a.variable;
}

}  // namespace

Variable det(const Operand& a) {
  const LocationScope here(a.where);
  const Variable inputs[] = {matrices("det", a)};
  if (is_complex(inputs[0])) {
    const auto [sign, logarithm] = complex_slogdet(inputs[0]);
    return mul(sign, exp(logarithm));
  }
  return apply_matrices(make_ref<Det>(), inputs);
}

SignAndLogarithm slogdet(const Operand& a) {
  const LocationScope here(a.where);
  const Variable inputs[] = {matrices("slogdet", a)};
  if (is_complex(inputs[0])) return complex_slogdet(inputs[0]);
  const auto op = make_ref<SLogDet>();
  const Apply node = blockwise(op, op->signature(), inputs);
  return {node.output(0), node.output(1)};
}

}  // namespace bitale
