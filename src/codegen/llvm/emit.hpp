// Emitter: writes a Program as LLVM IR: a function int32(Frame*), which is split into parts when it gets long.
// Expressions are emitted once, at the outermost loop level at which they are known. Innermost loops marked `vector`
// run in explicit lanes: a main loop, and one masked pass for the rest.
#pragma once

#include <algorithm>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "codegen/llvm/expression_strategy.hpp"
#include "codegen/llvm/function_builder.hpp"
#include "codegen/llvm/loop_strategy.hpp"
#include "codegen/outlined_loops.hpp"
#include "program/kept_loads.hpp"
#include "program/loop_nest.hpp"
#include "program/program.hpp"

namespace bitale::codegen {

class Emitter : public FunctionBuilder {
 public:
  Emitter(const program::Program& program, LLVMContextRef context, LLVMModuleRef module, const TargetInfo& target);

  // Adds the program's function to the module.
  void emit_program(const std::string& name);
  // Whether the program is so long that its compile time matters most, and the number of expressions that decides it.
  bool is_huge() const { return built() > huge; }
  std::size_t built() const { return built_before_ + built_; }
  // The bytes of memory for values that later parts need.
  std::int64_t spill_bytes() const { return spill_bytes_; }

  // ---- expressions, for strategies ----
  using Expr = program::Expr;
  const program::Program& program() const { return program_; }
  program::ExprPool& pool() { return pool_; }
  Value value(Expr expr);     // at the current level; a vector when it varies over lanes
  Value lanes_of(Expr expr);  // the same, splat to lanes when it does not vary
  void set_value(Expr expr, Value v) { keep(levels_.size() - 1, expr, v); }
  Value build_plain(Expr expr);  // code by code; the arguments have been emitted
  bool is_in_lanes() const { return lanes_ != nullptr; }
  int lane_count() const { return lanes_->count; }
  std::size_t operations_in_lanes();  // expressions of the current loop's body that vary over lanes
  bool varies(Expr expr) { return lanes_ && nest_.level_of(expr) == nest_.innermost(); }
  bool is_loop_invariant(Expr expr) { return nest_.level_of(expr) == 0; }  // in all loops of the nest
  // Whether the current code may branch, and is worth a branch: a masked pass is not.
  bool may_branch() const { return !lanes_->mask && row_block_.rows.empty() && !is_in_finished_block(); }

  // ---- loops, for strategies ----
  void emit(const program::Loop& loop);
  bool is_written(std::int64_t buffer) const { return nest_.is_written(buffer); }  // in the current top-level step
  void open_level(Expr index, LLVMBasicBlockRef preheader);
  void close_level();
  // The innermost level, or an outer one by its distance, begins an iteration with this index: values of that level and
  // of those inside it are no longer known.
  void begin_iteration(Value index, std::size_t levels_out = 0);
  // Everything that accumulates is emitted once for each of these rows, from the innermost open level on.
  void begin_row_block(std::vector<Value> rows);
  void end_row_block() { row_block_ = {}; }
  // Emits the body of a loop in lanes twice: in the block of that name for vectors for which the condition holds, and
  // for the others after `specialise`, with the loads and accumulations of the strategy. Returns the branch between
  // them.
  Value emit_two_bodies(const program::Loop& loop, Value is_general, const char* name,
                        const std::function<void()>& specialise);
  // The start of accumulators of lanes, whose sum is added to the identity in the end.
  Value start_of_lanes(program::Combiner combiner, DType dtype, int lanes);

  // ---- memory, for strategies (emit_memory.cpp) ----
  struct Element {
    Expr row;   // offset of the row in elements; invalid when 0
    Expr last;  // index within the row; invalid for 0-d
  };
  Element element_at(std::int64_t buffer, std::span<const Expr> at);
  // The number of elements between neighbouring lanes, if it is a constant; 0: all access one element.
  std::optional<std::int64_t> lane_stride(Expr offset);
  bool in_order(std::int64_t buffer, std::span<const Expr> at);  // neighbouring lanes access neighbouring elements
  Value start_of(Expr expr);                                     // its value at lane 0, where it has a lane_stride
  Value data(std::int64_t buffer);
  Value address(std::int64_t buffer, Value offset);
  Value gather(DType dtype, std::int64_t buffer, Value offsets);
  Value load_each_lane(DType dtype, std::int64_t buffer, const std::function<Value(int lane)>& offset_of);

