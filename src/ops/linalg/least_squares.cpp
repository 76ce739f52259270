// Pseudo-inverses and least squares.
#include <algorithm>
#include <limits>

#include "bitale/ops/lowering.hpp"
#include "bitale/ops/ops.hpp"
#include "bitale/ops/registry.hpp"
#include "core/float_limits.hpp"
#include "ops/analysis/lengths.hpp"
#include "ops/complex/matrices.hpp"
#include "ops/linalg/lapack_forms.hpp"
#include "ops/linalg/least_squares.hpp"
#include "ops/linalg/linalg_core.hpp"
#include "ops/sample_values.hpp"
#include "runtime/matrix_functions.hpp"

namespace bitale {

namespace {

// Reciprocals of the singular values of a matrix of these lengths, 0 for values that are 0 up to rounding; and a mask
// of the values that are not.
std::pair<Variable, Variable> inverted_values(const Variable& s, double rcond, const Dims& lengths) {
  const double relative = rcond < 0 ? double(std::max(lengths[0], lengths[1])) * machine_epsilon(s.dtype()) : rcond;
  const auto number = [&](double value) { return cast(Operand(value), s.dtype()); };
  const Variable counts = gt(s, mul(number(relative), max(s)));
  return {switch_(counts, reciprocal(s), switch_(isnan(s), s, number(0))), counts};
}

Dims last_two(const Dims& lengths) { return {lengths[lengths.size() - 2], lengths.back()}; }

class MatrixPinv final : public DecompositionOp, public EmitsTensors {
 public:
  explicit MatrixPinv(double rcond) : rcond(rcond) {}
  double rcond;
  static constexpr auto fields = attribute_list(attribute("rcond", &MatrixPinv::rcond));
  std::string_view name() const override { return "MatrixPinv"; }
  Attributes attributes() const override { return collect_attributes(*this, fields); }
  std::string signature() const override { return "(m,n)->(n,m)"; }

  Apply make_node(std::span<const Variable> inputs) const override {
    const Variable x = matrix_of(inputs);
    return Apply(OpRef(this), {x}, {tensor_type(x.dtype(), {x.static_shape()[1], x.static_shape()[0]})});
  }
  std::vector<Shape> infer_shape(const Apply&, std::span<const Shape> inputs) const override {
    return {{inputs[0][1], inputs[0][0]}};
  }
  void perform(const Apply&, std::span<const Array> in, std::span<Array> out) const override {
    const Array a = in[0].contiguous();
    const std::int64_t m = a.shape(0), n = a.shape(1);
    out[0] = Array::empty(a.dtype(), {n, m});
    with_float(a.dtype(),
               [&]<class T>(T) { check(runtime::pinv<T>(m, n, rcond, a.data_as<T>(), out[0].mutable_data_as<T>())); });
  }
  bool emit(Lowering& to, const Apply& node) const override {
    call_runtime(
        to, node,
        {to.shape_in(0)[0], to.shape_in(0)[1], to.pool().number(rcond, DType::Float64), InputData{0}, OutputData{0}});
    return true;
  }

  void emit_tensors(TensorLowering& to, const Apply& node) const override {
    require_lapack(to);
    Dims lengths = to.lengths_in(0);
    if (product(lengths) == 0) {
      std::swap(lengths[lengths.size() - 2], lengths.back());
      return to.out(0, to.builder().full(0, node.output().dtype(), lengths));
    }
    const auto [u, s, vt] = svd(node.input(0), {.full_matrices = false});
    const Variable inverse = inverted_values(s, rcond, last_two(lengths)).first;
    to.express({dot(mul(t(vt), expand_dims(inverse, 0)), t(u))});
  }

  Structure structure(const Apply&, int, InputStructures& inputs) const override {
    const Structure a = inputs.of(0);
    Structure out;
    for (const Fact fact : {Fact::Diagonal, Fact::Symmetric, Fact::PositiveDefinite, Fact::Orthogonal})
      if (a.is(fact)) out.add(fact);
    return out;
  }

  Variables pullback(const Apply& node, std::span<const Variable> cotangents) const override {
    if (cotangents[0].is_disconnected()) return no_gradients(node);
    return {with_static_shape_of(node.input(0), pinv_cotangent(node.input(0), node.output(), cotangents[0]))};
  }

 private:
  std::string runtime_name() const override { return "pinv"; }
  const char* who() const override { return "pinv"; }
};

class Lstsq final : public DecompositionOp, public EmitsTensors {
 public:
  explicit Lstsq(double rcond) : rcond(rcond) {}
  double rcond;
  static constexpr auto fields = attribute_list(attribute("rcond", &Lstsq::rcond));
  std::string_view name() const override { return "Lstsq"; }
  Attributes attributes() const override { return collect_attributes(*this, fields); }
  std::string signature() const override { return "(m,n),(m,k)->(n,k),(),(p)"; }

