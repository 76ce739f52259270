// Generalized Schur forms of pairs of complex matrices, which are triangular.
#include "bitale/ops/ops.hpp"
#include "ops/complex_decomposition.hpp"
#include "ops/lengths.hpp"
#include "ops/registry.hpp"
#include "ops/sample_values.hpp"
#include "runtime/complex_decompositions.hpp"

namespace bitale {

namespace {

class ComplexQZ final : public ComplexDecomposition {
 public:
  explicit ComplexQZ(std::string sort) : sort(std::move(sort)) { (void)flags(); }
  std::string sort;
  static constexpr auto fields = attribute_list(attribute("sort", &ComplexQZ::sort));
  std::string_view name() const override { return "ComplexQZ"; }
  Attributes attributes() const override { return collect_attributes(*this, fields); }

  Variables pullback(const Apply& node, std::span<const Variable> cotangents) const override {
    for (const auto& each : cotangents)
      if (!each.is_disconnected()) {
        const Variable none =
            undefined_gradient("qz: there is no derivative: the order of eigenvalues is the algorithm's");
        return {none, none};
      }
    return no_gradients(node);
  }

 private:
  std::vector<std::string> inputs() const override { return {"nn2", "nn2"}; }
  std::vector<std::string> outputs() const override { return {"nn2", "nn2", "nn2", "nn2", "n2", "n2"}; }
  std::vector<std::int64_t> flags() const override {
    constexpr const char* names[] = {"", "lhp", "rhp", "iuc", "ouc"};
    for (int k = 0; k < 5; ++k)
      if (sort == names[k]) return {k};
    throw ValueError(cat("qz: expected sort None, \"lhp\", \"rhp\", \"iuc\" or \"ouc\", got \"", sort, "\""));
  }
  std::int64_t run(DType dtype, std::int64_t, std::int64_t n, std::span<const Array> in,
                   std::span<const Array> out) const override {
    return with_float(dtype, [&]<class T>(T) {
      const auto data = [&](std::size_t k) { return out[k].template data_as<T>(); };
      return runtime::complex_qz<T>(n, flags()[0], in[0].data_as<T>(), in[1].data_as<T>(), data(0), data(1), data(2),
                                    data(3), data(4), data(5));
    });
  }
  std::string runtime_name() const override { return "complex_qz"; }
  const char* who() const override { return "qz"; }
};

std::vector<Sample> complex_qz_samples() {
  constexpr auto any = unknown_length;
  std::vector<Sample> out;
  const auto add = [&](DType dtype, std::int64_t n, const char* sort = "") {
    const Variable inputs[] = {sample_input(dtype, {any, any, 2}, "a"), sample_input(dtype, {any, any, 2}, "b")};
    Array b = sample_values(DType::Float64, {n, n, 2}, 4).copy();
    for (std::int64_t k = 0; k < n; ++k) b.data_as<double>()[2 * (k * n + k)] += 7;
    out.push_back({make_ref<ComplexQZ>(sort)->make_node(inputs),
                   {sample_values(dtype, {n, n, 2}), b.astype(dtype)},
                   1e-6,
                   false});
  };
  add(DType::Float64, 3);
  add(DType::Float64, 4, "lhp");
  add(DType::Float64, 4, "ouc");
  add(DType::Float64, 0);
  add(DType::Float32, 3);
  return out;
}

REGISTER_OP(ComplexQZ, "Two complex matrices as a unitary one, a triangular one, and another unitary one, as pairs.",
            complex_qz_samples);

}  // namespace

GeneralizedSchurForm complex_qz(const Variable& a, const Variable& b, const std::string& sort) {
  const Variable matrices[] = {a, b};
  const Apply node = apply_pairs(make_ref<ComplexQZ>(sort), matrices);
  Variables out;
  for (int k = 0; k < 6; ++k) out.push_back(of_pairs(node.output(k)));
  return {out[0], out[1], out[2], out[3], out[4], out[5]};
}

}  // namespace bitale
