// The interpreter: runs a Program at once, without generating code, so that a function has its first result before
// LLVM is even loaded. A Plan lists the operations of each loop, each value at the outermost loop at which it is known.
// Vector loops run in chunks of iterations, one kernel (program/kernels) per
// operation. Terms are added in the order of the
// loops' schedules, so that results are those of generated code, to the last bit. A Plan is immutable: what a call
// needs is lent from a pool.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "core/pool.hpp"
#include "program/kernels/kernels.hpp"
#include "program/program.hpp"
#include "runtime/frame.hpp"

namespace bitale::codegen::interpreted {

using program::kernels::Kernel;

// Where a value is: a number of the table of addresses in a call's State.
using Register = std::uint32_t;

// One operation. In lanes, it is applied to all iterations of the chunk, else once.
struct Op {
  enum class Kind : std::uint8_t {
    kernel,         // kernel(out, a, b, c)
    view,           // out: the address of element a + start of the buffer (start: *c)
    load,           // out = element a (+ start) of the buffer, and those after it
    guarded_load,   // the same, if the indices are below the lengths: pairs in `list`; else 0
    load_strided,   // out = elements a, a + b, ...
    gather,         // out = elements a[i]
    store,          // element a (+ start) and those after it = b
    store_strided,  // elements a, a + c, ... = b
    scatter,        // elements a[i] = b[i]
    accumulate,     // element a (+ start) ... = combine(..., b)
    accumulate_at,  // elements a[i], in order
    accumulate_by_runs,
    call,        // out = address(list), a pure function of scalars
    rare_call,   // out = list[0] ? address(list[2...]) : list[1]
    length,      // out = the frame's length `number`
    reduce,      // reduction `number` of the loop += a (times b)
    fold,        // state out = combine(out, a)
    prefix,      // state c; out: its values
    arg_reduce,  // state out, position c: a, b
    loop,        // `number`
    branch,      // a ? block `number` : block `list`
    check,       // ends the call with status `number` unless a
    allocate,    // `buffer`: `number` of `allocations`
    host_call,
    runtime_call,  // out: what it returns; arguments from `number` on, with their registers in `list`
  };
  Kind kind = Kind::kernel;
  bool in_lanes = false;
  std::uint8_t shift = 0;  // log2 of the bytes of an element
  std::uint16_t list_size = 0;
  std::uint32_t list = 0;    // the first of its entries in Plan::lists
  std::int32_t buffer = -1;  // of a kernel: where it writes, if it does
  Register out = 0, a = 0, b = 0, c = 0;
  void* address = nullptr;  // of the kernel or function
  std::int64_t number = 0;  // of a kernel: the uniform operands of an fma of floats + 1
};

struct ReductionPlan {
  DType dtype;
  program::Combiner combiner;
  bool is_pairwise;
  Register var;
  Kernel combine;
};

struct LoopPlan {
  Register index = 0, extent = 0;
  std::size_t block = 0;
  // ---- in lanes ----
  bool in_lanes = false;
  std::int64_t width = 1;     // iterations of a chunk
  bool pass_by_pass = false;  // a chunk has the lanes of one vector only
  std::int64_t lanes = 1, slots = 1;
  std::vector<ReductionPlan> reductions;
  // ---- others ----
  std::vector<std::pair<Register, Register>> next;  // states and their next values
  Register until = no_register;
  std::int64_t poll_interval = 0;

  static constexpr Register no_register = ~Register(0);
};

struct AllocationPlan {
  std::vector<Register> lengths;
  std::int64_t first_length = 0;
  std::int64_t on_stack = -1;  // its place in the State's memory
  bool may_be_given = false;   // memory for a result, which the caller may provide
};

// An argument of a runtime function: memory of the buffer, whose elements have 2^shift bytes, or a scalar.
struct ArgumentPlan {
  static constexpr std::int64_t integer = -1, real = -2;
  std::int64_t buffer = integer;
  int shift = 0;
};

struct PlanParts {
  std::vector<std::vector<Op>> blocks;  // the first is the whole
  std::vector<LoopPlan> loops;
  std::vector<AllocationPlan> allocations;
  std::vector<Register> lists;
  std::vector<ArgumentPlan> arguments;
  std::vector<std::int64_t> constants;
  bool calls_host = false;
  // Registers are constants, then scalars, then what holds a chunk of values, then addresses in buffers.
  std::size_t scalars = 0, chunks = 0, views = 0;
  std::size_t chunk_bytes = 0, reductions = 0, stack_bytes = 0;
};

class Plan {
 public:
  // The loops of the Program must have their schedules. Null for one that can't be interpreted: it calls functions of
  // more arguments, or of scalars of several dtypes, than any in the table of runtime functions.
  static std::unique_ptr<const Plan> make(const program::Program& scheduled);
  // Whether a call may take many times as long as code does, and can't be abandoned: it calls the host next to loops
  // that go step by step.
  bool is_better_compiled() const;

  // Asked now and then during a run that takes long: whether to abandon it.
  class Watch {
   public:
    virtual ~Watch() = default;
    virtual bool stops() = 0;
  };
  static constexpr std::int32_t abandoned = -100;
  // What generated code returns, or `abandoned`: then the whole can be run again. Host calls are not, so that a Program
  // with any is not abandoned.
  std::int32_t run(runtime::Frame* frame, Watch& watch) const;
  std::size_t operation_count() const;

  struct State {
    std::unique_ptr<std::byte[]> memory;
    std::vector<char*> registers;
    char* reductions = nullptr;
    char* stack = nullptr;
  };

  explicit Plan(PlanParts parts);
  const PlanParts& parts() const { return parts_; }
  std::size_t bytes_of_reduction() const;

 private:
  std::unique_ptr<State> make_state() const;

  const PlanParts parts_;
  mutable Pool<State> pool_;
};

}  // namespace bitale::codegen::interpreted
