// Scalar operations as C text: each Code of a Program in C99, without undefined behaviour, and named functions for
// elementary functions, written from the same expansions that all code generators use.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <unordered_map>

#include "codegen/c/spelling.hpp"
#include "codegen/c/support.hpp"
#include "program/program.hpp"

namespace bitale::codegen::c {

class Operations {
 public:
  using Expr = program::Expr;
  // Called for each function that is used and not in the C library, with its name and its prototype.
  using Declare = std::function<void(const std::string& name, const std::string& prototype)>;
  Operations(const program::Program& program, Support& support, Declare declare)
      : program_(program), support_(support), declare_(std::move(declare)) {}

  // The text of an expression of any code but constant, index, dim, var and load. `plain`: integers that can't
  // overflow.
  Text operator()(Expr expr, std::span<const Text> arguments, bool plain = false);

  // The name of a function that computes `expr` from the arguments of its source call (exp(x), say); the body is the
  // expansion. Empty when there is no source call, or when the expansion is short or depends on more than those
  // arguments.
  std::string function_for(Expr expr);

  // Declares a function that is called, unless it is in the C library.
  void require(const std::string& function, DType result, std::span<const DType> arguments);
  // The text of combine(a, b).
  std::string combined(program::Combiner combiner, DType dtype, const Text& a, const Text& b);

  static constexpr std::size_t shortest_function = 5;  // operations; for fewer, no function is written

 private:
  Text compared(Expr expr, std::span<const Text> arguments);
  Text arithmetic(const char* symbol, Expr expr, std::span<const Text> arguments, bool plain);
  Text called(std::string_view function, DType dtype, std::span<const Text> arguments);
  Text cast(const Text& value, DType from, DType to);
  Text bitcast(const Text& value, DType from, DType to);
  std::string define(Expr root, std::span<const Expr> parameters, std::string_view wanted, std::size_t shortest);

  const program::Program& program_;
  Support& support_;
  Declare declare_;
  std::unordered_map<std::uint32_t, std::string> functions_;     // by expression
  std::unordered_map<std::int64_t, std::string> own_functions_;  // of the Program, by the payload of their calls
  std::unordered_map<std::string, std::string> bodies_;          // by definition without its name
  std::unordered_map<std::string, std::string> tables_;          // by type and elements
};

std::string prototype(const std::string& function, DType result, std::span<const DType> arguments);

}  // namespace bitale::codegen::c