 private:
  // An open loop. `values` holds the values known at this level; code of the enclosing level is added to `preheader`.
  struct Level {
    Expr index;
    LLVMBasicBlockRef preheader = nullptr;
    std::unordered_map<std::uint32_t, Value> values;
  };
  using Accumulators = std::unordered_map<std::int64_t, Value>;  // var -> memory of its vector accumulator
  // The lanes of a vector loop's body: values of the innermost Level are vectors of `count` lanes, those of outer
  // levels scalars.
  struct Lanes {
    int count = 1;
    const program::Loop* loop = nullptr;
    std::size_t operations = 0;                       // of its body, once they have been counted
    Value start = nullptr;                            // scalar index of lane 0
    Value mask = nullptr;                             // null: all lanes
    Value active = nullptr;                           // with a mask: the number of active lanes, as a scalar
    std::unordered_map<std::uint32_t, Value> splats;  // of outer values, created before the loop
    Accumulators* accumulators = nullptr;
    std::int64_t prefetch_distance = 0;                   // elements this far ahead are prefetched
    const std::vector<std::int64_t>* streamed = nullptr;  // buffers whose stores are non-temporal in this pass
    std::unique_ptr<LanesStrategy> strategy;
    bool is_special = false;  // the strategy's cheaper body is being emitted
  };

  // ---- functions (emit_parts.cpp) ----
  // One of the functions that the program is split into.
  struct Part {
    Value function = nullptr;
    LLVMBasicBlockRef entry = nullptr;
    Value spill_area = nullptr;  // the address of the spill area, once it is requested
  };
  // A value of an earlier part; `slot`: its byte offset in the spill area, once a later part has requested it.
  struct PriorValue {
    Value value;
    std::size_t part;
    std::int64_t slot = -1;
  };
  void open_part();
  void spill_stack();
  void cut();  // continues in a new part; at the top level, where nothing is incomplete
  void cut_if_long();
  void cut_before(const program::Step& step);
  void call_parts(const std::string& name);
  bool is_earlier(Expr expr, std::size_t level) const { return level == 0 && prior_values_.count(expr.id()) != 0; }
  Value reload(Expr expr);  // a value of an earlier part
  Value spill_area(Part& part);
  Value slot_address(Value memory, std::int64_t slot);
  Value own_function(Expr call, int lanes);
  Value emit_own_function(const std::string& name, const program::Function& function, int lanes);

  // ---- outlined loops (emit_outlined_loops.cpp) ----
  bool call_outlined(const program::Loop& loop);  // false when the loop is not outlined
  Value emit_outlined(const std::string& name, LLVMTypeRef function_type, const std::vector<Expr>& values);

  // ---- expressions (emit_expr.cpp) ----
  // The level at which an expression is computed. It is not hoisted out of a side of a branch, unless it is known
  // outside already: the other side may not need it, or may exist because it can't be computed.
  std::size_t level_for(Expr expr);
  void make_ready(Expr expr, bool may_cut);
  void keep(std::size_t level, Expr expr, Value v) {
    levels_[level].values[expr.id()] = v;
    kept_.keep(expr);
  }
  void forget_overwritten(const program::Step& step);
  std::optional<std::vector<Expr>> operands_by_strategy(Expr expr) const;
  Value build(Expr expr);  // by the first strategy that applies, or code by code
  Value build_load(Expr load);
  Value build_call(Expr call);
  Value build_rare_call(Expr call);
  Value build_integer_quotient(Expr expr, Value dividend, Value divisor, LLVMTypeRef type);
  struct Callee {
    LLVMTypeRef type;
    Value function;
  };
  Callee callee(Expr call, std::size_t first_argument);
  Value call_once(const Callee& callee, std::vector<Value> arguments);
  Value identity(program::Combiner combiner, DType dtype, int lanes);

