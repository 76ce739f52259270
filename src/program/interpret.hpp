// Evaluates scalar expressions without generating code: the definition of what each Code means, for tests of expansions
// and for the evaluation of constant expressions.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "program/expr.hpp"

namespace bitale::program {

// One expression as a flat list of operations over numbered slots. `variables` are what is given at each evaluation:
// var, index or dim nodes. InternalError for an expression that reads memory or another variable.
class Interpreter {
 public:
  // Where the functions of calls are: runtime::find_symbol. Without it an expression must not call.
  using FindFunction = void* (*)(std::string_view name);
  Interpreter(Expr root, std::span<const Expr> variables, FindFunction find = nullptr);

  // Bits as in a constant's payload.
  std::int64_t bits(std::span<const std::int64_t> values) const;
  // For expressions of floats and integers alike: converts to and from double.
  double operator()(std::span<const double> values) const;
  double operator()(double value) const { return (*this)(std::span<const double>(&value, 1)); }

 private:
  struct Step {
    Code code;
    DType dtype, argument_dtype;
    int argument_count;
    int arguments[4];
    std::int64_t payload;  // constants: bits; calls: the function's address
    int out;
  };
  void add(Expr expr, std::vector<int>& slots, FindFunction find);
  std::int64_t run(const Step& step, const std::int64_t* slots) const;

  std::vector<Step> steps_;
  std::vector<std::pair<int, std::int64_t>> constants_;  // slot, bits
  std::vector<std::vector<std::int64_t>> tables_;        // of lookups, by their payload
  std::vector<int> variable_slots_;
  std::vector<DType> variable_dtypes_;
  int slot_count_ = 0, root_slot_ = 0;
  DType dtype_;
};

// Conversions between numbers and payload bits.
std::int64_t to_bits(double value, DType dtype);
double from_bits(std::int64_t bits, DType dtype);

}  // namespace bitale::program
