// Systems of equations with tridiagonal and diagonal matrices.
#include <cmath>

#include "bitale/ops/arrange.hpp"
#include "bitale/ops/lowering.hpp"
#include "bitale/ops/ops.hpp"
#include "bitale/ops/registry.hpp"
#include "ops/analysis/lengths.hpp"
#include "ops/complex/matrices.hpp"
#include "ops/linalg/lapack_forms.hpp"
#include "ops/linalg/linalg_core.hpp"
#include "ops/sample_values.hpp"
#include "runtime/matrix_functions.hpp"

namespace bitale {

namespace {

class SolveTridiagonal final : public DecompositionOp, public EmitsTensors {
 public:
  std::string_view name() const override { return "SolveTridiagonal"; }
  std::string signature() const override { return "(p),(m),(p),(m,k)->(m,k)"; }

  Apply make_node(std::span<const Variable> inputs) const override {
    require_inputs(*this, inputs, 4);
    const DType dtype = matrix_dtype(inputs);
    Variables own;
    for (auto& input : inputs) own.push_back(cast(input, dtype));
    for (const int i : {0, 1, 2}) require_ndim(own[std::size_t(i)], 1);
    require_ndim(own[3], 2);
    Dims shape = own[3].static_shape();
    shape[0] = common_length(shape[0], own[1].static_shape()[0], 0, who());
    if (shape[0] != unknown_length)
      for (const int i : {0, 2})
        (void)common_length(std::max<std::int64_t>(shape[0] - 1, 0), own[std::size_t(i)].static_shape()[0], 0, who());
    return Apply(OpRef(this), own, {tensor_type(dtype, shape)});
  }
  std::vector<Shape> infer_shape(const Apply&, std::span<const Shape> inputs) const override { return {inputs[3]}; }
  void perform(const Apply&, std::span<const Array> in, std::span<Array> out) const override {
    const Array lower = in[0].contiguous(), d = in[1].contiguous(), upper = in[2].contiguous();
    const std::int64_t n = d.size(), k = in[3].shape(1), beside = std::max<std::int64_t>(n - 1, 0);
    if (in[3].shape(0) != n || lower.size() != beside || upper.size() != beside)
      throw ShapeError(cat("solve_tridiagonal: expected b of ", n, " rows and diagonals of ", beside, " elements, got ",
                           in[3].shape(0), " rows, ", lower.size(), " and ", upper.size()));
    out[0] = in[3].copy();
    const Array work = Array::empty(d.dtype(), {4 * n});
    with_float(d.dtype(), [&]<class T>(T) {
      const std::int64_t zero_pivot =
          runtime::solve_tridiagonal<T>(n, k, lower.data_as<T>(), d.data_as<T>(), upper.data_as<T>(),
                                        out[0].mutable_data_as<T>(), work.mutable_data_as<T>());
      if (zero_pivot) throw LinAlgError(cat("solve: the matrix is singular: no pivot is left in row ", zero_pivot - 1));
    });
  }
  bool emit(Lowering& to, const Apply& node) const override {
    const Expr n = to.shape_in(1)[0], zero = to.pool().integer(0), one = to.pool().integer(1);
    const Expr beside = select(n < one, zero, n - one);
    to.require(equal(n, to.shape_in(3)[0]), "solve_tridiagonal: the matrix and b have different numbers of rows");
    for (const int i : {0, 2})
      to.require(equal(beside, to.shape_in(i)[0]),
                 "solve_tridiagonal: the diagonals next to the main one have one element fewer than it");
    call_runtime(to, node,
                 {n, to.shape_in(3)[1], InputData{0}, InputData{1}, InputData{2}, OutputData{0, {}, 3},
                  Scratch{node.output().dtype(), n * to.pool().integer(4)}});
    return true;
  }

  // XLA takes LAPACK's diagonals beside the main one at the length of the main one, with an unused element at one end.
  void emit_tensors(TensorLowering& to, const Apply&) const override {
    TensorBuilder& builder = to.builder();
    const TensorValue lower = to.in(0), d = to.in(1), upper = to.in(2), b = to.in(3);
    const Dims batch = batch_of(d, 1);
    const std::int64_t n = d.lengths.back(), beside = std::max<std::int64_t>(n - 1, 0);
    if (b.lengths[batch.size()] != n || lower.lengths.back() != beside || upper.lengths.back() != beside)
      throw ShapeError("solve_tridiagonal: the diagonals and b do not fit together");
    require_lapack(to);
    if (product(b.lengths) == 0) return to.out(0, b);
    const auto lengthened = [&](const TensorValue& x, bool in_front) {
      const Dims none(x.lengths.size(), 0);
      Dims more = none;
      more.back() = 1;
      return builder.pad(x, builder.number(0, x.dtype), in_front ? more : none, in_front ? none : more, none);
    };
    const TensorValues made = builder.lapack({"gtsv",
                                              d.dtype,
                                              int(batch.size()),
                                              {lengthened(lower, true), d, lengthened(upper, false), b},
                                              {{d.dtype, d.lengths},
                                               {d.dtype, d.lengths},
                                               {d.dtype, d.lengths},
                                               {b.dtype, b.lengths},
                                               {DType::Int32, batch}},
                                              {},
                                              {{0, 0}, {1, 1}, {2, 2}, {3, 3}}});
    const TensorValue holds =
        builder.map(DType::Bool, {made[4]}, [](std::span<const Expr> in) { return equal(in[0], 0); });
    to.require(builder.all(holds), "solve: the matrix is singular");
    to.out(0, where_batch(builder, holds, made[3], std::nan("")));
  }

