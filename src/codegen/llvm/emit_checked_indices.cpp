// Lanes that read elements by checked indices (program/checked_index), as `mu[group]` does. The body of such a loop is
// emitted twice: for lanes whose indices are all in 0..length - 1, where i itself is the position, and for all others.
// The first body reads each index as a scalar, so that no lane has to be extracted from a vector.
#include <memory>
#include <unordered_map>
#include <vector>

#include "codegen/llvm/emit.hpp"
#include "program/checked_index.hpp"
#include "program/steps.hpp"

namespace bitale::codegen {

using program::Code;
using program::Expr;

namespace {

constexpr std::size_t max_operations_in_two_bodies = 200;  // expressions

// Those of the loop that lanes gather by, if the body is worth being emitted twice.
std::vector<program::CheckedIndex> checked_indices_of(Emitter& emitter, const program::Loop& loop) {
  std::vector<program::CheckedIndex> found;
  if (!emitter.target().slow_gathers || !emitter.may_branch() ||
      emitter.operations_in_lanes() > max_operations_in_two_bodies)
    return found;
  program::ExprWalk walk;
  for (auto& step : loop.body)
    program::for_each_expr(step, [&](const Expr& root) {
      walk(root, [&](Expr expr) {
        if (expr.code() != Code::load || expr.argument_count() != 1) return;
        const auto checked = program::as_checked_index(expr.argument(0));
        if (checked && emitter.varies(checked->index) && !emitter.varies(checked->length)) found.push_back(*checked);
      });
    });
  return found;
}

class CheckedIndices final : public LanesStrategy {
 public:
  bool emit_body(Emitter& emitter, const program::Loop& loop) override {
    const std::vector<program::CheckedIndex> indices = checked_indices_of(emitter, loop);
    if (indices.empty()) return false;
    const LlvmApi& l = emitter.api();
    LLVMBuilderRef at_end = emitter.builder();
    Value unusual = nullptr;
    for (auto& [position, in_range, wrapped, index, length] : indices) {
      const Value i = emitter.lanes_of(index), rest = l.BuildSub(at_end, emitter.lanes_of(length - 1), i, "");
      const Value signs = l.BuildOr(at_end, i, rest, "");
      unusual = unusual ? l.BuildOr(at_end, unusual, signs, "") : signs;
    }
    const Value zero = emitter.constant(DType::Int64, 0, emitter.lane_count());
    const Value some = emitter.any_lane(l.BuildICmp(at_end, LLVMIntSLT, unusual, zero, ""));
    emitter.mark_unlikely(emitter.emit_two_bodies(loop, some, "unusual_indices", [&] {
      for (auto& [position, in_range, wrapped, index, length] : indices) {
        emitter.set_value(in_range, emitter.full_mask(emitter.lane_count()));
        for (const Expr& same : {wrapped, position}) emitter.set_value(same, emitter.lanes_of(index));
        indices_.emplace(position.id(), index);
      }
    }));
    indices_.clear();
    return true;
  }

  // Elements at indices that are read from another buffer: each index as a scalar.
  Value load(Emitter& emitter, std::int64_t buffer, Expr position) override {
    const auto found = indices_.find(position.id());
    if (found == indices_.end()) return nullptr;
    const LlvmApi& l = emitter.api();
    LLVMBuilderRef at_end = emitter.builder();
    const DType dtype = emitter.program().buffers[std::size_t(buffer)].dtype;
    const Expr index = found->second;
    const bool converts = index.code() == Code::cast && is_integer(index.argument(0).dtype());
    const Expr source = converts ? index.argument(0) : index;
    if (source.code() != Code::load || !emitter.in_order(source.payload(), program::arguments_of(source)))
      return emitter.gather(dtype, buffer, emitter.value(index));
    const Emitter::Element element = emitter.element_at(source.payload(), program::arguments_of(source));
    const Value start = l.BuildAdd(at_end, emitter.value(element.row), emitter.start_of(element.last), "");
    return emitter.load_each_lane(dtype, buffer, [&](int lane) {
      const Value at = emitter.address(source.payload(), l.BuildAdd(at_end, start, emitter.int64(lane), ""));
      const Value stored = l.BuildLoad2(at_end, emitter.memory_type(source.dtype()), at, "");
      const Value read = emitter.from_memory(source.dtype(), stored);
      return converts ? emitter.build_cast(read, source.dtype(), DType::Int64) : read;
    });
  }

 private:
  std::unordered_map<std::uint32_t, Expr> indices_;  // positions that are known to be these indices
};

}  // namespace

std::unique_ptr<LanesStrategy> checked_indices() { return std::make_unique<CheckedIndices>(); }

}  // namespace bitale::codegen
