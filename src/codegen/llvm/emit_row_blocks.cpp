// Row blocks: rows that are accumulated into one row (a sum of columns) are processed four at a time, so that the row
// is read and written once for four of them. Each element still takes its addends sequentially: the result has the same
// bits.
#include <utility>
#include <vector>

#include "codegen/llvm/emit.hpp"
#include "program/steps.hpp"

namespace bitale::codegen {

using program::Code;
using Value = FunctionBuilder::Value;

namespace {

constexpr int block_rows = 4;
constexpr std::size_t small_body = 24;  // expressions: the code of a larger body would grow fourfold for little gain

// The loop over columns, if it is the whole body and only accumulates.
const program::Loop* accumulated_columns(const Emitter& emitter, const program::Loop& rows) {
  if (rows.body.size() != 1 || !rows.carries.empty() || rows.until.defined()) return nullptr;
  const auto* columns = program::as_loop(rows.body[0]);
  if (!columns || !columns->vector || !columns->carries.empty()) return nullptr;
  if (rows.extent.is_constant() && rows.extent.payload() < 2 * block_rows) return nullptr;
  program::ExprWalk indices, values;
  bool fits = true;
  std::size_t size = 0;
  const auto is_row = [&](program::Expr expr) { fits &= !(expr == rows.index); };
  indices(columns->extent, is_row);
  for (auto& step : columns->body) {
    const auto* accumulate = program::as_add(step);
    if (!accumulate) return nullptr;
    for (auto& at : accumulate->at) indices(at, is_row);
    values(accumulate->value, [&](program::Expr expr) {
      ++size;
      fits &= expr.code() != Code::load || !emitter.is_written(expr.payload());
      fits &= expr.code() != Code::rare_call;  // it branches, which code for an outer level can't
    });
  }
  return fits && size <= small_body ? columns : nullptr;
}

class RowBlocks final : public LoopStrategy {
 public:
  bool emit(Emitter& emitter, const program::Loop& rows) override {
    const program::Loop* columns = accumulated_columns(emitter, rows);
    if (!columns) return false;
    const LlvmApi& l = emitter.api();
    LLVMBuilderRef at_end = emitter.builder();
    const Value count = emitter.value(rows.extent);
    Value from = emitter.int64(0);
    for (const int step : {block_rows, 1}) {
      const Value rest = l.BuildAnd(at_end, count, emitter.int64(step - 1), "");
      const Value to = l.BuildSub(at_end, count, rest, "");
      emitter.count_up(from, to, step, [&](Value index, LLVMBasicBlockRef before) {
        emitter.open_level(rows.index, before);
        std::vector<Value> block;
        for (int r = 0; r < step; ++r) block.push_back(l.BuildAdd(at_end, index, emitter.int64(r), ""));
        emitter.begin_iteration(index);
        emitter.begin_row_block(std::move(block));
        emitter.emit(*columns);
        emitter.end_row_block();
        emitter.close_level();
      });
      from = to;
    }
    return true;
  }
};

}  // namespace

std::unique_ptr<LoopStrategy> row_blocks() { return std::make_unique<RowBlocks>(); }

void Emitter::begin_row_block(std::vector<Value> rows) { row_block_ = {levels_.size() - 1, std::move(rows)}; }

// Emits the code once for each row of the block.
void Emitter::for_each_row(const std::function<void()>& emit_row) {
  if (row_block_.rows.empty()) return emit_row();
  for (auto row : row_block_.rows) {
    begin_iteration(row, levels_.size() - 1 - row_block_.level);
    emit_row();
  }
}

}  // namespace bitale::codegen
