// Quotients by what a loop does not change, without dividing in the loop. With the reciprocal of the divisor y in two
// pieces, z + w, q = x z + x w is within a unit in the last place of x / y, and q + (x - q y) z, each step one
// rounding, is x / y rounded (Markstein, "Computation of elementary functions on the IBM RISC System/6000 processor",
// 1990). That holds while nothing underflows or overflows; where it may, lanes are divided.
#include <cmath>

#include "codegen/llvm/emit.hpp"

namespace bitale::codegen {

namespace {

// Exponents of two between which divisor and dividend must lie. 0 is outside: its sign would be lost.
struct Range {
  int divisor, least, most;
};
constexpr Range range_of_8 = {500, -400, 500}, range_of_4 = {40, -50, 60};

}  // namespace

// Vectors of 32 bytes and more come with fused multiply-adds. A masked pass is not worth the code.
bool Emitter::divides_by_reciprocal(Expr quotient) {
  return is_float(quotient.dtype()) && varies(quotient) && !varies(quotient.argument(1)) &&
         !quotient.argument(1).is_constant() && target_.vector_bytes >= 32 && !lanes_->mask &&
         row_block_.rows.empty() &&
         !l_.GetBasicBlockTerminator(l_.GetInsertBlock(builder_));  // code that goes into a finished block can't branch
}

Emitter::Value Emitter::build_quotient(Expr quotient) {
  const DType dtype = quotient.dtype(), word = itemsize(dtype) == 8 ? DType::UInt64 : DType::UInt32;
  const Expr y = quotient.argument(1), one = pool_.number(1, dtype), z = one / y, w = fma(-z, y, one) * z;
  const Range& range = itemsize(dtype) == 8 ? range_of_8 : range_of_4;
  const auto power = [&](int exponent) { return std::exp2(exponent); };
  const Expr fits = (abs(y) >= power(-range.divisor)) & (abs(y) <= power(range.divisor));
  const auto bits_of = [&](int exponent) {
    return std::uint64_t(pool_.number(power(exponent), dtype).payload()) & (word == DType::UInt64 ? ~0ull : ~0u);
  };
  const int lanes = lanes_->count;
  const auto integers = [&](std::uint64_t v) { return constant(word, std::int64_t(v), lanes); };
  const Value x = lanes_of(quotient.argument(0)), divisor = lanes_of(y), high = lanes_of(z), low = lanes_of(w);
  const LLVMTypeRef reals = type(dtype, lanes);
  const auto fused = [&](Value a, Value b, Value c) { return intrinsic("llvm.fma", {reals}, {a, b, c}); };
  const Value near = fused(x, high, l_.BuildFMul(builder_, x, low, ""));
  const Value rest = fused(l_.BuildFNeg(builder_, near, ""), divisor, x), exact = fused(rest, high, near);
  // |x| in the range, by its bits without the sign.
  const Value doubled = l_.BuildShl(builder_, l_.BuildBitCast(builder_, x, type(word, lanes), ""), integers(1), "");
  const std::uint64_t least = bits_of(range.least) * 2, most = bits_of(range.most) * 2;
  // Where the divisor is outside, all are.
  const Expr limit = select(fits, pool_.integer(std::int64_t(most - least + 1), word), pool_.integer(0, word));
  const Value beyond =
      l_.BuildICmp(builder_, LLVMIntUGE, l_.BuildSub(builder_, doubled, integers(least), ""), lanes_of(limit), "");
  const Value some = any_lane(beyond);

  LLVMBasicBlockRef before = l_.GetInsertBlock(builder_), divide = block("divide"), after = block("divided");
  mark_unlikely(l_.BuildCondBr(builder_, some, divide, after));
  l_.PositionBuilderAtEnd(builder_, divide);
  const Value divided = l_.BuildFDiv(builder_, x, divisor, "");
  l_.BuildBr(builder_, after);
  l_.PositionBuilderAtEnd(builder_, after);
  const Value result = l_.BuildPhi(builder_, reals, "");
  Value values[] = {exact, divided};
  LLVMBasicBlockRef from[] = {before, divide};
  l_.AddIncoming(result, values, from, 2);
  return result;
}

// The first way of a branch.
void Emitter::mark_unlikely(Value branch) {
  const std::string_view kind = "prof", name = "branch_weights";
  const LLVMTypeRef word = l_.Int32TypeInContext(context_);
  LLVMMetadataRef parts[] = {l_.MDStringInContext2(context_, name.data(), name.size()),
                             l_.ValueAsMetadata(l_.ConstInt(word, 1, false)),
                             l_.ValueAsMetadata(l_.ConstInt(word, 1000, false))};
  l_.SetMetadata(branch, l_.GetMDKindIDInContext(context_, kind.data(), unsigned(kind.size())),
                 l_.MetadataAsValue(context_, l_.MDNodeInContext2(context_, parts, 3)));
}

}  // namespace bitale::codegen
