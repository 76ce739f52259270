// Quotients by a loop-invariant divisor, without dividing in the loop. With the reciprocal of the divisor y in two
// pieces, z + w, q = x z + x w is within a unit in the last place of x / y, and q + (x - q y) z, with one rounding in
// each step, is x / y rounded (Markstein, "Computation of elementary functions on the IBM RISC System/6000 processor",
// 1990). That holds while nothing underflows or overflows; where it may, lanes are divided. Only short loops over
// float64 wait for the divider; in longer ones the other instructions take as much time
// (docs/measurements/performance.md).
#include <cmath>

#include "codegen/llvm/emit.hpp"

namespace bitale::codegen {

namespace {

using program::Expr;
using Value = FunctionBuilder::Value;

// The exponents of two that bound divisor and dividend. 0 is outside: its sign would be lost.
struct {
  int divisor = 500, least = -400, most = 500;
} constexpr range;

constexpr std::size_t max_operations = 8;

Value quotient_by_reciprocal(Emitter& e, Expr quotient) {
  const LlvmApi& l = e.api();
  LLVMBuilderRef at = e.builder();
  const DType dtype = DType::Float64, word = DType::UInt64;
  const Expr y = quotient.argument(1), one = e.pool().number(1, dtype), z = one / y, w = fma(-z, y, one) * z;
  const auto power = [&](int exponent) { return std::exp2(exponent); };
  const Expr fits = (abs(y) >= power(-range.divisor)) & (abs(y) <= power(range.divisor));
  const auto bits_of = [&](int exponent) { return std::uint64_t(e.pool().number(power(exponent), dtype).payload()); };
  const int lanes = e.lane_count();
  const auto integers = [&](std::uint64_t v) { return e.constant(word, std::int64_t(v), lanes); };
  const Value x = e.lanes_of(quotient.argument(0)), divisor = e.lanes_of(y), high = e.lanes_of(z), low = e.lanes_of(w);
  const LLVMTypeRef reals = e.type(dtype, lanes);
  const auto fused = [&](Value a, Value b, Value c) { return e.intrinsic("llvm.fma", {reals}, {a, b, c}); };
  const Value near = fused(x, high, l.BuildFMul(at, x, low, ""));
  const Value rest = fused(l.BuildFNeg(at, near, ""), divisor, x), exact = fused(rest, high, near);
  // Tests whether |x| is in the range, by its bits without the sign.
  const Value doubled = l.BuildShl(at, l.BuildBitCast(at, x, e.type(word, lanes), ""), integers(1), "");
  const std::uint64_t least = bits_of(range.least) * 2, most = bits_of(range.most) * 2;
  // If the divisor is out of range, all lanes are.
  const Expr limit = select(fits, e.pool().integer(std::int64_t(most - least + 1), word), e.pool().integer(0, word));
  const Value beyond = l.BuildICmp(at, LLVMIntUGE, l.BuildSub(at, doubled, integers(least), ""), e.lanes_of(limit), "");
  const Value some = e.any_lane(beyond);

  return e.unless(some, exact, "divided", [&] { return l.BuildFDiv(at, x, divisor, ""); });
}

class ReciprocalQuotients final : public ExpressionStrategy {
 public:
  // Processors with vectors of 32 bytes and more have fused multiply-adds. A reciprocal per row of a matrix would cost
  // more than it saves in rows of ordinary length.
  Value build(Emitter& emitter, Expr expr) override {
    const bool applies = expr.code() == program::Code::div && expr.dtype() == DType::Float64 && emitter.varies(expr) &&
                         emitter.is_loop_invariant(expr.argument(1)) && !expr.argument(1).is_constant() &&
                         emitter.target().vector_bytes >= 32 && emitter.may_branch() &&
                         emitter.operations_in_lanes() <= max_operations;
    return applies ? quotient_by_reciprocal(emitter, expr) : nullptr;
  }
};

}  // namespace

std::unique_ptr<ExpressionStrategy> reciprocal_quotients() { return std::make_unique<ReciprocalQuotients>(); }

}  // namespace bitale::codegen
