// Eigenvalues and eigenvectors of symmetric matrices.
#include <cmath>

#include "bitale/ops/lowering.hpp"
#include "bitale/ops/ops.hpp"
#include "bitale/ops/registry.hpp"
#include "core/call_scope.hpp"
#include "ops/analysis/lengths.hpp"
#include "ops/complex/decomposition.hpp"
#include "ops/linalg/lapack_forms.hpp"
#include "ops/linalg/linalg_core.hpp"
#include "ops/sample_values.hpp"
#include "runtime/decompositions.hpp"

namespace bitale {

namespace {

// Common base of Eigh and Eigvalsh.
class SymmetricEigenOp : public DecompositionOp, public EmitsTensors {
 public:
  explicit SymmetricEigenOp(bool lower) : lower(lower) {}
  bool lower;

  Apply make_node(std::span<const Variable> inputs) const override {
    const auto [x, n] = square_matrix_of(inputs);
    std::vector<Type> types{tensor_type(x.dtype(), Dims{n})};
    if (vectors()) types.push_back(tensor_type(x.dtype(), {n, n}));
    return Apply(OpRef(this), {x}, types);
  }
  std::vector<Shape> infer_shape(const Apply&, std::span<const Shape> inputs) const override {
    std::vector<Shape> out{{inputs[0][0]}};
    if (vectors()) out.push_back(inputs[0]);
    return out;
  }
  void perform(const Apply&, std::span<const Array> in, std::span<Array> out) const override {
    check_lengths(in);
    const Array a = in[0].contiguous();
    const std::int64_t n = a.shape(0);
    out[0] = Array::empty(a.dtype(), {n});
    if (vectors()) out[1] = Array::empty(a.dtype(), {n, n});
    with_float(a.dtype(), [&]<class T>(T) {
      const T* x = a.template data_as<T>();
      check(vectors() ? runtime::eigh<T>(n, lower, x, out[0].mutable_data_as<T>(), out[1].mutable_data_as<T>())
                      : runtime::eigvalsh<T>(n, lower, x, out[0].mutable_data_as<T>()));
    });
  }
  bool emit(Lowering& to, const Apply& node) const override {
    const Expr n = to.shape_in(0)[0];
    require_lengths(to);
    std::vector<CallArgument> arguments{n, to.pool().integer(lower), InputData{0}, OutputData{0}};
    if (vectors()) arguments.push_back(OutputData{1});
    call_runtime(to, node, std::move(arguments));
    return true;
  }
  void emit_tensors(TensorLowering& to, const Apply&) const override {
    const TensorValue x = to.in(0);
    check_lengths(to);
    const TensorValues out = eigh_of(to, x, lower, vectors(), failure());
    for (int k = 0; k < int(out.size()); ++k) to.out(k, out[std::size_t(k)]);
  }

 protected:
  virtual bool vectors() const = 0;
  const char* who() const override { return "eigh"; }
  // The gradient of the triangle that is read, from that of the whole matrix: the other triangle's part is added,
  // transposed.
  Variable where_read(const Apply& node, const Variable& whole) const {
    const Variable out = lower ? add(tril(whole), tril(t(whole), -1)) : add(triu(whole), triu(t(whole), 1));
    return with_static_shape_of(node.input(0), out);
  }
};

class Eigh final : public SymmetricEigenOp {
 public:
  using SymmetricEigenOp::SymmetricEigenOp;
  static constexpr auto fields = attribute_list(attribute("lower", &Eigh::lower));
  std::string_view name() const override { return "Eigh"; }
  Attributes attributes() const override { return collect_attributes(*this, fields); }
  std::string signature() const override { return "(m,m)->(m),(m,m)"; }
  Structure structure(const Apply&, int output, InputStructures&) const override {
    return output == 1 ? Structure{Fact::Orthogonal} : Structure();
  }

  // V (diag(g_w) + F o (V^T g_V)) V^T with F_ij = 1 / (w_j - w_i) (Giles 2008).
  Variables pullback(const Apply& node, std::span<const Variable> cotangents) const override {
    const Variable w = node.output(0), v = node.output(1);
    const bool has_w = !cotangents[0].is_disconnected(), has_v = !cotangents[1].is_disconnected();
    if (!has_w && !has_v) return no_gradients(node);
    Variable whole;
    if (has_v) {
      const Variable product = dot(t(v), cotangents[1]);
      // Only the sum with the transpose has an effect; its numerator is the skew part.
      const Variable skew = mul(sub(product, t(product)), cast(Operand(0.5), w.dtype()));
      const Variable inner =
          over_differences(skew, sub(expand_dims(w, 0), expand_dims(w, 1)), zero_columns(cotangents[1]), w);
      whole = dot(dot(v, inner), t(v));
    }
    if (has_w) {
      const Variable of_values = dot(mul(v, expand_dims(cotangents[0], 0)), t(v));
      whole = has_v ? add(whole, of_values) : of_values;
    }
    return {where_read(node, whole)};
  }