  // For x = A^-1 b: g_b = A^-T g, and the gradients of the diagonals are the diagonals of -g_b x^T.
  Variables pullback(const Apply& node, std::span<const Variable> cotangents) const override {
    if (cotangents[0].is_disconnected()) return no_gradients(node);
    const Variable x = node.output();
    const Variable of_b = (*this)({node.input(2), node.input(1), node.input(0), cotangents[0]});
    const auto without_first = [](const Variable& v) {
      return subtensor(v, {Slice{.start = 1, .stop = {}, .step = {}}});
    };
    const auto without_last = [](const Variable& v) {
      return subtensor(v, {Slice{.start = {}, .stop = -1, .step = {}}});
    };
    const auto of = [&](int input, const Variable& left, const Variable& right) {
      return with_static_shape_of(node.input(input), neg(sum(mul(left, right), Axes{{1}})));
    };
    return {of(0, without_first(of_b), without_last(x)), of(1, of_b, x), of(2, without_last(of_b), without_first(x)),
            with_static_shape_of(node.input(3), of_b)};
  }

 private:
  std::string runtime_name() const override { return "solve_tridiagonal"; }
  const char* who() const override { return "solve_tridiagonal"; }
};

std::vector<Sample> tridiagonal_samples() {
  constexpr auto any = unknown_length;
  std::vector<Sample> out;
  const auto add = [&](DType dtype, std::int64_t n, std::int64_t k, bool smooth = true) {
    const Variable inputs[] = {sample_input(dtype, {any}, "lower"), sample_input(dtype, {any}, "d"),
                               sample_input(dtype, {any}, "upper"), sample_input(dtype, {any, any}, "b")};
    const std::int64_t beside = std::max<std::int64_t>(n - 1, 0);
    out.push_back({make_ref<SolveTridiagonal>()->make_node(inputs),
                   {sample_values(dtype, {beside}, 2), sample_values(dtype, {n}, 5), sample_values(dtype, {beside}, 1),
                    sample_values(dtype, {n, k}, 3)},
                   1e-6,
                   smooth && dtype == DType::Float64});
  };
  add(DType::Float64, 4, 2);
  add(DType::Float64, 1, 1);
  add(DType::Float64, 0, 2, false);
  add(DType::Float64, 9, 1);
  add(DType::Float32, 3, 2);
  return out;
}

BITALE_REGISTER_OP(SolveTridiagonal, "The solution of a tridiagonal system, by elimination with partial pivoting.",
                   tridiagonal_samples);

// The three diagonals as solve_banded takes them. Batch dimensions broadcast.
Variable bands_of(const Variable& lower, const Variable& d, const Variable& upper) {
  const DType dtype = promote(promote(lower.dtype(), d.dtype()), upper.dtype());
  const int batch = std::max({lower.ndim(), d.ndim(), upper.ndim()}) - 1;
  const auto lengthened = [&](const Variable& beside, bool in_front) {
    Variables shape;
    for (int axis = 0; axis < beside.ndim() - 1; ++axis) shape.push_back(length_of(beside, axis));
    const Variable n = length_of(d, d.ndim() - 1);
    if (const std::int64_t known = d.static_shape().back(); known != unknown_length)
      (void)common_length(std::max<std::int64_t>(known - 1, 0), beside.static_shape().back(), 0, "solve_tridiagonal");
    shape.push_back(lengths::min(n, int64_constant(1)));
    const Variable rest = zeros(Operands(shape), dtype), own = cast(beside, dtype);
    return in_front ? join(beside.ndim() - 1, {rest, own}) : join(beside.ndim() - 1, {own, rest});
  };
  Variables rows{lengthened(upper, true), cast(d, dtype), lengthened(lower, false)};
  for (auto& row : rows) {
    std::vector<int> order(std::size_t(batch + 1 - row.ndim()), new_axis);
    for (int axis = 0; axis < row.ndim(); ++axis) order.push_back(axis);
    if (row.ndim() <= batch) row = dimshuffle(row, order);
  }
  return stack(Operands(broadcast_arrays(Operands(rows))), batch);
}

}  // namespace

Variable solve_tridiagonal(const Operand& lower, const Operand& d, const Operand& upper, const Operand& b, int b_ndim) {
  const LocationScope here(d.where);
  if (lower.ndim() < 1 || d.ndim() < 1 || upper.ndim() < 1 || b.ndim() < 1)
    throw ShapeError("solve_tridiagonal: expected three diagonals and b, or batches of them");
  const int core = core_ndim(b_ndim, b.variable);
  if (any_complex({lower.variable, d.variable, upper.variable, b.variable}))
    return solve_banded(1, 1, bands_of(lower.variable, d.variable, upper.variable), b, core);
  const Variable columns = core == 1 ? expand_dims(b.variable, b.ndim()) : b.variable;
  const Variable inputs[] = {lower.variable, d.variable, upper.variable, columns};
  const Variable out = apply_matrices(make_ref<SolveTridiagonal>(), inputs);
  return core == 1 ? squeeze(out, Axes{{out.ndim() - 1}}) : out;
}

}  // namespace bitale
