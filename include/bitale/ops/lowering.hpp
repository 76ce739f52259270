// Lowering: the interface by which an op declares its native code. Lowering is functional: an op's output is a rule
// from index to value, and inlining the rule into a reader is fusion. The lowering (src/lowering) decides what is
// materialized and which loops are shared; ops never see loops.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "bitale/graph/op.hpp"
#include "bitale/program/carry.hpp"
#include "bitale/program/expr.hpp"

namespace bitale {

using program::Expr;
using Index = std::span<const Expr>;                         // one int64 Expr per dimension
using ElementRule = std::function<Expr(Index)>;              // the value at an index
using TargetRule = std::function<std::vector<Expr>(Index)>;  // the index that an element is written to

// An axis whose extent differs from index to index of the axes before it: a rule of these indices in place of its
// entry in the domain. It never reads memory that the check of a later condition guards.
struct ComputedExtent {
  std::size_t axis = 0;
  ElementRule rule = {};
};

// A region written into an output: for every index of `domain`, out[target(index)] = value(index), or (op)= with a
// combiner.
struct Piece {
  std::vector<Expr> domain;
  TargetRule target;
  ElementRule value;
  std::optional<program::Combiner> combiner = {};  // absent: plain store
  ComputedExtent computed_extent = {};
};

// A contiguous segment of an output along one axis, and its elements, indexed from its start.
struct ConcatSegment {
  Expr extent;
  ElementRule value;
};

// Elements that are combined sequentially along some axes of a domain. For kind `reduce` the output is the final value,
// for each index of the other axes. For `arg_reduce` it is the position of the extreme, as a row-major number over the
// reduced axes, which are all axes or one (the first of equal elements; a nan takes precedence over all). For `prefix`
// it is the value after each element, along one axis. A `state` needs more than a combiner: an InnerLoop.
struct ElementScan {
  program::CarryKind kind = program::CarryKind::reduce;
  program::Combiner combiner = program::Combiner::add;
  std::vector<Expr> domain;
  std::vector<bool> along;  // per axis
  DType dtype;              // in which elements are combined
  ElementRule value;
  ComputedExtent computed_extent = {};
};

// A scan with states whose body is an inner graph. The node's inputs are the number of steps, sequences with one
// element per step, initial states and constants; the inner graph's inputs are an element of each sequence, states and
// constants. The inner graph's outputs are next states, elements of traces, and with `has_until` whether to stop; the
// node's outputs are final states, traces, and the number of steps executed.
struct InnerLoop {
  std::span<const Variable> inputs, outputs;
  int sequences, states;
  bool has_until;
  std::string called;  // for messages
};

// One of two graphs, of which only one is evaluated. Its inputs are the node's inputs at the positions `from`.
struct Side {
  std::span<const Variable> inputs, outputs;
  std::span<const std::size_t> from;
};

// An argument of a runtime call: a scalar, the C-contiguous data of an input or output from some element on, or scratch
// memory, whose contents are undefined before the call and dead after it.
struct InputData {
  int input;
  Expr offset = {};  // in elements; none: 0
};
struct OutputData {
  int output;
  Expr offset = {};
  // For a parameter that is both read and written: the output starts as a copy of this input, whose dimensions of
  // length 1 are broadcast; or it is computed in place, if the input has no other readers.
  std::optional<int> starts_as = {};
};
struct Scratch {
  DType dtype;
  Expr count;
};
using CallArgument = std::variant<Expr, InputData, OutputData, Scratch>;
using CallRule = std::function<std::vector<CallArgument>(Index)>;

// A product of inputs 0 and 1: out[b.., i, j] is the sum over l of x[b.., i, l] y[b.., l, j]. An input with one
// dimension less is a vector: it has no i, or no j, and so has the output.
struct Contraction {
  std::size_t batch_axes = 0;
  bool repeats_left = false, repeats_right = false;  // its lengths along the batch are 1: one for the whole batch
};

// The layout of a matrix input of a BLAS call: the data of `input`, or of its transpose.
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
  virtual std::span<const Expr> lengths_of(const Variable& variable) = 0;  // of any variable that the node depends on
  virtual bool same_length(Expr a, Expr b) const = 0;                      // as far as the checks imply

  // ---- definitions of outputs: exactly one of these per output ----
  // A rule from index to value. `cost` is roughly the number of simple operations that recomputing it takes.
  virtual void element(int output, ElementRule rule, int cost = 1) = 0;
  // The output is input `input` with its dimensions reordered; entries -1 are new axes of length 1.
  virtual void permute(int output, int input, std::span<const int> order) = 0;
  // The output is the result of a scan along axes of a domain.
  virtual void scan(int output, ElementScan scan) = 0;
  // The outputs are the results of the loop. Returns false, without defining anything, if its steps need the host or
  // memory whose size differs from step to step.
  virtual bool scan(const InnerLoop& loop) = 0;
  // The outputs are those of `then` if the scalar input `condition` is not 0, else those of `otherwise`; nothing of the
  // other side is computed. Returns false, without defining anything, if a side needs the host, or memory whose size is
  // only known inside it.
  virtual bool choose(int condition, const Side& then, const Side& otherwise) = 0;
  // The output is a copy of input `base` (or undefined where no piece writes), into which the pieces are written in
  // order.
  virtual void assemble(int output, std::optional<int> base, std::vector<Piece> pieces) = 0;
  // The output is the concatenation of `segments` along `axis`. Readers run a loop over each; none is copied.
  virtual void concatenate(int output, int axis, std::vector<ConcatSegment> segments) = 0;
  // A runtime function (runtime/functions.hpp) writes the outputs. Its row in the table declares what it does with each
  // argument, and the message for a nonzero status. Array arguments are materialized.
  void call(std::string_view function, std::vector<CallArgument> arguments) {
    call_each(function, {}, [same = std::move(arguments)](Index) { return same; });
  }
  // The same, with one call for each index below `extents`, in row-major order. The rule must give arguments of the
  // same kinds each time.
  virtual void call_each(std::string_view function, std::vector<Expr> extents, CallRule arguments) = 0;
  // The output is a product, whose summed lengths are equal. Whether it is computed by loops, which fuse with others,
  // or by a library is the lowering's decision.
  virtual void contract(const Contraction& product) = 0;
  // The host calls perform on the inputs, for its side effects; its results are not used.
  virtual void observe() = 0;
  // For `call`: whether the input is the transpose of an array whose data can be passed instead.
  virtual MatrixLayout matrix(int input) = 0;

  // ---- run-time checks ----
  // The call fails with `message` (a ShapeError, or IndexError) unless the condition holds at entry.
  virtual void require(Expr condition, std::string message) = 0;
  // The same for a condition that no read or write relies on: loops may run before the check, so that they can share a
  // loop with the computation of the condition. Only calls and sizes of memory depend on the check.
  virtual void expect(Expr condition, std::string message) = 0;
  // Every element of integer input `input` must lie in [-length, length). This is checked in the loop that reads the
  // elements, so rules read them by `index_in`.
  virtual void require_in_range(int input, Expr length, std::string message) = 0;
  // An element of such an input, made non-negative, and safe to use even if the check is going to fail.
  enum class Sign { NonNegative, Any };
  virtual Expr index_in(int input, Index at, Expr length, Sign sign) = 0;
};

}  // namespace bitale
