#include "ops/linalg/expm_derivative.hpp"

#include "bitale/ops/contraction.hpp"
#include "bitale/ops/lowering.hpp"
#include "bitale/ops/ops.hpp"
#include "bitale/ops/registry.hpp"
#include "ops/analysis/lengths.hpp"
#include "ops/linalg/lapack_op.hpp"
#include "ops/sample_values.hpp"
#include "runtime/expm.hpp"

namespace bitale {

namespace {

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

template <bool has_pairs>
class ExpmDerivative final : public LapackOp {
 public:
  ExpmDerivative() : LapackOp(has_pairs) {}
  std::string_view name() const override { return has_pairs ? "ComplexExpmDerivative" : "ExpmDerivative"; }

  Apply make_node(std::span<const Variable> inputs) const override {
    Apply node = LapackOp::make_node(inputs);
    require_directions(node.input(1));
    return node;
  }
  Variables pullback(const Apply& node, std::span<const Variable> cotangents) const override {
    if (cotangents[0].is_disconnected()) return no_gradients(node);
    return gradients(node, cotangents_of(numbers(node.input(0)), numbers(node.input(1)), numbers(cotangents[0])));
  }
  Variables pushforward(const Apply& node, std::span<const Variable> tangents) const override {
    return {
        stored(tangent_of(numbers(node.input(0)), numbers(node.input(1)), numbers(tangents[0]), numbers(tangents[1])))};
  }
  bool has_pushforward() const override { return true; }
  void emit_tensors(TensorLowering& to, const Apply& node) const override {
    Variables directions = matrices_in(node.input(1));
    if (!has_pairs) return to.express({by_blocks(node.input(0), directions)});
    for (auto& each : directions) each = blocks_of_pairs(each);
    to.express({pairs_of_blocks(by_blocks(blocks_of_pairs(node.input(0)), directions))});
  }

 private:
  std::vector<std::string> inputs() const override { return {"mm", "kmm"}; }
  std::vector<std::string> outputs() const override { return {"mm"}; }
  std::int64_t run(const Call& to) const override {
    return to.with_numbers<has_pairs>(
        [&]<class N>(N) { return runtime::expm_derivative<N>(to.m, to.k, to.in<N>(0), to.in<N>(1), to.out<N>(0)); });
  }
  std::string routine() const override { return "expm_derivative"; }
  const char* who() const override { return "expm"; }
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
const RegisterOp register_expm_derivative(
    "ExpmDerivative", "A derivative of the exponential of a matrix, along each of several directions.",
    [] { return derivative_samples(make_ref<ExpmDerivative<false>>(), false); }, make_op<ExpmDerivative<false>>);
const RegisterOp register_complex_expm_derivative(
    "ComplexExpmDerivative",
    "A derivative of the exponential of a complex matrix, as pairs, along each of several directions.",
    [] { return derivative_samples(make_ref<ExpmDerivative<true>>(), true); }, make_op<ExpmDerivative<true>>);

}  // namespace

Variable matrix_in(const Variable& stacked, int number) { return subtensor(stacked, {number}); }
Variables matrices_in(const Variable& stacked) {
  Variables out;
  for (int k = 0; k < int(stacked.static_shape()[0]); ++k) out.push_back(matrix_in(stacked, k));
  return out;
}

Variable expm_derivative(const Variable& a, const Variables& directions) {
  const Variable matrices[] = {a, stacked(directions)};
  return apply_lapack<ExpmDerivative>(matrices)[0];
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
