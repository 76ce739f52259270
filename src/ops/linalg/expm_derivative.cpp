#include "ops/linalg/expm_derivative.hpp"

#include "bitale/ops/contraction.hpp"
#include "bitale/ops/lowering.hpp"
#include "bitale/ops/ops.hpp"
#include "bitale/ops/registry.hpp"
#include "ops/analysis/lengths.hpp"
#include "ops/complex/decomposition.hpp"
#include "ops/linalg/lapack_forms.hpp"
#include "ops/linalg/linalg_core.hpp"
#include "ops/sample_values.hpp"
#include "runtime/expm.hpp"

namespace bitale {

namespace {

constexpr const char* function_name = "expm";

Variable stacked(const Variables& matrices) {
  return matrices.size() == 1 ? expand_dims(matrices[0], 0) : stack(matrices, 0);
}

// The number of directions, which must be known, for derivatives are formed of each.
void require_directions(const Variable& directions) {
  const std::int64_t count = directions.static_shape()[0];
  if (count == unknown_length || count < 1 || count > runtime::max_expm_directions)
    throw ValueError(cat("expm: expected 1 to ", runtime::max_expm_directions, " directions of a derivative, got ",
                         count == unknown_length ? "an unknown number" : cat(count)));
}

// The derivatives of a node with the inputs A and directions, both as numbers.
Variables cotangents_of(const Variable& a, const Variable& directions, const Variable& cotangent) {
  const Variables found = expm_cotangents(a, matrices_in(directions), cotangent);
  return {found[0], stacked(Variables(found.begin() + 1, found.end()))};
}
Variable tangent_of(const Variable& a, const Variable& directions, const Variable& of_a, const Variable& of_each) {
  Variables tangents{of_a};
  for (int k = 0; k < int(directions.static_shape()[0]); ++k)
    tangents.push_back(of_each.is_disconnected() ? of_each : matrix_in(of_each, k));
  return expm_tangent(a, matrices_in(directions), tangents);
}

// For a target of whole tensors, exp([[N, I x E], [0, N]]), where N starts as A, has D(A)[E_1, ...] as its last block
// of the first rows. Directions are divided by their largest elements, which would otherwise decide about the scaling.
Variable by_blocks(const Variable& a, const Variables& directions) {
  Variable all = a, size;
  for (std::size_t k = 0; k < directions.size(); ++k) {
    const Variable& e = directions[k];
    // The zero gives matrices without elements a maximum.
    const Variable most = max(concatenate({flatten(abs(e)), zeros({1}, a.dtype())}, 0)),
                   divisor = switch_(gt(most, 0), most, ones_like(most));
    const Variable unit = e / divisor;
    const Variable beside = k == 0 ? unit : kron(eye(std::int64_t(1) << k, {}, 0, a.dtype()), unit);
    all = concatenate({concatenate({all, beside}, 1), concatenate({zeros_like(all), all}, 1)}, 0);
    size = size.defined() ? mul(size, divisor) : divisor;
  }
  const Variable n = length_of(a, 0);
  const Slice first{.start = {}, .stop = Operand(n), .step = {}},
      last{.start = Operand(neg(n)), .stop = {}, .step = {}};
  return mul(subtensor(expm(all), {first, last}), size);
}

class ExpmDerivative final : public DecompositionOp, public EmitsTensors {
 public:
  std::string_view name() const override { return "ExpmDerivative"; }
  std::string signature() const override { return "(m,m),(k,m,m)->(m,m)"; }

