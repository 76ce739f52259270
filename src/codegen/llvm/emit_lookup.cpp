// Elements of small constant tables. Lanes with different indices are served by permuting registers that hold the
// table, where the processor can; else each lane loads its element.
#include <algorithm>
#include <span>
#include <unordered_map>

#include "codegen/llvm/emit.hpp"

namespace bitale::codegen {

namespace {

using program::Code;
using program::Expr;
using Value = FunctionBuilder::Value;

class TableLookups final : public ExpressionStrategy {
 public:
  // For tables of sixteen elements, AVX-512 permutes one or two registers, for which narrower vectors of doubles are
  // widened, and AVX2 permutes two registers of eight floats.
  Value build(Emitter& e, Expr expr) override {
    if (expr.code() != Code::lookup) return nullptr;
    const LlvmApi& l = e.api();
    const DType dtype = expr.dtype(), word = expr.argument(0).dtype();
    const std::size_t count = expr.argument_count() - 1, size = itemsize(dtype);
    const bool vector = e.varies(expr);
    const int lanes = vector ? e.lane_count() : 1;
    const Value mask = e.constant(word, std::int64_t(count - 1), lanes);
    const auto element = [&](Value at) {
      return l.BuildLoad2(e.builder(), e.type(dtype), address(e, {&expr, 1}, at), "");
    };
    if (!vector) return element(l.BuildAnd(e.builder(), e.value(expr.argument(0)), mask, ""));
    const Value at = e.lanes_of(expr.argument(0));
    const auto part = [&](std::size_t first, std::size_t length) {
      std::vector<Value> elements;
      for (std::size_t i = first; i < first + length; ++i)
        elements.push_back(e.constant(dtype, expr.argument(1 + i).payload(), 1));
      return l.ConstVector(elements.data(), unsigned(length));
    };
    const bool is_sixteen = count == 16;
    if (is_sixteen && e.target().avx_512 && size == 4 && lanes <= 8) {
      const Value wide = e.resized(at, lanes, 8);
      return e.resized(e.intrinsic("llvm.x86.avx512.vpermi2var.ps.256", {}, {part(0, 8), wide, part(8, 8)}), 8, lanes);
    }
    if (is_sixteen && e.target().avx_512 && std::size_t(lanes) * size <= 64) {
      const int whole = size == 8 ? 8 : 16;
      const Value wide = e.resized(at, lanes, whole);
      const Value found = size == 8
                              ? e.intrinsic("llvm.x86.avx512.vpermi2var.pd.512", {}, {part(0, 8), wide, part(8, 8)})
                              : e.intrinsic("llvm.x86.avx512.permvar.sf.512", {}, {part(0, 16), wide});
      return e.resized(found, whole, lanes);
    }
    if (is_sixteen && e.target().vector_bytes == 32 && size == 4 && lanes <= 8) {
      const Value wide = e.resized(at, lanes, 8);
      const auto half = [&](std::size_t first) {
        return e.intrinsic("llvm.x86.avx2.permps", {}, {part(first, 8), wide});
      };
      const Value eight_as_sign = l.BuildShl(e.builder(), wide, e.constant(word, 28, 8), "");
      const Value second = l.BuildBitCast(e.builder(), eight_as_sign, e.type(dtype, 8), "");
      return e.resized(e.intrinsic("llvm.x86.avx.blendv.ps.256", {}, {half(0), half(8), second}), 8, lanes);
    }
    if (size == 8 && lanes == 4) return pair_of_lookups(e, expr, partner_of(e, expr));
    const Value positions = l.BuildAnd(e.builder(), at, mask, "");
    Value result = l.GetPoison(e.type(dtype, lanes));
    for (int lane = 0; lane < lanes; ++lane) {
      const Value found = element(l.BuildExtractElement(e.builder(), positions, e.int64(lane), ""));
      result = l.BuildInsertElement(e.builder(), result, found, e.int64(lane), "");
    }
    return result;
  }

 private:
  // The address of the tables' elements at `at`. Tables are interleaved: element i of each, then element i + 1 of each.
  Value address(Emitter& e, std::span<const Expr> lookups, Value at) {
    const LlvmApi& l = e.api();
    std::vector<Value> elements;
    const DType dtype = lookups[0].dtype();
    const int count = int(lookups[0].argument_count()) - 1, tables = int(lookups.size());
    for (int i = 1; i <= count; ++i)
      for (auto& lookup : lookups) elements.push_back(e.constant(dtype, lookup.argument(std::size_t(i)).payload(), 1));
    const Value content = l.ConstVector(elements.data(), unsigned(elements.size()));
    Value& table = tables_[content];
    if (!table) {
      table = l.AddGlobal(e.module(), e.type(dtype, count * tables), "table");
      l.SetInitializer(table, content);
      l.SetGlobalConstant(table, true);
      l.SetLinkage(table, LLVMPrivateLinkage);
    }
    return l.BuildGEP2(e.builder(), e.type(dtype, tables), table, &at, 1, "");
  }

  // Two tables that are read at the same positions: a lane loads both elements at once, and two shuffles separate them.
  // Returns the value of the first lookup, and records that of the second.
  Value pair_of_lookups(Emitter& e, Expr first, Expr second) {
    const LlvmApi& l = e.api();
    const DType word = first.argument(0).dtype();
    const Expr both[] = {first, second};
    const Value mask = e.constant(word, std::int64_t(first.argument_count()) - 2, 4);
    const Value positions = l.BuildAnd(e.builder(), e.lanes_of(first.argument(0)), mask, "");
    const auto pair = [&](int lane) {
      const Value at = address(e, both, l.BuildExtractElement(e.builder(), positions, e.int64(lane), ""));
      return l.BuildLoad2(e.builder(), e.type(first.dtype(), 2), at, "");
    };
    const auto pairs = [&](int lane, int other) { return e.shuffled(pair(lane), pair(other), {0, 1, 2, 3}); };
    const Value even = pairs(0, 2), odd = pairs(1, 3);
    const Value of_first = e.shuffled(even, odd, {0, 4, 2, 6}), of_second = e.shuffled(even, odd, {1, 5, 3, 7});
    e.set_value(second, of_second);
    return first == second ? of_second : of_first;
  }

  // Another lookup at the same position, in a table of the same length and dtype; else the lookup itself.
  Expr partner_of(Emitter& e, Expr lookup) {
    program::ExprPool& pool = e.pool();
    for (; lookups_known_ < pool.size(); ++lookups_known_) {
      const Expr expr(&pool, std::uint32_t(lookups_known_));
      if (expr.code() == Code::lookup) lookups_at_[expr.argument(0).id()].push_back(expr);
    }
    const std::vector<Expr>& all = lookups_at_.at(lookup.argument(0).id());
    const std::size_t at = std::size_t(std::find(all.begin(), all.end(), lookup) - all.begin()), other = at ^ 1;
    const bool fits = other < all.size() && all[other].argument_count() == lookup.argument_count();
    return fits && all[other].dtype() == lookup.dtype() ? all[other] : lookup;
  }

  std::unordered_map<Value, Value> tables_;                          // in memory, by their elements
  std::unordered_map<std::uint32_t, std::vector<Expr>> lookups_at_;  // by the position they read
  std::size_t lookups_known_ = 0;                                    // expressions of the pool that were examined
};

}  // namespace

std::unique_ptr<ExpressionStrategy> table_lookups() { return std::make_unique<TableLookups>(); }

}  // namespace bitale::codegen
