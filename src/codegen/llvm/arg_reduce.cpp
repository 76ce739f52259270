#include "codegen/llvm/arg_reduce.hpp"

namespace bitale::codegen {

using program::Code;
using program::Combiner;
using Value = FunctionBuilder::Value;

Value more_extreme(FunctionBuilder& builder, Combiner combiner, DType dtype, Value a, Value b) {
  const LlvmApi& l = builder.api();
  const Value beaten = builder.compare(combiner == Combiner::max ? Code::le : Code::ge, dtype, a, b);
  const Value wins = l.BuildNot(builder.builder(), beaten, "");
  if (!is_float(dtype)) return wins;
  return l.BuildAnd(builder.builder(), wins, builder.compare(Code::eq, dtype, b, b), "");
}

Extreme extreme_of(FunctionBuilder& builder, Combiner combiner, DType dtype, Extreme a, Extreme b) {
  const LlvmApi& l = builder.api();
  LLVMBuilderRef at = builder.builder();
  const Value later = l.BuildICmp(at, LLVMIntSLT, a.index, b.index, "");
  const Value more = more_extreme(builder, combiner, dtype, b.value, a.value);
  const Value less = more_extreme(builder, combiner, dtype, a.value, b.value);
  const Value keep = l.BuildOr(at, less, l.BuildAnd(at, l.BuildNot(at, more, ""), later, ""), "");
  return {l.BuildSelect(at, keep, a.value, b.value, ""), l.BuildSelect(at, keep, a.index, b.index, "")};
}

Extreme extreme_lane(FunctionBuilder& builder, Combiner combiner, DType dtype, Extreme lanes) {
  for (int half = builder.lanes_in(lanes.value) / 2; half > 0; half /= 2) {
    const auto part = [&](int from) {
      return Extreme{builder.some_lanes(lanes.value, from, half), builder.some_lanes(lanes.index, from, half)};
    };
    const Extreme second = part(half), first = part(0);
    lanes = extreme_of(builder, combiner, dtype, first, second);
  }
  return lanes;
}

}  // namespace bitale::codegen
