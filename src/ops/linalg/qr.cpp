// Orthogonal, or unitary, times triangular: QR decompositions, with and without pivoting. R's diagonal is real.
#include <algorithm>

#include "bitale/ops/lowering.hpp"
#include "bitale/ops/ops.hpp"
#include "bitale/ops/registry.hpp"
#include "ops/analysis/lengths.hpp"
#include "ops/linalg/lapack_op.hpp"
#include "ops/option_names.hpp"
#include "ops/sample_values.hpp"
#include "runtime/decompositions.hpp"

namespace bitale {

namespace {

template <bool has_pairs>
class QR final : public LapackOp {
 public:
  QR(std::string mode, bool pivoting) : LapackOp(has_pairs), mode(std::move(mode)), pivoting(pivoting) {
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

  std::string_view name() const override { return has_pairs ? "ComplexQR" : "QR"; }
  Attributes attributes() const override { return collect_attributes(*this, fields); }

  Structure structure(const Apply&, int output, InputStructures&) const override {
    if (has_pairs) return {};
    if (mode == "complete" && output == 0) return Structure{Fact::Orthogonal};
    return output == output_of_r() ? Structure{Fact::UpperTriangular} : Structure();
  }

  // With k = min(m, n), A = [X Y] and R = [U V] after k columns, where Y = Q V: g_Y = Q g_V, and with
  // G = g_Q + Y g_V^H: g_X = (G + Q copyltu(U g_U^H - G^H Q)) U^-H (Walter and Lehmann 2018, arXiv:1009.6112). Of
  // copyltu's diagonal, the real part counts.
  Variables pullback(const Apply& node, std::span<const Variable> cotangents) const override {
    const Variable &of_r = cotangents[std::size_t(output_of_r())], x = node.input(0);
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
    const int last = int(node.output_count()) - 1;
    Apply thin = node;
    if (mode != "reduced") {
      const Variable inputs[] = {pivoting ? take(x, node.output(last), 1) : x};
      thin = make_ref<QR>("reduced", false)->make_node(inputs);
    }
    const Variable q = numbers(thin.output(0)), r = numbers(thin.output(1));
    const Variable g_q = has_q ? numbers(cotangents[0]) : zeros_like(q);
    Variable g_r = cotangent(node, cotangents, output_of_r());
    if (mode == "complete") g_r = first(g_r, k, 0);
    const bool is_tall = known_k && known_columns && *known_k == *known_columns;
    const Variable u = is_tall ? r : first(r, k, 1), g_u = is_tall ? g_r : first(g_r, k, 1);
    Variable of_y, g = g_q;
    if (!is_tall) {
      const auto rest = [&](const Variable& v) {
        return subtensor(v, {Slice{}, Slice{.start = Operand(k), .stop = {}, .step = {}}});
      };
      of_y = dot(q, rest(g_r));
      g = add(g_q, dot(dot(q, rest(r)), adjoint(rest(g_r))));
    }
    const Variable m = sub(dot(u, adjoint(g_u)), dot(adjoint(g), q));
    const Variable right = add(g, dot(q, hermitian(m, true)));
    Variable out = adjoint(solve_triangular(u, adjoint(right)));
    if (!is_tall) out = concatenate({out, of_y}, 1);
    out = stored(out);
    // Column j of what was factored is column P[j] of x.
    if (pivoting) out = set_subtensor(zeros_like(x), {Slice{}, node.output(last)}, out);
    return {with_static_shape_of(x, out)};
  }
  std::vector<std::vector<bool>> connection_pattern(const Apply& node) const override {
    std::vector<bool> out(node.output_count(), true);
    if (pivoting) out.back() = false;
    return {out};
  }

 private:
  int output_of_r() const { return mode == "r" ? 0 : mode == "raw" ? 2 : 1; }
  // The first k rows or columns.
  static Variable first(const Variable& x, const Variable& k, int axis) {
    const Slice stretch{.start = {}, .stop = Operand(k), .step = {}};
    if (axis == 0) return subtensor(x, {stretch});
    return subtensor(x, {Slice{}, stretch});
  }

  TensorValues emit_numbers(TensorLowering& to, const TensorValues& in) const override {
    return qr_of(to, in[0], mode, pivoting);
  }
  std::vector<std::string> inputs() const override { return {"mn"}; }
  std::vector<std::string> outputs() const override {
    if (mode == "r") return {"kn"};
    std::vector<std::string> out{"mk", "kn"};
    if (mode == "complete") out = {"mm", "mn"};
    if (mode == "raw") out = {"mn", "k", "kn"};
    if (pivoting) out.emplace_back("ni");
    return out;
  }
  std::vector<std::int64_t> flags() const override {
    if (mode == "raw" || mode == "r") return {};
    return {mode == "complete"};
  }
  std::int64_t run(const Call& to) const override {
    return to.with_numbers<has_pairs>([&]<class N>(N) {
      const N* a = to.in<N>(0);
      N *const first = to.out<N>(0), *const second = mode == "r" ? nullptr : to.out<N>(1);
      const auto order = [&] { return to.out<std::int32_t>(mode == "raw" ? 3 : 2); };
      const bool complete = mode == "complete";
      if (mode == "raw" && pivoting)
        return runtime::qr_raw_pivoted<N>(to.m, to.n, a, first, second, to.out<N>(2), order());
      if (mode == "raw") return runtime::qr_raw<N>(to.m, to.n, a, first, second, to.out<N>(2));
      if (mode == "r") return runtime::qr_r<N>(to.m, to.n, a, first);
      if (pivoting) return runtime::qr_pivoted<N>(to.m, to.n, complete, a, first, second, order());
      return runtime::qr<N>(to.m, to.n, complete, a, first, second);
    });
  }
  std::string routine() const override {
    return cat("qr", mode == "reduced" || mode == "complete" ? "" : cat("_", mode), pivoting ? "_pivoted" : "");
  }
  const char* who() const override { return "qr"; }
};

std::vector<Sample> qr_samples() {
  constexpr auto any = unknown_length;
  std::vector<Sample> out;
  const auto add = [&](DType dtype, const Dims& type, const Dims& shape, const char* mode, bool pivoting = false,
                       bool smooth = true) {
    Array a = sample_values(DType::Float64, shape).copy();
    for (std::int64_t k = 0; k < std::min(shape[0], shape[1]); ++k) a.mutable_data_as<double>()[k * shape[1] + k] += 6;
    const Variable x[] = {sample_input(dtype, type, "x")};
    out.push_back({make_ref<QR<false>>(mode, pivoting)->make_node(x),
                   {a.astype(dtype)},
                   1e-6,
                   smooth && dtype == DType::Float64});
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

std::vector<Sample> complex_qr_samples() {
  const auto of = [](const char* mode, bool pivoting = false) { return make_ref<QR<true>>(mode, pivoting); };
  std::vector<Sample> out = decomposition_samples(of("reduced"), {{3, 3}, {4, 2}, {2, 4}, {0, 2}}, true);
  const auto add = [&](const OpRef& op, const std::vector<Dims>& shapes, bool smooth) {
    for (auto& sample : decomposition_samples(op, shapes, smooth)) out.push_back(sample);
  };
  add(of("complete"), {{4, 2}, {2, 3}}, false);
  add(of("reduced", true), {{4, 2}, {2, 3}, {3, 0}}, true);
  add(of("complete", true), {{4, 2}}, false);
  add(of("raw"), {{4, 3}, {2, 3}, {0, 2}}, false);
  add(of("raw", true), {{4, 3}, {2, 3}}, false);
  return out;
}

const RegisterOp register_qr("QR",
                             "A matrix as an orthogonal one times an upper triangular one, by Householder reflections.",
                             qr_samples, make_op<QR<false>>);
const RegisterOp register_complex_qr("ComplexQR",
                                     "A complex matrix as a unitary one times an upper triangular one, as pairs.",
                                     complex_qr_samples, make_op<QR<true>>);

}  // namespace

Variables qr(const Operand& x, const QrOptions& options) {
  const LocationScope here(x.where);
  const Variable& matrix = require_matrices("qr", x);
  const bool only_r = options.pivoting && options.mode == QrMode::R;
  const auto name = option_name(only_r ? QrMode::Reduced : options.mode);
  Variables out = apply_lapack<QR>(matrix, std::string(name), options.pivoting);
  if (only_r) out.erase(out.begin());
  return out;
}

}  // namespace bitale
