// Orthogonal times triangular: QR decompositions, with and without pivoting.
#include <algorithm>
#include <cmath>

#include "bitale/ops/lowering.hpp"
#include "bitale/ops/ops.hpp"
#include "bitale/ops/registry.hpp"
#include "ops/analysis/lengths.hpp"
#include "ops/complex/decomposition.hpp"
#include "ops/linalg/lapack_forms.hpp"
#include "ops/linalg/linalg_core.hpp"
#include "ops/option_names.hpp"
#include "ops/sample_values.hpp"
#include "runtime/decompositions.hpp"

namespace bitale {

namespace {

class QR final : public DecompositionOp, public EmitsTensors {
 public:
  QR(std::string mode, bool pivoting) : mode(std::move(mode)), pivoting(pivoting) {
    const auto& m = this->mode;
    if (m != "reduced" && m != "complete" && m != "r" && m != "raw")
      throw ValueError(cat("qr: expected mode \"reduced\", \"complete\", \"r\" or \"raw\", got \"", m, "\""));
    if (pivoting && m == "r")
      throw ValueError(
          "QR: with pivoting the mode is \"reduced\", \"complete\" or \"raw\"; the function qr takes \"r\"");
  }
  std::string mode;
  bool pivoting;
  static constexpr auto fields = attribute_list(attribute("mode", &QR::mode), attribute("pivoting", &QR::pivoting));

  std::string_view name() const override { return "QR"; }
  Attributes attributes() const override { return collect_attributes(*this, fields); }
  std::string signature() const override {
    if (mode == "r") return "(m,n)->(k,n)";
    const std::string all = mode == "raw"        ? "(m,n)->(m,n),(k),(k,n)"
                            : mode == "complete" ? "(m,n)->(m,m),(m,n)"
                                                 : "(m,n)->(m,k),(k,n)";
    return pivoting ? all + ",(n)" : all;
  }

  Structure structure(const Apply&, int output, InputStructures&) const override {
    if (mode == "complete" && output == 0) return Structure{Fact::Orthogonal};
    const int of_r = mode == "r" ? 0 : mode == "raw" ? 2 : 1;
    return output == of_r ? Structure{Fact::UpperTriangular} : Structure();
  }

  Apply make_node(std::span<const Variable> inputs) const override {
    const Variable x = matrix_of(inputs);
    const std::int64_t m = x.static_shape()[0], n = x.static_shape()[1];
    const std::int64_t k = min_length(m, n);
    const auto type = [&](Dims shape) { return Type(tensor_type(x.dtype(), std::move(shape))); };
    std::vector<Type> types;
    if (mode == "raw")
      types = {type({m, n}), type({k}), type({k, n})};
    else if (mode == "r")
      types = {type({k, n})};
    else if (mode == "complete")
      types = {type({m, m}), type({m, n})};
    else
      types = {type({m, k}), type({k, n})};
    if (pivoting) types.push_back(tensor_type(DType::Int32, Dims{n}));
    return Apply(OpRef(this), {x}, types);
  }
  std::vector<Shape> infer_shape(const Apply&, std::span<const Shape> inputs) const override {
    const Variable m = inputs[0][0], n = inputs[0][1], k = lengths::min(m, n);
    if (mode == "r") return {{k, n}};
    std::vector<Shape> out{{m, k}, {k, n}};
    if (mode == "raw") out = {{m, n}, {k}, {k, n}};
    if (mode == "complete") out = {{m, m}, {m, n}};
    if (pivoting) out.push_back({n});
    return out;
  }

