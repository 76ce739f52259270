// Real Schur forms.
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

class Schur final : public DecompositionOp, public EmitsTensors {
 public:
  explicit Schur(std::string sort) : sort(std::move(sort)) { (void)sort_number(); }
  std::string sort;
  static constexpr auto fields = attribute_list(attribute("sort", &Schur::sort));
  std::string_view name() const override { return "Schur"; }
  Attributes attributes() const override { return collect_attributes(*this, fields); }
  std::string signature() const override { return "(m,m)->(m,m),(m,m)"; }

  Structure structure(const Apply&, int output, InputStructures&) const override {
    return output == 1 ? Structure{Fact::Orthogonal} : Structure();
  }

  Apply make_node(std::span<const Variable> inputs) const override {
    const auto [x, n] = square_matrix_of(inputs);
    const Type type = tensor_type(x.dtype(), {n, n});
    return Apply(OpRef(this), {x}, {type, type});
  }
  std::vector<Shape> infer_shape(const Apply&, std::span<const Shape> inputs) const override {
    return {inputs[0], inputs[0]};
  }
  void perform(const Apply&, std::span<const Array> in, std::span<Array> out) const override {
    check_lengths(in);
    const Array a = in[0].contiguous();
    const std::int64_t n = a.shape(0);
    for (auto& each : out) each = Array::empty(a.dtype(), {n, n});
    with_float(a.dtype(), [&]<class T>(T) {
      check(runtime::schur<T>(n, sort_number(), a.data_as<T>(), out[0].mutable_data_as<T>(),
                              out[1].mutable_data_as<T>()));
    });
  }
  bool emit(Lowering& to, const Apply& node) const override {
    const Expr n = to.shape_in(0)[0];
    require_lengths(to);
    call_runtime(to, node, {n, to.pool().integer(sort_number()), InputData{0}, OutputData{0}, OutputData{1}});
    return true;
  }
  void emit_tensors(TensorLowering& to, const Apply&) const override {
    const TensorValue x = to.in(0);
    check_lengths(to);
    const TensorValues out = schur_of(to, x, sort, failure());
    for (int k = 0; k < 2; ++k) to.out(k, out[std::size_t(k)]);
  }
  Variables pullback(const Apply& node, std::span<const Variable> cotangents) const override {
    if (cotangents[0].is_disconnected() && cotangents[1].is_disconnected()) return no_gradients(node);
    return {undefined_gradient("schur: there is no derivative: blocks of complex pairs of eigenvalues are not unique")};
  }

 private:
  std::string runtime_name() const override { return "schur"; }
  const char* who() const override { return "schur"; }
  std::int64_t sort_number() const {
    constexpr const char* names[] = {"", "lhp", "rhp", "iuc", "ouc"};
    for (int k = 0; k < 5; ++k)
      if (sort == names[k]) return k;
    throw ValueError(cat("schur: expected no sort, \"lhp\", \"rhp\", \"iuc\" or \"ouc\", got \"", sort, "\""));
  }
};

std::vector<Sample> schur_samples() {
  constexpr auto any = unknown_length;
  std::vector<Sample> out;
  const auto add = [&](DType dtype, std::int64_t n, const char* sort = "") {
    const Variable x[] = {sample_input(dtype, {any, any}, "x")};
    out.push_back({make_ref<Schur>(sort)->make_node(x), {sample_values(dtype, {n, n})}, 1e-6, false});
  };
  add(DType::Float64, 3);
  add(DType::Float64, 4, "lhp");
  add(DType::Float64, 4, "iuc");
  add(DType::Float64, 0);
  add(DType::Float32, 3);
  return out;
}

BITALE_REGISTER_OP(Schur, "A matrix as an orthogonal one, a quasi-triangular one and the first one's transpose.",
                   schur_samples);

}  // namespace

SchurForm schur(const Operand& x, EigenvalueOrder order) {
  const std::string sort = option_name(order);
  const LocationScope here(x.where);
  const Variable inputs[] = {require_matrices("schur", x)};
  if (is_complex(inputs[0])) return complex_schur(inputs[0], sort);
  const auto op = make_ref<Schur>(sort);
  const Apply node = blockwise(op, op->signature(), inputs);
  return {node.output(0), node.output(1)};
}

}  // namespace bitale
