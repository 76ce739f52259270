// The exponential of matrices.
#include "bitale/ops/ops.hpp"
#include "ops/complex_matrices.hpp"
#include "ops/lengths.hpp"
#include "ops/linalg_core.hpp"
#include "ops/lowering.hpp"
#include "ops/registry.hpp"
#include "ops/sample_values.hpp"
#include "runtime/matrix_functions.hpp"

namespace bitale {

namespace {

class Expm final : public DecompositionOp {
 public:
  std::string_view name() const override { return "Expm"; }
  std::string signature() const override { return "(m,m)->(m,m)"; }

  Apply make_node(std::span<const Variable> inputs) const override {
    const auto [x, n] = square_matrix_of(inputs);
    return Apply(OpRef(this), {x}, {tensor_type(x.dtype(), {n, n})});
  }
  std::vector<Shape> infer_shape(const Apply&, std::span<const Shape> inputs) const override { return {inputs[0]}; }
  void perform(const Apply&, std::span<const Array> in, std::span<Array> out) const override {
    require_square(who(), in[0]);
    const Array a = in[0].contiguous();
    const std::int64_t n = a.shape(0);
    out[0] = Array::empty(a.dtype(), {n, n});
    with_float(a.dtype(), [&]<class T>(T) { check(runtime::expm<T>(n, a.data_as<T>(), out[0].data_as<T>())); });
  }
  bool emit(Lowering& to, const Apply& node) const override {
    const Expr n = to.shape_in(0)[0];
    to.require(equal(n, to.shape_in(0)[1]), "expm: expected square matrices");
    call_runtime(to, node, {n, InputData{0}, OutputData{0}});
    return true;
  }

  // exp([[A, E], [0, A]]) is [[exp A, L], [0, exp A]] with the derivative L along E (Higham 2008, theorem 3.6); the
  // gradient is the derivative at A^T along g.
  Variables pullback(const Apply& node, std::span<const Variable> cotangents) const override {
    if (cotangents[0].is_disconnected()) return no_gradients(node);
    return {along(t(node.input(0)), cotangents[0])};
  }
  Variables pushforward(const Apply& node, std::span<const Variable> tangents) const override {
    if (tangents[0].is_disconnected()) return {disconnected()};
    return {along(node.input(0), tangents[0])};
  }
  bool has_pushforward() const override { return true; }
  Structure structure(const Apply&, int, InputStructures& inputs) const override {
    const Structure a = inputs.of(0);
    Structure out;
    for (const Fact fact : {Fact::Diagonal, Fact::LowerTriangular, Fact::UpperTriangular})
      if (a.is(fact)) out.add(fact);
    if (a.is_triangular()) out.add(Fact::PositiveDiagonal);
    if (a.is(Fact::Symmetric)) out.add(Fact::PositiveDefinite);
    return out;
  }

 private:
  std::string runtime_name() const override { return "expm"; }
  const char* who() const override { return "expm"; }
  Variable along(const Variable& a, const Variable& direction) const {
    const Variable n = length_of(a, 0);
    const Variable above = concatenate({a, direction}, 1), below = concatenate({zeros_like(a), a}, 1);
    const Variable both = (*this)({concatenate({above, below}, 0)});
    const Slice first{.start = {}, .stop = Operand(n), .step = {}}, second{.start = Operand(n), .stop = {}, .step = {}};
    return with_static_shape_of(a, subtensor(both, {first, second}));
  }
};

std::vector<Sample> expm_samples() {
  constexpr auto any = unknown_length;
  std::vector<Sample> out;
  const auto add = [&](DType dtype, const Dims& type, std::int64_t n, bool smooth = true) {
    const Variable x[] = {sample_input(dtype, type, "x")};
    out.push_back(
        {make_ref<Expm>()->make_node(x), {sample_values(dtype, {n, n})}, 1e-6, smooth && dtype == DType::Float64});
  };
  add(DType::Float64, {any, any}, 3);
  add(DType::Float64, {2, 2}, 2);
  add(DType::Float64, {any, any}, 1);
  add(DType::Float64, {any, any}, 0, false);
  add(DType::Float32, {any, any}, 3);
  add(DType::Int64, {any, any}, 1);
  return out;
}

REGISTER_OP(Expm, "The exponential of a matrix, by scaling, a rational approximant and squaring.", expm_samples);

}  // namespace

Variable expm(const Operand& x) {
  const LocationScope here(x.where);
  const Variable inputs[] = {require_matrices("expm", x)};
  if (is_complex(inputs[0])) return of_blocks(expm(as_blocks(inputs[0])));
  return apply_matrices(make_ref<Expm>(), inputs);
}

}  // namespace bitale