  Apply make_node(std::span<const Variable> inputs) const override {
    require_inputs(*this, inputs, 2);
    const DType dtype = matrix_dtype(inputs);
    const Variable a = cast(inputs[0], dtype), e = cast(inputs[1], dtype);
    require_ndim(a, 2);
    require_ndim(e, 3);
    require_directions(e);
    std::int64_t n = square_length(who(), a);
    for (const std::size_t axis : {1, 2}) n = common_length(n, e.static_shape()[axis], 0, who());
    return Apply(OpRef(this), {a, e}, {tensor_type(dtype, {n, n})});
  }
  std::vector<Shape> infer_shape(const Apply&, std::span<const Shape> inputs) const override { return {inputs[0]}; }
  void perform(const Apply&, std::span<const Array> in, std::span<Array> out) const override {
    check_lengths(in);
    const Array a = in[0].contiguous(), e = in[1].contiguous();
    const std::int64_t n = a.shape(0);
    out[0] = Array::empty(a.dtype(), {n, n});
    with_float(a.dtype(), [&]<class T>(T) {
      check(runtime::expm_derivative<T>(n, e.shape(0), a.data_as<T>(), e.data_as<T>(), out[0].mutable_data_as<T>()));
    });
  }
  bool emit(Lowering& to, const Apply& node) const override {
    const auto a = to.shape_in(0), e = to.shape_in(1);
    require_lengths(to);
    call_runtime(to, node, {a[0], e[0], InputData{0}, InputData{1}, OutputData{0}});
    return true;
  }
  void emit_tensors(TensorLowering& to, const Apply& node) const override {
    to.express({by_blocks(node.input(0), matrices_in(node.input(1)))});
  }

  Variables pullback(const Apply& node, std::span<const Variable> cotangents) const override {
    if (cotangents[0].is_disconnected()) return no_gradients(node);
    const Variables found = cotangents_of(node.input(0), node.input(1), cotangents[0]);
    return {with_static_shape_of(node.input(0), found[0]), with_static_shape_of(node.input(1), found[1])};
  }
  Variables pushforward(const Apply& node, std::span<const Variable> tangents) const override {
    return {tangent_of(node.input(0), node.input(1), tangents[0], tangents[1])};
  }
  bool has_pushforward() const override { return true; }

 private:
  std::string runtime_name() const override { return "expm_derivative"; }
  const char* who() const override { return function_name; }
};

// The same of complex matrices, as pairs.
class ComplexExpmDerivative final : public ComplexDecomposition {
 public:
  std::string_view name() const override { return "ComplexExpmDerivative"; }

  Apply make_node(std::span<const Variable> inputs) const override {
    Apply node = ComplexDecomposition::make_node(inputs);
    require_directions(node.input(1));
    return node;
  }
  Variables pullback(const Apply& node, std::span<const Variable> cotangents) const override {
    if (cotangents[0].is_disconnected()) return no_gradients(node);
    const Variables found = cotangents_of(of_pairs(node.input(0)), of_pairs(node.input(1)), of_pairs(cotangents[0]));
    return {with_static_shape_of(node.input(0), as_pairs(found[0])),
            with_static_shape_of(node.input(1), as_pairs(found[1]))};
  }
  Variables pushforward(const Apply& node, std::span<const Variable> tangents) const override {
    const auto numbers = [](const Variable& x) { return x.is_disconnected() ? x : of_pairs(x); };
    const Variable found =
        tangent_of(of_pairs(node.input(0)), of_pairs(node.input(1)), numbers(tangents[0]), numbers(tangents[1]));
    return {found.is_disconnected() ? found : as_pairs(found)};
  }
  bool has_pushforward() const override { return true; }
  void emit_tensors(TensorLowering& to, const Apply& node) const override {
    Variables blocks;
    for (auto& each : matrices_in(node.input(1))) blocks.push_back(blocks_of_pairs(each));
    to.express({pairs_of_blocks(by_blocks(blocks_of_pairs(node.input(0)), blocks))});
  }

