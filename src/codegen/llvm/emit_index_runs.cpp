// Lanes that are added to scattered elements. Several may hit one element, so they are added sequentially, as their
// iterations would be; where they do collide, each lane loads what the previous one has stored, which takes ten cycles
// a lane. The body of a loop with index runs (program/index_runs.hpp) is emitted twice: for lanes that hit two elements
// at most, for which two additions to memory and two loads suffice, and for all others. A branch that chooses only how
// to add would require a second one for how to read, and all offsets would be extracted from their vector once for
// each.
#include <memory>
#include <vector>

#include "codegen/llvm/emit.hpp"
#include "program/index_runs.hpp"

namespace bitale::codegen {

using program::Expr;
using program::lanes_of_runs;
using Value = FunctionBuilder::Value;

namespace {

// A part of the lanes, which has two runs at most.
struct Runs {
  int from;
  Value offsets;
  Value starts, below;  // bits: the start of the second run, if there is one; the lanes before it
};

// The mask of the lanes of the first of two runs.
Value of_first_run(Emitter& emitter, const Runs& runs) {
  return emitter.api().BuildBitCast(emitter.builder(), runs.below, emitter.type(DType::Bool, lanes_of_runs), "");
}

// Computes the sums of both runs side by side; lanes of the other run add a neutral value. If there is only one run,
// nothing is added for the second, whose sum is then stored elsewhere.
void add_runs(Emitter& emitter, const program::Accumulate& step, const Runs& runs, Value v) {
  const LlvmApi& l = emitter.api();
  LLVMBuilderRef at_end = emitter.builder();
  const DType dtype = emitter.program().buffers[std::size_t(step.buffer)].dtype;
  constexpr int count = lanes_of_runs;
  const Value nothing = emitter.start_of_lanes(step.combiner, dtype, count), is_first = of_first_run(emitter, runs);
  const Value of_first = l.BuildSelect(at_end, is_first, v, nothing, ""),
              of_last = l.BuildSelect(at_end, is_first, nothing, v, "");
  std::vector<int> even, odd;
  for (int lane = 0; lane < count; lane += 2)
    for (int both : {0, count}) even.push_back(lane + both), odd.push_back(lane + 1 + both);
  const Value pairs[] = {emitter.shuffled(of_first, of_last, even), emitter.shuffled(of_first, of_last, odd)};
  const Value elsewhere = emitter.local(dtype, 1, "elsewhere");
  emitter.in_entry([&] { l.BuildStore(at_end, l.ConstNull(emitter.type(dtype)), elsewhere); });
  const Value is_one = l.BuildICmp(at_end, LLVMIntEQ, runs.starts, l.ConstNull(l.TypeOf(runs.starts)), "");
  const Value last = emitter.address(step.buffer, emitter.some_lanes(runs.offsets, count - 1, 1));
  const Value targets[] = {emitter.address(step.buffer, emitter.some_lanes(runs.offsets, 0, 1)),
                           l.BuildSelect(at_end, is_one, elsewhere, last, "")};
  Value sums = l.GetPoison(emitter.type(dtype, 2));
  for (int run = 0; run < 2; ++run)
    sums = l.BuildInsertElement(at_end, sums, l.BuildLoad2(at_end, emitter.type(dtype), targets[run], ""),
                                emitter.int64(run), "");
  Value terms = emitter.combine(step.combiner, dtype, pairs[0], pairs[1], false);
  for (int width = count / 2; width > 1; width /= 2)
    terms = emitter.combine(step.combiner, dtype, emitter.some_lanes(terms, 0, width),
                            emitter.some_lanes(terms, width, width), false);
  sums = emitter.combine(step.combiner, dtype, sums, terms, false);
  for (int run = 0; run < 2; ++run) l.BuildStore(at_end, emitter.some_lanes(sums, run, 1), targets[run]);
}

class IndexRuns final : public LanesStrategy {
 public:
  explicit IndexRuns(Expr offset) : offset_(offset) {}

  bool emit_body(Emitter& emitter, const program::Loop& loop) override {
    const LlvmApi& l = emitter.api();
    LLVMBuilderRef at_end = emitter.builder();
    const Value offsets = emitter.lanes_of(offset_);
    const LLVMTypeRef bits = l.IntTypeInContext(emitter.context(), unsigned(lanes_of_runs));
    std::vector<int> before{0};
    for (int lane = 0; lane + 1 < lanes_of_runs; ++lane) before.push_back(lane);
    std::vector<Runs> all;
    Value more = nullptr;
    for (int from = 0; from < emitter.lane_count(); from += lanes_of_runs) {
      const Value part = emitter.some_lanes(offsets, from, lanes_of_runs);
      const Value differs = l.BuildICmp(at_end, LLVMIntNE, part, emitter.shuffled(part, part, before), "");
      const Value starts = l.BuildBitCast(at_end, differs, bits, "");
      const Value below = l.BuildSub(at_end, starts, l.ConstInt(bits, 1, false), "");
      const Value twice = l.BuildAnd(at_end, starts, below, "");
      more = more ? l.BuildOr(at_end, more, twice, "") : twice;
      all.push_back({from, part, starts, below});
    }
    const Value has_more = l.BuildICmp(at_end, LLVMIntNE, more, l.ConstNull(bits), "");
    emitter.emit_two_bodies(loop, has_more, "many_runs", [&] { runs_ = std::move(all); });
    return true;
  }

  // Two elements.
  Value load(Emitter& emitter, std::int64_t buffer, Expr offset) override {
    if (!(offset == offset_)) return nullptr;
    const LlvmApi& l = emitter.api();
    LLVMBuilderRef at_end = emitter.builder();
    const DType dtype = emitter.program().buffers[std::size_t(buffer)].dtype;
    std::vector<Value> groups;
    for (const Runs& runs : runs_) {
      const auto element = [&](int lane) {
        const Value where = emitter.address(buffer, emitter.some_lanes(runs.offsets, lane, 1));
        return emitter.splat(l.BuildLoad2(at_end, emitter.memory_type(dtype), where, ""), lanes_of_runs);
      };
      groups.push_back(l.BuildSelect(at_end, of_first_run(emitter, runs), element(0), element(lanes_of_runs - 1), ""));
    }
    if (groups.size() == 1) return emitter.from_memory(dtype, groups[0]);
    std::vector<int> all(std::size_t(emitter.lane_count()));
    for (int lane = 0; lane < emitter.lane_count(); ++lane) all[std::size_t(lane)] = lane;
    return emitter.from_memory(dtype, emitter.shuffled(groups[0], groups[1], all));
  }

  bool accumulate(Emitter& emitter, const program::Accumulate& step, Expr offset, Value lanes) override {
    if (!(offset == offset_) || emitter.program().buffers[std::size_t(step.buffer)].dtype == DType::Bool) return false;
    for (const Runs& runs : runs_) add_runs(emitter, step, runs, emitter.some_lanes(lanes, runs.from, lanes_of_runs));
    return true;
  }

 private:
  const Expr offset_;
  std::vector<Runs> runs_;  // of the current pass
};

}  // namespace

std::unique_ptr<LanesStrategy> index_runs(const program::Program& program, const program::Loop& loop) {
  const Expr offset = index_runs_of(program, loop);
  return offset.defined() ? std::make_unique<IndexRuns>(offset) : nullptr;
}

}  // namespace bitale::codegen
