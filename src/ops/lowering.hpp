// Lowering: what an op says about its native code. Lowering is functional first: an op's output is a rule from index to
// value, and inlining the rule into a reader is fusion. The lowering (src/lowering) decides what is stored and
// which loops are shared; ops never see loops.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "bitale/graph/op.hpp"
#include "program/carry.hpp"
#include "program/expr.hpp"

namespace bitale {

using program::Expr;
using Index = std::span<const Expr>;                         // one int64 Expr per dimension
using ElementRule = std::function<Expr(Index)>;              // the value at an index
using TargetRule = std::function<std::vector<Expr>(Index)>;  // where an element of a piece goes

// A region written into an output: for every index of `domain`, out[target(index)] = value(index), or (op)= with a
// combiner.
struct Piece {
  std::vector<Expr> domain;
  TargetRule target;
  ElementRule value;
  std::optional<program::Combiner> combiner = {};  // absent: plain store
};

// A stretch of an output along one axis, and its elements, counted from its own start.
struct Part {
  Expr extent;
  ElementRule value;
};

// What is combined along some axes of a domain, element after element. Of kind `reduce` the output is what there is at
// the end, for each index of the other axes; of `arg_reduce` the position of that extreme, as a row-major number of the
// axes that go (the first of equal ones, and a nan before all): these are all axes, or one. Of `prefix` it is what
// there is after each element, along one axis. A `state` takes more than a combiner to say: an InnerLoop.
struct ElementScan {
  program::CarryKind kind = program::CarryKind::reduce;
  program::Combiner combiner = program::Combiner::add;
  std::vector<Expr> domain;
  std::vector<bool> along;  // per axis
  DType dtype;              // what it is combined in
  ElementRule value;
};

// A scan whose body is an inner graph, with states. The node's inputs are the number of steps, sequences with an
// element per step, initial states and constants; the inner graph's are an element of each sequence, states and
// constants. Outputs of the inner graph: next states, elements of traces, and with `has_until` whether to stop. Of the
// node: final states, traces, and the number of steps made.
struct InnerLoop {
  std::span<const Variable> inputs, outputs;
  int sequences, states;
  bool has_until;
  std::string called;  // for messages
};

// One of two graphs of which one is computed. Its inputs are those inputs of the node.
struct Side {
  std::span<const Variable> inputs, outputs;
  std::span<const std::size_t> from;
};

// An argument of a runtime call: a scalar, the C-contiguous data of an input or output from an element on, or memory
// that is worth nothing before and after.
struct InputData {
  int input;
  Expr offset = {};  // in elements; none: 0
};
struct OutputData {
  int output;
  Expr offset = {};
  // For a parameter that is read and written: the output starts as a copy of this input, whose lengths of 1 are
  // repeated; or in its memory, where nobody else reads it.
  std::optional<int> starts_as = {};
};
struct Scratch {
  DType dtype;
  Expr count;
};
using CallArgument = std::variant<Expr, InputData, OutputData, Scratch>;
using CallRule = std::function<std::vector<CallArgument>(Index)>;

// How a matrix input of a BLAS call lies: the data of `input`, or its transpose.
struct MatrixLayout {
  bool transposed;
};

class Lowering {
 public:
  virtual ~Lowering() = default;

  virtual program::ExprPool& pool() = 0;

  // ---- reading (inside rules, or at once for scalars) ----
  virtual Expr in(int input, Index at) = 0;
  Expr in(int input) { return in(input, {}); }            // of a 0-d input
  virtual std::span<const Expr> shape_in(int input) = 0;  // int64 lengths
  virtual std::span<const Expr> shape_out(int output) = 0;
  virtual std::span<const Expr> lengths_of(const Variable& variable) = 0;  // of any variable above the node
  virtual bool same_length(Expr a, Expr b) const = 0;                      // as far as the checks say

  // ---- saying what an output is: exactly one of these per output ----
  // A rule from index to value. `cost` is about how many simple operations recomputing it takes.
  virtual void element(int output, ElementRule rule, int cost = 1) = 0;
  // The output is input `input` with its dimensions reordered; entries -1 are new axes of length 1.
  virtual void permute(int output, int input, std::span<const int> order) = 0;
  // The output is what is carried along axes of a domain.
  virtual void scan(int output, ElementScan scan) = 0;
  // The outputs are what the loop makes of its states. False, and nothing is said: its steps need the host, or memory
  // whose size differs from step to step.
  virtual bool scan(const InnerLoop& loop) = 0;
  // The outputs are those of `then` where the scalar input `condition` is not 0, else of `otherwise`; nothing of the
  // other side is computed. False, and nothing is said: a side needs the host, or memory whose size is only known in
  // it.
  virtual bool choose(int condition, const Side& then, const Side& otherwise) = 0;
  // The output is a copy of input `base` (or undefined where no piece writes) with pieces written in order.
  virtual void assemble(int output, std::optional<int> base, std::vector<Piece> pieces) = 0;
  // The output is `parts`, one after the other along `axis`. Readers run a loop over each part; none is copied.
  virtual void concatenate(int output, int axis, std::vector<Part> parts) = 0;
  // A runtime function (runtime/functions.hpp) writes the outputs. Its row says what it does with each argument, and
  // what is said when it returns a status that is not 0. Array arguments are materialised.
  void call(std::string_view function, std::vector<CallArgument> arguments) {
    call_each(function, {}, [arguments = std::move(arguments)](Index) { return arguments; });
  }
  // The same once for each index below `extents`, in row-major order. The rule gives arguments of the same kinds each
  // time.
  virtual void call_each(std::string_view function, std::vector<Expr> extents, CallRule arguments) = 0;
  // The host calls perform on the inputs, for what it does besides computing; what it computes is not used.
  virtual void observe() = 0;
  // Whether the input is computed element by element and read by this node only: then reading each element once, where
  // it is computed, costs less than storing it.
  virtual bool is_computed(int input) = 0;
  // Whether this is the body of a loop: what it says runs once per step, and calls of runtime functions weigh more.
  virtual bool is_repeated() const = 0;
  // Whether its steps are to do the same for each element of a batch, in lanes: small products are then written out.
  virtual bool is_in_lanes() const = 0;
  // For `call`: whether input's data can be passed untransposed from the array it is the transpose of.
  virtual MatrixLayout matrix(int input) = 0;

  // ---- run-time checks ----
  // The call fails with `message` (a ShapeError, or IndexError) unless the condition holds at entry.
  virtual void require(Expr condition, std::string message) = 0;
  // The same of a condition that no reading or writing relies on: loops may run before the check, so that they can
  // share one with what the condition is computed by. What depends on it are calls, and the lengths of memory.
  virtual void expect(Expr condition, std::string message) = 0;
  // Every element of integer input `input` must lie in [-length, length). It is checked in the loop that reads them, so
  // rules read them by `index_in`.
  virtual void require_in_range(int input, Expr length, std::string message) = 0;
  // An element of such an input, made non-negative (`wraps`: it may be negative), and safe to use where the check is
  // about to fail.
  virtual Expr index_in(int input, Index at, Expr length, bool wraps) = 0;
};

// A possibly negative, already checked index, made non-negative.
inline Expr wrap_index(Expr index, Expr length) { return select(index < 0, index + length, index); }

}  // namespace bitale
