// LU factors of tridiagonal matrices, and solutions of systems with them. If `has_pairs`, complex numbers are pairs of
// real ones along a last dimension of 2.
#include "bitale/ops/lowering.hpp"
#include "bitale/ops/ops.hpp"
#include "bitale/ops/registry.hpp"
#include "ops/analysis/lengths.hpp"
#include "ops/complex/matrices.hpp"
#include "ops/complex/pairs.hpp"
#include "ops/linalg/linalg_core.hpp"
#include "ops/sample_values.hpp"
#include "ops/tensor_lowering.hpp"
#include "runtime/structured_systems.hpp"

namespace bitale {

namespace {

Variable less_by(const Variable& n, std::int64_t k) {
  return lengths::max(lengths::sub(n, int64_constant(k)), int64_constant(0));
}
std::int64_t less_by(std::int64_t n, std::int64_t k) {
  return n == unknown_length ? n : std::max<std::int64_t>(n - k, 0);
}
Expr less_by(Lowering& to, const Expr& n, std::int64_t k) {
  const Expr zero = to.pool().integer(0), count = to.pool().integer(k);
  return select(n < count, zero, n - count);
}

// An op whose vectors and matrices may have pairs as elements.
class TridiagonalFactorOp : public DecompositionOp {
 public:
  explicit TridiagonalFactorOp(bool has_pairs) : has_pairs(has_pairs) {}
  bool has_pairs;

 protected:
  Dims with_parts(Dims shape) const {
    if (has_pairs) shape.push_back(2);
    return shape;
  }
  Shape with_parts(Shape shape) const {
    if (has_pairs) shape.push_back(int64_constant(2));
    return shape;
  }
  // Adds a pair dimension to each bracket that describes numbers, not pivots.
  std::string signature_of(std::string text) const {
    for (std::size_t at = 0; has_pairs && (at = text.find('.', at)) != text.npos;) text.replace(at, 1, ",c");
    std::erase(text, '.');
    return text;
  }
  void require_rank(const Variable& x, int ndim) const {
    const Dims& shape = x.static_shape();
    if (!has_pairs) return require_ndim(x, ndim);
    if (x.ndim() != ndim + 1 || (shape.back() != 2 && shape.back() != unknown_length))
      throw ShapeError(cat(who(), ": expected pairs along a last dimension of 2, got ", x.str()));
  }
  void require_parts(const Array& x) const {
    if (has_pairs && x.shape().back() != 2)
      throw ShapeError(cat(who(), ": expected pairs along a last dimension of 2, got ", x.shape().back()));
  }
  void require_parts(Lowering& to, int input) const {
    if (has_pairs) to.require(equal(to.shape_in(input).back(), to.pool().integer(2)), cat(who(), ": expected pairs"));
  }
  std::string prefixed(const char* name) const { return cat(has_pairs ? "complex_" : "", name); }
};

class LUFactorTridiagonal final : public TridiagonalFactorOp, public EmitsTensors {
 public:
  using TridiagonalFactorOp::TridiagonalFactorOp;
  static constexpr auto fields = attribute_list(attribute("has_pairs", &LUFactorTridiagonal::has_pairs));
  Attributes attributes() const override { return collect_attributes(*this, fields); }
  std::string_view name() const override { return "LUFactorTridiagonal"; }
  std::string signature() const override { return signature_of("(p.),(m.),(p.)->(p.),(m.),(p.),(q.),(m)"); }

