// QR decompositions of complex matrices, unitary times triangular, with and without pivoting. R's diagonal is real.
#include "bitale/ops/ops.hpp"
#include "bitale/ops/registry.hpp"
#include "ops/analysis/lengths.hpp"
#include "ops/complex/decomposition.hpp"
#include "runtime/complex_decompositions.hpp"

namespace bitale {

namespace {

class ComplexQR final : public ComplexDecomposition {
 public:
  ComplexQR(std::string mode, bool pivoting) : mode(std::move(mode)), pivoting(pivoting) {
    const auto& m = this->mode;
    if (m != "reduced" && m != "complete" && m != "raw")
      throw ValueError(cat("qr: expected mode \"reduced\", \"complete\", \"r\" or \"raw\", got \"", m, "\""));
  }
  std::string mode;
  bool pivoting;
  static constexpr auto fields =
      attribute_list(attribute("mode", &ComplexQR::mode), attribute("pivoting", &ComplexQR::pivoting));
  std::string_view name() const override { return "ComplexQR"; }
  Attributes attributes() const override { return collect_attributes(*this, fields); }

  // As for real matrices (qr.cpp), with adjoints instead of transposes, and the real part of copyltu's diagonal.
  Variables pullback(const Apply& node, std::span<const Variable> cotangents) const override {
    const std::size_t output_of_r = mode == "raw" ? 2 : 1;
    const bool complete = mode == "complete", has_h = !cotangents[0].is_disconnected();
    const bool has_tau = mode == "raw" && !cotangents[1].is_disconnected(), has_q = mode != "raw" && has_h;
    if (!has_h && !has_tau && cotangents[output_of_r].is_disconnected()) return no_gradients(node);
    if (mode == "raw" && (has_h || has_tau))
      return {undefined_gradient("qr: the reflections of mode \"raw\" have no derivative; mode \"reduced\" gives Q")};
    const Variable x = node.input(0), columns = length_of(x, 1), k = lengths::min(length_of(x, 0), columns);
    const auto known_k = known_integer(k), known_rows = known_integer(length_of(x, 0)),
               known_columns = known_integer(columns);
    if (complete && has_q && !(known_k && known_rows && *known_k == *known_rows))
      return {undefined_gradient(
          "qr: Q of mode \"complete\" has a derivative only where the matrix is known to have at most as many rows as "
          "columns: of others, its last columns are any basis of what is left. mode \"reduced\" has one")};
    const Variable inputs[] = {pivoting ? take(x, node.output(int(node.output_count()) - 1), 1) : x};
    const Apply thin = mode == "reduced" ? node : make_ref<ComplexQR>("reduced", false)->make_node(inputs);
    const Variable q = of_pairs(thin.output(0)), r = of_pairs(thin.output(1));
    const auto stretch = [&](const Variable& v, std::optional<Operand> start, std::optional<Operand> stop, int axis) {
      const Slice part{.start = std::move(start), .stop = std::move(stop), .step = {}};
      return axis == 0 ? subtensor(v, {part}) : subtensor(v, {Slice{}, part});
    };
    Variable g_r = complex_cotangent(node, cotangents, int(output_of_r));
    if (complete) g_r = stretch(g_r, {}, Operand(k), 0);
    const Variable g_q = has_q ? of_pairs(cotangents[0]) : zeros_like(q);
    const bool is_tall = known_k && known_columns && *known_k == *known_columns;
    const Variable u = is_tall ? r : stretch(r, {}, Operand(k), 1);
    const Variable g_u = is_tall ? g_r : stretch(g_r, {}, Operand(k), 1);
    Variable of_y, g = g_q;
    if (!is_tall) {
      const Variable rest = stretch(g_r, Operand(k), {}, 1);
      of_y = dot(q, rest);
      g = add(g_q, dot(dot(q, stretch(r, Operand(k), {}, 1)), adjoint(rest)));
    }
    const Variable m = sub(dot(u, adjoint(g_u)), dot(adjoint(g), q));
    const Variable right = add(g, dot(q, hermitian(m, true)));
    Variable out = adjoint(solve_triangular(u, adjoint(right)));
    if (!is_tall) out = concatenate({out, of_y}, 1);
    if (pivoting) {  // column j of the factored matrix is column P[j] of x
      const Variable p = node.output(int(node.output_count()) - 1);
      return {with_static_shape_of(x, set_subtensor(zeros_like(x), {Slice{}, p}, as_pairs(out)))};
    }
    return {with_static_shape_of(x, as_pairs(out))};
  }

  std::vector<std::vector<bool>> connection_pattern(const Apply& node) const override {
    std::vector<bool> out(node.output_count(), true);
    if (pivoting) out.back() = false;
    return {out};
  }

 private:
  TensorValues emit_numbers(TensorLowering& to, const TensorValues& in) const override {
    return qr_of(to, in[0], mode, pivoting);
  }
  bool is_square() const override { return false; }
  std::vector<std::string> outputs() const override {
    std::vector<std::string> out{"mk2", "kn2"};
    if (mode == "complete") out = {"mm2", "mn2"};
    if (mode == "raw") out = {"mn2", "k2", "kn2"};
    if (pivoting) out.emplace_back("ni");
    return out;
  }
  std::vector<std::int64_t> flags() const override {
    if (mode == "raw") return {};
    return {mode == "complete"};
  }
  std::int64_t run(DType dtype, std::int64_t m, std::int64_t n, std::span<const Array> in,
                   std::span<const Array> out) const override {
    return with_float(dtype, [&]<class T>(T) {
      const T* a = in[0].data_as<T>();
      const auto data = [&](std::size_t k) { return out[k].template mutable_data_as<T>(); };
      const auto order = [&] { return out.back().template mutable_data_as<std::int32_t>(); };
      const bool complete = mode == "complete";
      if (mode == "raw" && pivoting)
        return runtime::complex_qr_raw_pivoted<T>(m, n, a, data(0), data(1), data(2), order());
      if (mode == "raw") return runtime::complex_qr_raw<T>(m, n, a, data(0), data(1), data(2));
      if (pivoting) return runtime::complex_qr_pivoted<T>(m, n, complete, a, data(0), data(1), order());
      return runtime::complex_qr<T>(m, n, complete, a, data(0), data(1));
    });
  }
  std::string runtime_name() const override {
    return cat("complex_qr", mode == "raw" ? "_raw" : "", pivoting ? "_pivoted" : "");
  }
  const char* who() const override { return "qr"; }
};

std::vector<Sample> complex_qr_samples() {
  const auto of = [](const char* mode, bool pivoting = false) { return make_ref<ComplexQR>(mode, pivoting); };
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

BITALE_REGISTER_OP(ComplexQR, "A complex matrix as a unitary one times an upper triangular one, as pairs.",
                   complex_qr_samples);

}  // namespace

Variables complex_qr(const Variable& x, const std::string& mode, bool pivoting) {
  const Apply node = apply_pairs(make_ref<ComplexQR>(mode == "r" ? "reduced" : mode, pivoting), x);
  const int count = int(node.output_count());
  Variables out;
  for (int k = mode == "r" ? 1 : 0; k < count; ++k)
    out.push_back(pivoting && k == count - 1 ? node.output(k) : of_pairs(node.output(k)));
  return out;
}

}  // namespace bitale