  Apply make_node(std::span<const Variable> inputs) const override {
    const Variables own = matrices_of(inputs, 2);
    const Variable &a = own[0], &b = own[1];
    const DType dtype = a.dtype();
    const std::int64_t m = common_length(a.static_shape()[0], b.static_shape()[0], 0, "lstsq"), n = a.static_shape()[1];
    return Apply(OpRef(this), own,
                 {tensor_type(dtype, {n, b.static_shape()[1]}), tensor_type(DType::Int64, Dims{}),
                  tensor_type(dtype, Dims{min_length(m, n)})});
  }
  std::vector<Shape> infer_shape(const Apply&, std::span<const Shape> inputs) const override {
    return {{inputs[0][1], inputs[1][1]}, {}, {lengths::min(inputs[0][0], inputs[0][1])}};
  }
  void perform(const Apply&, std::span<const Array> in, std::span<Array> out) const override {
    const Array a = in[0].contiguous(), b = in[1].contiguous();
    const std::int64_t m = a.shape(0), n = a.shape(1), k = b.shape(1);
    check_lengths(in);
    out[0] = Array::empty(a.dtype(), {n, k});
    out[1] = Array::empty(DType::Int64, {});
    out[2] = Array::empty(a.dtype(), {std::min(m, n)});
    with_float(a.dtype(), [&]<class T>(T) {
      check(runtime::lstsq<T>(m, n, k, rcond, a.data_as<T>(), b.data_as<T>(), out[0].mutable_data_as<T>(),
                              out[1].mutable_data_as<std::int64_t>(), out[2].mutable_data_as<T>()));
    });
  }
  bool emit(Lowering& to, const Apply& node) const override {
    const auto a = to.shape_in(0), b = to.shape_in(1);
    require_lengths(to);
    call_runtime(to, node,
                 {a[0], a[1], b[1], to.pool().number(rcond, DType::Float64), InputData{0}, InputData{1}, OutputData{0},
                  OutputData{1}, OutputData{2}});
    return true;
  }

  void emit_tensors(TensorLowering& to, const Apply& node) const override {
    require_lapack(to);
    const Dims a = to.lengths_in(0), b = to.lengths_in(1);
    check_lengths(to);
    if (product(a) == 0) {
      const Dims batch(std::span(a.data(), a.size() - 2));
      const DType dtype = node.output(0).dtype();
      to.out(0, to.builder().full(0, dtype, with_core(batch, {a.back(), b.back()})));
      to.out(1, to.builder().full(0, DType::Int64, batch));
      to.out(2, to.builder().full(0, dtype, with_core(batch, {std::min(a[a.size() - 2], a.back())})));
      return;
    }
    const auto [u, s, vt] = svd(node.input(0), {.full_matrices = false});
    const auto [inverse, counts] = inverted_values(s, rcond, last_two(a));
    to.express(
        {dot(t(vt), mul(expand_dims(inverse, 1), dot(t(u), node.input(1)))), sum(cast(counts, DType::Int64)), s});
  }

  Variables pullback(const Apply& node, std::span<const Variable> cotangents) const override {
    const Variable &a = node.input(0), &b = node.input(1);
    auto [of_a, of_b] = lstsq_cotangents({a, b, node.output(0), rcond}, cotangents[0], cotangents[2]);
    if (!of_a.is_disconnected()) of_a = with_static_shape_of(a, of_a);
    if (!of_b.is_disconnected()) of_b = with_static_shape_of(b, of_b);
    return {of_a, of_b};
  }
  std::vector<std::vector<bool>> connection_pattern(const Apply&) const override {
    return {{true, false, true}, {true, false, false}};
  }

