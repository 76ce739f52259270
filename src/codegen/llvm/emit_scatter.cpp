// Lanes that are added to scattered elements. Several may hit one element, so they are added sequentially, as their
// iterations would be; where they do collide, each lane loads what the previous one has stored, which takes ten cycles
// a lane. The body of a loop with index runs (codegen/index_runs.hpp) is emitted twice: for lanes that hit two elements
// at most, for which two additions to memory and two loads suffice, and for all others. A branch that chooses only how
// to add would require a second one for how to read, and all offsets would be extracted from their vector once for
// each.
#include <algorithm>

#include "codegen/index_runs.hpp"
#include "codegen/llvm/emit.hpp"

namespace bitale::codegen {

// Emits the loop's body in lanes, once for lanes of two runs at most and once for all others.
void Emitter::emit_by_runs(const program::Loop& loop) {
  const Value offsets = lanes_of(lanes_->groups);
  const LLVMTypeRef bits = l_.IntTypeInContext(context_, unsigned(lanes_of_runs));
  std::vector<int> before{0};
  for (int lane = 0; lane + 1 < lanes_of_runs; ++lane) before.push_back(lane);
  std::vector<Runs> all;
  Value more = nullptr;
  for (int from = 0; from < lanes_->count; from += lanes_of_runs) {
    Runs runs{from, some_lanes(offsets, from, lanes_of_runs)};
    const Value starts =
        l_.BuildICmp(builder_, LLVMIntNE, runs.offsets, shuffled(runs.offsets, runs.offsets, before), "");
    runs.starts = l_.BuildBitCast(builder_, starts, bits, "");
    runs.below = l_.BuildSub(builder_, runs.starts, l_.ConstInt(bits, 1, false), "");
    const Value twice = l_.BuildAnd(builder_, runs.starts, runs.below, "");
    more = more ? l_.BuildOr(builder_, more, twice, "") : twice;
    all.push_back(runs);
  }
  emit_two_bodies(loop, l_.BuildICmp(builder_, LLVMIntNE, more, l_.ConstNull(bits), ""), "many_runs",
                  [&] { lanes_->runs = &all; });
  lanes_->runs = nullptr;
}

// The mask of the lanes of the first of two runs.
Emitter::Value Emitter::of_first_run(const Runs& runs) {
  return l_.BuildBitCast(builder_, runs.below, type(DType::Bool, lanes_of_runs), "");
}

// Lanes are added sequentially, in masked passes too, unless they are known to have two runs at most.
void Emitter::scatter_accumulate(const program::Accumulate& step, Value v) {
  const DType dtype = program_.buffers[std::size_t(step.buffer)].dtype;
  const Place place = place_of(step.buffer, step.at);
  const Expr offset = place.row + place.last;
  const Value offsets = lanes_of(offset);
  const auto add_one = [&](Value at, Value addend) {
    const Value where = address(step.buffer, at);
    const Value before = from_memory(dtype, l_.BuildLoad2(builder_, memory_type(dtype), where, ""));
    Value after = combine(step.combiner, dtype, before, addend, false);
    if (dtype == DType::Bool) after = l_.BuildZExt(builder_, after, memory_type(dtype), "");
    l_.BuildStore(builder_, after, where);
  };
  if (lanes_->mask)
    return count_up(int64(0), lanes_->active, 1, [&](Value lane, LLVMBasicBlockRef) {
      add_one(l_.BuildExtractElement(builder_, offsets, lane, ""), l_.BuildExtractElement(builder_, v, lane, ""));
    });
  if (lanes_->runs && offset == lanes_->groups && dtype != DType::Bool) {
    for (const Runs& runs : *lanes_->runs) add_runs(step, runs, some_lanes(v, runs.from, lanes_of_runs));
    return;
  }
  for (int lane = 0; lane < lanes_->count; ++lane) add_one(some_lanes(offsets, lane, 1), some_lanes(v, lane, 1));
}

// Computes the sums of both runs side by side; lanes of the other run add a neutral value. If there is only one run,
// nothing is added for the second, whose sum is then stored elsewhere.
void Emitter::add_runs(const program::Accumulate& step, const Runs& runs, Value v) {
  const DType dtype = program_.buffers[std::size_t(step.buffer)].dtype;
  constexpr int count = lanes_of_runs;
  const Value nothing = start_of_lanes(step.combiner, dtype, count), is_first = of_first_run(runs);
  const Value of_first = l_.BuildSelect(builder_, is_first, v, nothing, ""),
              of_last = l_.BuildSelect(builder_, is_first, nothing, v, "");
  std::vector<int> even, odd;
  for (int lane = 0; lane < count; lane += 2)
    for (int both : {0, count}) even.push_back(lane + both), odd.push_back(lane + 1 + both);
  const Value pairs[] = {shuffled(of_first, of_last, even), shuffled(of_first, of_last, odd)};
  const Value elsewhere = local(dtype, 1, "elsewhere");
  LLVMBasicBlockRef here = l_.GetInsertBlock(builder_);
  resume(entry_);
  l_.BuildStore(builder_, l_.ConstNull(type(dtype)), elsewhere);
  resume(here);
  const Value is_one = l_.BuildICmp(builder_, LLVMIntEQ, runs.starts, l_.ConstNull(l_.TypeOf(runs.starts)), "");
  const Value last = address(step.buffer, some_lanes(runs.offsets, count - 1, 1));
  const Value places[] = {address(step.buffer, some_lanes(runs.offsets, 0, 1)),
                          l_.BuildSelect(builder_, is_one, elsewhere, last, "")};
  Value sums = l_.GetPoison(type(dtype, 2));
  for (int run = 0; run < 2; ++run)
    sums = l_.BuildInsertElement(builder_, sums, l_.BuildLoad2(builder_, type(dtype), places[run], ""), int64(run), "");
  Value terms = combine(step.combiner, dtype, pairs[0], pairs[1], false);
  for (int width = count / 2; width > 1; width /= 2)
    terms = combine(step.combiner, dtype, some_lanes(terms, 0, width), some_lanes(terms, width, width), false);
  sums = combine(step.combiner, dtype, sums, terms, false);
  for (int run = 0; run < 2; ++run) l_.BuildStore(builder_, some_lanes(sums, run, 1), places[run]);
}

// Loads what lanes read at the offset of index runs: two elements.
Emitter::Value Emitter::load_runs(std::int64_t buffer) {
  const DType dtype = program_.buffers[std::size_t(buffer)].dtype;
  std::vector<Value> groups;
  for (const Runs& runs : *lanes_->runs) {
    const auto element = [&](int lane) {
      const Value where = address(buffer, some_lanes(runs.offsets, lane, 1));
      return splat(l_.BuildLoad2(builder_, memory_type(dtype), where, ""), lanes_of_runs);
    };
    groups.push_back(l_.BuildSelect(builder_, of_first_run(runs), element(0), element(lanes_of_runs - 1), ""));
  }
  if (groups.size() == 1) return from_memory(dtype, groups[0]);
  std::vector<int> all(std::size_t(lanes_->count));
  for (int lane = 0; lane < lanes_->count; ++lane) all[std::size_t(lane)] = lane;
  return from_memory(dtype, shuffled(groups[0], groups[1], all));
}

}  // namespace bitale::codegen
