// From a Program to the parts of a Plan: a walk over the steps, as the emitters of code do it. Each expression is
// computed once, by an operation of the outermost loop at which it is known.
#pragma once

#include <bit>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "codegen/interpreted/plan.hpp"
#include "program/kept_loads.hpp"
#include "program/loop_nest.hpp"
#include "program/program.hpp"

namespace bitale::codegen::interpreted {

// Thrown for a Program that can't be interpreted.
struct Unsupported {};

// While a plan is built, the upper bits of a register tell what it is; those of constants are 0.
inline constexpr Register tag_bits = 3u << 30, is_scalar = 1u << 30, is_chunk = 2u << 30;
// Of a chunk's number: it is an address in a buffer.
inline constexpr Register is_view = 1u << 29;

inline std::uint8_t shift_of(DType dtype) { return std::uint8_t(std::countr_zero(itemsize(dtype))); }

class Builder {
  using Expr = program::Expr;
  using Kind = Op::Kind;

 public:
  explicit Builder(const program::Program& program)
      : program_(program), pool_(*program.pool), offsets_(program::length_offsets(program)), kept_(program) {}
  PlanParts build();

 private:
  struct Value {
    Register at = 0;
    bool in_lanes = false;
  };
  struct Level {
    std::size_t block;
    std::unordered_map<std::uint32_t, Value> values;
  };
  struct Chunk {  // a register of a vector loop: when it is in use, and what it becomes
    std::uint8_t shift;
    std::size_t first = 0, last = 0;
    Register number = 0;
  };

  // ---- registers ----

  Value constant(std::int64_t bits) {
    auto [found, is_new] = constants_.try_emplace(bits, Register(parts_.constants.size()));
    if (is_new) parts_.constants.push_back(bits);
    return {found->second};
  }
  Register new_scalar() { return Register(parts_.scalars++) | is_scalar; }
  Register new_chunk(DType dtype) {
    chunks_.push_back({shift_of(dtype)});
    return Register(chunks_.size() - 1) | is_chunk;
  }
  Register numbered(Register r) const;
  // All registers of an operation, those of its list, too.
  template <class Visit>
  void for_each_register(Op& op, Visit visit) {
    const auto some = [&](auto&... which) { (visit(which), ...); };
    for (std::uint32_t k = 0; k < op.list_size; ++k)
      if (parts_.lists[op.list + k] != LoopPlan::no_register) visit(parts_.lists[op.list + k]);
    switch (op.kind) {
      case Kind::length: return some(op.out);
      case Kind::branch:
      case Kind::check: return some(op.a);
      case Kind::guarded_load:
      case Kind::load: return some(op.out, op.a, op.c);
      case Kind::call:
      case Kind::rare_call:
      case Kind::runtime_call: return some(op.out);
      case Kind::allocate:
      case Kind::host_call:
      case Kind::loop: return;
      case Kind::fold: return some(op.out, op.a);
      case Kind::reduce: return some(op.a, op.b);
      case Kind::store:
      case Kind::scatter:
      case Kind::accumulate:
      case Kind::accumulate_at:
      case Kind::accumulate_by_runs:
      case Kind::store_strided: return some(op.a, op.b, op.c);
      case Kind::kernel:
      case Kind::view:
      case Kind::load_strided:
      case Kind::gather:
      case Kind::prefix:
      case Kind::arg_reduce: return some(op.out, op.a, op.b, op.c);
    }
  }

  // ---- operations ----

  Op& add(std::size_t level, Op op) {
    auto& block = parts_.blocks[levels_[level].block];
    block.push_back(op);
    return block.back();
  }
  Op& add(Op op) { return add(levels_.size() - 1, op); }
  template <class F>
  static void* required(F* function) {
    if (!function) throw Unsupported();
    return reinterpret_cast<void*>(function);
  }
  void* special(program::kernels::Special what, DType dtype) { return required(kernels_.special(what, dtype)); }
  std::uint32_t list(std::span<const Register> registers) {
    const auto first = std::uint32_t(parts_.lists.size());
    parts_.lists.insert(parts_.lists.end(), registers.begin(), registers.end());
    return first;
  }
  void copy(Register to, DType dtype, Value from);
  Register in_lanes(Value v, DType dtype);