 private:
  std::string runtime_name() const override { return "lstsq"; }
  const char* who() const override { return "lstsq"; }
};

Array tall_values(const Dims& shape) {
  Array a = sample_values(DType::Float64, shape).copy();
  for (std::int64_t k = 0; k < std::min(shape[0], shape[1]); ++k) a.mutable_data_as<double>()[k * shape[1] + k] += 5;
  return a;
}

std::vector<Sample> pinv_samples() {
  constexpr auto any = unknown_length;
  std::vector<Sample> out;
  const auto add = [&](DType dtype, const Dims& type, const Dims& shape, bool smooth = true) {
    const Variable x[] = {sample_input(dtype, type, "x")};
    out.push_back({make_ref<MatrixPinv>(-1.)->make_node(x),
                   {tall_values(shape).astype(dtype)},
                   1e-6,
                   smooth && dtype == DType::Float64});
  };
  add(DType::Float64, {any, any}, {3, 3});
  add(DType::Float64, {4, 2}, {4, 2});
  add(DType::Float64, {any, any}, {2, 4});
  add(DType::Float32, {any, any}, {3, 2});
  add(DType::Float64, {any, any}, {0, 2}, false);
  add(DType::Float64, {any, any}, {1, 1});
  add(DType::Int64, {any, any}, {3, 3});
  return out;
}

std::vector<Sample> lstsq_samples() {
  constexpr auto any = unknown_length;
  std::vector<Sample> out;
  const auto add = [&](DType dtype, const Dims& shape, std::int64_t k, bool smooth = true) {
    const Variable both[] = {sample_input(dtype, {any, any}, "a"), sample_input(dtype, {any, any}, "b")};
    out.push_back({make_ref<Lstsq>(-1.)->make_node(both),
                   {tall_values(shape).astype(dtype), sample_values(dtype, {shape[0], k}, 1)},
                   1e-6,
                   smooth && dtype == DType::Float64});
  };
  add(DType::Float64, {4, 2}, 2);
  add(DType::Float64, {3, 3}, 1);
  add(DType::Float64, {2, 3}, 2);
  add(DType::Float32, {4, 2}, 3);
  add(DType::Float64, {0, 2}, 1, false);
  return out;
}

BITALE_REGISTER_OP(MatrixPinv, "The pseudo-inverse of Moore and Penrose, by singular values.", pinv_samples);
BITALE_REGISTER_OP(Lstsq, "The least-squares solution of least norm, the rank, and the singular values.",
                   lstsq_samples);

}  // namespace

// dX = -X dA X + X X^H dA^H (I - A X) + (I - X A) dA^H X^H X where the rank is constant (Golub and Pereyra 1973).
Variable pinv_cotangent(const Variable& a, const Variable& x, const Variable& g) {
  const Variable across = adjoint(x), of = adjoint(g), direct = dot(dot(across, g), across);
  const Variable left = dot(of, dot(x, across)), right = dot(dot(across, x), of);
  return sub(add(sub(left, dot(a, dot(x, left))), sub(right, dot(dot(right, x), a))), direct);
}

// For x = A^+ b with constant rank and r = b - A x: dx = A^+ (db - dA x) + A^+ A^+H dA^H r + (I - A^+ A) dA^H A^+H x
// (Golub and Pereyra 1973).
std::pair<Variable, Variable> lstsq_cotangents(const LeastSquaresProblem& of, const Variable& of_x,
                                               const Variable& of_values) {
  const auto& [a, b, x, rcond] = of;
  Variable of_a = disconnected();
  if (!of_values.is_disconnected()) {
    const auto [u, s, vh] = svd(a, {.full_matrices = false});
    of_a = dot(mul(u, expand_dims(of_values, 0)), vh);
  }
  if (of_x.is_disconnected()) return {of_a, disconnected()};
  const Variable p = pinv(a, rcond), across = adjoint(p), of_b = dot(across, of_x), rest = sub(b, dot(a, x));
  const Variable beside = sub(of_x, dot(adjoint(a), of_b));
  const Variable by_x =
      sub(add(dot(rest, adjoint(dot(p, of_b))), dot(dot(across, x), adjoint(beside))), dot(of_b, adjoint(x)));
  return {of_a.is_disconnected() ? by_x : add(of_a, by_x), of_b};
}

Variable pinv(const Operand& x, double rcond) {
  const LocationScope here(x.where);
  const Variable inputs[] = {require_matrices("pinv", x)};
  if (is_complex(inputs[0])) return complex_pinv(inputs[0], rcond);
  return apply_matrices(make_ref<MatrixPinv>(rcond), inputs);
}

LeastSquares lstsq(const Operand& a, const Operand& b, double rcond, int b_ndim) {
  const LocationScope here(a.where);
  const Variable& matrix = require_matrices("lstsq", a);
  const int core = b_ndim ? b_ndim : std::min(b.ndim(), 2);
  if (b.ndim() < core || core < 1)
    throw ShapeError(cat("lstsq: expected b of one dimension or more, got ", b.variable.str()));
  const Variable columns = core == 1 ? expand_dims(b.variable, b.ndim()) : b.variable;
  const auto [x, rank, singular_values] = [&]() -> LeastSquaresParts {
    if (any_complex({matrix, b.variable})) return complex_lstsq(matrix, columns, rcond);
    const Variable inputs[] = {matrix, columns};
    const auto op = make_ref<Lstsq>(rcond);
    const Apply node = blockwise(op, op->signature(), inputs);
    return {node.output(0), node.output(1), node.output(2)};
  }();
  const Variable left = sub(columns, matmul(matrix, x));
  const Variable squares = is_complex(left) ? add(sqr(real(left)), sqr(imag(left))) : sqr(left);
  Variable residuals = sum(squares, Axes{{left.ndim() - 2}}), solution = x;
  if (residuals.ndim() == 1) {  // empty unless the rank is full and rows outnumber columns, as in NumPy
    const Variable rows = length_of(matrix, 0), unknowns = length_of(matrix, 1);
    const Variable counts = logical_and(eq(rank, unknowns), gt(rows, unknowns));
    residuals = subtensor(
        residuals, {Slice{.start = {}, .stop = Operand(switch_(counts, length_of(residuals, 0), 0)), .step = {}}});
  }
  if (core == 1) solution = squeeze(x, Axes{{x.ndim() - 1}});
  return {solution, residuals, rank, singular_values};
}

}  // namespace bitale
