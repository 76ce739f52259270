// Unitary times triangular: QR decompositions of complex matrices. R's diagonal is real.
#include "bitale/ops/ops.hpp"
#include "ops/complex_decomposition.hpp"
#include "ops/lengths.hpp"
#include "ops/registry.hpp"
#include "runtime/complex_decompositions.hpp"

namespace bitale {

namespace {

class ComplexQR final : public ComplexDecomposition {
 public:
  explicit ComplexQR(bool complete) : complete(complete) {}
  bool complete;
  static constexpr auto fields = attribute_list(attribute("complete", &ComplexQR::complete));
  std::string_view name() const override { return "ComplexQR"; }
  Attributes attributes() const override { return collect_attributes(*this, fields); }

  // As of real matrices (qr.cpp), with adjoints for transposes, and the real part of copyltu's diagonal.
  Variables pullback(const Apply& node, std::span<const Variable> cotangents) const override {
    const bool has_q = !cotangents[0].is_disconnected();
    if (!has_q && cotangents[1].is_disconnected()) return no_gradients(node);
    const Variable x = node.input(0), columns = length_of(x, 1), k = lengths::min(length_of(x, 0), columns);
    const auto known_k = known_integer(k), known_rows = known_integer(length_of(x, 0)),
               known_columns = known_integer(columns);
    if (complete && has_q && !(known_k && known_rows && *known_k == *known_rows))
      return {undefined_gradient(
          "qr: Q of mode \"complete\" has a derivative only where the matrix is known to have at most as many rows as "
          "columns: of others, its last columns are any basis of what is left. mode \"reduced\" has one")};
    const Variable inputs[] = {x};
    const Apply thin = complete ? make_ref<ComplexQR>(false)->make_node(inputs) : node;
    const Variable q = of_pairs(thin.output(0)), r = of_pairs(thin.output(1));
    const auto stretch = [&](const Variable& v, std::optional<Operand> start, std::optional<Operand> stop, int axis) {
      const Slice part{.start = std::move(start), .stop = std::move(stop), .step = {}};
      return axis == 0 ? subtensor(v, {part}) : subtensor(v, {Slice{}, part});
    };
    Variable g_r = complex_cotangent(node, cotangents, 1);
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
    return {with_static_shape_of(x, as_pairs(out))};
  }

 private:
  bool is_square() const override { return false; }
  std::vector<std::string> outputs() const override {
    return complete ? std::vector<std::string>{"mm2", "mn2"} : std::vector<std::string>{"mk2", "kn2"};
  }
  std::vector<std::int64_t> flags() const override { return {complete}; }
  std::int64_t run(DType dtype, std::int64_t m, std::int64_t n, const Array& a,
                   std::span<const Array> out) const override {
    return with_float(dtype, [&]<class T>(T) {
      return runtime::complex_qr<T>(m, n, complete, a.data_as<T>(), out[0].data_as<T>(), out[1].data_as<T>());
    });
  }
  std::string runtime_name() const override { return "complex_qr"; }
  const char* who() const override { return "qr"; }
};

std::vector<Sample> complex_qr_samples() {
  std::vector<Sample> out = decomposition_samples(make_ref<ComplexQR>(false), {{3, 3}, {4, 2}, {2, 4}, {0, 2}}, true);
  for (auto& sample : decomposition_samples(make_ref<ComplexQR>(true), {{4, 2}, {2, 3}}, false)) out.push_back(sample);
  return out;
}

REGISTER_OP(ComplexQR, "A complex matrix as a unitary one times an upper triangular one, as pairs.",
            complex_qr_samples);

}  // namespace

Variables complex_qr(const Variable& x, const std::string& mode, bool pivoting) {
  if (pivoting || mode == "raw")
    throw NotImplementedError(
        cat("qr: ", pivoting ? "pivoting" : "mode \"raw\"",
            " is not implemented for complex matrices; modes \"reduced\", \"complete\" and \"r\" are"));
  if (mode != "reduced" && mode != "complete" && mode != "r")
    throw ValueError(cat("qr: expected mode \"reduced\", \"complete\", \"r\" or \"raw\", got \"", mode, "\""));
  const Apply node = apply_pairs(make_ref<ComplexQR>(mode == "complete"), x);
  const Variable r = of_pairs(node.output(1));
  if (mode == "r") return {r};
  return {of_pairs(node.output(0)), r};
}

}  // namespace bitale
