// Row blocks: rows that are accumulated into one row (a sum of columns) are processed four at a time, so that the row
// is read and written once for four of them. Each element still takes its addends sequentially: the result has the same
// bits.
#include <algorithm>

#include "codegen/llvm/emit.hpp"

namespace bitale::codegen {

using program::Code;

namespace {

constexpr int block_rows = 4;
constexpr std::size_t small_body = 24;  // expressions: the code of a larger body would grow fourfold for little gain

}  // namespace

// The loop over columns, if it is the whole body and only accumulates.
const program::Loop* Emitter::accumulated_columns(const program::Loop& rows) {
  if (rows.body.size() != 1 || !rows.carries.empty() || rows.until.defined()) return nullptr;
  const auto* columns = std::get_if<program::Loop>(&rows.body[0].what);
  if (!columns || !columns->vector || !columns->carries.empty()) return nullptr;
  if (rows.extent.is_constant() && rows.extent.payload() < 2 * block_rows) return nullptr;
  program::ExprWalk places, values;
  bool fits = true;
  std::size_t size = 0;
  const auto is_row = [&](Expr expr) { fits &= !(expr == rows.index); };
  places(columns->extent, is_row);
  for (auto& step : columns->body) {
    const auto* accumulate = std::get_if<program::Accumulate>(&step.what);
    if (!accumulate) return nullptr;
    for (auto& at : accumulate->at) places(at, is_row);
    values(accumulate->value, [&](Expr expr) {
      ++size;
      fits &= expr.code() != Code::load || !nest_.is_written(expr.payload());
      fits &= expr.code() != Code::rare_call;  // it branches, which code for an outer level can't
    });
  }
  return fits && size <= small_body ? columns : nullptr;
}

bool Emitter::emit_row_blocks(const program::Loop& rows) {
  const program::Loop* columns = accumulated_columns(rows);
  if (!columns) return false;
  const Value count = value(rows.extent);
  Value from = int64(0);
  for (const int step : {block_rows, 1}) {
    const Value rest = l_.BuildAnd(builder_, count, int64(step - 1), "");
    const Value to = l_.BuildSub(builder_, count, rest, "");
    count_up(from, to, step, [&](Value index, LLVMBasicBlockRef before) {
      open_level(rows.index, before);
      row_block_ = {rows.index, nest_.innermost(), {}};
      for (int r = 0; r < step; ++r) row_block_.rows.push_back(l_.BuildAdd(builder_, index, int64(r), ""));
      levels_.back().values[rows.index.id()] = index;
      emit(*columns);
      row_block_ = {};
      close_level();
    });
    from = to;
  }
  return true;
}

// Emits the code once for each row of the block.
void Emitter::for_each_row(const std::function<void()>& emit_row) {
  if (row_block_.rows.empty()) return emit_row();
  for (auto row : row_block_.rows) {
    auto& level = levels_[row_block_.level].values;
    level.clear();
    level[row_block_.index.id()] = row;
    levels_.back().values.clear();
    if (lanes_) lanes_->splats.clear();
    emit_row();
  }
}

}  // namespace bitale::codegen
