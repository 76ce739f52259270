// Singular value decompositions.
#include <algorithm>
#include <cmath>

#include "bitale/ops/lowering.hpp"
#include "bitale/ops/ops.hpp"
#include "bitale/ops/registry.hpp"
#include "ops/analysis/lengths.hpp"
#include "ops/complex/decomposition.hpp"
#include "ops/linalg/lapack_forms.hpp"
#include "ops/linalg/linalg_core.hpp"
#include "ops/sample_values.hpp"
#include "runtime/decompositions.hpp"

namespace bitale {

namespace {

class SVD final : public DecompositionOp, public EmitsTensors {
 public:
  SVD(bool full_matrices, bool compute_uv) : full_matrices(full_matrices), compute_uv(compute_uv) {}
  bool full_matrices, compute_uv;
  static constexpr auto fields =
      attribute_list(attribute("full_matrices", &SVD::full_matrices), attribute("compute_uv", &SVD::compute_uv));

  std::string_view name() const override { return "SVD"; }
  Attributes attributes() const override { return collect_attributes(*this, fields); }
  std::string signature() const override {
    if (!compute_uv) return "(m,n)->(k)";
    return full_matrices ? "(m,n)->(m,m),(k),(n,n)" : "(m,n)->(m,k),(k),(k,n)";
  }

  Structure structure(const Apply&, int output, InputStructures&) const override {
    return compute_uv && full_matrices && output != 1 ? Structure{Fact::Orthogonal} : Structure();
  }

  Apply make_node(std::span<const Variable> inputs) const override {
    const Variable x = matrix_of(inputs);
    const std::int64_t m = x.static_shape()[0], n = x.static_shape()[1];
    const std::int64_t k = min_length(m, n);
    const auto type = [&](Dims shape) { return Type(tensor_type(x.dtype(), std::move(shape))); };
    if (!compute_uv) return Apply(OpRef(this), {x}, {type({k})});
    if (full_matrices) return Apply(OpRef(this), {x}, {type({m, m}), type({k}), type({n, n})});
    return Apply(OpRef(this), {x}, {type({m, k}), type({k}), type({k, n})});
  }
  std::vector<Shape> infer_shape(const Apply&, std::span<const Shape> inputs) const override {
    const Variable m = inputs[0][0], n = inputs[0][1], k = lengths::min(m, n);
    if (!compute_uv) return {{k}};
    if (full_matrices) return {{m, m}, {k}, {n, n}};
    return {{m, k}, {k}, {k, n}};
  }

  void perform(const Apply&, std::span<const Array> in, std::span<Array> out) const override {
    const Array a = in[0].contiguous();
    const std::int64_t m = a.shape(0), n = a.shape(1), k = std::min(m, n);
    const DType dtype = a.dtype();
    with_float(dtype, [&]<class T>(T) {
      const T* x = a.template data_as<T>();
      if (!compute_uv) {
        out[0] = Array::empty(dtype, {k});
        return check(runtime::svdvals<T>(m, n, x, out[0].mutable_data_as<T>()));
      }
      out[0] = Array::empty(dtype, {m, full_matrices ? m : k});
      out[1] = Array::empty(dtype, {k});
      out[2] = Array::empty(dtype, {full_matrices ? n : k, n});
      check(runtime::svd<T>(m, n, full_matrices, x, out[0].mutable_data_as<T>(), out[1].mutable_data_as<T>(),
                            out[2].mutable_data_as<T>()));
    });
  }

  bool emit(Lowering& to, const Apply& node) const override {
    const Expr m = to.shape_in(0)[0], n = to.shape_in(0)[1];
    if (compute_uv)
      call_runtime(to, node,
                   {m, n, to.pool().integer(full_matrices), InputData{0}, OutputData{0}, OutputData{1}, OutputData{2}});
    else
      call_runtime(to, node, {m, n, InputData{0}, OutputData{0}});
    return true;
  }

  void emit_tensors(TensorLowering& to, const Apply&) const override {
    const TensorValues out = svd_of(to, to.in(0), full_matrices, compute_uv, failure());
    for (int k = 0; k < int(out.size()); ++k) to.out(k, out[std::size_t(k)]);
  }