  Apply make_node(std::span<const Variable> inputs) const override {
    require_inputs(*this, inputs, 3);
    const DType dtype = matrix_dtype(inputs);
    Variables own;
    for (auto& input : inputs) {
      own.push_back(cast(input, dtype));
      require_rank(own.back(), 1);
    }
    const std::int64_t n = own[1].static_shape()[0], beside = less_by(n, 1);
    for (const std::size_t i : {0, 2})
      if (beside != unknown_length) (void)common_length(beside, own[i].static_shape()[0], 0, who());
    const auto vector = [&](std::int64_t length) { return Type(tensor_type(dtype, with_parts(Dims{length}))); };
    return Apply(
        OpRef(this), own,
        {vector(beside), vector(n), vector(beside), vector(less_by(n, 2)), tensor_type(DType::Int32, Dims{n})});
  }
  std::vector<Shape> infer_shape(const Apply&, std::span<const Shape> inputs) const override {
    const Variable n = inputs[1][0], beside = less_by(n, 1);
    return {with_parts(Shape{beside}),
            with_parts(Shape{n}),
            with_parts(Shape{beside}),
            with_parts(Shape{less_by(n, 2)}),
            {n}};
  }
  void perform(const Apply&, std::span<const Array> in, std::span<Array> out) const override {
    for (auto& each : in) require_parts(each);
    const Array lower = in[0].contiguous(), d = in[1].contiguous(), upper = in[2].contiguous();
    const std::int64_t n = d.shape(0), beside = less_by(n, 1);
    if (lower.shape(0) != beside || upper.shape(0) != beside)
      throw ShapeError(
          cat(who(), ": expected diagonals of ", beside, " elements, got ", lower.shape(0), " and ", upper.shape(0)));
    const std::int64_t lengths[] = {beside, n, beside, less_by(n, 2)};
    for (std::size_t i = 0; i < 4; ++i) out[i] = Array::empty(d.dtype(), with_parts(Dims{lengths[i]}));
    out[4] = Array::empty(DType::Int32, {n});
    with_float(d.dtype(), [&]<class T>(T) {
      const auto factor = has_pairs ? runtime::complex_tridiagonal_lu_factor<T> : runtime::tridiagonal_lu_factor<T>;
      check(factor(n, lower.data_as<T>(), d.data_as<T>(), upper.data_as<T>(), out[0].mutable_data_as<T>(),
                   out[1].mutable_data_as<T>(), out[2].mutable_data_as<T>(), out[3].mutable_data_as<T>(),
                   out[4].mutable_data_as<std::int32_t>()));
    });
  }
  bool emit(Lowering& to, const Apply& node) const override {
    const Expr n = to.shape_in(1)[0];
    for (const int i : {0, 2})
      to.require(equal(less_by(to, n, 1), to.shape_in(i)[0]),
                 "tridiagonal_lu_factor: the diagonals next to the main one have one element fewer than it");
    for (const int i : {0, 1, 2}) require_parts(to, i);
    call_runtime(to, node,
                 {n, InputData{0}, InputData{1}, InputData{2}, OutputData{0}, OutputData{1}, OutputData{2},
                  OutputData{3}, OutputData{4}});
    return true;
  }
  void emit_tensors(TensorLowering& to, const Apply&) const override { to.refuse("XLA's LAPACK has no gttrf"); }
  Variables pullback(const Apply& node, std::span<const Variable> cotangents) const override {
    bool connected = false;
    for (int i = 0; i < 4; ++i) connected = connected || !cotangents[std::size_t(i)].is_disconnected();
    if (!connected) return no_gradients(node);
    Variables out;
    for (int i = 0; i < 3; ++i)
      out.push_back(undefined_gradient(
          "tridiagonal_lu_factor: there is no derivative; solve(a, b, assume_a=\"tridiagonal\") has one"));
    return out;
  }

 private:
  std::string runtime_name() const override { return prefixed("tridiagonal_lu_factor"); }
  const char* who() const override { return "tridiagonal_lu_factor"; }
};

class SolveLUFactorTridiagonal final : public TridiagonalFactorOp, public EmitsTensors {
 public:
  // trans: solves with the transposed matrix, which is not the adjoint.
  SolveLUFactorTridiagonal(bool trans, bool has_pairs) : TridiagonalFactorOp(has_pairs), trans(trans) {}
  bool trans;
  static constexpr auto fields = attribute_list(attribute("trans", &SolveLUFactorTridiagonal::trans),
                                                attribute("has_pairs", &SolveLUFactorTridiagonal::has_pairs));
  std::string_view name() const override { return "SolveLUFactorTridiagonal"; }
  Attributes attributes() const override { return collect_attributes(*this, fields); }
  std::string signature() const override { return signature_of("(p.),(m.),(p.),(q.),(m),(m,k.)->(m,k.)"); }