 private:
  bool vectors() const override { return true; }
  std::string runtime_name() const override { return "eigh"; }
};

class Eigvalsh final : public SymmetricEigenOp {
 public:
  using SymmetricEigenOp::SymmetricEigenOp;
  static constexpr auto fields = attribute_list(attribute("lower", &Eigvalsh::lower));
  std::string_view name() const override { return "Eigvalsh"; }
  Attributes attributes() const override { return collect_attributes(*this, fields); }
  std::string signature() const override { return "(m,m)->(m)"; }

  Variables pullback(const Apply& node, std::span<const Variable> cotangents) const override {
    if (cotangents[0].is_disconnected()) return no_gradients(node);
    const Variable inputs[] = {node.input(0)};
    const Variable v = make_ref<Eigh>(lower)->make_node(inputs).output(1);
    return {where_read(node, dot(mul(v, expand_dims(cotangents[0], 0)), t(v)))};
  }

 private:
  bool vectors() const override { return false; }
  std::string runtime_name() const override { return "eigvalsh"; }
};

template <class Kind>
std::vector<Sample> eigen_samples() {
  constexpr auto any = unknown_length;
  std::vector<Sample> out;
  const auto add = [&](DType dtype, const Dims& type, std::int64_t n, bool lower, bool smooth = true) {
    Array a = sample_values(DType::Float64, {n, n}).copy();
    for (std::int64_t k = 0; k < n; ++k) a.mutable_data_as<double>()[k * n + k] += 5.0 * double(k);
    const Variable x[] = {sample_input(dtype, type, "x")};
    out.push_back({make_ref<Kind>(lower)->make_node(x), {a.astype(dtype)}, 1e-6, smooth && dtype == DType::Float64});
  };
  for (const bool lower : {true, false}) {
    add(DType::Float64, {any, any}, 3, lower);
    add(DType::Float64, {4, 4}, 4, lower);
    add(DType::Float32, {any, any}, 3, lower);
    add(DType::Float64, {any, any}, 12, lower, false);
  }
  add(DType::Float64, {any, any}, 1, true);
  add(DType::Float64, {any, any}, 0, true, false);
  add(DType::Int64, {any, any}, 2, true);
  return out;
}

BITALE_REGISTER_OP(Eigh, "Eigenvalues and eigenvectors of a symmetric matrix, of which one triangle is read.",
                   eigen_samples<Eigh>);
BITALE_REGISTER_OP(Eigvalsh, "Eigenvalues of a symmetric matrix, of which one triangle is read.",
                   eigen_samples<Eigvalsh>);

// The symmetric matrix with the eigenvalues of a v = w b v, and the Cholesky factor of b.
std::pair<Variable, Variable> standard_form(const char* who, const Operand& left, const Operand& right, bool lower) {
  const auto [a, b] = required_square_pair(who, require_matrices(who, left), require_matrices(who, right));
  if (any_complex({a, b})) {
    const Variable factor = cholesky(hermitian(b, lower));
    const SolveTriangularOptions from_left{.lower = true, .b_ndim = 2};
    const Variable half = solve_triangular(factor, hermitian(a, lower), from_left);
    return {solve_triangular(factor, adjoint(half), from_left), factor};
  }
  const Variable factor = cholesky(mirrored(b, lower));
  const SolveTriangularOptions from_left{.lower = true, .b_ndim = 2};
  const Variable half = solve_triangular(factor, mirrored(a, lower), from_left);
  return {solve_triangular(factor, t(half), from_left), factor};
}

}  // namespace

EigenPairs eigh(const Operand& a, const std::optional<Operand>& b, const EighOptions& options) {
  const LocationScope here(a.where);
  const Variable& x = require_matrices("eigh", a);
  const CallScope call(b ? "eigh" : nullptr);
  if (b) {
    const auto [form, factor] = standard_form("eigh", a, *b, options.lower);
    const EigenPairs pairs = eigh(form);
    if (is_complex(factor) || is_complex(pairs.vectors))
      return {pairs.values,
              conj(solve_triangular(factor, conj(pairs.vectors), {.lower = true, .trans = true, .b_ndim = 2}))};
    return {pairs.values, solve_triangular(factor, pairs.vectors, {.lower = true, .trans = true, .b_ndim = 2})};
  }
  if (is_complex(x)) return complex_eigh(x, options.lower);
  const Variable inputs[] = {x};
  const auto op = make_ref<Eigh>(options.lower);
  const Apply node = blockwise(op, op->signature(), inputs);
  return {node.output(0), node.output(1)};
}

Variable eigvalsh(const Operand& a, const std::optional<Operand>& b, const EighOptions& options) {
  const LocationScope here(a.where);
  const Variable& x = require_matrices("eigvalsh", a);
  const CallScope call(b ? "eigvalsh" : nullptr);
  if (b) return eigvalsh(standard_form("eigvalsh", a, *b, options.lower).first);
  if (is_complex(x)) return complex_eigvalsh(x, options.lower);
  const Variable inputs[] = {x};
  return apply_matrices(make_ref<Eigvalsh>(options.lower), inputs);
}

}  // namespace bitale