  void perform(const Apply&, std::span<const Array> in, std::span<Array> out) const override {
    const Array a = in[0].contiguous();
    const std::int64_t m = a.shape(0), n = a.shape(1), k = std::min(m, n), complete = mode == "complete";
    const auto make = [&](std::size_t output, Dims shape, DType dtype) { out[output] = Array::empty(dtype, shape); };
    with_float(a.dtype(), [&]<class T>(T) {
      const auto data = [&](std::size_t output) { return out[output].template mutable_data_as<T>(); };
      const T* x = a.template data_as<T>();
      if (mode == "raw") {
        make(0, {m, n}, a.dtype()), make(1, {k}, a.dtype()), make(2, {k, n}, a.dtype());
        if (!pivoting) return check(runtime::qr_raw<T>(m, n, x, data(0), data(1), data(2)));
        make(3, {n}, DType::Int32);
        return check(
            runtime::qr_raw_pivoted<T>(m, n, x, data(0), data(1), data(2), out[3].mutable_data_as<std::int32_t>()));
      }
      if (mode == "r") {
        make(0, {k, n}, a.dtype());
        return check(runtime::qr_r<T>(m, n, x, data(0)));
      }
      make(0, {m, complete ? m : k}, a.dtype()), make(1, {complete ? m : k, n}, a.dtype());
      if (!pivoting) return check(runtime::qr<T>(m, n, complete, x, data(0), data(1)));
      make(2, {n}, DType::Int32);
      check(runtime::qr_pivoted<T>(m, n, complete, x, data(0), data(1), out[2].mutable_data_as<std::int32_t>()));
    });
  }

  bool emit(Lowering& to, const Apply& node) const override {
    std::vector<CallArgument> arguments{to.shape_in(0)[0], to.shape_in(0)[1]};
    if (mode == "reduced" || mode == "complete") arguments.push_back(to.pool().integer(mode == "complete"));
    arguments.push_back(InputData{0});
    for (int k = 0; k < int(node.output_count()); ++k) arguments.push_back(OutputData{k});
    call_runtime(to, node, std::move(arguments));
    return true;
  }

  void emit_tensors(TensorLowering& to, const Apply&) const override {
    const TensorValues out = qr_of(to, to.in(0), mode, pivoting);
    for (int k = 0; k < int(out.size()); ++k) to.out(k, out[std::size_t(k)]);
  }

  // With k = min(m, n), A = [X Y] and R = [U V] after k columns, where Y = Q V: g_Y = Q g_V, and with
  // G = g_Q + Y g_V^T: g_X = (G + Q copyltu(U g_U^T - G^T Q)) U^-T (Walter and Lehmann 2018, arXiv:1009.6112).
  Variables pullback(const Apply& node, std::span<const Variable> cotangents) const override {
    const int output_of_r = mode == "r" ? 0 : mode == "raw" ? 2 : 1;
    const Variable &of_r = cotangents[std::size_t(output_of_r)], x = node.input(0);
    const bool has_q = mode != "r" && !cotangents[0].is_disconnected();
    if (of_r.is_disconnected() && !has_q && (mode != "raw" || cotangents[1].is_disconnected()))
      return no_gradients(node);
    if (mode == "raw" && (has_q || !cotangents[1].is_disconnected()))
      return {undefined_gradient("qr: the reflections of mode \"raw\" have no derivative; mode \"reduced\" gives Q")};
    const Variable rows = length_of(x, 0), columns = length_of(x, 1), k = lengths::min(rows, columns);
    const auto known_k = known_integer(k), known_columns = known_integer(columns), known_rows = known_integer(rows);
    if (mode == "complete" && has_q && !(known_k && known_rows && *known_k == *known_rows))
      return {undefined_gradient(
          "qr: Q of mode \"complete\" has a derivative only where the matrix is known to have at most as many rows as "
          "columns: of others, its last columns are any basis of what is left. mode \"reduced\" has one")};
    Variable q, r, g_q, g_r;
    if (mode == "reduced") {
      q = node.output(0), r = node.output(1);
      g_q = cotangent_or_zeros(node, cotangents, 0), g_r = cotangent_or_zeros(node, cotangents, 1);
    } else {
      const Variable a = pivoting ? take(x, node.output(int(node.output_count()) - 1), 1) : x;
      const Variable inputs[] = {a};
      const Apply thin = make_ref<QR>("reduced", false)->make_node(inputs);
      q = thin.output(0), r = thin.output(1);
      g_r = cotangent_or_zeros(node, cotangents, output_of_r);
      if (mode == "complete") g_r = first(g_r, k, 0);
      g_q = has_q ? cotangents[0] : zeros_like(q);
    }
    const bool is_tall = known_k && known_columns && *known_k == *known_columns;
    const Variable u = is_tall ? r : first(r, k, 1), g_u = is_tall ? g_r : first(g_r, k, 1);
    Variable of_y, g = g_q;
    if (!is_tall) {
      const auto rest = [&](const Variable& v) {
        return subtensor(v, {Slice{}, Slice{.start = Operand(k), .stop = {}, .step = {}}});
      };
      of_y = dot(q, rest(g_r));
      g = add(g_q, dot(dot(q, rest(r)), t(rest(g_r))));
    }
    const Variable m = sub(dot(u, t(g_u)), dot(t(g), q));
    const Variable right = add(g, dot(q, mirrored(m, true)));
    Variable out = t(solve_triangular(u, t(right)));
    if (!is_tall) out = concatenate({out, of_y}, 1);
    if (pivoting) {  // column j of what was factored is column P[j] of x
      const Variable p = node.output(int(node.output_count()) - 1);
      out = set_subtensor(zeros_like(x), {Slice{}, p}, out);
    }
    return {with_static_shape_of(x, out)};
  }
  std::vector<std::vector<bool>> connection_pattern(const Apply& node) const override {
    std::vector<bool> out(node.output_count(), true);
    if (pivoting) out.back() = false;
    return {out};
  }