  Apply make_node(std::span<const Variable> inputs) const override {
    require_inputs(*this, inputs, 6);
    if (!is_discrete(inputs[4].dtype()))
      throw TypeError(cat(who(), ": expected pivots that are integers, got ", inputs[4].str()));
    const Variable floats[] = {inputs[0], inputs[1], inputs[2], inputs[3], inputs[5]};
    const DType dtype = matrix_dtype(floats);
    Variables own(inputs.begin(), inputs.end());
    for (std::size_t i = 0; i < 6; ++i) {
      own[i] = cast(own[i], i == 4 ? DType::Int32 : dtype);
      i == 4 ? require_ndim(own[i], 1) : require_rank(own[i], i == 5 ? 2 : 1);
    }
    Dims shape = own[5].static_shape();
    shape[0] = common_length(shape[0], own[1].static_shape()[0], 0, who());
    return Apply(OpRef(this), own, {tensor_type(dtype, shape)});
  }
  std::vector<Shape> infer_shape(const Apply&, std::span<const Shape> inputs) const override { return {inputs[5]}; }
  void perform(const Apply&, std::span<const Array> in, std::span<Array> out) const override {
    for (const std::size_t i : {0, 1, 2, 3, 5}) require_parts(in[i]);
    const std::int64_t n = in[1].shape(0), k = in[5].shape(1);
    const std::int64_t lengths[] = {less_by(n, 1), n, less_by(n, 1), less_by(n, 2), n};
    std::vector<Array> own;
    for (std::size_t i = 0; i < 5; ++i) {
      if (in[i].shape(0) != lengths[i])
        throw ShapeError(cat(who(), ": expected the outputs of tridiagonal_lu_factor for ", n, " rows, got ",
                             in[i].shape(0), " elements instead of ", lengths[i]));
      own.push_back(in[i].contiguous());
    }
    if (in[5].shape(0) != n) throw ShapeError(cat(who(), ": a has ", n, " rows, and b has ", in[5].shape(0)));
    out[0] = in[5].copy();
    with_float(out[0].dtype(), [&]<class T>(T) {
      const auto solve = has_pairs ? runtime::complex_tridiagonal_lu_solve<T> : runtime::tridiagonal_lu_solve<T>;
      const std::int64_t status =
          solve(n, k, trans, own[0].data_as<T>(), own[1].data_as<T>(), own[2].data_as<T>(), own[3].data_as<T>(),
                own[4].data_as<std::int32_t>(), out[0].mutable_data_as<T>());
      if (status > 0) throw LinAlgError(cat(who(), ": the matrix is singular: no pivot is left in row ", status - 1));
      check(status);
    });
  }
  bool emit(Lowering& to, const Apply& node) const override {
    const Expr n = to.shape_in(1)[0];
    const Expr lengths[] = {less_by(to, n, 1), n, less_by(to, n, 1), less_by(to, n, 2), n, n};
    for (const int i : {0, 2, 3, 4, 5})
      to.require(equal(lengths[i], to.shape_in(i)[0]),
                 "tridiagonal_lu_solve: the lengths do not match the outputs of tridiagonal_lu_factor and b");
    for (const int i : {0, 1, 2, 3, 5}) require_parts(to, i);
    call_runtime(to, node,
                 {n, to.shape_in(5)[1], to.pool().integer(trans), InputData{0}, InputData{1}, InputData{2},
                  InputData{3}, InputData{4}, OutputData{0, {}, 5}});
    return true;
  }
  void emit_tensors(TensorLowering& to, const Apply&) const override { to.refuse("XLA's LAPACK has no gttrf"); }
  Variables pullback(const Apply& node, std::span<const Variable> cotangents) const override {
    if (cotangents[0].is_disconnected()) return no_gradients(node);
    // For complex numbers this applies the adjoint: conjugate, transpose, conjugate.
    const auto conjugate = [](const Variable& pairs) { return as_pairs(conj(of_pairs(pairs))); };
    Variables inputs(node.inputs().begin(), node.inputs().end());
    inputs[5] = has_pairs ? conjugate(cotangents[0]) : cotangents[0];
    Variables out;
    for (int i = 0; i < 4; ++i)
      out.push_back(
          undefined_gradient("tridiagonal_lu_solve: there is no derivative with respect to the factors; solve(a, b, "
                             "assume_a=\"tridiagonal\") has one"));
    out.push_back(disconnected());
    const Variable of_b = make_ref<SolveLUFactorTridiagonal>(!trans, has_pairs)->make_node(inputs).output();
    out.push_back(with_static_shape_of(node.input(5), has_pairs ? conjugate(of_b) : of_b));
    return out;
  }
  std::vector<std::vector<bool>> connection_pattern(const Apply&) const override {
    return {{true}, {true}, {true}, {true}, {false}, {true}};
  }

