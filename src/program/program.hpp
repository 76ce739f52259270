// Program: the loop-level IR, from which all code generators start: buffers and a tree of steps over scalar
// expressions. Steps run in order; loops contain steps. Scalars are stored in `var`s, arrays in buffers.
// program/steps.hpp provides walks over steps.
#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "bitale/core/array.hpp"
#include "bitale/program/carry.hpp"
#include "bitale/program/expr.hpp"

namespace bitale::program {

enum class Role : std::uint8_t { input, output, constant, temporary };

struct Buffer {
  std::string name;
  DType dtype = DType::Float64;
  Role role = Role::temporary;
  std::vector<Expr> shape;  // of temporaries and outputs; of inputs: dim expressions
  int slot = -1;            // which input or output of the function; of a temporary: its slot of the workspace
  bool on_stack = false;    // a small temporary of known lengths, which needs no workspace
  Array value;              // of a constant
  bool per_worker = false;  // of a temporary: each thread that shares a loop has its own
  int ndim() const { return int(shape.size()); }
};

struct Step;
using Steps = std::vector<Step>;

// buffer[at] = value.
struct Store {
  std::int64_t buffer;
  std::vector<Expr> at;
  Expr value;
};
// buffer[at] = combine(buffer[at], value).
struct Accumulate {
  std::int64_t buffer;
  std::vector<Expr> at;
  Combiner combiner;
  Expr value;
  bool by_runs = false;  // in a vector loop with an order: terms are added by runs of equal indices
};
// Let: var = value. Update, for a carried var of an enclosing loop: var = combine(var, value).
struct Let {
  Expr var;
  Expr value;
};
// In an arg_reduce, `position_var` is set to `position` when the value is taken, so that it is the position of the
// first of equal extremes (a nan is more extreme than any number).
struct Update {
  Expr var;
  Combiner combiner;
  Expr value;
  Expr position_var = {}, position = {};
};
// A scalar carried around a loop; its final value is readable after the loop. Combined values start as the combiner's
// identity (positions as 0). A state starts as `init`; each iteration reads the value that it had when the iteration
// began, and the loop's body has one Next for it, with its value in the next iteration.
struct Carry {
  Expr var;
  CarryKind kind = CarryKind::reduce;
  Combiner combiner = Combiner::add;  // not of a state
  Expr init = {};                     // of a state
  bool is_state() const { return kind == CarryKind::state; }
};
// The next value of a state of the loop that directly contains this step; it is assigned at the end of the iteration.
struct Next {
  Expr var;
  Expr value;
};
// The order in which the lanes of a vector loop add what they carry, given by the widest element of its body, in bytes,
// and by the number of accumulators that take turns. 0: derived from the body (program/lane_order.hpp), as is what is
// added by runs (program/index_runs.hpp). A pass that divides a body has both chosen before (choose_orders): its parts
// inherit them, so that results are the same bits with and without that pass.
struct LaneOrder {
  int element_bytes = 0, accumulators = 0;
  explicit operator bool() const { return element_bytes != 0; }
};
// How a vector loop is run on vectors of one width. One pass sets it (codegen/schedule.hpp) in the copy of a Program
// that code is generated from, and every emitter follows it, so that sums have the same bits in all of them.
struct Schedule {
  int lanes = 0;             // iterations that run together; 0: not scheduled
  int accumulators = 1;      // groups of lanes that take turns, each with accumulators of its own
  bool single_pass = false;  // the extent is constant, and all iterations fit into the lanes
  bool pairwise = false;     // sums of floats are added in a binary tree, block by block (Higham, 1993)
  int straight_passes = 0;   // up to this many whole passes are straight code; 0 where the extent is not constant
  int runs_of = -1;          // the Accumulate of the body whose offset the loop also reads at (program/index_runs.hpp)
  std::vector<std::int64_t> streamed;  // buffers whose stores may be non-temporal
  explicit operator bool() const { return lanes != 0; }
  friend bool operator==(const Schedule&, const Schedule&) = default;
};
struct Loop {
  Expr index;
  Expr extent;
  std::vector<Carry> carries;
  Steps body;
  bool vector = false;  // iterations are independent except for carries: lanes may run together
  // A hint. If not 0, the elements that are this many iterations ahead will be accessed soon; they may be prefetched
  // now.
  std::int64_t prefetch_distance = 0;
  // The loop and the one in it only copy elements into a temporary, [i, j], from where neighbours along i are adjacent:
  // code may copy blocks, and transpose them in registers.
  bool transposes = false;
  // The loop ends after the first iteration in which this holds. It is evaluated at the end of the body, before states
  // take their next values. The order of iterations counts then.
  Expr until = {};
  // For a top-level loop that may run in parallel chunks of iterations, each with a part of what is carried: the rough
  // number of operations per iteration. To run it like any other loop is correct, too.
  Expr parallel_cost = {};
  LaneOrder lane_order = {};
  Schedule schedule = {};
};
// Exactly one of the two sides runs. Nothing that only the other side needs is read or computed.
struct If {
  Expr condition;
  Steps then, otherwise;
};
// Allocates memory for a buffer of this shape; its data may be used from here on. Only at the top level, not in a loop.
struct Allocate {
  std::int64_t buffer;
};
// Sets all elements to the value.
struct Fill {
  std::int64_t buffer;
  Expr value;
};
enum class AccessKind : std::uint8_t { read, write, combine };  // combine: read and written
// The memory of a buffer, from an element on, and how the function accesses it. In a loop, its writes don't reach the
// block of the next iteration.
struct BufferArgument {
  std::int64_t buffer;
  AccessKind kind;
  Expr offset = {};  // in elements, int64; none: the first element
};
// A runtime function of int64, float64 and data pointers. With a `status`, an int64 variable, it returns an int64,
// which is assigned to the variable; else it returns nothing. In a loop, it is called in each iteration, in order.
struct Call {
  std::string function;
  std::vector<std::variant<Expr, BufferArgument>> arguments;
  Expr status = {};
};
// The call fails, with the message of `check`, unless the condition holds. In a loop, the first iteration that violates
// it ends the call.
struct Check {
  Expr condition;
  int check;
};
// Runs an op's perform: node `callback` of the Program, arrays in and out by buffer. Output lengths become known here.
struct HostCall {
  int callback;
  std::vector<std::int64_t> inputs, outputs;
};
struct Step {
  std::variant<Store, Accumulate, Let, Update, Loop, Allocate, Fill, Call, Check, HostCall, Next, If> what;
};

// A function that the program defines. It is called by name, as runtime functions are; a call evaluates its body with
// the arguments for the parameters, which are variables with negative numbers. Code has one copy of it, however often
// it is called.
struct Function {
  std::vector<Expr> parameters;
  Expr body;
};

struct Program {
  std::shared_ptr<ExprPool> pool = std::make_shared<ExprPool>();
  std::vector<Buffer> buffers;
  std::vector<std::string> index_names;
  std::vector<std::string> checks;     // the message of each Check when it fails
  std::vector<std::string> callbacks;  // what each HostCall runs, for printing
  std::string name = "program";
  std::unordered_map<std::int64_t, Function> functions;  // by the payload of their calls
  Steps steps;
  int input_count = 0, output_count = 0;
  int workspace_slots = 0;

  // Null when it is not a call, or a call of a runtime function.
  const Function* function_of(Expr call) const {
    if (call.code() != Code::call || functions.empty()) return nullptr;
    const auto found = functions.find(call.payload());
    return found == functions.end() ? nullptr : &found->second;
  }
};

// Where each buffer's lengths start in runtime::Frame::lengths; one more entry has the total.
std::vector<std::int64_t> length_offsets(const Program& program);

// The rough number of operations on elements in one step, without the bodies of loops.
std::int64_t operations(const Step& step);
// The bytes of a buffer whose lengths are constants, none of them negative; none for others, and on overflow.
std::optional<std::int64_t> constant_bytes(const Buffer& buffer);

// Readable pseudo-code.
std::string to_string(const Program& program);
std::vector<std::string> step_texts(const Program& program);  // of each top-level step, in lines
// Throws InternalError naming the step when the program breaks a rule of the IR: unknown buffers, use before
// allocation, reads before anything is written, fills after something was written, an allocation in a loop, wrong ranks
// or dtypes, variables and indices out of scope, updates of variables that no loop carries.
void verify(const Program& program);

}  // namespace bitale::program
