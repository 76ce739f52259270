#include "ops/linalg/system_op.hpp"

#include "bitale/ops/lowering.hpp"
#include "bitale/ops/ops.hpp"
#include "ops/analysis/lengths.hpp"

namespace bitale {

SystemOp::SystemOp(const char* who, bool trans, int b_ndim, std::string on_error)
    : LapackOp(false), trans(trans), b_ndim(b_ndim), on_error(std::move(on_error)) {
  require_on_error(who, this->on_error);
  if (b_ndim != 1 && b_ndim != 2) throw ValueError(cat(who, ": expected b_ndim 1 or 2, got ", b_ndim));
}

bool SystemOp::emit(Lowering& to, const Apply& node) const {
  const auto b = to.shape_in(1);
  const Expr n = b[0];
  require_lengths(to);
  const DType dtype = node.output().dtype();
  const bool transposed = takes_transposed() && to.matrix(0).transposed;
  std::vector<CallArgument> arguments{n, b_ndim == 1 ? to.pool().integer(1) : b[1]};
  for (const auto flag : flags_of(transposed)) arguments.push_back(to.pool().integer(flag));
  arguments.push_back(InputData{0});
  arguments.push_back(OutputData{0, {}, 1});
  if (!scratch().empty()) {
    arguments.push_back(Scratch{dtype, n * n});
    arguments.push_back(Scratch{DType::Int32, n});
  }
  call_runtime(to, node, std::move(arguments));
  return true;
}

void SystemOp::emit_tensors(TensorLowering& to, const Apply&) const {
  const TensorValue a = to.in(0), b = to.in(1);
  check_lengths(to);
  Dims as_matrix = b.lengths;
  if (b_ndim == 1) as_matrix.push_back(1);
  const TensorValue x = solve_tensors(to, a, to.builder().reshape(b, as_matrix));
  to.out(0, to.builder().reshape(x, b.lengths));
}

void SystemOp::fail_in_row(std::string_view what, std::int64_t row) const {
  raise_linalg(cat(who(), ": the matrix is singular: ", what, " in row ", row - 1),
               "on_error=\"nan\" gives a solution that is all nan instead");
}

// For x = op(a)^-1 b: g_b = op(a)^-T g, and the gradient of op(a) is -g_b x^T, which is transposed if op(a) is a^T.
// Giles 2008.
Variables SystemOp::pullback(const Apply& node, std::span<const Variable> cotangents) const {
  if (cotangents[0].is_disconnected()) return no_gradients(node);
  const Variable x = node.output(), of_b = solved(!trans, node.input(0), cotangents[0]);
  const Variable &left = trans ? x : of_b, &right = trans ? of_b : x;
  const Variable product = b_ndim == 1 ? outer(left, right) : dot(left, transpose(right));
  return gradients(node, {gradient_read(neg(product)), of_b});
}

// op(a)^-1 (db - op(da) x)
Variables SystemOp::pushforward(const Apply& node, std::span<const Variable> tangents) const {
  Variable right = tangents[1];
  if (!tangents[0].is_disconnected()) {
    const Variable da = whole(tangents[0]);
    const Variable moved = dot(trans ? transpose(da) : da, node.output());
    right = right.is_disconnected() ? neg(moved) : sub(right, moved);
  }
  if (right.is_disconnected()) return {disconnected()};
  return {solved(trans, node.input(0), right)};
}

}  // namespace bitale
