// Sums of floats in lanes that are accurate for any length: the sums of blocks are added in a binary tree.
#include <algorithm>

#include "codegen/llvm/emit.hpp"
#include "codegen/schedule.hpp"
#include "program/steps.hpp"

namespace bitale::codegen {

namespace {

constexpr int pairwise_levels = 60;

}  // namespace

// A lanes_loop in which sums of floats stay accurate for any length: after every `block_length` elements, the sum of
// the accumulators is pushed onto a stack, where two sums of equally many elements are added to one of the next level
// (Higham, "The accuracy of floating point summation", 1993: errors grow with the logarithm of the length). The sum of
// a single block is kept in the accumulators. A chunk is 2^k blocks: its sum is that of a branch, and is pushed at
// level k.
void Emitter::pairwise_loop(const program::Loop& loop, Lanes& lanes, Value start_from, Value to,
                            std::int64_t block_length, std::vector<Accumulators>& accumulators, const Chunks& chunks) {
  struct Sum {
    Expr var;
    LLVMTypeRef kind;
    Value stack, total = nullptr;
  };
  std::vector<Sum> sums;
  for (auto& step : loop.body)
    if (auto* update = program::as_update(step); update && !is_prefix(update->var) && is_float_sum(*update)) {
      if (std::any_of(sums.begin(), sums.end(), [&](const Sum& s) { return s.var == update->var; })) continue;
      LLVMBasicBlockRef here = l_.GetInsertBlock(builder_);
      resume(entry_);
      const LLVMTypeRef kind = type(update->var.dtype(), lanes.count);
      sums.push_back({update->var, kind, l_.BuildArrayAlloca(builder_, kind, int64(pairwise_levels), "sums")});
      resume(here);
    }
  const auto entry_of = [&](const Sum& sum, Value level) {
    return l_.BuildGEP2(builder_, sum.kind, sum.stack, &level, 1, "");
  };
  const auto phi = [&](LLVMTypeRef kind, const char* name) { return l_.BuildPhi(builder_, kind, name); };
  const auto connect = [&](Value phi_node, Value a, LLVMBasicBlockRef from_a, Value b, LLVMBasicBlockRef from_b) {
    Value values[] = {a, b};
    LLVMBasicBlockRef blocks[] = {from_a, from_b};
    l_.AddIncoming(phi_node, values, blocks, 2);
  };
  const LLVMTypeRef word = type(DType::Int64);
  // Pushes the totals of the sums onto the stack at this level; the set bits of `first_bits` tell which levels are
  // occupied.
  const auto push = [&](Value first_level, Value first_bits) {
    LLVMBasicBlockRef here = l_.GetInsertBlock(builder_), carry = block("carry"), carrying = block("carrying"),
                      carried = block("carried");
    l_.BuildBr(builder_, carry);
    l_.PositionBuilderAtEnd(builder_, carry);
    Value level = phi(word, "level"), bits = phi(word, "bits");
    std::vector<Value> totals;
    for (auto& sum : sums) totals.push_back(phi(sum.kind, "total"));
    Value is_odd = l_.BuildICmp(builder_, LLVMIntNE, l_.BuildAnd(builder_, bits, int64(1), ""), int64(0), "");
    l_.BuildCondBr(builder_, is_odd, carrying, carried);
    l_.PositionBuilderAtEnd(builder_, carrying);
    for (std::size_t k = 0; k < sums.size(); ++k) {
      Value other = l_.BuildLoad2(builder_, sums[k].kind, entry_of(sums[k], level), "");
      connect(totals[k], sums[k].total, here, l_.BuildFAdd(builder_, totals[k], other, ""), carrying);
    }
    connect(level, first_level, here, l_.BuildAdd(builder_, level, int64(1), ""), carrying);
    connect(bits, first_bits, here, l_.BuildLShr(builder_, bits, int64(1), ""), carrying);
    l_.BuildBr(builder_, carry);
    l_.PositionBuilderAtEnd(builder_, carried);
    for (std::size_t k = 0; k < sums.size(); ++k) l_.BuildStore(builder_, totals[k], entry_of(sums[k], level));
  };
  const auto lowest_bit = [&](Value v) {
    return intrinsic("llvm.cttz", {word}, {v, l_.ConstInt(l_.Int1TypeInContext(context_), 0, false)});
  };
  const auto blocks_in = [&](Value length) { return l_.BuildUDiv(builder_, length, int64(block_length), ""); };

  if (chunks)
    for_each_chunk(chunks, [&](Value chunk) {
      for (auto& sum : sums) {
        const Value left = partial_address(chunks, chunk, sum.var.payload(), 0);
        sum.total = l_.BuildLoad2(builder_, sum.kind, left, "");
      }
      push(lowest_bit(blocks_in(chunks.length)), chunk);
    });
  const Value start_count = chunks ? blocks_in(start_from) : int64(0);

  LLVMBasicBlockRef before = l_.GetInsertBlock(builder_), header = block("blocks"), body = block("block"),
                    done = block("block_done"), finish = block("sum_up"), exit = block("summed");
  l_.BuildBr(builder_, header);

  l_.PositionBuilderAtEnd(builder_, header);
  Value from = phi(word, "from"), count = phi(word, "count");
  l_.BuildCondBr(builder_, l_.BuildICmp(builder_, LLVMIntSLT, from, to, ""), body, finish);

  l_.PositionBuilderAtEnd(builder_, body);
  Value full = l_.BuildAdd(builder_, from, int64(block_length), "");
  Value is_last = l_.BuildICmp(builder_, LLVMIntSGE, full, to, "");
  Value end = l_.BuildSelect(builder_, is_last, to, full, "");
  lanes_loop(loop, lanes, from, end, accumulators);
  Value only = l_.BuildAnd(builder_, is_last, l_.BuildICmp(builder_, LLVMIntEQ, count, int64(0), ""), "");
  l_.BuildCondBr(builder_, only, exit, done);

  l_.PositionBuilderAtEnd(builder_, done);
  for (auto& sum : sums) {
    const DType dtype = sum.var.dtype();
    std::vector<Value> parts;
    for (auto& each : accumulators) {
      const Value memory = each.at(sum.var.payload());
      parts.push_back(l_.BuildLoad2(builder_, sum.kind, memory, ""));
      l_.BuildStore(builder_, identity(program::Combiner::add, dtype, lanes.count), memory);
    }
    for (; parts.size() > 1; parts.resize(parts.size() / 2))
      for (std::size_t i = 0; i < parts.size() / 2; ++i)
        parts[i] = l_.BuildFAdd(builder_, parts[i], parts[i + parts.size() / 2], "");
    sum.total = parts[0];
  }
  push(int64(0), count);
  LLVMBasicBlockRef pushed = l_.GetInsertBlock(builder_);
  connect(from, start_from, before, end, pushed);
  connect(count, start_count, before, l_.BuildAdd(builder_, count, int64(1), ""), pushed);
  l_.BuildBr(builder_, header);

  l_.PositionBuilderAtEnd(builder_, finish);
  if (chunk_of_ == &loop) {  // the result is the sum of the branch
    const Value level = lowest_bit(count);
    for (auto& sum : sums)
      l_.BuildStore(builder_, l_.BuildLoad2(builder_, sum.kind, entry_of(sum, level), ""),
                    accumulators[0].at(sum.var.payload()));
    l_.BuildBr(builder_, exit);
    l_.PositionBuilderAtEnd(builder_, exit);
    return;
  }
  // Adds the sums on the stack, small ones first, to the first accumulator.
  LLVMBasicBlockRef next = block("sum_next"), adding = block("adding");
  l_.BuildBr(builder_, next);
  l_.PositionBuilderAtEnd(builder_, next);
  Value at = phi(word, "level"), left = phi(word, "bits");
  l_.BuildCondBr(builder_, l_.BuildICmp(builder_, LLVMIntNE, left, int64(0), ""), adding, exit);
  l_.PositionBuilderAtEnd(builder_, adding);
  Value is_there = l_.BuildICmp(builder_, LLVMIntNE, l_.BuildAnd(builder_, left, int64(1), ""), int64(0), "");
  for (auto& sum : sums) {
    const Value memory = accumulators[0].at(sum.var.payload());
    Value so_far = l_.BuildLoad2(builder_, sum.kind, memory, "");
    Value more = l_.BuildFAdd(builder_, so_far, l_.BuildLoad2(builder_, sum.kind, entry_of(sum, at), ""), "");
    l_.BuildStore(builder_, l_.BuildSelect(builder_, is_there, more, so_far, ""), memory);
  }
  connect(at, int64(0), finish, l_.BuildAdd(builder_, at, int64(1), ""), adding);
  connect(left, count, finish, l_.BuildLShr(builder_, left, int64(1), ""), adding);
  l_.BuildBr(builder_, next);
  l_.PositionBuilderAtEnd(builder_, exit);
}

}  // namespace bitale::codegen
