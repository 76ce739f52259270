// TensorLowering: the interface by which an op declares its code for a target that works on whole tensors, as XLA does
// (src/stablehlo). All lengths are numbers there, so an op defines its outputs by operations on tensors, and never sees
// loops or memory. An op that has such a form is an EmitsTensors besides being an Op; other ops are refused by name.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bitale/graph/op.hpp"
#include "bitale/ops/lowering.hpp"
#include "bitale/program/expr.hpp"

namespace bitale {

// A tensor of the module that is being written.
struct TensorValue {
  std::string name;  // its name in the module
  DType dtype;
  Dims lengths;

  int ndim() const { return int(lengths.size()); }
};
using TensorValues = std::vector<TensorValue>;
std::vector<int> axes_below(int count);  // 0, 1, ...

// A function from elements of several tensors to one element: its arguments have the tensors' dtypes, and it is built
// as Program expressions are.
using ElementwiseRule = std::function<Expr(std::span<const Expr>)>;

enum class TransposedForm : std::uint8_t { none, transposed, adjoint };
struct TriangularSystem {
  bool lower;
  TransposedForm form;
  bool unit_diagonal;
};

// A call of a routine of LAPACK, by XLA's name for it without the letter of the dtype ("potrf"), for each matrix of a
// batch: the first `batch` dimensions of all operands and results.
struct LapackCall {
  struct Result {
    DType dtype;
    Dims lengths;
  };
  std::string_view routine;
  DType dtype;  // which determines the letter
  int batch;
  TensorValues operands;
  std::vector<Result> results;
  std::vector<std::pair<std::string_view, char>> options = {};
  std::vector<std::pair<int, int>> in_place = {};  // an operand, and the result that starts as its copy
};

// A real transform maps n real numbers to n / 2 + 1 complex ones, or back. Complex numbers are pairs along a last axis
// of length 2.
enum class FourierTransform { complex_forward, complex_backward, real_forward, real_backward };

// Operations on tensors. Arguments must fit (InternalError otherwise): the caller checks what a user may get wrong.
class TensorBuilder {
 public:
  virtual ~TensorBuilder() = default;

  virtual TensorValue constant(const Array& value) = 0;
  // Operands of rank 0 are broadcast; the others have equal lengths.
  virtual TensorValue map(DType dtype, std::span<const TensorValue> in, const ElementwiseRule& rule) = 0;
  // The target's own operation of that name (ScalarOp::stablehlo) on floats of one dtype.
  virtual TensorValue function(std::string_view name, std::span<const TensorValue> in) = 0;
  // 0, 1, ... along an axis.
  virtual TensorValue iota(DType dtype, const Dims& lengths, int axis) = 0;
  // Dimension k of x is dimension axes[k] of the result, broadcast if its length is 1. `axes` ascend.
  virtual TensorValue broadcast(const TensorValue& x, const Dims& lengths, std::span<const int> axes) = 0;
  virtual TensorValue reshape(const TensorValue& x, const Dims& lengths) = 0;
  virtual TensorValue transpose(const TensorValue& x, std::span<const int> order) = 0;
  virtual TensorValue reverse(const TensorValue& x, std::span<const int> axes) = 0;
  // Elements start, start + step, ... before stop along every axis; steps are positive.
  virtual TensorValue slice(const TensorValue& x, const Dims& start, const Dims& stop, const Dims& step) = 0;
  // `fill` is inserted `between` elements, and `low` and `high` times before and after them; negative numbers remove
  // elements.
  virtual TensorValue pad(const TensorValue& x, const TensorValue& fill, const Dims& low, const Dims& high,
                          const Dims& between) = 0;
  virtual TensorValue concatenate(std::span<const TensorValue> parts, int axis) = 0;
  // The part of x of these lengths that begins at `start`, int64 scalars, one per axis; and x with that part replaced.
  virtual TensorValue part(const TensorValue& x, std::span<const TensorValue> start, const Dims& lengths) = 0;
  virtual TensorValue with_part(const TensorValue& x, const TensorValue& part, std::span<const TensorValue> start) = 0;
  virtual TensorValue reduce(const TensorValue& x, program::Combiner combiner, std::span<const int> axes) = 0;
  // Reduces pairs of a value and its number. `first_wins` tells whether the first of two pairs is taken: (value,
  // number, other value, other number).
  virtual TensorValues reduce_pair(const TensorValue& x, const TensorValue& number, const TensorValue& initial_x,
                                   const TensorValue& initial_number, int axis, const ElementwiseRule& first_wins) = 0;
  // Sums of products over x_axes[k] of x and y_axes[k] of y. Dimensions of the result: the first `batch` ones, which
  // both have, then the remaining ones of x, then those of y.
  virtual TensorValue dot(const TensorValue& x, const TensorValue& y, int batch, std::span<const int> x_axes,
                          std::span<const int> y_axes) = 0;
  // Sums over channels and positions j of x[i + j] y[j] along all dimensions but the first two, which are batch and
  // channel of x, feature and channel of y, batch and feature of the result. Channels and features are split into
  // separate groups.
  virtual TensorValue correlate(const TensorValue& x, const TensorValue& y, std::int64_t groups) = 0;
  // `at` has the positions along its last axis: one per entry of `axes`, which are dimensions of x. The result has the
  // other dimensions of `at`, followed by the other ones of x. Positions must be in range.
  virtual TensorValue gather(const TensorValue& x, const TensorValue& at, std::span<const int> axes) = 0;
  // x with `updates`, which have the lengths of a result of `gather`, combined with the elements there; or, without a
  // combiner, replacing them.
  virtual TensorValue scatter(const TensorValue& x, const TensorValue& at, const TensorValue& updates,
                              std::span<const int> axes, std::optional<program::Combiner> combiner) = 0;
  // Tensors of one shape, all permuted as the first is sorted along the axis. `before` compares two positions: its
  // arguments are the elements of the first tensor at both, then those of the second, and so on.
  virtual TensorValues sort(std::span<const TensorValue> x, int axis, const ElementwiseRule& before) = 0;
  // Factors of matrices in the last two dimensions. The other triangle is not read, and is undefined in the factor; if
  // there is no factor, its diagonal has a nan somewhere.
  virtual TensorValue cholesky(const TensorValue& x, bool lower) = 0;
  virtual TensorValue solve_triangular(const TensorValue& a, const TensorValue& b, const TriangularSystem& system) = 0;
  // Whether the target calls LAPACK, as XLA does on CPUs.
  virtual bool has_lapack() const = 0;
  virtual TensorValues lapack(const LapackCall& call) = 0;
  // A complex tensor as pairs of real numbers along an additional last axis of length 2; and a complex tensor from two
  // parts.
  virtual TensorValue as_pairs(const TensorValue& x) = 0;
  virtual TensorValue complex(const TensorValue& real, const TensorValue& imaginary) = 0;
  virtual TensorValue fft(const TensorValue& x, FourierTransform transform, std::int64_t length) = 0;
  // A loop over `count` steps. `step` takes the number of the step (int64) and the carried values; it returns the next
  // carried values, then elements of traces, then, with `has_until`, a bool scalar that ends the loop after this step.
  // The result: the carried values, the traces (stacked along a new first axis, 0 for steps that were not executed) and
  // the number of steps executed.
  using Step = std::function<TensorValues(const TensorValue& number, const TensorValues& carried)>;
  virtual TensorValues repeat(std::int64_t count, const TensorValues& initial, bool has_until, const Step& step) = 0;
  using Branch = std::function<TensorValues()>;
  virtual TensorValues either(const TensorValue& condition, const Branch& then, const Branch& otherwise) = 0;

