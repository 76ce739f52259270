// ScalarOp: one record per elementwise operation, with all its duties: dtype rule, evaluation, native expansion,
// derivatives, traits, samples. Elemwise (elemwise.hpp) applies a record to whole tensors. Rewrites query traits, not
// names.
#pragma once

#include <array>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "bitale/core/dtype.hpp"
#include "bitale/graph/complex.hpp"
#include "bitale/graph/variable.hpp"
#include "bitale/program/expr.hpp"
#include "core/unique_name.hpp"

namespace bitale {

struct Range;
namespace exact {
class Number;
}
// Absent where the function is mathematically undefined: a division by zero, a logarithm of a negative number.
using ExactValue = std::optional<exact::Number>;
using Ranges = std::span<const Range>;

// The dtype that inputs are converted to before evaluation, and the dtype of the output. A condition (of `switch`) is
// converted to bool.
struct ScalarTypes {
  DType compute;
  DType out;
};

enum Trait : std::uint32_t {
  commutative = 1u << 0,
  associative = 1u << 1,
  odd = 1u << 2,  // f(-x) = -f(x)
  even = 1u << 3,
  increasing = 1u << 4,  // monotone
  decreasing = 1u << 5,
  keeps_zero = 1u << 6,  // f(0) = 0
  idempotent = 1u << 7,  // f(f(x)) = f(x) for unary, f(x, x) = x for binary
  involution = 1u << 8,  // f(f(x)) = x
  comparison = 1u << 9,
  cheap = 1u << 10,            // costs no more than a load to recompute
  discrete_output = 1u << 11,  // piecewise constant: the derivative is zero wherever it exists
  linear = 1u << 12,           // f(a + b) = f(a) + f(b)
  regular = 1u << 13,  // value and derivatives are finite for finite operands, unless a product or sum overflows
};

// Evaluates n elements: strides in bytes, one pointer per input, dtype is the compute dtype.
using ScalarLoop = void (*)(std::int64_t n, const char* const* in, const std::int64_t* in_strides, char* out,
                            std::int64_t out_stride);

// The reference evaluation, by compute dtype; null if it is not defined. `out` is the dtype that a loop writes: the
// compute dtype, or bool for predicates.
struct ScalarLoops {
  std::array<ScalarLoop, dtype_count> run = {};
  std::array<DType, dtype_count> out = {};
};

// What the record of an op defines if the op takes complex numbers.
struct ComplexImplementation {
  enum class Result : std::uint8_t { complex, real, boolean };
  Result result = Result::complex;
  std::array<ScalarLoop, 2> loops = {};  // of complex64, of complex128
  // The parts of the value, in terms of those of the operands, all of the dtype of a component. A value without an
  // imaginary part is real. Null: the op is computed by `perform`.
  ComplexParts (*parts)(std::span<const ComplexParts> in) = nullptr;
  // The derivative is a complex number by which tangents are multiplied: the record's partials apply.
  bool holomorphic = false;
};

// The point at which a derivative is taken: the inputs, the output, and the factor g of the chain rule (a cotangent or
// a tangent). All have the rank of the output.
struct ChainPoint {
  Variable g = {}, x = {}, y = {}, z = {}, w = {}, out = {};
};
// g times d out / d one input, as a graph expression. The factor is passed in so that a rule can give more than a
// product with g: g / y rather than g * (1 / y), and zero (not 0 * inf) in the branch that was not taken.
using ChainRule = Variable (*)(const ChainPoint& at);
// The derivative is zero: between the steps of a piecewise constant function.
Variable zero_derivative(const ChainPoint& at);
// The derivative by this input is not defined here: requesting it raises a NullTypeGradError.
Variable no_derivative(const ChainPoint& at);
// The output's value does not depend on the input (a condition, the shape-giver of `second`).
inline constexpr ChainRule not_connected = nullptr;

// The interval from which an input of a sample is taken. Integer dtypes round it inwards.
struct Interval {
  double low, high;
};

struct ScalarOp {
  std::string_view name;         // "true_div"; the function's name
  std::string_view title;        // "True_div": how dprint shows it
  std::string_view doc;          // one sentence, with the source of a formula
  std::string_view symbol = {};  // infix or function text of pprint: "/", "sqrt"
  int precedence = 0;            // of the infix symbol; 0: written as a function
  int arity = 1;
  bool reads_shape_of_first = false;  // and not its value
  bool has_condition = false;         // the first input is a condition: bool, whatever the compute dtype
  ScalarTypes (*dtypes)(std::span<const DType> in) = nullptr;  // TypeError when not allowed
  ScalarLoops loops = {};
  const ComplexImplementation* complex = nullptr;  // none: TypeError for complex operands
  // The value as a Program expression; arguments already have the compute dtype.
  program::Expr (*expand)(std::span<const program::Expr> in, DType compute) = nullptr;
  // The operation of StableHLO or CHLO that is this function of floats ("stablehlo.exponential"), if there is one.
  std::string_view stablehlo = {};
  std::vector<ChainRule> partials = {};  // one per input; none for discrete outputs
  std::uint32_t traits = 0;
  std::vector<Interval> domain = {};  // per input
  std::vector<double> edges = {};     // special values that evaluation must get right
  double identity = 0;                // neutral element, when has_identity
  bool has_identity = false;
  // Bounds of the values, given those of the inputs and the dtype of the output (graph/range.hpp). Null: the values at
  // the input's bounds if the op is monotone, else unknown.
  Range (*range)(Ranges in, DType out) = nullptr;
  // The value in exact arithmetic, against which rules are checked (ops/elementwise/exact.hpp). For an op with a
  // condition, the value of the branch that is taken.
  ExactValue (*exact)(std::span<const exact::Number> in) = nullptr;

  // Whether only the shape of this input is read, not its value (`second`).
  bool gives_shape(int input) const { return reads_shape_of_first && input == 0; }
  bool has(Trait trait) const { return (traits & trait) != 0; }
  DType input_dtype(int input, DType compute) const { return has_condition && input == 0 ? DType::Bool : compute; }
};

// Registration at load time; names are unique (InternalError otherwise).
struct RegisterScalarOp {
  explicit RegisterScalarOp(ScalarOp op);
};
// KeyError with a suggestion for an unknown name. The record is never destroyed.
const ScalarOp& scalar_op(std::string_view name);
std::vector<const ScalarOp*> scalar_ops();  // by name

#define SCALAR_OP(...) \
  static const ::bitale::RegisterScalarOp BITALE_UNIQUE_NAME(scalar_op_)(::bitale::ScalarOp __VA_ARGS__)

}  // namespace bitale
