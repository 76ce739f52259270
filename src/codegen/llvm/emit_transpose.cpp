// Transposing copies (lowering/tile.cpp): to[i, j] = from[.., j, .., i] in whole blocks of as many rows as a vector has
// lanes. Rows are loaded, transposed by shuffles and stored; the edges are copied element by element.
#include <algorithm>

#include "codegen/llvm/emit.hpp"

namespace bitale::codegen {

using program::Code;

namespace {

constexpr int max_rows = 16;

const program::Loop* only_loop(const program::Steps& body) {
  return body.size() == 1 ? std::get_if<program::Loop>(&body[0].what) : nullptr;
}

}  // namespace

// False when the loop is not a transposing copy.
bool Emitter::emit_transpose(const program::Loop& rows) {
  const program::Loop* columns = only_loop(rows.body);
  if (!columns || !columns->prefetch_distance || !rows.carries.empty() || !columns->carries.empty()) return false;
  const auto* store = columns->body.size() == 1 ? std::get_if<program::Store>(&columns->body[0].what) : nullptr;
  if (!store || store->value.code() != Code::load || store->at.size() != 2) return false;
  if (!(store->at[0] == rows.index) || !(store->at[1] == columns->index)) return false;
  if (program_.buffers[std::size_t(store->buffer)].role != program::Role::temporary) return false;
  transpose_blocks(rows, *columns, *store);
  return true;
}

void Emitter::transpose_blocks(const program::Loop& rows, const program::Loop& columns, const program::Store& store) {
  const Expr load = store.value;
  const DType dtype = load.dtype();
  const std::int64_t from = load.payload();
  const int count = std::clamp(target_.vector_bytes / int(itemsize(dtype)), 2, max_rows);
  const Value row_count = value(rows.extent), column_count = value(columns.extent);
  const LLVMTypeRef lanes = memory_type(dtype, count);
  const auto within = [&](Value start, Value extent) {
    return l_.BuildICmp(builder_, LLVMIntSLE, l_.BuildAdd(builder_, start, int64(count), ""), extent, "");
  };
  const auto offset_at = [&](Value i, Value j) {
    for (std::size_t k = levels_.size() - 2; k < levels_.size(); ++k) levels_[k].values.clear();
    levels_[levels_.size() - 2].values[columns.index.id()] = j;
    levels_.back().values[rows.index.id()] = i;
    std::vector<Expr> at;
    for (std::size_t k = 0; k < load.argument_count(); ++k) at.push_back(load.argument(k));
    const Place place = place_of(from, at);
    return value(place.row + place.last);
  };
  const auto plus = [&](Value a, Value b) { return l_.BuildAdd(builder_, a, b, ""); };
  const auto tile_at = [&](Value i, Value j) {
    const std::int64_t width = program_.buffers[std::size_t(store.buffer)].shape[1].payload();
    return address(store.buffer, plus(l_.BuildMul(builder_, i, int64(width), ""), j));
  };

  count_up(int64(0), column_count, count, [&](Value j, LLVMBasicBlockRef before_columns) {
    LLVMBasicBlockRef rows_before = block("before_rows");
    open_level(columns.index, before_columns);
    const Value next = plus(j, int64(1));  // here, as code that depends on it is built before the loop over rows
    l_.BuildBr(builder_, rows_before);
    l_.PositionBuilderAtEnd(builder_, rows_before);
    count_up(int64(0), row_count, count, [&](Value i, LLVMBasicBlockRef before_rows) {
      open_level(rows.index, before_rows);
      const Value start = offset_at(i, j);
      const Value stride = l_.BuildSub(builder_, offset_at(i, next), start, "");
      LLVMBasicBlockRef whole = block("whole"), edge = block("edge"), done = block("block_done");
      l_.BuildCondBr(builder_, l_.BuildAnd(builder_, within(j, column_count), within(i, row_count), ""), whole, edge);

      l_.PositionBuilderAtEnd(builder_, whole);
      // Prefetches the last element of a row: where rows begin within a cache line, the first part of it was loaded
      // with the previous block.
      const Value reach = plus(l_.BuildMul(builder_, stride, int64(columns.prefetch_distance), ""), int64(count - 1));
      std::vector<Value> block_rows;
      Value at = start;
      for (int r = 0; r < count; ++r) {
        const Value row = l_.BuildLoad2(builder_, lanes, address(from, at), "");
        l_.SetAlignment(row, unsigned(itemsize(dtype)));
        block_rows.push_back(row);
        prefetch(address(from, plus(at, reach)));
        at = plus(at, stride);
      }
      block_rows = transposed(std::move(block_rows));
      for (int r = 0; r < count; ++r) {
        const Value stored = l_.BuildStore(builder_, block_rows[std::size_t(r)], tile_at(plus(i, int64(r)), j));
        l_.SetAlignment(stored, unsigned(itemsize(dtype)));
      }
      l_.BuildBr(builder_, done);

      l_.PositionBuilderAtEnd(builder_, edge);
      const auto left = [&](Value start_of_block, Value extent) {
        const Value rest = l_.BuildSub(builder_, extent, start_of_block, "");
        const Value fits = l_.BuildICmp(builder_, LLVMIntSLT, rest, int64(count), "");
        return l_.BuildSelect(builder_, fits, rest, int64(count), "");
      };
      const Value last_row = left(j, column_count), last_lane = left(i, row_count);
      count_up(int64(0), last_row, 1, [&](Value r, LLVMBasicBlockRef) {
        const Value row = plus(start, l_.BuildMul(builder_, r, stride, ""));
        count_up(int64(0), last_lane, 1, [&](Value lane, LLVMBasicBlockRef) {
          const Value element = l_.BuildLoad2(builder_, memory_type(dtype), address(from, plus(row, lane)), "");
          l_.BuildStore(builder_, element, tile_at(plus(i, lane), plus(j, r)));
        });
      });
      l_.BuildBr(builder_, done);
      l_.PositionBuilderAtEnd(builder_, done);
      close_level();
    });
    close_level();
  });
}

}  // namespace bitale::codegen