  // ---- composed of these ----
  TensorValue number(double value, DType dtype);
  TensorValue full(double value, DType dtype, const Dims& lengths);
  TensorValue convert(const TensorValue& x, DType dtype);
  // Dimensions of length 1 are broadcast to these lengths, of which there are as many as x has.
  TensorValue repeat(const TensorValue& x, const Dims& lengths);
  TensorValue transpose_matrices(const TensorValue& x);  // the last two dimensions
  TensorValue diagonal(const TensorValue& x);            // of the last two dimensions, of equal length
  TensorValue all(const TensorValue& x);                 // of bool, a scalar
  TensorValue none(const TensorValue& x);
  TensorValue map(DType dtype, std::initializer_list<TensorValue> in, const ElementwiseRule& rule) {
    return map(dtype, std::span(in.begin(), in.size()), rule);
  }
};

// The access of a node to a TensorBuilder, its inputs and its outputs.
class TensorLowering {
 public:
  virtual ~TensorLowering() = default;
  virtual TensorBuilder& builder() = 0;

  virtual TensorValue in(int input) = 0;
  virtual Dims lengths_in(int input) = 0;
  // The value of an input, if it is known when the module is written: constants, lengths, and values computed from
  // them.
  virtual const Array* known(int input) = 0;
  // The known value of an input. NotImplementedError if it is not known; `what` describes the input.
  const Array& need_known(int input, std::string_view what);
  std::int64_t need_integer(int input, std::string_view what) { return need_known(input, what).int_item(); }

  // Whether the caller of the module checks that the elements of this input are in least..end - 1, with `message` for
  // the case that they are not. Otherwise the node has to require it.
  virtual bool host_checks_range(int input, std::int64_t least, std::int64_t end, const std::string& message) {
    (void)input, (void)least, (void)end, (void)message;
    return false;
  }

  virtual void out(int output, TensorValue value) = 0;
  virtual void out_known(int output, Array value) = 0;

  // The call fails if the bool scalar is false, with the error that `perform` raises on the same inputs, else with
  // `message`.
  virtual void require(const TensorValue& condition, std::string message) = 0;
  // An input that has indices into an axis, as positions from its start (int64). The call fails if one is out of range.
  TensorValue positions(int input, int axis, std::int64_t length, std::string_view who);

  virtual void loop(const InnerLoop& loop) = 0;
  virtual void choose(int condition, const Side& then, const Side& otherwise) = 0;
  // The outputs are those of these graphs over the node's inputs.
  virtual void express(const Variables& outputs) = 0;

  // NotImplementedError: this node can't be expressed for the target, for this reason.
  [[noreturn]] virtual void refuse(std::string_view why) = 0;
};

class EmitsTensors {
 public:
  virtual ~EmitsTensors() = default;
  // For an op that Blockwise applies to batches, tensors may have further leading dimensions.
  virtual void emit_tensors(TensorLowering& to, const Apply& node) const = 0;
};

}  // namespace bitale
