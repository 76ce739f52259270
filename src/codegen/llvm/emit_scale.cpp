// value * 2^n without AVX-512's instruction for it. The formula (program/math/scale.cpp) multiplies by two powers,
// since 2^n may be beyond the normal numbers. In a vector whose every n is within them one product gives the same bits,
// and a branch for the others takes fewer operations than the second power.
#include <limits>

#include "codegen/llvm/emit.hpp"
#include "program/math/core.hpp"
#include "program/math/exp.hpp"
#include "program/math/scale.hpp"

namespace bitale::codegen {

namespace {

using program::Code;
using program::Expr;
using program::math::Format;
using Value = FunctionBuilder::Value;

class ScaleBuilder {
 public:
  ScaleBuilder(Emitter& emitter, DType dtype)
      : e_(emitter),
        l_(emitter.api()),
        at_(emitter.builder()),
        format_(dtype),
        reals_(emitter.type(dtype, emitter.lane_count())),
        words_(emitter.type(format_.bits(), emitter.lane_count())) {}

  Value number(double value) const {
    return e_.constant(format_.dtype(), e_.pool().number(value, format_.dtype()).payload(), e_.lane_count());
  }
  // 2^n, where n + shifter is given: the lowest bits of the sum are n.
  Value power(Value shifted) const {
    const Value mantissa = e_.constant(format_.bits(), format_.mantissa(), e_.lane_count());
    const Value exponent = l_.BuildShl(at_, l_.BuildBitCast(at_, shifted, words_, ""), mantissa, "");
    const Value one = l_.BuildBitCast(at_, number(1), words_, "");
    return l_.BuildBitCast(at_, l_.BuildAdd(at_, exponent, one, ""), reals_, "");
  }
  Value by_one_power(Value value, Value n) const {
    return l_.BuildFMul(at_, value, power(l_.BuildFAdd(at_, n, number(format_.shifter()), "")), "");
  }
  Value by_two_powers(Value value, Value n) const {
    const Value shifter = number(format_.shifter());
    const Value shifted_half = e_.intrinsic("llvm.fma", {reals_}, {n, number(0.5), shifter});
    const Value half = l_.BuildFSub(at_, shifted_half, shifter, "");
    const Value rest = l_.BuildFAdd(at_, l_.BuildFSub(at_, n, half, ""), shifter, "");
    return l_.BuildFMul(at_, l_.BuildFMul(at_, value, power(shifted_half), ""), power(rest), "");
  }
  Value is_beyond(Value n) const {
    const Value size = e_.intrinsic("llvm.fabs", {reals_}, {n});
    return e_.any_lane(l_.BuildFCmp(at_, LLVMRealOGT, size, number(double(format_.bias() - 1)), ""));
  }
  // nan is among the others, because adding to its exponent might make it a number.
  Value is_beyond(Value x, const program::math::BoundedExp& exp) const {
    if (exp.is_negative) return e_.any_lane(l_.BuildFCmp(at_, LLVMRealULT, x, number(-exp.normal_up_to), ""));
    const Value size = e_.intrinsic("llvm.fabs", {reals_}, {x});
    return e_.any_lane(l_.BuildFCmp(at_, LLVMRealUGT, size, number(exp.normal_up_to), ""));
  }
  Value within_bounds(Value x, const program::math::BoundedExp& exp, Value result) const {
    const Value is_above = l_.BuildFCmp(at_, LLVMRealOGE, x, number(exp.highest), "");
    const Value is_below = l_.BuildFCmp(at_, LLVMRealOLE, x, number(exp.lowest), "");
    const Value at_most = l_.BuildSelect(at_, is_above, number(std::numeric_limits<double>::infinity()), result, "");
    return l_.BuildSelect(at_, is_below, number(0), at_most, "");
  }

 private:
  Emitter& e_;
  const LlvmApi& l_;
  LLVMBuilderRef at_;
  const Format format_;
  const LLVMTypeRef reals_, words_;
};

Value build_scaled(Emitter& e, Expr expr, const program::math::Scaled& scaled) {
  const ScaleBuilder build(e, expr.dtype());
  const Value value = e.lanes_of(scaled.value), n = e.lanes_of(scaled.n);
  const Value usual = build.by_one_power(value, n), some = build.is_beyond(n);
  return e.unless(some, usual, "beyond", [&] { return build.by_two_powers(value, n); });
}

// The bounds are applied in the branch too: n and r of other arguments don't need them.
Value build_exp(Emitter& e, const program::math::BoundedExp& exp) {
  const ScaleBuilder build(e, exp.x.dtype());
  const Value x = e.lanes_of(exp.x), value = e.lanes_of(exp.value), n = e.lanes_of(exp.n);
  const Value normal = e.lanes_of(exp.normal);
  return e.unless(build.is_beyond(x, exp), normal, "beyond",
                  [&] { return build.within_bounds(x, exp, build.by_two_powers(value, n)); });
}

class SinglePowers final : public ExpressionStrategy {
 public:
  std::optional<std::vector<Expr>> operands(const Emitter& emitter, Expr expr) const override {
    if (!applies(emitter, expr)) return std::nullopt;
    if (const auto exp = program::math::as_exp(expr)) return std::vector<Expr>{exp->x, exp->value, exp->n, exp->normal};
    const auto scaled = as_scale(expr);
    return scaled ? std::optional(std::vector<Expr>{scaled->value, scaled->n}) : std::nullopt;
  }
  Value build(Emitter& emitter, Expr expr) override {
    if (!applies(emitter, expr) || !emitter.varies(expr)) return nullptr;
    if (const auto exp = program::math::as_exp(expr)) return build_exp(emitter, *exp);
    const auto scaled = as_scale(expr);
    return scaled ? build_scaled(emitter, expr, *scaled) : nullptr;
  }

 private:
  static bool applies(const Emitter& emitter, Expr expr) {
    const TargetInfo& target = emitter.target();
    return target.is_x86 && !target.avx_512 && emitter.is_in_lanes() && emitter.may_branch() &&
           expr.code() == Code::mul && is_float(expr.dtype());
  }
  static std::optional<program::math::Scaled> as_scale(Expr expr) {
    const auto scaled = program::math::as_scaled(expr);
    return scaled && program::math::scale(scaled->value, scaled->n) == expr ? scaled : std::nullopt;
  }
};

}  // namespace

std::unique_ptr<ExpressionStrategy> single_powers() { return std::make_unique<SinglePowers>(); }

}  // namespace bitale::codegen
