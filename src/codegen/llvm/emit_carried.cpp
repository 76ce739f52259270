// What loops carry besides plain reductions: prefix scans, whose values iterations read in order, and arg-reductions.
// Floats are combined sequentially in a prefix scan, as NumPy does it, so that a cumulative sum of nonnegative numbers
// never falls; only integers are combined within a vector.
#include "codegen/llvm/arg_reduce.hpp"
#include "codegen/llvm/emit.hpp"

namespace bitale::codegen {

using program::Combiner;

Emitter::Value Emitter::identity(Combiner combiner, DType dtype, int lanes) {
  return constant(dtype, program::identity(combiner, pool_, dtype).payload(), lanes);
}

// Sums of floats start with -0, which LLVM knows to leave any number unchanged: in a loop of a single pass, no addition
// is left.
Emitter::Value Emitter::start_of_lanes(Combiner combiner, DType dtype, int lanes) {
  if (combiner != Combiner::add || !is_float(dtype)) return identity(combiner, dtype, lanes);
  return constant(dtype, pool_.number(-0.0, dtype).payload(), lanes);
}

// A prefix sum starts with -0, the number that leaves any other unchanged when it is added.
Emitter::Value Emitter::carry_start(const program::Carry& carry) {
  const DType dtype = carry.var.dtype();
  if (carry.kind == program::CarryKind::prefix && carry.combiner == Combiner::add && is_float(dtype))
    return constant(dtype, pool_.number(-0.0, dtype).payload(), 1);
  return identity(carry.combiner, dtype, 1);
}

// ---- prefix scans ---------------------------------------------------------------------------------------------------

namespace {

// An inclusive prefix scan of the lanes. `carried`: the combination of everything before them; afterwards, with them.
Emitter::Value prefix_of_lanes(FunctionBuilder& to, Combiner combiner, DType dtype, Emitter::Value lanes,
                               Emitter::Value identity, Emitter::Value& carried) {
  const LlvmApi& l = to.api();
  const int count = to.lanes_in(lanes);
  if (is_float(dtype)) {
    Emitter::Value out = l.GetPoison(to.type(dtype, count));
    for (int lane = 0; lane < count; ++lane) {
      const Emitter::Value one = l.BuildExtractElement(to.builder(), lanes, to.int64(lane), "");
      carried = to.combine(combiner, dtype, carried, one, false);
      out = l.BuildInsertElement(to.builder(), out, carried, to.int64(lane), "");
    }
    return out;
  }
  // Hillis and Steele: each lane is combined with the lane 1, 2, 4, ... before it.
  for (int by = 1; by < count; by *= 2) {
    std::vector<int> moved;
    for (int lane = 0; lane < count; ++lane) moved.push_back(lane < by ? count + lane : lane - by);
    lanes = to.combine(combiner, dtype, to.shuffled(lanes, identity, moved), lanes, false);
  }
  lanes = to.combine(combiner, dtype, to.splat(carried, count), lanes, false);
  carried = l.BuildExtractElement(to.builder(), lanes, to.int64(count - 1), "");
  return lanes;
}

}  // namespace

void Emitter::emit_prefix(const program::Update& step) {
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
    here = prefix_of_lanes(*this, step.combiner, dtype, v, identity(step.combiner, dtype, lanes_->count), carried);
  } else {
    here = carried = combine(step.combiner, dtype, carried, value(step.value), false);
  }
  l_.BuildStore(builder_, carried, memory);
  levels_.back().values[step.var.id()] = here;
  nest_.define(step.var);
}

// ---- arg-reductions
// --------------------------------------------------------------------------------------------------

void Emitter::emit_arg_reduce(const program::Update& step) {
  const DType dtype = step.var.dtype();
  const auto& memories = lanes_ ? *lanes_->accumulators : locals_;
  const Value memory = memories.at(step.var.payload()), index_memory = memories.at(step.position_var.payload());
  if (lanes_) return arg_reduce_lanes(step, memory, index_memory);
  const Value v = value(step.value), index = value(step.position);
  const Value before = l_.BuildLoad2(builder_, type(dtype), memory, "");
  const Value index_before = l_.BuildLoad2(builder_, type(DType::Int64), index_memory, "");
  const Value taken = more_extreme(*this, step.combiner, dtype, v, before);
  l_.BuildStore(builder_, l_.BuildSelect(builder_, taken, v, before, ""), memory);
  l_.BuildStore(builder_, l_.BuildSelect(builder_, taken, index, index_before, ""), index_memory);
}

// All lanes hold the most extreme value so far, and its index. So vectors with nothing more extreme, as nearly all are,
// cost a comparison and a branch.
void Emitter::arg_reduce_lanes(const program::Update& step, Value memory, Value index_memory) {
  const DType dtype = step.var.dtype();
  const int count = lanes_->count;
  const Value v = lanes_of(step.value), index = lanes_of(step.position);
  const Value before = l_.BuildLoad2(builder_, type(dtype, count), memory, "");
  using program::Code;
  Value asks =
      l_.BuildNot(builder_, compare(step.combiner == Combiner::max ? Code::le : Code::ge, dtype, v, before), "");
  if (lanes_->mask) asks = l_.BuildAnd(builder_, lanes_->mask, asks, "");
  LLVMBasicBlockRef found = block("found"), after = block("located");
  mark_unlikely(l_.BuildCondBr(builder_, any_lane(asks), found, after));
  l_.PositionBuilderAtEnd(builder_, found);
  const Value index_before = l_.BuildLoad2(builder_, type(DType::Int64, count), index_memory, "");
  Value taken = more_extreme(*this, step.combiner, dtype, v, before);
  if (lanes_->mask) taken = l_.BuildAnd(builder_, lanes_->mask, taken, "");
  const Extreme best = extreme_lane(
      *this, step.combiner, dtype,
      {l_.BuildSelect(builder_, taken, v, before, ""), l_.BuildSelect(builder_, taken, index, index_before, "")});
  l_.BuildStore(builder_, splat(best.value, count), memory);
  l_.BuildStore(builder_, splat(best.index, count), index_memory);
  l_.BuildBr(builder_, after);
  l_.PositionBuilderAtEnd(builder_, after);
}

void Emitter::combine_arg_reduce(const program::Update& update, int count, std::vector<Accumulators>& accumulators) {
  const DType dtype = update.var.dtype();
  const auto load = [&](Value memory, DType of, int lanes) {
    return l_.BuildLoad2(builder_, type(of, lanes), memory, "");
  };
  std::vector<Extreme> parts;
  for (auto& each : accumulators)
    parts.push_back({load(each.at(update.var.payload()), dtype, count),
                     load(each.at(update.position_var.payload()), DType::Int64, count)});
  Extreme all = parts[0];
  for (std::size_t i = 1; i < parts.size(); ++i) all = extreme_of(*this, update.combiner, dtype, all, parts[i]);
  all = extreme_lane(*this, update.combiner, dtype, all);
  const Value memory = locals_.at(update.var.payload()), index = locals_.at(update.position_var.payload());
  all = extreme_of(*this, update.combiner, dtype, {load(memory, dtype, 1), load(index, DType::Int64, 1)}, all);
  l_.BuildStore(builder_, all.value, memory);
  l_.BuildStore(builder_, all.index, index);
}

}  // namespace bitale::codegen