  // ---- memory (emit_memory.cpp) ----
  Value load_neighbours(DType dtype, Value address, Value mask);  // in their memory type
  // Loads lanes that are a few elements apart, by |stride| contiguous loads and shuffles; the last load ends with the
  // last element that is needed. In a masked pass only for a stride of -1.
  Value load_strided(DType dtype, std::int64_t buffer, Value start, int stride);
  void store_lanes(std::int64_t buffer, Value address, Value v);
  void scatter(DType dtype, std::int64_t buffer, Value offsets, Value v);
  void scatter_accumulate(const program::Accumulate& step, Value v);
  Value addresses(DType dtype, std::int64_t buffer, Value offsets);
  void load_data(std::int64_t buffer);
  void allocate_on_stack(std::int64_t buffer);  // in this function's stack frame; sets its address in the frame
  Value length_address(std::int64_t buffer, int axis);
  void store(std::int64_t buffer, std::span<const Expr> at, Value v);
  Value load(std::int64_t buffer, std::span<const Expr> at, bool in_lanes);
  Value hoisted_address(std::int64_t buffer, std::span<const Expr> at, Value address);

  // ---- carried values other than plain reductions (emit_carried.cpp) ----
  Value carry_start(const program::Carry& carry);
  void emit_prefix(const program::Update& step);
  void emit_arg_reduce(const program::Update& step);
  void arg_reduce_lanes(const program::Update& step, Value memory, Value index_memory);
  void combine_arg_reduce(const program::Update& update, int lanes, std::vector<Accumulators>& accumulators);
  bool is_prefix(Expr var) const { return prefixes_.count(var.payload()) != 0; }

  // ---- loops that several threads share (emit_chunks.cpp) ----
  // A partial result that chunks of a loop leave to be combined: one per carried value and accumulator, with its
  // offset.
  struct Partial {
    std::int64_t var;
    std::size_t copy;  // which accumulator
    LLVMTypeRef kind;
    std::int64_t offset;  // bytes
  };
  // How much of a loop has run in chunks, as reported by the runtime; by default, nothing.
  struct Chunks {
    Value done = nullptr, count = nullptr, length = nullptr, partials = nullptr;
    std::int64_t partial_bytes = 0;
    bool all = false;  // only the combination is left to do
    std::vector<Partial> partials_of_one;
    explicit operator bool() const { return done != nullptr; }
  };
  Chunks run_chunks(const program::Loop& loop, Value extent);
  struct Needs {  // what a loop uses that exists before it
    std::vector<Expr> variables;
    std::vector<std::int64_t> buffers;
  };
  Needs needs_of(const program::Loop& loop);
  Value emit_chunk(const program::Loop& loop, const Needs& needs);
  void load_own_data(std::span<const std::int64_t> buffers, Value worker);
  void leave_partial(std::int64_t var, std::size_t copy, LLVMTypeRef kind, Value v);
  void leave_accumulators(const program::Loop& loop, int lanes, const std::vector<Accumulators>& accumulators);
  Value partial_address(const Chunks& chunks, Value chunk, std::int64_t var, std::size_t copy);
  // for chunk in count: body(chunk)
  void for_each_chunk(const Chunks& chunks, const std::function<void(Value)>& body);
  void combine_partials(const program::Loop& loop, const Chunks& chunks);
  void combine_partials(const program::Loop& loop, const Chunks& chunks, int lanes,
                        const std::vector<Accumulators>& accumulators);
  // ---- rows accumulated into one row (emit_row_blocks.cpp) ----
  struct RowBlock {
    std::size_t level = 0;
    std::vector<Value> rows;
  };
  void for_each_row(const std::function<void()>& emit_row);

  // ---- non-temporal stores (emit_stream.cpp) ----
  Value may_stream(const program::Loop& loop, Lanes& lanes, Value from, Value extent, Value& head);
  void mark_streamed(std::int64_t buffer, Value store);
  void end_stream();
  void fence_streams();

  // ---- loops (emit_loop.cpp) ----
  void start_carries(const program::Loop& loop);
  void poll(const program::Loop& loop, Value index);
  void scalar_loop(const program::Loop& loop, Value from, Value extent);
  void vector_loop(const program::Loop& loop, Value from, Value extent, const Chunks& chunks);
  std::vector<Accumulators> make_accumulators(const program::Loop& loop, int lanes, int copies);
  Value stream_or(Value streams, const std::function<Value()>& streaming, const std::function<Value()>& usual);
  Value lanes_pass(const program::Loop& loop, Lanes& lanes, Value start, std::vector<Accumulators>& accumulators);
  void lanes_loop(const program::Loop& loop, Lanes& lanes, Value from, Value to,
                  std::vector<Accumulators>& accumulators);
  void masked_tail(const program::Loop& loop, Lanes& lanes, Value from, Value extent, Accumulators& accumulators);
  void masked_loop(const program::Loop& loop, Lanes& lanes, Value from, Value extent, Accumulators& accumulators);
  void reduce_lanes(const program::Loop& loop, int lanes, std::vector<Accumulators>& accumulators);
  void emit_lanes(const program::Loop& loop, Lanes& lanes, Value start, Value mask, Accumulators& accumulators);

