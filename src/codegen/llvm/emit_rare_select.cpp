// Selects for arguments that are rare: subnormal numbers, and what has a logarithm by decree. Vectors without AVX-512's
// masks take some operations for each selection, and a test and a branch for all lanes take fewer.
#include <cmath>
#include <limits>

#include "codegen/llvm/emit.hpp"
#include "program/math/split.hpp"

namespace bitale::codegen {

using program::Code;

namespace {

double smallest_normal(DType dtype) {
  return dtype == DType::Float64 ? std::numeric_limits<double>::min() : double(std::numeric_limits<float>::min());
}

}  // namespace

// A masked pass is not worth the code.
std::optional<Emitter::RareSelect> Emitter::as_rare_select(Expr select) {
  const bool pays = target_.is_x86 && !target_.avx_512 && is_float(select.dtype()) && varies(select) && !lanes_->mask &&
                    row_block_.rows.empty() && !l_.GetBasicBlockTerminator(l_.GetInsertBlock(builder_));
  if (!pays) return std::nullopt;
  if (const auto limits = program::math::as_log_limits(select)) return RareSelect{limits->x, limits->value};
  const Expr condition = select.argument(0);
  if (condition.code() != Code::lt || !condition.argument(1).is_constant()) return std::nullopt;
  const Expr x = condition.argument(0);
  const bool asks =
      x.dtype() == select.dtype() && condition.argument(1) == pool_.number(smallest_normal(x.dtype()), x.dtype());
  return asks ? std::optional(RareSelect{x, select.argument(2)}) : std::nullopt;
}

// `build_select` is called where some lane may ask.
Emitter::Value Emitter::build_rare_select(const RareSelect& rare, const std::function<Value()>& build_select) {
  const DType dtype = rare.x.dtype(), word = itemsize(dtype) == 8 ? DType::Int64 : DType::Int32;
  const int lanes = lanes_->count;
  const auto bits_of = [&](double value) {
    const std::int64_t payload = pool_.number(value, dtype).payload();
    return word == DType::Int64 ? payload : std::int64_t(std::int32_t(payload));
  };
  // Bits as a signed number from the least one on: first normal positive numbers, then all others.
  const std::int64_t least =
      word == DType::Int64 ? std::numeric_limits<std::int64_t>::min() : std::numeric_limits<std::int32_t>::min();
  const std::uint64_t first = std::uint64_t(bits_of(smallest_normal(dtype)));
  const std::uint64_t count = std::uint64_t(bits_of(std::numeric_limits<double>::infinity())) - first;
  const auto integers = [&](std::uint64_t value) { return constant(word, std::int64_t(value), lanes); };
  const Value bits = l_.BuildBitCast(builder_, lanes_of(rare.x), type(word, lanes), "");
  const Value place = l_.BuildAdd(builder_, bits, integers(std::uint64_t(least) - first), "");
  const Value asks = l_.BuildICmp(builder_, LLVMIntSGT, place, integers(std::uint64_t(least) + count - 1), "");
  const Value some = any_lane(asks);
  const Value usual = lanes_of(rare.usual);
  LLVMBasicBlockRef before = l_.GetInsertBlock(builder_), selecting = block("selecting"), after = block("selected");
  mark_unlikely(l_.BuildCondBr(builder_, some, selecting, after));
  l_.PositionBuilderAtEnd(builder_, selecting);
  Value values[] = {usual, build_select()};
  l_.BuildBr(builder_, after);
  l_.PositionBuilderAtEnd(builder_, after);
  const Value result = l_.BuildPhi(builder_, l_.TypeOf(usual), "");
  LLVMBasicBlockRef from[] = {before, selecting};
  l_.AddIncoming(result, values, from, 2);
  return result;
}

}  // namespace bitale::codegen
