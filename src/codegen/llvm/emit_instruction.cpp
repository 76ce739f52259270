// Operations for which expansions need ten operations and AVX-512 one or two instructions: multiplication by a power of
// two, splitting a number into m 2^k, the limits of a logarithm. Where the result matters, its bits are the same.
#include "bitale/core/text.hpp"
#include "codegen/llvm/emit.hpp"
#include "program/math/scale.hpp"
#include "program/math/split.hpp"

namespace bitale::codegen {

namespace {

using program::Expr;
using Value = FunctionBuilder::Value;

enum class InstructionKind { scale, split_m, split_k, log_limits };
struct Instruction {
  InstructionKind what;
  std::vector<Expr> operands;  // of the dtype of the result
};

class Avx512Instructions final : public ExpressionStrategy {
 public:
  std::optional<std::vector<Expr>> operands(const Emitter& emitter, Expr expr) const override {
    auto found = instruction_for(emitter, expr);
    return found ? std::optional(std::move(found->operands)) : std::nullopt;
  }
  Value build(Emitter& emitter, Expr expr) override {
    const auto found = instruction_for(emitter, expr);
    return found ? call(emitter, *found, emitter.varies(expr)) : nullptr;
  }

 private:
  static std::optional<Instruction> instruction_for(const Emitter& emitter, Expr expr) {
    constexpr int max_bytes = 64, min_bytes = 16;
    if (!emitter.target().avx_512 || !is_float(expr.dtype())) return {};
    const int bytes = emitter.is_in_lanes() ? emitter.lane_count() * int(itemsize(expr.dtype())) : min_bytes;
    if (bytes < min_bytes || bytes > max_bytes) return {};
    if (const auto scaled = program::math::as_scaled(expr))
      return Instruction{InstructionKind::scale, {scaled->value, scaled->n}};
    if (const auto x = program::math::as_split_m(expr)) return Instruction{InstructionKind::split_m, {*x}};
    if (const auto x = program::math::as_split_k(expr)) return Instruction{InstructionKind::split_k, {*x}};
    if (const auto limits = program::math::as_log_limits(expr))
      return Instruction{InstructionKind::log_limits, {limits->x, limits->value}};
    return {};
  }

  static Value call(Emitter& e, const Instruction& instruction, bool vector) {
    const LlvmApi& l = e.api();
    const DType dtype = instruction.operands[0].dtype();
    const int size = int(itemsize(dtype)), lanes = vector ? e.lane_count() : 16 / size, bits = 8 * size * lanes;
    const DType word = size == 8 ? DType::Int64 : DType::Int32;
    const Value nothing = l.GetPoison(e.type(dtype, lanes));
    // A scalar is lane 0 of the shortest vector.
    std::vector<Value> operands;
    for (auto& operand : instruction.operands)
      operands.push_back(vector ? e.lanes_of(operand)
                                : l.BuildInsertElement(e.builder(), nothing, e.value(operand), e.int64(0), ""));
    const auto int32 = [&](std::uint64_t number) { return l.ConstInt(e.type(DType::Int32), number, false); };
    const Value every_lane = l.ConstInt(l.IntTypeInContext(e.context(), lanes > 8 ? 16u : 8u), ~0ull, true);
    const Value current_rounding = int32(4);
    const auto masked = [&](std::string_view operation, std::vector<Value> arguments) {
      const std::string name = cat("llvm.x86.avx512.mask.", operation, size == 8 ? ".pd." : ".ps.", bits);
      arguments.push_back(every_lane);
      if (bits == 512) arguments.push_back(current_rounding);
      return e.intrinsic(name.c_str(), {}, std::move(arguments));
    };
    const Value x = operands[0];
    constexpr std::uint64_t from_three_quarters = 3;
    const auto m = [&] { return masked("getmant", {x, int32(from_three_quarters), nothing}); };
    // Four bits for each class of x: nan, nan, 0, 1, -infinity, infinity, below 0, above; 0 leaves the value unchanged.
    constexpr std::uint64_t limits = 0x03530422;
    Value result = nullptr;
    switch (instruction.what) {
      case InstructionKind::scale: result = masked("scalef", {x, operands[1], x}); break;
      case InstructionKind::split_m: result = m(); break;
      case InstructionKind::split_k:  // the exponent of m is 0 or -1
        result = l.BuildFSub(e.builder(), masked("getexp", {x, nothing}), masked("getexp", {m(), nothing}), "");
        break;
      case InstructionKind::log_limits:
        result = masked("fixupimm", {operands[1], x, e.constant(word, std::int64_t(limits), lanes), int32(0)});
        break;
    }
    return vector ? result : l.BuildExtractElement(e.builder(), result, e.int64(0), "");
  }
};

}  // namespace

std::unique_ptr<ExpressionStrategy> avx_512_instructions() { return std::make_unique<Avx512Instructions>(); }

}  // namespace bitale::codegen
