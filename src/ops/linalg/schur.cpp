// Schur forms of matrices and of pairs of matrices: orthogonal, or unitary, factors and triangular ones, which are
// quasi-triangular for real matrices.
#include "bitale/ops/lowering.hpp"
#include "bitale/ops/ops.hpp"
#include "bitale/ops/registry.hpp"
#include "ops/analysis/lengths.hpp"
#include "ops/linalg/lapack_op.hpp"
#include "ops/option_names.hpp"
#include "ops/sample_values.hpp"
#include "runtime/complex_decompositions.hpp"
#include "runtime/structured_systems.hpp"

namespace bitale {

namespace {

// Which eigenvalues come first.
class SortingOp : public LapackOp {
 public:
  std::string sort;

  Variables pullback(const Apply& node, std::span<const Variable> cotangents) const override {
    if (std::all_of(cotangents.begin(), cotangents.end(), [](auto& each) { return each.is_disconnected(); }))
      return no_gradients(node);
    const Variable none = undefined_gradient(cat(who(), ": there is no derivative: ",
                                                 is_unique_ ? "the order of eigenvalues is the algorithm's"
                                                            : "blocks of complex pairs of eigenvalues are not unique"));
    return Variables(node.inputs().size(), none);
  }

 protected:
  SortingOp(bool has_pairs, std::string sort) : LapackOp(has_pairs), sort(std::move(sort)), is_unique_(has_pairs) {}
  std::vector<std::int64_t> flags() const override {
    constexpr const char* names[] = {"", "lhp", "rhp", "iuc", "ouc"};
    for (int k = 0; k < 5; ++k)
      if (sort == names[k]) return {k};
    throw ValueError(cat(who(), ": expected no sort, \"lhp\", \"rhp\", \"iuc\" or \"ouc\", got \"", sort, "\""));
  }

 private:
  const bool is_unique_;
};

template <bool has_pairs>
class Schur final : public SortingOp {
 public:
  explicit Schur(std::string sort) : SortingOp(has_pairs, std::move(sort)) { (void)flags(); }
  static constexpr auto fields = attribute_list(attribute("sort", &Schur::sort));
  std::string_view name() const override { return has_pairs ? "ComplexSchur" : "Schur"; }
  Attributes attributes() const override { return collect_attributes(*this, fields); }
  Structure structure(const Apply&, int output, InputStructures&) const override {
    return !has_pairs && output == 1 ? Structure{Fact::Orthogonal} : Structure();
  }

 private:
  TensorValues emit_numbers(TensorLowering& to, const TensorValues& in) const override {
    return schur_of(to, in[0], sort, failure());
  }
  std::vector<std::string> outputs() const override { return {"mm", "mm"}; }
  std::int64_t run(const Call& to) const override {
    return to.with_numbers<has_pairs>(
        [&]<class N>(N) { return runtime::schur<N>(to.m, flags()[0], to.in<N>(0), to.out<N>(0), to.out<N>(1)); });
  }
  const char* who() const override { return "schur"; }
};

template <bool has_pairs>
class QZ final : public SortingOp {
 public:
  explicit QZ(std::string sort) : SortingOp(has_pairs, std::move(sort)) { (void)flags(); }
  static constexpr auto fields = attribute_list(attribute("sort", &QZ::sort));
  std::string_view name() const override { return has_pairs ? "ComplexQZ" : "QZ"; }
  Attributes attributes() const override { return collect_attributes(*this, fields); }

