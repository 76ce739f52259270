// LU factorization with partial pivoting, the permutation that its pivots define, and solutions of systems with the
// factors.
#include <algorithm>

#include "bitale/ops/lowering.hpp"
#include "bitale/ops/ops.hpp"
#include "bitale/ops/registry.hpp"
#include "bitale/runtime/functions.hpp"
#include "core/call_scope.hpp"
#include "ops/analysis/lengths.hpp"
#include "ops/linalg/lapack_op.hpp"
#include "ops/sample_values.hpp"
#include "runtime/decompositions.hpp"

namespace bitale {

namespace {

// Exchanges row i with row pivots[i] sequentially. Out-of-range pivots, which LUFactor never gives, exchange
// nothing.
void permute_by_pivots(std::int64_t n, std::int64_t inverse, const std::int32_t* pivots, std::int64_t* out) noexcept {
  for (std::int64_t i = 0; i < n; ++i) out[i] = i;
  for (std::int64_t step = 0; step < n; ++step) {
    // `inverse`: rows in the order in which they were picked; else where each row went.
    const std::int64_t i = inverse ? step : n - 1 - step, other = pivots[i];
    if (other >= 0 && other < n) std::swap(out[i], out[other]);
  }
}

constexpr std::string_view pivots_c =
    R"(// The order of rows of which row i was exchanged with row pivots[i]; `inverse`: where each row went.
static void bt_pivots(int64_t n, int64_t inverse, const int32_t *pivots, int64_t *out) {
  for (int64_t i = 0; i < n; ++i) out[i] = i;
  for (int64_t step = 0; step < n; ++step) {
    const int64_t i = inverse ? step : n - 1 - step, other = pivots[i], kept = out[i];
    if (other < 0 || other >= n) continue;
    out[i] = out[other];
    out[other] = kept;
  }
}
)";

runtime::RuntimeFunction pivots_row() {
  auto row = runtime::runtime_function("bt_pivots", permute_by_pivots, "n inverse pivots out");
  row.c_text = pivots_c;
  return row;
}

const runtime::RegisterFunctions pivot_functions{pivots_row()};

template <bool has_pairs>
class LUFactor final : public LapackOp {
 public:
  LUFactor() : LapackOp(has_pairs) {}
  std::string_view name() const override { return has_pairs ? "ComplexLUFactor" : "LUFactor"; }

  // With L and U extended to square matrices by ones on their diagonals, P^T dA = L (tril(F, -1) + triu(F)) U for F =
  // L^-1 P^T dA U^-1, so that dL = L tril(F, -1) and dU = triu(F) U.
  Variables pullback(const Apply& node, std::span<const Variable> cotangents) const override {
    if (cotangents[0].is_disconnected()) return no_gradients(node);
    const Variable factors = numbers(node.output(0)), g = numbers(cotangents[0]);
    const Variable rows = length_of(factors, 0), columns = length_of(factors, 1), k = lengths::min(rows, columns);
    const DType dtype = factors.dtype();
    const Slice stretch{.start = {}, .stop = Operand(k), .step = {}};
    const Variable left = subtensor(factors, {Slice{}, stretch}), above = subtensor(factors, {stretch});
    const Variable of_left = tril(subtensor(g, {Slice{}, stretch}), -1), of_above = triu(subtensor(g, {stretch}));
    const Variable lower = set_subtensor(eye(rows, {}, 0, dtype), {Slice{}, stretch},
                                         add(tril(left, -1), eye(rows, Operand(k), 0, dtype)));
    const Variable upper = set_subtensor(eye(columns, {}, 0, dtype), {stretch}, triu(above));
    // dL = (L F_-)[:, :k] and dU = (F_+ U)[:k], F being [rows, columns]
    const Variable none = zeros({rows, columns}, dtype);
    const Variable to_left = set_subtensor(none, {Slice{}, stretch}, dot(adjoint(lower), of_left));
    const Variable to_above = set_subtensor(none, {stretch}, dot(of_above, adjoint(upper)));
    const Variable of_f = add(tril(to_left, -1), triu(to_above));
    const Variable half = solve_triangular(conj(lower), of_f, {.lower = true, .trans = true, .unit_diagonal = true});
    const Variable permuted = adjoint(solve_triangular(upper, adjoint(half), {.lower = false}));
    return gradients(node, {take(permuted, pivot_to_permutation(all_pivots(node)), 0)});
  }
  std::vector<std::vector<bool>> connection_pattern(const Apply&) const override { return {{true, false}}; }

