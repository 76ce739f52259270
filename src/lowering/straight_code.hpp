// Straight code: steps whose short loops are unrolled, with variables in place of the elements of chosen buffers. The
// user of StraightCode provides the values of elements that are read before they are written.
#pragma once

#include <functional>
#include <optional>
#include <set>
#include <vector>

#include "lowering/declarations.hpp"
#include "program/accesses.hpp"
#include "program/substitute.hpp"

namespace bitale::lowering {

// The number of expressions that a step evaluates, plus one for the step.
std::int64_t expression_count(const program::Step& step);
// Whether an index is a constant once the recorded loops around its access, from `level` on, are unrolled.
bool is_number_of(Expr at, const program::Accesses& accesses, int level);

class StraightCode {
 public:
  // `first_read` returns the value of an element, given as a load, that no step has stored yet.
  StraightCode(program::Program& program, Declarations& declare, const std::set<std::int64_t>& chosen,
               std::function<Expr(Expr load)> first_read)
      : program_(program),
        pool_(*program.pool),
        declare_(declare),
        chosen_(chosen),
        first_read_(std::move(first_read)) {}

  // Appends a step as it is, except for elements of the chosen buffers.
  void append(program::Step step, program::Steps& to);
  // Unrolls a step whose loops have known lengths.
  void unroll(const program::Step& step, program::Steps& to);

  // Elements of the chosen buffers that were stored, as loads, in the order of their first stores.
  const std::vector<Expr>& stored() const { return stored_; }
  // The current value of an element that was read or stored.
  Expr value_of(std::uint32_t load) const { return current_.at(load); }

 private:
  Expr element_of(std::int64_t buffer, std::span<const Expr> at);
  Expr promoted(Expr root);
  Expr named(Expr value, program::Steps& to);
  void set(std::int64_t buffer, const std::vector<Expr>& at, Expr value, program::Steps& to);

  program::Program& program_;
  program::ExprPool& pool_;
  Declarations& declare_;
  const std::set<std::int64_t>& chosen_;
  const std::function<Expr(Expr)> first_read_;
  program::Substitution renamed_;  // indices and variables of unrolled loops
  program::Substitution current_;  // loads of elements: their values at this step
  std::vector<Expr> stored_;
};

}  // namespace bitale::lowering