 private:
  std::string runtime_name() const override { return prefixed("tridiagonal_lu_solve"); }
  const char* who() const override { return "tridiagonal_lu_solve"; }
};

Dims sample_shape(std::int64_t n, bool has_pairs) { return has_pairs ? Dims{n, 2} : Dims{n}; }

// Diagonals for which elimination exchanges rows.
std::vector<Array> diagonal_values(DType dtype, std::int64_t n, bool has_pairs) {
  return {sample_values(dtype, sample_shape(less_by(n, 1), has_pairs), 2),
          sample_values(dtype, sample_shape(n, has_pairs), 5),
          sample_values(dtype, sample_shape(less_by(n, 1), has_pairs), 1)};
}

std::vector<Sample> tridiagonal_factor_samples() {
  constexpr auto any = unknown_length;
  std::vector<Sample> out;
  const auto add = [&](DType dtype, std::int64_t n, bool has_pairs = false) {
    const Dims type = sample_shape(any, has_pairs);
    const Variable inputs[] = {sample_input(dtype, type, "lower"), sample_input(dtype, type, "d"),
                               sample_input(dtype, type, "upper")};
    out.push_back({make_ref<LUFactorTridiagonal>(has_pairs)->make_node(inputs), diagonal_values(dtype, n, has_pairs),
                   1e-6, false});
  };
  for (const std::int64_t n : {0, 1, 2, 5}) add(DType::Float64, n);
  add(DType::Float32, 4);
  for (const std::int64_t n : {0, 1, 5}) add(DType::Float64, n, true);
  add(DType::Float32, 4, true);
  return out;
}

std::vector<Sample> tridiagonal_solve_samples() {
  constexpr auto any = unknown_length;
  std::vector<Sample> out;
  const auto add = [&](DType dtype, std::int64_t n, std::int64_t k, bool trans, bool has_pairs = false) {
    const Dims type = sample_shape(any, has_pairs);
    const Variable diagonals[] = {sample_input(dtype, type, "lower"), sample_input(dtype, type, "d"),
                                  sample_input(dtype, type, "upper")};
    std::vector<Array> values = diagonal_values(dtype, n, has_pairs);
    std::vector<Array> factors(5);
    const auto factor = make_ref<LUFactorTridiagonal>(has_pairs);
    factor->perform(factor->make_node(diagonals), values, factors);
    Variables inputs;
    for (const char* name : {"factors", "U", "U1", "U2"}) inputs.push_back(sample_input(dtype, type, name));
    inputs.push_back(sample_input(DType::Int32, {any}, "pivots"));
    inputs.push_back(sample_input(dtype, has_pairs ? Dims{any, any, 2} : Dims{any, any}, "b"));
    factors.push_back(sample_values(dtype, has_pairs ? Dims{n, k, 2} : Dims{n, k}, 3));
    out.push_back({make_ref<SolveLUFactorTridiagonal>(trans, has_pairs)->make_node(inputs), factors, 1e-6, false});
  };
  for (const bool trans : {false, true}) {
    add(DType::Float64, 5, 2, trans);
    add(DType::Float64, 1, 1, trans);
    add(DType::Float32, 4, 2, trans);
    add(DType::Float64, 5, 2, trans, true);
  }
  add(DType::Float32, 3, 1, false, true);
  add(DType::Float64, 0, 2, false);
  return out;
}

BITALE_REGISTER_OP(LUFactorTridiagonal,
                   "LU factors of a tridiagonal matrix, given by its diagonals, with partial pivoting.",
                   tridiagonal_factor_samples);
BITALE_REGISTER_OP(SolveLUFactorTridiagonal, "The solution of a tridiagonal system, given LUFactorTridiagonal.",
                   tridiagonal_solve_samples);

}  // namespace

Variables tridiagonal_lu_factor(const Operand& a) {
  const LocationScope here(a.where);
  const Variable& x = require_matrices("tridiagonal_lu_factor", a);
  require_square("tridiagonal_lu_factor", x);
  const auto diagonal_at = [&](int k) { return diagonal(x, k, x.ndim() - 2, x.ndim() - 1); };
  return tridiagonal_lu_factor(diagonal_at(-1), diagonal_at(0), diagonal_at(1));
}

Variables tridiagonal_lu_factor(const Operand& lower, const Operand& d, const Operand& upper) {
  const LocationScope here(d.where);
  const Variable diagonals[] = {lower.variable, d.variable, upper.variable};
  for (const auto& each : diagonals)
    if (each.ndim() < 1) throw ShapeError("tridiagonal_lu_factor: expected three diagonals, or batches of them");
  const bool has_pairs = any_complex({lower.variable, d.variable, upper.variable});
  const auto op = make_ref<LUFactorTridiagonal>(has_pairs);
  Variables inputs, out;
  for (const auto& each : diagonals) inputs.push_back(has_pairs ? as_pairs(each) : each);
  const Apply node = blockwise(op, op->signature(), inputs);
  for (int i = 0; i < 5; ++i) out.push_back(has_pairs && i != 4 ? of_pairs(node.output(i)) : node.output(i));
  return out;
}

Variable tridiagonal_lu_solve(std::span<const Variable> factors, const Operand& b, const LUSolveOptions& options) {
  const LocationScope here(b.where);
  if (factors.size() != 5)
    throw ValueError(cat("tridiagonal_lu_solve: expected the five outputs of tridiagonal_lu_factor, got ",
                         factors.size(), " variables"));
  for (const auto& each : factors)
    if (each.ndim() < 1) throw ShapeError("tridiagonal_lu_solve: expected vectors, or batches of them");
  if (b.ndim() < 1) throw ShapeError("tridiagonal_lu_solve: expected b to be a vector or a matrix");
  const int core = core_ndim(options.b_ndim, b.variable);
  const Variable columns = core == 1 ? expand_dims(b.variable, b.ndim()) : b.variable;
  Variables inputs(factors.begin(), factors.end());
  inputs.push_back(columns);
  DType dtype = columns.dtype();
  for (std::size_t i = 0; i < 4; ++i) dtype = promote(dtype, inputs[i].dtype());
  const bool has_pairs = is_complex(dtype);
  for (std::size_t i = 0; has_pairs && i < 6; ++i)
    if (i != 4) inputs[i] = as_pairs(cast(inputs[i], dtype));
  const Variable made = apply_matrices(make_ref<SolveLUFactorTridiagonal>(options.transposed, has_pairs), inputs);
  const Variable out = has_pairs ? of_pairs(made) : made;
  return core == 1 ? squeeze(out, Axes{{out.ndim() - 1}}) : out;
}

}  // namespace bitale