  // ---- expressions (build_expressions.cpp) ----

  std::size_t level_for(Expr expr);
  std::optional<Value> known(Expr expr);
  Expr inlined(Expr call, const program::Function& function);
  Value value(Expr root);
  bool is_in_lanes(std::size_t level) const { return lanes_ && level + 1 == levels_.size(); }
  Value build(Expr expr, std::size_t at);
  Value index(Expr expr);
  Value kernel(program::Code code, DType dtype, Expr expr, std::size_t at);
  Value lookup(Expr expr, std::size_t at);
  Value call(Expr expr, std::size_t at);

  // ---- memory (build_expressions.cpp) ----

  const program::Buffer& buffer(std::int64_t id) const { return program_.buffers[std::size_t(id)]; }
  std::optional<Expr> stride_of(Expr expr);
  // An element, or those of the lanes: at `start`, by `stride` (an int64; none: at the offsets `start`).
  struct Place {
    Value start;
    std::optional<Value> stride;
    bool is_adjacent = false;  // stride 1: `start` does not contain the index
    bool in_lanes = false;
  };
  Place place(std::int64_t id, std::span<const Expr> at, bool lanes);
  Value load(Expr expr, std::size_t level);

  // ---- steps (build_steps.cpp) ----

  void emit(const program::Steps& steps);
  void emit(const program::Store& step);
  void emit(const program::Accumulate& step);
  void emit(const program::Let& step);
  void emit(const program::Update& step);
  void emit(const program::Loop& loop);
  void emit(const program::Next& step);
  void emit(const program::If& step);
  void emit(const program::Check& step);
  void emit(const program::Allocate& step);
  void emit(const program::HostCall& step);
  void emit(const program::Call& step);
  void emit(const program::Fill& step);
  void reduce(const program::Update& step, Register var, bool is_dot);
  Expr start_of(const program::Carry& carry);
  static bool is_plain_scan(const program::Loop& loop);
  void plain_loop(const program::Loop& loop, std::size_t number, Register index);
  void vector_loop(const program::Loop& loop, std::size_t number, Register index);
  struct Argument {
    ArgumentPlan plan;
    Register at = LoopPlan::no_register;
  };
  void call(const std::string& function, const std::vector<Argument>& arguments, Expr status);

  // ---- the operations of a vector loop as a whole (build_lanes.cpp) ----

  // Of each chunk: the operation that makes it, and how many operands it is.
  struct Uses {
    std::vector<std::size_t> made_by, count;
  };
  Uses uses_of(std::vector<Op>& ops);
  Register table(std::span<const std::int64_t> elements, std::size_t itemsize);
  void join_polynomials(std::vector<Op>& ops);
  void store_directly(std::vector<Op>& ops);
  std::size_t assign_chunks(std::vector<Op>& ops);

  static constexpr std::int64_t first_own_variable = -(std::int64_t(1) << 40);

  const program::Program& program_;
  program::ExprPool& pool_;
  PlanParts parts_;
  const program::kernels::Kernels& kernels_ = program::kernels::of_this_processor();
  std::vector<std::int64_t> offsets_;
  program::LoopNest nest_;
  program::KeptLoads kept_;
  std::vector<Level> levels_;
  std::unordered_map<std::int64_t, Register> constants_;
  std::unordered_map<std::int64_t, Value> vars_;
  std::unordered_map<std::int64_t, Register> carried_;
  std::unordered_set<std::int64_t> prefixes_;
  std::unordered_map<std::uint32_t, Expr> inlined_;
  std::vector<std::pair<Register, Register>> next_;
  // ---- of the vector loop ----
  const program::Loop* lanes_ = nullptr;
  std::size_t loop_ = 0;
  Register start_ = 0;
  Expr start_index_, runs_;
  std::vector<Chunk> chunks_;
  std::unordered_map<std::uint32_t, std::optional<Expr>> strides_;
  std::vector<Op> at_end_;
};

}  // namespace bitale::codegen::interpreted
