// Generalized Schur forms of pairs of matrices, real or complex.
#include <algorithm>

#include "bitale/ops/lowering.hpp"
#include "bitale/ops/ops.hpp"
#include "bitale/ops/registry.hpp"
#include "ops/analysis/lengths.hpp"
#include "ops/complex/decomposition.hpp"
#include "ops/linalg/linalg_core.hpp"
#include "ops/option_names.hpp"
#include "ops/sample_values.hpp"
#include "ops/tensor_lowering.hpp"
#include "runtime/complex_decompositions.hpp"
#include "runtime/structured_systems.hpp"

namespace bitale {

namespace {

std::int64_t sort_number(const std::string& sort) {
  constexpr const char* names[] = {"", "lhp", "rhp", "iuc", "ouc"};
  for (int k = 0; k < 5; ++k)
    if (sort == names[k]) return k;
  throw ValueError(cat("qz: expected no sort, \"lhp\", \"rhp\", \"iuc\" or \"ouc\", got \"", sort, "\""));
}

Variables without_derivative(const Apply& node, std::span<const Variable> cotangents, const char* why) {
  if (std::all_of(cotangents.begin(), cotangents.end(), [](auto& each) { return each.is_disconnected(); }))
    return no_gradients(node);
  const Variable none = undefined_gradient(cat("qz: there is no derivative: ", why));
  return {none, none};
}

class QZ final : public DecompositionOp, public EmitsTensors {
 public:
  explicit QZ(std::string sort) : sort(std::move(sort)) { (void)sort_number(this->sort); }
  std::string sort;
  static constexpr auto fields = attribute_list(attribute("sort", &QZ::sort));
  std::string_view name() const override { return "QZ"; }
  Attributes attributes() const override { return collect_attributes(*this, fields); }
  std::string signature() const override { return "(m,m),(m,m)->(m,m),(m,m),(m,m),(m,m),(m,c),(m)"; }

  Apply make_node(std::span<const Variable> inputs) const override {
    const Variables own = matrices_of(inputs, 2);
    const std::int64_t n = common_length(square_length(who(), own[0]), square_length(who(), own[1]), 0, who());
    const Type matrix = tensor_type(own[0].dtype(), {n, n});
    return Apply(
        OpRef(this), own,
        {matrix, matrix, matrix, matrix, tensor_type(own[0].dtype(), {n, 2}), tensor_type(own[0].dtype(), Dims{n})});
  }
  std::vector<Shape> infer_shape(const Apply&, std::span<const Shape> inputs) const override {
    const Variable n = inputs[0][0];
    return {{n, n}, {n, n}, {n, n}, {n, n}, {n, int64_constant(2)}, {n}};
  }
  void perform(const Apply&, std::span<const Array> in, std::span<Array> out) const override {
    check_lengths(in);
    const Array a = in[0].contiguous(), b = in[1].contiguous();
    const std::int64_t n = a.shape(0);
    for (std::size_t i = 0; i < 4; ++i) out[i] = Array::empty(a.dtype(), {n, n});
    out[4] = Array::empty(a.dtype(), {n, 2});
    out[5] = Array::empty(a.dtype(), {n});
    with_float(a.dtype(), [&]<class T>(T) {
      check(runtime::qz<T>(n, sort_number(sort), a.data_as<T>(), b.data_as<T>(), out[0].mutable_data_as<T>(),
                           out[1].mutable_data_as<T>(), out[2].mutable_data_as<T>(), out[3].mutable_data_as<T>(),
                           out[4].mutable_data_as<T>(), out[5].mutable_data_as<T>()));
    });
  }
  bool emit(Lowering& to, const Apply& node) const override {
    require_lengths(to);
    std::vector<CallArgument> arguments{to.shape_in(0)[0], to.pool().integer(sort_number(sort)), InputData{0},
                                        InputData{1}};
    for (int i = 0; i < 6; ++i) arguments.push_back(OutputData{i});
    call_runtime(to, node, std::move(arguments));
    return true;
  }
  void emit_tensors(TensorLowering& to, const Apply&) const override { to.refuse("XLA's LAPACK has no gges"); }
  Variables pullback(const Apply& node, std::span<const Variable> cotangents) const override {
    return without_derivative(node, cotangents, "blocks of complex pairs of eigenvalues are not unique");
  }

 private:
  std::string runtime_name() const override { return "qz"; }
  const char* who() const override { return "qz"; }
};

// Triangular forms of pairs of complex matrices.
class ComplexQZ final : public ComplexDecomposition {
 public:
  explicit ComplexQZ(std::string sort) : sort(std::move(sort)) { (void)sort_number(this->sort); }
  std::string sort;
  static constexpr auto fields = attribute_list(attribute("sort", &ComplexQZ::sort));
  std::string_view name() const override { return "ComplexQZ"; }
  Attributes attributes() const override { return collect_attributes(*this, fields); }

  Variables pullback(const Apply& node, std::span<const Variable> cotangents) const override {
    return without_derivative(node, cotangents, "the order of eigenvalues is the algorithm's");
  }

 private:
  std::vector<std::string> inputs() const override { return {"nn2", "nn2"}; }
  std::vector<std::string> outputs() const override { return {"nn2", "nn2", "nn2", "nn2", "n2", "n2"}; }
  std::vector<std::int64_t> flags() const override { return {sort_number(sort)}; }
  std::int64_t run(DType dtype, std::int64_t, std::int64_t n, std::span<const Array> in,
                   std::span<const Array> out) const override {
    return with_float(dtype, [&]<class T>(T) {
      const auto data = [&](std::size_t k) { return out[k].template mutable_data_as<T>(); };
      return runtime::complex_qz<T>(n, flags()[0], in[0].data_as<T>(), in[1].data_as<T>(), data(0), data(1), data(2),
                                    data(3), data(4), data(5));
    });
  }
  std::string runtime_name() const override { return "complex_qz"; }
  const char* who() const override { return "qz"; }
};

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
std::vector<Sample> qz_samples() { return samples_of<QZ>({}); }
std::vector<Sample> complex_qz_samples() { return samples_of<ComplexQZ>({2}); }

BITALE_REGISTER_OP(
    QZ, "Two matrices as an orthogonal one, a quasi-triangular or triangular one, and another orthogonal one.",
    qz_samples);
BITALE_REGISTER_OP(ComplexQZ,
                   "Two complex matrices as a unitary one, a triangular one, and another unitary one, as pairs.",
                   complex_qz_samples);

}  // namespace

GeneralizedSchurForm complex_qz(const Variable& a, const Variable& b, const std::string& sort) {
  const Variable matrices[] = {a, b};
  const Apply node = apply_pairs(make_ref<ComplexQZ>(sort), matrices);
  Variables out;
  for (int k = 0; k < 6; ++k) out.push_back(of_pairs(node.output(k)));
  return {out[0], out[1], out[2], out[3], out[4], out[5]};
}

GeneralizedSchurForm qz(const Operand& a, const Operand& b, EigenvalueOrder order) {
  const std::string sort = option_name(order);
  const LocationScope here(a.where);
  const Variable inputs[] = {require_matrices("qz", a), require_matrices("qz", b)};
  if (any_complex({inputs[0], inputs[1]})) {
    const auto [left, right] = in_common_dtype(inputs[0], inputs[1]);
    return complex_qz(left, right, sort);
  }
  const auto op = make_ref<QZ>(sort);
  const Apply node = blockwise(op, op->signature(), inputs);
  return {node.output(0), node.output(1), node.output(2), node.output(3), of_pairs(node.output(4)), node.output(5)};
}

}  // namespace bitale
