// Straight code: steps whose short loops are unrolled, and in which the elements of chosen buffers are variables.
// Whoever makes the body of a loop of it says what an element is that is read before it is written.
#pragma once

#include <functional>
#include <optional>
#include <set>
#include <vector>

#include "lowering/declarations.hpp"
#include "program/substitute.hpp"

namespace bitale::lowering {

// Expressions that a step evaluates, and one for the step.
std::int64_t expression_count(const program::Step& step);
// Whether a place is a number once the loops of these indices are unrolled.
bool is_number_of(Expr place, const std::vector<Expr>& indices);

// Every access in a step and the steps in it: visit(buffer, places or null, writes). `indices` are those of the loops
// in the step that are known there.
void for_each_place(const program::Step& step, std::vector<Expr>& indices,
                    const std::function<void(std::int64_t buffer, const std::vector<Expr>* at, bool writes)>& visit);

class StraightCode {
 public:
  // `first_read`: the value of an element, given as a load, that no step has stored yet.
  StraightCode(program::Program& program, Declarations& declare, const std::set<std::int64_t>& chosen,
               std::function<Expr(Expr load)> first_read)
      : program_(program),
        pool_(*program.pool),
        declare_(declare),
        chosen_(chosen),
        first_read_(std::move(first_read)) {}

  // A step as it is, but for elements of the chosen buffers.
  void append(program::Step step, program::Steps& to);
  // A step whose loops are of known lengths.
  void unroll(const program::Step& step, program::Steps& to);

  // Elements of the chosen buffers that were stored, as loads, in the order of their first stores.
  const std::vector<Expr>& stored() const { return stored_; }
  // What an element is that was read or stored.
  Expr value_of(std::uint32_t load) const { return current_.at(load); }

 private:
  Expr element_of(std::int64_t buffer, std::span<const Expr> at);
  Expr promoted(Expr root);
  Expr named(Expr value, program::Steps& to);
  void set(std::int64_t buffer, const std::vector<Expr>& at, Expr value, program::Steps& to);
  void replace_in(program::Step& step);

  program::Program& program_;
  program::ExprPool& pool_;
  Declarations& declare_;
  const std::set<std::int64_t>& chosen_;
  const std::function<Expr(Expr)> first_read_;
  program::Substitution renamed_;  // indices and variables of unrolled loops
  program::Substitution current_;  // loads of elements: what they are at this step
  std::vector<Expr> stored_;
};

}  // namespace bitale::lowering
