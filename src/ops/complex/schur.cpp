// Schur forms of complex matrices, which are triangular.
#include "bitale/ops/ops.hpp"
#include "bitale/ops/registry.hpp"
#include "ops/analysis/lengths.hpp"
#include "ops/complex/decomposition.hpp"
#include "runtime/complex_decompositions.hpp"

namespace bitale {

namespace {

class ComplexSchur final : public ComplexDecomposition {
 public:
  explicit ComplexSchur(std::string sort) : sort(std::move(sort)) { (void)flags(); }
  std::string sort;
  static constexpr auto fields = attribute_list(attribute("sort", &ComplexSchur::sort));
  std::string_view name() const override { return "ComplexSchur"; }
  Attributes attributes() const override { return collect_attributes(*this, fields); }

  Variables pullback(const Apply& node, std::span<const Variable> cotangents) const override {
    if (cotangents[0].is_disconnected() && cotangents[1].is_disconnected()) return no_gradients(node);
    return {undefined_gradient("schur: there is no derivative: the order of eigenvalues is the algorithm's")};
  }

 private:
  TensorValues emit_numbers(TensorLowering& to, const TensorValues& in) const override {
    return schur_of(to, in[0], sort, failure());
  }
  std::vector<std::string> outputs() const override { return {"nn2", "nn2"}; }
  std::vector<std::int64_t> flags() const override {
    constexpr const char* names[] = {"", "lhp", "rhp", "iuc", "ouc"};
    for (int k = 0; k < 5; ++k)
      if (sort == names[k]) return {k};
    throw ValueError(cat("schur: expected no sort, \"lhp\", \"rhp\", \"iuc\" or \"ouc\", got \"", sort, "\""));
  }
  std::int64_t run(DType dtype, std::int64_t, std::int64_t n, std::span<const Array> in,
                   std::span<const Array> out) const override {
    return with_float(dtype, [&]<class T>(T) {
      return runtime::complex_schur<T>(n, flags()[0], in[0].data_as<T>(), out[0].mutable_data_as<T>(),
                                       out[1].mutable_data_as<T>());
    });
  }
  std::string runtime_name() const override { return "complex_schur"; }
  const char* who() const override { return "schur"; }
};

std::vector<Sample> complex_schur_samples() {
  std::vector<Sample> out;
  for (const char* sort : {"", "lhp", "iuc"})
    for (auto& sample : decomposition_samples(make_ref<ComplexSchur>(sort), {{3, 3}, {0, 0}}, false))
      out.push_back(sample);
  return out;
}

BITALE_REGISTER_OP(ComplexSchur,
                   "A complex matrix as a unitary one, a triangular one and the first one's adjoint, as pairs.",
                   complex_schur_samples);

}  // namespace

SchurForm complex_schur(const Variable& x, const std::string& sort) {
  const Apply node = apply_pairs(make_ref<ComplexSchur>(sort), x);
  return {of_pairs(node.output(0)), of_pairs(node.output(1))};
}

}  // namespace bitale
