// Evaluates scalar expressions without generating code, by the kernels that define what each Code means: for tests of
// expansions.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "bitale/program/expr.hpp"

namespace bitale::program {

// Finds the functions of calls: runtime::find_symbol.
using FindFunction = void* (*)(std::string_view name);

// The operation of a node on the bits of its arguments. A lookup has all arguments but the first in `table`.
struct Operation {
  Code code;
  DType dtype, argument_dtype;
  int argument_count;
  std::int64_t payload;  // constants: bits; calls: the function's address
  std::vector<std::int64_t> table = {};
};
// Throws InternalError for nodes that stand for memory, indices, lengths and variables, and for functions that `find`
// does not know.
Operation operation_of(Expr expr, FindFunction find = nullptr);
std::int64_t evaluate(const Operation& operation, std::int64_t a, std::int64_t b, std::int64_t c, std::int64_t d,
                      std::int64_t e = 0);

// One expression as a flat list of operations over numbered slots. `variables` are given at each evaluation: var, index
// or dim nodes. Throws InternalError for an expression that reads memory or another variable.
class Interpreter {
 public:
  // Without `find` an expression must not contain calls.
  Interpreter(Expr root, std::span<const Expr> variables, FindFunction find = nullptr);

  // Bits as in a constant's payload.
  std::int64_t bits(std::span<const std::int64_t> values) const;
  // For expressions of floats and integers alike: converts to and from double.
  double operator()(std::span<const double> values) const;
  double operator()(double value) const { return (*this)(std::span<const double>(&value, 1)); }

 private:
  struct Step {
    Operation operation;
    int arguments[5];
    int out;
  };
  void add(Expr expr, std::vector<int>& slots, FindFunction find);
  std::vector<Step> steps_;
  std::vector<std::pair<int, std::int64_t>> constants_;  // slot, bits
  std::vector<int> variable_slots_;
  std::vector<DType> variable_dtypes_;
  int slot_count_ = 0, root_slot_ = 0;
  DType dtype_;
};

// Conversions between numbers and payload bits.
std::int64_t to_bits(double value, DType dtype);
double from_bits(std::int64_t bits, DType dtype);

}  // namespace bitale::program