 private:
  // One pivot per row: rows beyond the last column are not exchanged.
  static Variable all_pivots(const Apply& node) {
    const Variable pivots = node.output(1), rest = arange(length_of(pivots, 0), length_of(node.output(0), 0), 1);
    return concatenate({pivots, cast(rest, DType::Int32)}, 0);
  }
  TensorValues emit_numbers(TensorLowering& to, const TensorValues& in) const override {
    require_lapack(to);
    const auto [factors, pivots] = lu_of(to.builder(), in[0]);
    return {factors, pivots};
  }
  std::vector<std::string> inputs() const override { return {"mn"}; }
  std::vector<std::string> outputs() const override { return {"mn", "ki"}; }
  std::int64_t run(const Call& to) const override {
    return to.with_numbers<has_pairs>([&]<class N>(N) {
      return runtime::lu_factor<N>(to.m, to.n, to.in<N>(0), to.out<N>(0), to.out<std::int32_t>(1));
    });
  }
  const char* who() const override { return "lu_factor"; }
};

class PivotToPermutations final : public MatrixOp, public EmitsTensors {
 public:
  explicit PivotToPermutations(bool inverse) : inverse(inverse) {}
  bool inverse;
  static constexpr auto fields = attribute_list(attribute("inverse", &PivotToPermutations::inverse));
  std::string_view name() const override { return "PivotToPermutations"; }
  Attributes attributes() const override { return collect_attributes(*this, fields); }
  std::string signature() const override { return "(m)->(m)"; }
  std::string_view failure() const override { return "pivots can't be permuted"; }
  const char* who() const override { return "pivot_to_permutation"; }

  Apply make_node(std::span<const Variable> inputs) const override {
    require_inputs(*this, inputs, 1);
    const bool is_whole =
        bitale::kind(inputs[0].dtype()) == DTypeKind::Int || bitale::kind(inputs[0].dtype()) == DTypeKind::UInt;
    if (!is_whole) throw TypeError(cat("pivot_to_permutation: expected integers, got ", inputs[0].str()));
    const Variable pivots = cast(inputs[0], DType::Int32);
    if (pivots.ndim() != 1)
      throw ShapeError(
          cat("pivot_to_permutation: expected a vector, got ", pivots.str(), " with ", pivots.ndim(), " dimensions"));
    return Apply(OpRef(this), {pivots}, {tensor_type(DType::Int64, pivots.static_shape())});
  }
  std::vector<Shape> infer_shape(const Apply&, std::span<const Shape> inputs) const override { return {inputs[0]}; }
  void perform(const Apply&, std::span<const Array> in, std::span<Array> out) const override {
    const Array pivots = in[0].contiguous();
    out[0] = Array::empty(DType::Int64, pivots.shape());
    permute_by_pivots(pivots.size(), inverse, pivots.data_as<std::int32_t>(), out[0].mutable_data_as<std::int64_t>());
  }
  bool emit(Lowering& to, const Apply&) const override {
    to.call("bt_pivots", {to.shape_in(0)[0], to.pool().integer(inverse), InputData{0}, OutputData{0}});
    return true;
  }
  void emit_tensors(TensorLowering& to, const Apply&) const override {
    to.out(0, permutation_of(to.builder(), to.in(0), inverse));
  }
  Variables pullback(const Apply& node, std::span<const Variable>) const override { return no_gradients(node); }
  std::vector<std::vector<bool>> connection_pattern(const Apply&) const override { return {{false}}; }
};

std::vector<Sample> lu_samples() {
  constexpr auto any = unknown_length;
  std::vector<Sample> out;
  const auto add = [&](DType dtype, const Dims& type, const Dims& shape, bool smooth = true) {
    Array a = sample_values(DType::Float64, shape).copy();
    for (std::int64_t k = 0; k < std::min(shape[0], shape[1]); ++k)
      a.mutable_data_as<double>()[(k + 1) % shape[0] * shape[1] + k] += 9;
    const Variable x[] = {sample_input(dtype, type, "x")};
    out.push_back(
        {make_ref<LUFactor<false>>()->make_node(x), {a.astype(dtype)}, 1e-6, smooth && dtype == DType::Float64});
  };
  add(DType::Float64, {any, any}, {3, 3});
  add(DType::Float64, {4, 4}, {4, 4});
  add(DType::Float64, {any, any}, {4, 2});
  add(DType::Float64, {any, any}, {2, 4});
  add(DType::Float32, {any, any}, {3, 3});
  add(DType::Float64, {any, any}, {20, 18}, false);
  add(DType::Float64, {any, any}, {0, 2}, false);
  add(DType::Int64, {any, any}, {3, 3});
  return out;
}

std::vector<Sample> pivot_samples() {
  std::vector<Sample> out;
  for (const bool inverse : {true, false}) {
    const Variable x[] = {sample_input(DType::Int32, {unknown_length}, "pivots")};
    const auto node = make_ref<PivotToPermutations>(inverse)->make_node(x);
    out.push_back({node, {Array{2, 3, 3, 3}.astype(DType::Int32)}});
    out.push_back({node, {Array::empty(DType::Int32, {0})}});
  }
  return out;
}

std::vector<Sample> complex_lu_samples() {
  return decomposition_samples(make_ref<LUFactor<true>>(), {{3, 3}, {4, 2}, {2, 4}, {18, 17}, {0, 2}}, true);
}

const RegisterOp register_lu("LUFactor", "The LU factors of a matrix in one, and the rows that were exchanged.",
                             lu_samples, make_op<LUFactor<false>>);
const RegisterOp register_complex_lu(
    "ComplexLUFactor", "The LU factors of a complex matrix in one, as pairs, and the rows that were exchanged.",
    complex_lu_samples, make_op<LUFactor<true>>);
BITALE_REGISTER_OP(PivotToPermutations, "The permutation of rows that the pivots of LU factors make.", pivot_samples);

}  // namespace

