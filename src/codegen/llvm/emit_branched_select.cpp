// Selects for arguments that are rare: subnormal numbers, and special cases of the logarithm. Vectors without AVX-512's
// masks need some operations for each selection; a test and a branch for all lanes need fewer.
#include <cmath>
#include <limits>

#include "codegen/llvm/emit.hpp"
#include "core/float_limits.hpp"
#include "program/math/split.hpp"

namespace bitale::codegen {

namespace {

using program::Code;
using program::Expr;
using Value = FunctionBuilder::Value;

struct BranchedSelect {
  Expr x;  // the result is `usual` wherever this is a normal positive number
  Expr usual;
};

std::optional<BranchedSelect> as_branched_select(Emitter& emitter, Expr select) {
  if (const auto limits = program::math::as_log_limits(select)) return BranchedSelect{limits->x, limits->value};
  const Expr condition = select.argument(0);
  if (condition.code() != Code::lt || !condition.argument(1).is_constant()) return {};
  const Expr x = condition.argument(0);
  const bool is_rare = x.dtype() == select.dtype() &&
                       condition.argument(1) == emitter.pool().number(smallest_normal(x.dtype()), x.dtype());
  return is_rare ? std::optional(BranchedSelect{x, select.argument(2)}) : std::nullopt;
}

Value build_branched(Emitter& e, Expr select, const BranchedSelect& branched) {
  const LlvmApi& l = e.api();
  LLVMBuilderRef at = e.builder();
  const DType dtype = branched.x.dtype(), word = itemsize(dtype) == 8 ? DType::Int64 : DType::Int32;
  const int lanes = e.lane_count();
  const auto bits_of = [&](double value) {
    const std::int64_t payload = e.pool().number(value, dtype).payload();
    return word == DType::Int64 ? payload : std::int64_t(std::int32_t(payload));
  };
  // Maps bits to signed numbers, from the least one on: first the normal positive numbers, then all others.
  const std::int64_t least =
      word == DType::Int64 ? std::numeric_limits<std::int64_t>::min() : std::numeric_limits<std::int32_t>::min();
  const std::uint64_t first = std::uint64_t(bits_of(smallest_normal(dtype)));
  const std::uint64_t count = std::uint64_t(bits_of(std::numeric_limits<double>::infinity())) - first;
  const auto integers = [&](std::uint64_t value) { return e.constant(word, std::int64_t(value), lanes); };
  const Value bits = l.BuildBitCast(at, e.lanes_of(branched.x), e.type(word, lanes), "");
  const Value shifted = l.BuildAdd(at, bits, integers(std::uint64_t(least) - first), "");
  const Value asks = l.BuildICmp(at, LLVMIntSGT, shifted, integers(std::uint64_t(least) + count - 1), "");
  const Value some = e.any_lane(asks);
  const Value usual = e.lanes_of(branched.usual);
  return e.unless(some, usual, "selecting", [&] { return e.build_plain(select); });
}

class BranchedSelects final : public ExpressionStrategy {
 public:
  Value build(Emitter& emitter, Expr expr) override {
    const TargetInfo& target = emitter.target();
    const bool pays = expr.code() == Code::select && target.is_x86 && !target.avx_512 && is_float(expr.dtype()) &&
                      emitter.varies(expr) && emitter.may_branch();
    const auto branched = pays ? as_branched_select(emitter, expr) : std::nullopt;
    return branched ? build_branched(emitter, expr, *branched) : nullptr;
  }
};

}  // namespace

std::unique_ptr<ExpressionStrategy> branched_selects() { return std::make_unique<BranchedSelects>(); }

}  // namespace bitale::codegen
