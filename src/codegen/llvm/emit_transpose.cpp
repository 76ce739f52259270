// Transposing copies (Loop::transposes): to[i, j] = from[.., j, .., i] in whole blocks of as many rows as a vector has
// lanes. Rows are loaded, transposed by shuffles and stored; the edges are copied element by element.
#include <algorithm>

#include "codegen/llvm/emit.hpp"
#include "program/steps.hpp"

namespace bitale::codegen {

using program::Expr;
using Value = FunctionBuilder::Value;

namespace {

constexpr int max_rows = 16;

void transpose_blocks(Emitter& emitter, const program::Loop& rows, const program::Loop& columns,
                      const program::Store& store) {
  const LlvmApi& l = emitter.api();
  LLVMBuilderRef at_end = emitter.builder();
  const Expr load = store.value;
  const DType dtype = load.dtype();
  const std::int64_t from = load.payload();
  const int count = std::clamp(emitter.target().vector_bytes / int(itemsize(dtype)), 2, max_rows);
  const Value row_count = emitter.value(rows.extent), column_count = emitter.value(columns.extent);
  const LLVMTypeRef lanes = emitter.memory_type(dtype, count);
  const auto within = [&](Value start, Value extent) {
    return l.BuildICmp(at_end, LLVMIntSLE, l.BuildAdd(at_end, start, emitter.int64(count), ""), extent, "");
  };
  const auto offset_at = [&](Value i, Value j) {
    emitter.begin_iteration(j, 1);
    emitter.begin_iteration(i);
    std::vector<Expr> at;
    for (std::size_t k = 0; k < load.argument_count(); ++k) at.push_back(load.argument(k));
    const Emitter::Element element = emitter.element_at(from, at);
    return emitter.value(element.row + element.last);
  };
  const auto plus = [&](Value a, Value b) { return l.BuildAdd(at_end, a, b, ""); };
  const auto tile_at = [&](Value i, Value j) {
    const std::int64_t width = emitter.program().buffers[std::size_t(store.buffer)].shape[1].payload();
    return emitter.address(store.buffer, plus(l.BuildMul(at_end, i, emitter.int64(width), ""), j));
  };

  emitter.count_up(emitter.int64(0), column_count, count, [&](Value j, LLVMBasicBlockRef before_columns) {
    LLVMBasicBlockRef rows_before = emitter.block("before_rows");
    emitter.open_level(columns.index, before_columns);
    const Value next =
        plus(j, emitter.int64(1));  // here, as code that depends on it is built before the loop over rows
    l.BuildBr(at_end, rows_before);
    l.PositionBuilderAtEnd(at_end, rows_before);
    emitter.count_up(emitter.int64(0), row_count, count, [&](Value i, LLVMBasicBlockRef before_rows) {
      emitter.open_level(rows.index, before_rows);
      const Value start = offset_at(i, j);
      const Value stride = l.BuildSub(at_end, offset_at(i, next), start, "");
      LLVMBasicBlockRef whole = emitter.block("whole"), edge = emitter.block("edge"),
                        done = emitter.block("block_done");
      l.BuildCondBr(at_end, l.BuildAnd(at_end, within(j, column_count), within(i, row_count), ""), whole, edge);

      l.PositionBuilderAtEnd(at_end, whole);
      // Prefetches the last element of a row: where rows begin within a cache line, the first part of it was loaded
      // with the previous block.
      const Value reach =
          plus(l.BuildMul(at_end, stride, emitter.int64(columns.prefetch_distance), ""), emitter.int64(count - 1));
      std::vector<Value> block_rows;
      Value at = start;
      for (int r = 0; r < count; ++r) {
        const Value row = l.BuildLoad2(at_end, lanes, emitter.address(from, at), "");
        l.SetAlignment(row, unsigned(itemsize(dtype)));
        block_rows.push_back(row);
        emitter.prefetch(emitter.address(from, plus(at, reach)));
        at = plus(at, stride);
      }
      block_rows = emitter.transposed(std::move(block_rows));
      for (int r = 0; r < count; ++r) {
        const Value stored = l.BuildStore(at_end, block_rows[std::size_t(r)], tile_at(plus(i, emitter.int64(r)), j));
        l.SetAlignment(stored, unsigned(itemsize(dtype)));
      }
      l.BuildBr(at_end, done);

      l.PositionBuilderAtEnd(at_end, edge);
      const auto left = [&](Value start_of_block, Value extent) {
        const Value rest = l.BuildSub(at_end, extent, start_of_block, "");
        const Value fits = l.BuildICmp(at_end, LLVMIntSLT, rest, emitter.int64(count), "");
        return l.BuildSelect(at_end, fits, rest, emitter.int64(count), "");
      };
      const Value last_row = left(j, column_count), last_lane = left(i, row_count);
      emitter.count_up(emitter.int64(0), last_row, 1, [&](Value r, LLVMBasicBlockRef) {
        const Value row = plus(start, l.BuildMul(at_end, r, stride, ""));
        emitter.count_up(emitter.int64(0), last_lane, 1, [&](Value lane, LLVMBasicBlockRef) {
          const Value element =
              l.BuildLoad2(at_end, emitter.memory_type(dtype), emitter.address(from, plus(row, lane)), "");
          l.BuildStore(at_end, element, tile_at(plus(i, lane), plus(j, r)));
        });
      });
      l.BuildBr(at_end, done);
      l.PositionBuilderAtEnd(at_end, done);
      emitter.close_level();
    });
    emitter.close_level();
  });
}

class TransposingCopies final : public LoopStrategy {
 public:
  bool emit(Emitter& emitter, const program::Loop& rows) override {
    if (!rows.transposes) return false;
    const program::Loop& columns = *program::as_loop(rows.body[0]);
    transpose_blocks(emitter, rows, columns, *program::as_store(columns.body[0]));
    return true;
  }
};

}  // namespace

std::unique_ptr<LoopStrategy> transposing_copies() { return std::make_unique<TransposingCopies>(); }

}  // namespace bitale::codegen