LUFactors lu_factor(const Operand& a) {
  const LocationScope here(a.where);
  const Variables out = apply_lapack<LUFactor>(require_matrices("lu_factor", a));
  return {out[0], out[1]};
}

Variable pivot_to_permutation(const Operand& pivots, const PermutationOptions& options) {
  const LocationScope here(pivots.where);
  if (pivots.ndim() < 1) throw ShapeError("pivot_to_permutation: expected a vector, or a batch of them");
  const Variable inputs[] = {pivots.variable};
  return apply_matrices(make_ref<PivotToPermutations>(options.inverse), inputs);
}

namespace {

// The factors of one matrix or of a batch: L [m, k], U [k, n], and the order of rows: row i of the matrix is row
// order[i] of L U.
struct LUParts {
  Variable lower, upper, order;
};
LUParts lu_parts(const Variable& a) {
  const auto [factors, pivots] = lu_factor(a);
  const int ndim = factors.ndim();
  const Variable rows = length_of(factors, ndim - 2), columns = length_of(factors, ndim - 1);
  const Variable k = lengths::min(rows, columns);
  const Slice stretch{.start = {}, .stop = Operand(k), .step = {}};
  const Variable left = subtensor(factors, {Ellipsis{}, stretch});
  const Variable lower = add(tril(left, -1), eye(rows, Operand(k), 0, factors.dtype()));
  const Variable upper = triu(subtensor(factors, {Ellipsis{}, stretch, Slice{}}));
  const auto known_k = known_integer(k), known_rows = known_integer(rows);
  Variable all = pivots;
  if (!known_k || !known_rows || *known_k != *known_rows) {  // rows beyond the last column are not exchanged
    Variable rest = cast(arange(k, rows, 1), DType::Int32);
    if (ndim > 2) {
      Variables shape;
      for (int axis = 0; axis < ndim - 2; ++axis) shape.push_back(length_of(factors, axis));
      shape.push_back(length_of(rest, 0));
      rest = broadcast_to(rest, shape);
    }
    all = concatenate({pivots, rest}, ndim - 2);
  }
  return {lower, upper, pivot_to_permutation(all)};
}

}  // namespace

Variables lu(const Operand& a, const LUOptions& options) {
  const LocationScope here(a.where);
  const auto [lower, upper, order] = lu_parts(require_matrices("lu", a));
  if (options.p_indices && !options.permute_l) return {cast(order, DType::Int32), lower, upper};
  // P[i, order[i]] = 1: row i of A is row order[i] of L U.
  const Variable rows = length_of(order, order.ndim() - 1);
  const Variable ones_there = eq(expand_dims(order, order.ndim()), arange(rows));
  const Variable p = cast(ones_there, component_dtype(lower.dtype()));
  if (options.permute_l) return {matmul(p, lower), upper};
  return {p, lower, upper};
}

Variable lu_solve(const Operand& factors, const Operand& pivots, const Operand& b, const LUSolveOptions& options) {
  const LocationScope here(factors.where);
  const CallScope call("lu_solve");
  const Variable both = required_square("lu_solve", require_matrices("lu_solve", factors));
  const int core = options.b_ndim ? options.b_ndim : std::min(b.ndim(), 2);
  if (b.ndim() < core || core < 1)
    throw ShapeError(cat("lu_solve: expected b to be a vector or a matrix, got ", b.variable.str(), " with ", b.ndim(),
                         " dimensions"));
  const Variable right = core == 1 ? expand_dims(b.variable, b.ndim()) : b.variable;
  const Variable columns = required_equal(right, length_of(both, both.ndim() - 1), length_of(right, right.ndim() - 2),
                                          "lu_solve: expected b to have as many rows as the factors");
  // A = P L U; P is applied as a matrix, which works for batches of any kind.
  const Variable order = pivot_to_permutation(pivots), rows = length_of(order, order.ndim() - 1);
  const Variable p = cast(eq(expand_dims(order, order.ndim()), arange(rows)), component_dtype(both.dtype()));
  const SolveTriangularOptions lower{.lower = true, .trans = options.transposed, .unit_diagonal = true, .b_ndim = 2};
  const SolveTriangularOptions upper{.lower = false, .trans = options.transposed, .b_ndim = 2};
  Variable out;
  if (options.transposed)
    out = matmul(p, solve_triangular(both, solve_triangular(both, columns, upper), lower));
  else
    out = solve_triangular(both, solve_triangular(both, matmul(t(p), columns), lower), upper);
  return core == 1 ? squeeze(out, Axes{{out.ndim() - 1}}) : out;
}

}  // namespace bitale