 private:
  std::vector<std::string> inputs() const override { return {"mm", "mm"}; }
  std::vector<std::string> outputs() const override { return {"mm", "mm", "mm", "mm", has_pairs ? "m" : "m2", "m"}; }
  std::int64_t run(const Call& to) const override {
    return to.with_numbers<false>([&]<class T>(T) {  // the runtime's functions take pairs
      const auto made = [&](std::size_t k) { return to.out<T>(k); };
      const auto decompose = has_pairs ? runtime::complex_qz<T> : runtime::qz<T>;
      return decompose(to.m, flags()[0], to.in<T>(0), to.in<T>(1), made(0), made(1), made(2), made(3), made(4),
                       made(5));
    });
  }
  const char* who() const override { return "qz"; }
};

std::vector<Sample> schur_samples() {
  constexpr auto any = unknown_length;
  std::vector<Sample> out;
  const auto add = [&](DType dtype, std::int64_t n, const char* sort = "") {
    const Variable x[] = {sample_input(dtype, {any, any}, "x")};
    out.push_back({make_ref<Schur<false>>(sort)->make_node(x), {sample_values(dtype, {n, n})}, 1e-6, false});
  };
  add(DType::Float64, 3);
  add(DType::Float64, 4, "lhp");
  add(DType::Float64, 4, "iuc");
  add(DType::Float64, 0);
  add(DType::Float32, 3);
  return out;
}

std::vector<Sample> complex_schur_samples() {
  std::vector<Sample> out;
  for (const char* sort : {"", "lhp", "iuc"})
    for (auto& sample : decomposition_samples(make_ref<Schur<true>>(sort), {{3, 3}, {0, 0}}, false))
      out.push_back(sample);
  return out;
}

// Samples with matrices of shape [n, n, tail...].
template <class Op>
std::vector<Sample> samples_of(const Dims& tail) {
  std::vector<Sample> out;
  const auto add = [&](DType dtype, std::int64_t n, const char* sort = "") {
    Dims shape{n, n}, any{unknown_length, unknown_length};
    for (auto length : tail) shape.push_back(length), any.push_back(length);
    const Variable inputs[] = {sample_input(dtype, any, "a"), sample_input(dtype, any, "b")};
    Array b = sample_values(DType::Float64, shape, 4).copy();
    for (std::int64_t k = 0; k < n; ++k) b.mutable_data_as<double>()[product(tail) * (k * n + k)] += 7;
    out.push_back({make_ref<Op>(sort)->make_node(inputs), {sample_values(dtype, shape), b.astype(dtype)}, 1e-6, false});
  };
  add(DType::Float64, 3);
  add(DType::Float64, 4, "lhp");
  add(DType::Float64, 4, "ouc");
  add(DType::Float64, 0);
  add(DType::Float32, 3);
  return out;
}

const RegisterOp register_schur("Schur",
                                "A matrix as an orthogonal one, a quasi-triangular one and the first one's transpose.",
                                schur_samples, make_op<Schur<false>>);
const RegisterOp register_complex_schur(
    "ComplexSchur", "A complex matrix as a unitary one, a triangular one and the first one's adjoint, as pairs.",
    complex_schur_samples, make_op<Schur<true>>);
const RegisterOp register_qz(
    "QZ", "Two matrices as an orthogonal one, a quasi-triangular or triangular one, and another orthogonal one.",
    [] { return samples_of<QZ<false>>({}); }, make_op<QZ<false>>);
const RegisterOp register_complex_qz(
    "ComplexQZ", "Two complex matrices as a unitary one, a triangular one, and another unitary one, as pairs.",
    [] { return samples_of<QZ<true>>({2}); }, make_op<QZ<true>>);

}  // namespace

SchurForm schur(const Operand& x, EigenvalueOrder order) {
  const LocationScope here(x.where);
  const Variables out = apply_lapack<Schur>(require_matrices("schur", x), option_name(order));
  return {out[0], out[1]};
}

GeneralizedSchurForm qz(const Operand& a, const Operand& b, EigenvalueOrder order) {
  const LocationScope here(a.where);
  const Variable matrices[] = {require_matrices("qz", a), require_matrices("qz", b)};
  const Variables out = apply_lapack<QZ>(matrices, option_name(order));
  const Variable alpha = is_complex(out[4]) ? out[4] : of_pairs(out[4]);
  return {out[0], out[1], out[2], out[3], alpha, out[5]};
}

}  // namespace bitale