 private:
  std::string runtime_name() const override {
    if (mode == "r") return "qr_r";
    return cat("qr", mode == "raw" ? "_raw" : "", pivoting ? "_pivoted" : "");
  }
  const char* who() const override { return "qr"; }
  // The first k rows or columns.
  static Variable first(const Variable& x, const Variable& k, int axis) {
    const Slice stretch{.start = {}, .stop = Operand(k), .step = {}};
    if (axis == 0) return subtensor(x, {stretch});
    return subtensor(x, {Slice{}, stretch});
  }
};

std::vector<Sample> qr_samples() {
  constexpr auto any = unknown_length;
  std::vector<Sample> out;
  const auto add = [&](DType dtype, const Dims& type, const Dims& shape, const char* mode, bool pivoting = false,
                       bool smooth = true) {
    Array a = sample_values(DType::Float64, shape).copy();
    for (std::int64_t k = 0; k < std::min(shape[0], shape[1]); ++k) a.mutable_data_as<double>()[k * shape[1] + k] += 6;
    const Variable x[] = {sample_input(dtype, type, "x")};
    out.push_back(
        {make_ref<QR>(mode, pivoting)->make_node(x), {a.astype(dtype)}, 1e-6, smooth && dtype == DType::Float64});
  };
  for (const char* mode : {"reduced", "r"}) {
    add(DType::Float64, {any, any}, {3, 3}, mode);
    add(DType::Float64, {any, any}, {4, 2}, mode);
    add(DType::Float64, {any, any}, {2, 4}, mode);
    add(DType::Float64, {4, 3}, {4, 3}, mode);
    add(DType::Float32, {any, any}, {3, 2}, mode);
    add(DType::Float64, {any, any}, {0, 2}, mode, false, false);
    add(DType::Int64, {any, any}, {2, 2}, mode);
  }
  add(DType::Float64, {any, any}, {4, 2}, "complete", false, false);
  add(DType::Float64, {3, 4}, {3, 4}, "complete");
  add(DType::Float64, {any, any}, {4, 3}, "raw", false, false);
  add(DType::Float64, {any, any}, {4, 3}, "reduced", true);
  add(DType::Float64, {any, any}, {2, 3}, "reduced", true);
  add(DType::Float64, {any, any}, {4, 3}, "raw", true, false);
  return out;
}

BITALE_REGISTER_OP(QR, "A matrix as an orthogonal one times an upper triangular one, by Householder reflections.",
                   qr_samples);

}  // namespace

Variables qr(const Operand& x, const QrOptions& options) {
  const LocationScope here(x.where);
  const Variable inputs[] = {require_matrices("qr", x)};
  const std::string name = option_name(options.mode);
  if (is_complex(inputs[0])) return complex_qr(inputs[0], name, options.pivoting);
  if (options.pivoting && options.mode == QrMode::R) {
    const Variables all = qr(x, {.mode = QrMode::Reduced, .pivoting = true});
    return {all[1], all[2]};
  }
  const auto op = make_ref<QR>(name, options.pivoting);
  const Apply node = blockwise(op, op->signature(), inputs);
  Variables out;
  for (int k = 0; k < int(node.output_count()); ++k) out.push_back(node.output(k));
  return out;
}

}  // namespace bitale