  // ---- sums of blocks (emit_pairwise.cpp) ----
  void pairwise_loop(const program::Loop& loop, Lanes& lanes, Value from, Value to, std::int64_t block_length,
                     std::vector<Accumulators>& accumulators, const Chunks& chunks);

  // ---- steps (emit_step.cpp) ----
  Value open_function(const std::string& name, LLVMTypeRef type);  // and opens its top level
  void emit(const program::Steps& steps);
  void emit(const program::Store& step);
  void emit(const program::Accumulate& step);
  void emit(const program::Let& step);
  void emit(const program::Update& step);
  void emit(const program::Allocate& step);
  std::size_t emit_alike(std::span<const program::Step> steps);
  std::size_t emit_interleaved(std::span<const program::Step> steps);  // emit_interleaved.cpp
  std::vector<Value> interleaved(const std::vector<std::vector<Value>>& streams, std::size_t unit);
  void emit(const program::Fill& step);
  void emit(const program::Call& step);
  void emit(const program::Check& step);
  void emit(const program::HostCall& step);
  void emit(const program::Next& step);
  void emit(const program::If& step);
  void emit_side(const program::Steps& steps, LLVMBasicBlockRef at, LLVMBasicBlockRef before, LLVMBasicBlockRef after);

  const program::Program& program_;
  program::ExprPool& pool_;
  const ExpressionStrategies strategies_ = expression_strategies();
  const LoopStrategies loop_strategies_ = loop_strategies();
  std::vector<Part> parts_;
  std::optional<OutlinedLoops> outlined_loops_;
  Value numbers_ = nullptr;  // in the function of an outlined loop: a table, its own buffers -> those of the program
  std::unordered_map<std::uint32_t, PriorValue> prior_values_;
  static constexpr std::size_t huge = 20'000;
  static constexpr std::size_t blocks_of_a_loop = 20;  // expressions that take as long to compile as a loop's blocks
  std::size_t built_ = 0, built_before_ = 0;           // expressions, in the current part and in earlier ones
  std::int64_t spill_bytes_ = 0;
  std::vector<std::int64_t> known_data_;  // the buffers that have an entry in data_
  struct StackMemory {
    Value memory;
    std::int64_t bytes;
  };
  std::vector<StackMemory> on_stack_;  // of the current part
  std::vector<std::int64_t> length_offsets_;
  program::LoopNest nest_;
  program::KeptLoads kept_;
  std::vector<Level> levels_;  // of the loop nest
  bool hoisting_ = false;      // the current expression is used by an inner loop, which may have no iterations
  Lanes* lanes_ = nullptr;
  // A buffer's address, once it is known, or the block at whose end it can be loaded; by default, the entry block.
  struct Address {
    Value value = nullptr;
    LLVMBasicBlockRef since = nullptr;
  };
  std::vector<Address> data_;                       // per buffer
  std::unordered_map<std::int64_t, Value> locals_;  // carried var -> its memory
  std::unordered_set<std::int64_t> prefixes_;  // carried vars of prefix scans, which are read while they are carried
  int chunk_count_ = 0;                        // functions created for chunks
  const program::Loop* chunk_of_ = nullptr;    // the loop of whose chunk a function is being emitted
  Value partial_ = nullptr;                    // where that chunk stores its reductions
  std::vector<Partial> partials_;              // what it has stored there
  std::int64_t partial_bytes_ = 0, granule_ = 1;
  RowBlock row_block_;                       // the one that is being emitted; without rows: none
  const program::Step* top_step_ = nullptr;  // the current top-level step
  bool streams_ = false;                     // a fence is due at the end of that step
};

}  // namespace bitale::codegen