  // Townsend 2016, "Differentiating the singular value decomposition".
  Variables pullback(const Apply& node, std::span<const Variable> cotangents) const override {
    const Variable x = node.input(0);
    const bool has_u = compute_uv && !cotangents[0].is_disconnected();
    const bool has_v = compute_uv && !cotangents[2].is_disconnected();
    const Variable& of_s = cotangents[compute_uv ? 1 : 0];
    if (!has_u && !has_v && of_s.is_disconnected()) return no_gradients(node);
    const Dims& shape = x.static_shape();
    const bool is_square = shape[0] != unknown_length && shape[0] == shape[1];
    if (full_matrices && !is_square && (has_u || has_v))
      return {undefined_gradient(
          "svd: with full_matrices, U and Vt of a matrix that is not known to be square have no derivative: their last "
          "vectors are any basis of what is left. Without full_matrices they have one")};
    Variable u, s, vt;
    if (compute_uv && (!full_matrices || is_square)) {
      u = node.output(0), s = node.output(1), vt = node.output(2);
    } else {
      const Variable inputs[] = {x};
      const Apply thin = make_ref<SVD>(false, true)->make_node(inputs);
      u = thin.output(0), s = thin.output(1), vt = thin.output(2);
    }
    Variable out;
    const auto plus = [&](const Variable& term) { out = out.defined() ? add(out, term) : term; };
    if (!of_s.is_disconnected()) plus(dot(mul(u, expand_dims(of_s, 0)), vt));
    // Townsend's (a s_j + b s_i) / (s_j^2 - s_i^2), with the skew parts a of U^T g_U and b of V^T g_V, in partial
    // fractions, which lose no precision where values are close.
    const auto skew = [](const Variable& product) { return sub(product, t(product)); };
    Variable sums, differences, unused;
    if (has_u) {
      const Variable &g = cotangents[0], product = dot(t(u), g);
      sums = differences = skew(product), unused = zero_columns(g);
      if (!is_square) plus(dot(mul(sub(g, dot(u, product)), expand_dims(reciprocal_of_used(s, unused), 0)), vt));
    }
    if (has_v) {
      const Variable g = t(cotangents[2]), product = dot(vt, g), own = skew(product), own_unused = zero_columns(g);
      sums = has_u ? add(sums, own) : own, differences = has_u ? sub(differences, own) : neg(own);
      unused = has_u ? and_(unused, own_unused) : own_unused;
      if (!is_square)
        plus(dot(mul(u, expand_dims(reciprocal_of_used(s, own_unused), 0)), t(sub(g, dot(t(vt), product)))));
    }
    if (has_u || has_v) {
      const Variable row = expand_dims(s, 0), column = expand_dims(s, 1);
      const Variable inner = add(over_differences(sums, sub(row, column), unused, s),
                                 over_differences(differences, add(row, column), unused, s));
      plus(dot(dot(u, mul(inner, cast(Operand(0.5), s.dtype()))), vt));
    }
    return {with_static_shape_of(x, out)};
  }

 private:
  std::string runtime_name() const override { return compute_uv ? "svd" : "svdvals"; }
  const char* who() const override { return "svd"; }
};

std::vector<Sample> svd_samples() {
  constexpr auto any = unknown_length;
  std::vector<Sample> out;
  const auto add = [&](DType dtype, const Dims& type, const Dims& shape, bool full, bool uv, bool smooth = true) {
    Array a = sample_values(DType::Float64, shape).copy();
    for (std::int64_t k = 0; k < std::min(shape[0], shape[1]); ++k)
      a.mutable_data_as<double>()[k * shape[1] + k] += 3.0 * double(k + 1);
    const Variable x[] = {sample_input(dtype, type, "x")};
    out.push_back({make_ref<SVD>(full, uv)->make_node(x), {a.astype(dtype)}, 1e-6, smooth && dtype == DType::Float64});
  };
  for (const bool uv : {true, false}) {
    add(DType::Float64, {any, any}, {3, 3}, false, uv);
    add(DType::Float64, {any, any}, {4, 2}, false, uv);
    add(DType::Float64, {any, any}, {2, 4}, false, uv);
    add(DType::Float64, {3, 3}, {3, 3}, true, uv);
    add(DType::Float32, {any, any}, {3, 2}, false, uv);
    add(DType::Float64, {any, any}, {4, 3}, true, uv, !uv);
    add(DType::Float64, {any, any}, {0, 3}, true, uv, false);
    add(DType::Float64, {any, any}, {1, 1}, false, uv);
    add(DType::Int64, {any, any}, {3, 3}, false, uv);
  }
  return out;
}

BITALE_REGISTER_OP(SVD, "The singular value decomposition of a matrix.", svd_samples);

}  // namespace

SingularValues svd(const Operand& x, const SvdOptions& options) {
  const LocationScope here(x.where);
  const Variable inputs[] = {require_matrices("svd", x)};
  if (is_complex(inputs[0])) return complex_svd(inputs[0], options.full_matrices);
  const auto op = make_ref<SVD>(options.full_matrices, true);
  const Apply node = blockwise(op, op->signature(), inputs);
  return {node.output(0), node.output(1), node.output(2)};
}

Variable svdvals(const Operand& x) {
  const LocationScope here(x.where);
  const Variable inputs[] = {require_matrices("svd", x)};
  if (is_complex(inputs[0])) return complex_svdvals(inputs[0]);
  return apply_matrices(make_ref<SVD>(false, false), inputs);
}

}  // namespace bitale
