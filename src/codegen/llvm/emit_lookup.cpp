// Elements of small constant tables. Lanes that differ in their indices are served by permuting registers that hold the
// table, where the processor can; else each lane loads its element.
#include "codegen/llvm/emit.hpp"

namespace bitale::codegen {

// The address of the tables' elements at `at`: i of each, then i + 1 of each.
Emitter::Value Emitter::table_address(std::span<const Expr> lookups, Value at) {
  std::vector<Value> elements;
  const DType dtype = lookups[0].dtype();
  const int count = int(lookups[0].argument_count()) - 1, tables = int(lookups.size());
  for (int i = 1; i <= count; ++i)
    for (auto& lookup : lookups) elements.push_back(constant(dtype, lookup.argument(std::size_t(i)).payload(), 1));
  const Value content = l_.ConstVector(elements.data(), unsigned(elements.size()));
  Value& table = tables_[content];
  if (!table) {
    table = l_.AddGlobal(module_, type(dtype, count * tables), "table");
    l_.SetInitializer(table, content);
    l_.SetGlobalConstant(table, true);
    l_.SetLinkage(table, LLVMPrivateLinkage);
  }
  return l_.BuildGEP2(builder_, type(dtype, tables), table, &at, 1, "");
}

Emitter::Value Emitter::shuffled(Value a, Value b, const std::vector<int>& places) {
  std::vector<Value> numbers;
  for (int place : places) numbers.push_back(l_.ConstInt(type(DType::Int32), std::uint64_t(place), false));
  return l_.BuildShuffleVector(builder_, a, b, l_.ConstVector(numbers.data(), unsigned(numbers.size())), "");
}

// The first so many of 0, 1, ..., from - 1, 0, 1, ...
Emitter::Value Emitter::resized(Value v, int from, int to) {
  if (from == to) return v;
  std::vector<int> places;
  for (int i = 0; i < to; ++i) places.push_back(i % from);
  return shuffled(v, v, places);
}

// Two tables that are read at the same places: a lane loads two elements at once, and two shuffles part them.
void Emitter::build_two_lookups(Expr first, Expr second) {
  const DType word = first.argument(0).dtype();
  const Expr both[] = {first, second};
  const Value mask = constant(word, std::int64_t(first.argument_count()) - 2, 4);
  const Value places = l_.BuildAnd(builder_, lanes_of(first.argument(0)), mask, "");
  const auto pair = [&](int lane) {
    const Value address = table_address(both, l_.BuildExtractElement(builder_, places, int64(lane), ""));
    return l_.BuildLoad2(builder_, type(first.dtype(), 2), address, "");
  };
  const auto pairs = [&](int lane, int other) { return shuffled(pair(lane), pair(other), {0, 1, 2, 3}); };
  const Value even = pairs(0, 2), odd = pairs(1, 3);
  auto& values = levels_.back().values;
  values[first.id()] = shuffled(even, odd, {0, 4, 2, 6});
  values[second.id()] = shuffled(even, odd, {1, 5, 3, 7});
}

// Another lookup at the same place, in a table as long.
Emitter::Expr Emitter::partner_of(Expr lookup) {
  for (; lookups_known_ < pool_.size(); ++lookups_known_) {
    const Expr expr(&pool_, std::uint32_t(lookups_known_));
    if (expr.code() == program::Code::lookup) lookups_at_[expr.argument(0).id()].push_back(expr);
  }
  const std::vector<Expr>& all = lookups_at_.at(lookup.argument(0).id());
  const std::size_t at = std::size_t(std::find(all.begin(), all.end(), lookup) - all.begin()), other = at ^ 1;
  const bool fits = other < all.size() && all[other].argument_count() == lookup.argument_count();
  return fits && all[other].dtype() == lookup.dtype() ? all[other] : lookup;
}

// Of sixteen elements AVX-512 permutes one or two registers, which narrower vectors of doubles are widened for, and
// AVX2 two of eight floats.
Emitter::Value Emitter::build_lookup(Expr expr, bool vector) {
  const DType dtype = expr.dtype(), word = expr.argument(0).dtype();
  const std::size_t count = expr.argument_count() - 1, size = itemsize(dtype);
  const int lanes = vector ? lanes_->count : 1;
  const Value mask = constant(word, std::int64_t(count - 1), lanes);
  const auto element = [&](Value at) {
    return l_.BuildLoad2(builder_, type(dtype), table_address({&expr, 1}, at), "");
  };
  if (!vector) return element(l_.BuildAnd(builder_, value(expr.argument(0)), mask, ""));
  const Value at = lanes_of(expr.argument(0));
  const auto part = [&](std::size_t first, std::size_t length) {
    std::vector<Value> elements;
    for (std::size_t i = first; i < first + length; ++i)
      elements.push_back(constant(dtype, expr.argument(1 + i).payload(), 1));
    return l_.ConstVector(elements.data(), unsigned(length));
  };
  const bool is_sixteen = count == 16;
  if (is_sixteen && target_.avx_512 && size == 4 && lanes <= 8) {
    const Value wide = resized(at, lanes, 8);
    return resized(intrinsic("llvm.x86.avx512.vpermi2var.ps.256", {}, {part(0, 8), wide, part(8, 8)}), 8, lanes);
  }
  if (is_sixteen && target_.avx_512 && std::size_t(lanes) * size <= 64) {
    const int whole = size == 8 ? 8 : 16;
    const Value wide = resized(at, lanes, whole);
    const Value found = size == 8 ? intrinsic("llvm.x86.avx512.vpermi2var.pd.512", {}, {part(0, 8), wide, part(8, 8)})
                                  : intrinsic("llvm.x86.avx512.permvar.sf.512", {}, {part(0, 16), wide});
    return resized(found, whole, lanes);
  }
  if (is_sixteen && target_.vector_bytes == 32 && size == 4 && lanes <= 8) {
    const Value wide = resized(at, lanes, 8);
    const auto half = [&](std::size_t first) { return intrinsic("llvm.x86.avx2.permps", {}, {part(first, 8), wide}); };
    const Value eight_as_sign = l_.BuildShl(builder_, wide, constant(word, 28, 8), "");
    const Value second = l_.BuildBitCast(builder_, eight_as_sign, type(dtype, 8), "");
    return resized(intrinsic("llvm.x86.avx.blendv.ps.256", {}, {half(0), half(8), second}), 8, lanes);
  }
  if (size == 8 && lanes == 4) {
    build_two_lookups(expr, partner_of(expr));
    return levels_.back().values.at(expr.id());
  }
  const Value places = l_.BuildAnd(builder_, at, mask, "");
  Value result = l_.GetPoison(type(dtype, lanes));
  for (int lane = 0; lane < lanes; ++lane) {
    const Value found = element(l_.BuildExtractElement(builder_, places, int64(lane), ""));
    result = l_.BuildInsertElement(builder_, result, found, int64(lane), "");
  }
  return result;
}

}  // namespace bitale::codegen
