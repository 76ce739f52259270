// What loops carry besides plain reductions: running values, which iterations read in order, and extremes together with
// their places. Running floats are combined sequentially, as NumPy does it, so that a running sum of nonnegative
// numbers never falls; only integers are combined within a vector.
#include <numeric>

#include "codegen/llvm/emit.hpp"

namespace bitale::codegen {

using program::Combiner;

Emitter::Value Emitter::identity(Combiner combiner, DType dtype, int lanes) {
  return constant(dtype, program::identity(combiner, pool_, dtype).payload(), lanes);
}

// The start of accumulators in lanes, whose sum is added to the identity in the end. Sums of floats start with -0,
// which LLVM knows to leave any number unchanged: in a loop of a single pass, no addition is left.
Emitter::Value Emitter::start_of_lanes(Combiner combiner, DType dtype, int lanes) {
  if (combiner != Combiner::add || !is_float(dtype)) return identity(combiner, dtype, lanes);
  return constant(dtype, pool_.number(-0.0, dtype).payload(), lanes);
}

// A running sum starts with -0, the number that leaves any other unchanged when it is added.
Emitter::Value Emitter::carry_start(const program::Carry& carry) {
  const DType dtype = carry.var.dtype();
  if (carry.kind == program::CarryKind::prefix && carry.combiner == Combiner::add && is_float(dtype))
    return constant(dtype, pool_.number(-0.0, dtype).payload(), 1);
  return identity(carry.combiner, dtype, 1);
}

// ---- running values -------------------------------------------------------------------------------------------------

// An inclusive prefix scan of the lanes. `carried`: the combination of everything before them; afterwards, with them.
Emitter::Value Emitter::running_lanes(Combiner combiner, DType dtype, Value lanes, Value& carried) {
  const int count = lanes_->count;
  if (is_float(dtype)) {
    Value out = l_.GetPoison(type(dtype, count));
    for (int lane = 0; lane < count; ++lane) {
      carried = combine(combiner, dtype, carried, l_.BuildExtractElement(builder_, lanes, int64(lane), ""), false);
      out = l_.BuildInsertElement(builder_, out, carried, int64(lane), "");
    }
    return out;
  }
  // Hillis and Steele: each lane is combined with the lane 1, 2, 4, ... before it.
  const Value nothing = identity(combiner, dtype, count);
  for (int by = 1; by < count; by *= 2) {
    std::vector<int> moved;
    for (int lane = 0; lane < count; ++lane) moved.push_back(lane < by ? count + lane : lane - by);
    lanes = combine(combiner, dtype, shuffled(lanes, nothing, moved), lanes, false);
  }
  lanes = combine(combiner, dtype, splat(carried, count), lanes, false);
  carried = l_.BuildExtractElement(builder_, lanes, int64(count - 1), "");
  return lanes;
}

void Emitter::emit_running(const program::Update& step) {
  const DType dtype = step.var.dtype();
  const Value memory = locals_.at(step.var.payload());
  Value carried = l_.BuildLoad2(builder_, type(dtype), memory, "");
  Value here = nullptr;
  if (lanes_) {
    Value v = lanes_of(step.value);
    if (lanes_->mask) {
      const Value nothing = splat(carry_start({step.var, program::CarryKind::prefix, step.combiner}), lanes_->count);
      v = l_.BuildSelect(builder_, lanes_->mask, v, nothing, "");
    }
    here = running_lanes(step.combiner, dtype, v, carried);
  } else {
    here = carried = combine(step.combiner, dtype, carried, value(step.value), false);
  }
  l_.BuildStore(builder_, carried, memory);
  levels_.back().values[step.var.id()] = here;
  nest_.define(step.var);
}

// ---- extremes and their places --------------------------------------------------------------------------------------

// The same as program::more_extreme.
Emitter::Value Emitter::more_extreme(Combiner combiner, DType dtype, Value a, Value b) {
  using program::Code;
  const Value beaten = compare(combiner == Combiner::max ? Code::le : Code::ge, dtype, a, b);
  const Value wins = l_.BuildNot(builder_, beaten, "");
  if (!is_float(dtype)) return wins;
  return l_.BuildAnd(builder_, wins, compare(Code::eq, dtype, b, b), "");
}

void Emitter::emit_located(const program::Update& step) {
  const DType dtype = step.var.dtype();
  const auto& memories = lanes_ ? *lanes_->accumulators : locals_;
  const Value memory = memories.at(step.var.payload()), place_memory = memories.at(step.position_var.payload());
  if (lanes_) return locate_in_lanes(step, memory, place_memory);
  const Value v = value(step.value), place = value(step.position);
  const Value before = l_.BuildLoad2(builder_, type(dtype), memory, "");
  const Value place_before = l_.BuildLoad2(builder_, type(DType::Int64), place_memory, "");
  const Value taken = more_extreme(step.combiner, dtype, v, before);
  l_.BuildStore(builder_, l_.BuildSelect(builder_, taken, v, before, ""), memory);
  l_.BuildStore(builder_, l_.BuildSelect(builder_, taken, place, place_before, ""), place_memory);
}

// All lanes hold the most extreme value so far, and its place. So vectors with nothing more extreme, as nearly all are,
// cost a comparison and a branch.
void Emitter::locate_in_lanes(const program::Update& step, Value memory, Value place_memory) {
  const DType dtype = step.var.dtype();
  const int count = lanes_->count;
  const Value v = lanes_of(step.value), place = lanes_of(step.position);
  const Value before = l_.BuildLoad2(builder_, type(dtype, count), memory, "");
  using program::Code;
  Value asks =
      l_.BuildNot(builder_, compare(step.combiner == Combiner::max ? Code::le : Code::ge, dtype, v, before), "");
  if (lanes_->mask) asks = l_.BuildAnd(builder_, lanes_->mask, asks, "");
  LLVMBasicBlockRef found = block("found"), after = block("located");
  mark_unlikely(l_.BuildCondBr(builder_, any_lane(asks), found, after));
  l_.PositionBuilderAtEnd(builder_, found);
  const Value place_before = l_.BuildLoad2(builder_, type(DType::Int64, count), place_memory, "");
  Value taken = more_extreme(step.combiner, dtype, v, before);
  if (lanes_->mask) taken = l_.BuildAnd(builder_, lanes_->mask, taken, "");
  const Located best = extreme_lane(
      step.combiner, dtype,
      {l_.BuildSelect(builder_, taken, v, before, ""), l_.BuildSelect(builder_, taken, place, place_before, "")});
  l_.BuildStore(builder_, splat(best.value, count), memory);
  l_.BuildStore(builder_, splat(best.place, count), place_memory);
  l_.BuildBr(builder_, after);
  l_.PositionBuilderAtEnd(builder_, after);
}

// The more extreme of two; of equals (two nans are equal), the earlier one.
Emitter::Located Emitter::extreme_of(Combiner combiner, DType dtype, Located a, Located b) {
  const Value later = l_.BuildICmp(builder_, LLVMIntSLT, a.place, b.place, "");
  const Value more = more_extreme(combiner, dtype, b.value, a.value);
  const Value less = more_extreme(combiner, dtype, a.value, b.value);
  const Value keep = l_.BuildOr(builder_, less, l_.BuildAnd(builder_, l_.BuildNot(builder_, more, ""), later, ""), "");
  return {l_.BuildSelect(builder_, keep, a.value, b.value, ""), l_.BuildSelect(builder_, keep, a.place, b.place, "")};
}

Emitter::Located Emitter::extreme_lane(Combiner combiner, DType dtype, Located lanes) {
  for (int half = int(l_.GetVectorSize(l_.TypeOf(lanes.value))) / 2; half > 0; half /= 2)
    lanes = extreme_of(combiner, dtype, {some_lanes(lanes.value, 0, half), some_lanes(lanes.place, 0, half)},
                       {some_lanes(lanes.value, half, half), some_lanes(lanes.place, half, half)});
  return lanes;
}

void Emitter::reduce_located(const program::Update& update, int count, std::vector<Accumulators>& accumulators) {
  const DType dtype = update.var.dtype();
  const auto load = [&](Value memory, DType of, int lanes) {
    return l_.BuildLoad2(builder_, type(of, lanes), memory, "");
  };
  std::vector<Located> parts;
  for (auto& each : accumulators)
    parts.push_back({load(each.at(update.var.payload()), dtype, count),
                     load(each.at(update.position_var.payload()), DType::Int64, count)});
  Located all = parts[0];
  for (std::size_t i = 1; i < parts.size(); ++i) all = extreme_of(update.combiner, dtype, all, parts[i]);
  all = extreme_lane(update.combiner, dtype, all);
  const Value memory = locals_.at(update.var.payload()), place = locals_.at(update.position_var.payload());
  all = extreme_of(update.combiner, dtype, {load(memory, dtype, 1), load(place, DType::Int64, 1)}, all);
  l_.BuildStore(builder_, all.value, memory);
  l_.BuildStore(builder_, all.place, place);
}

}  // namespace bitale::codegen