 private:
  std::vector<std::string> inputs() const override { return {"nn2", "cnn2"}; }
  std::vector<std::string> outputs() const override { return {"nn2"}; }
  std::int64_t run(DType dtype, std::int64_t, std::int64_t n, std::span<const Array> in,
                   std::span<const Array> out) const override {
    return with_float(dtype, [&]<class T>(T) {
      return runtime::complex_expm_derivative<T>(n, in[1].shape(0), in[0].data_as<T>(), in[1].data_as<T>(),
                                                 out[0].mutable_data_as<T>());
    });
  }
  std::string runtime_name() const override { return "complex_expm_derivative"; }
  const char* who() const override { return function_name; }
};

Variables adjoints_of(const Variables& matrices) {
  Variables out;
  for (auto& each : matrices) out.push_back(adjoint(each));
  return out;
}

std::vector<Sample> derivative_samples(const OpRef& op, bool of_pairs) {
  constexpr auto any = unknown_length;
  std::vector<Sample> out;
  const auto add = [&](DType dtype, std::int64_t n, std::int64_t count, bool smooth) {
    Dims type{any, any}, more{count, any, any}, shape{n, n}, directions{count, n, n};
    if (of_pairs)
      for (Dims* const each : {&type, &more, &shape, &directions}) each->push_back(2);
    const Variable inputs[] = {sample_input(dtype, type, "a"), sample_input(dtype, more, "e")};
    out.push_back({op->make_node(inputs),
                   {sample_values(dtype, shape), sample_values(dtype, directions, 1)},
                   1e-6,
                   smooth && dtype == DType::Float64});
  };
  add(DType::Float64, 3, 1, true);
  add(DType::Float64, 2, 2, true);
  add(DType::Float64, 0, 1, false);
  add(DType::Float32, 2, 1, false);
  return out;
}
std::vector<Sample> expm_derivative_samples() { return derivative_samples(make_ref<ExpmDerivative>(), false); }
std::vector<Sample> complex_expm_derivative_samples() {
  return derivative_samples(make_ref<ComplexExpmDerivative>(), true);
}

BITALE_REGISTER_OP(ExpmDerivative, "A derivative of the exponential of a matrix, along each of several directions.",
                   expm_derivative_samples);
BITALE_REGISTER_OP(ComplexExpmDerivative,
                   "A derivative of the exponential of a complex matrix, as pairs, along each of several directions.",
                   complex_expm_derivative_samples);

}  // namespace

Variable matrix_in(const Variable& stacked, int number) { return subtensor(stacked, {number}); }
Variables matrices_in(const Variable& stacked) {
  Variables out;
  for (int k = 0; k < int(stacked.static_shape()[0]); ++k) out.push_back(matrix_in(stacked, k));
  return out;
}

Variable expm_derivative(const Variable& a, const Variables& directions) {
  const Variable all = stacked(directions);
  if (!any_complex({a, all})) return (*make_ref<ExpmDerivative>())({a, all});
  const Variable pairs[] = {as_pairs(a), as_pairs(all)};
  return of_pairs((*make_ref<ComplexExpmDerivative>())(pairs));
}

Variables expm_cotangents(const Variable& a, const Variables& directions, const Variable& cotangent) {
  const Variable across = adjoint(a);
  const Variables adjoints = adjoints_of(directions);
  Variables along = adjoints;
  along.push_back(cotangent);
  Variables out{expm_derivative(across, along)};
  for (std::size_t k = 0; k < directions.size(); ++k) {
    along = adjoints;
    along[k] = cotangent;
    out.push_back(expm_derivative(across, along));
  }
  return out;
}

Variable expm_tangent(const Variable& a, const Variables& directions, std::span<const Variable> tangents) {
  Variable sum = disconnected();
  const auto also = [&](const Variables& along) {
    const Variable term = expm_derivative(a, along);
    sum = sum.is_disconnected() ? term : add(sum, term);
  };
  if (!tangents[0].is_disconnected()) {
    Variables along = directions;
    along.push_back(tangents[0]);
    also(along);
  }
  for (std::size_t k = 0; k < directions.size(); ++k) {
    if (tangents[k + 1].is_disconnected()) continue;
    Variables along = directions;
    along[k] = tangents[k + 1];
    also(along);
  }
  return sum;
}

}  // namespace bitale
