// Computations: values that are computed and stored, each with its loops. They are the units that loop nests are built
// of.
#pragma once

#include <optional>
#include <unordered_map>
#include <variant>
#include <vector>

#include "bitale/graph/variable.hpp"
#include "bitale/program/carry.hpp"
#include "lowering/declarations.hpp"
#include "program/steps.hpp"

namespace bitale::lowering {

using program::CarryKind;
using program::Combiner;
using program::Program;

// A value for each element of a domain.
struct Elements {
  std::vector<Expr> domain = {};   // extents of its loops, outermost first
  std::vector<Expr> indices = {};  // of the loops; the constant 0 where the extent is 1
  Expr value = {};
  std::int64_t buffer = -1;  // where it is stored; -1: in a variable only
  std::vector<Expr> at = {};
  bool is_segment = false;  // other computations write the rest of the buffer
};
// buffer[at] = value, or buffer[at] (op)= value with a combiner.
struct Stored : Elements {
  std::optional<Combiner> combiner = {};
};
// The value is combined along axes of the domain: in a variable along the last ones, in the buffer along others. If
// there are no such axes, it is a scalar that has a variable.
struct Scanned : Elements {
  CarryKind kind = CarryKind::reduce;
  Combiner combiner = Combiner::add;
  std::vector<bool> along = {};           // per axis of the domain
  Expr var = {};                          // the carried variable
  Expr position_var = {}, position = {};  // arg_reduce: the position of the extreme so far, and that of the element
  std::int64_t extremes = -1;  // arg_reduce along axes other than the last ones: the extremes so far, by position
};
// A complete step with everything in it: a call, a check, a loop with states, a branch.
struct Opaque {
  program::Step step;
  std::vector<std::int64_t> reads = {}, writes = {};  // buffers
  std::vector<Expr> vars = {};                        // that are defined after it
};

struct Computation {
  std::variant<Stored, Scanned, Opaque> what;
  std::vector<int> checks = {};  // that guard its reads
  bool is_overwritten = false;   // completely, by later computations, before it is read
  bool is_costly = false;        // an element is worth a store and a load (costs::choose::materialize)
  ApplyNode* node = nullptr;     // whose result it is, or is a part of

  template <class Kind>
  const Kind* as() const {
    return std::get_if<Kind>(&what);
  }
  // Null for an opaque step.
  const Elements* elements() const {
    return std::visit(program::Overloaded{[](const Elements& elements) { return &elements; },
                                          [](const Opaque&) -> const Elements* { return nullptr; }},
                      what);
  }
  Elements* elements() { return const_cast<Elements*>(std::as_const(*this).elements()); }
};

// Visits the results of a computation: on_buffer(number), on_var(Expr).
template <class OnBuffer, class OnVar>
void for_each_result(const Computation& computation, OnBuffer&& on_buffer, OnVar&& on_var) {
  if (const auto* elements = computation.elements(); elements && elements->buffer >= 0) on_buffer(elements->buffer);
  const auto known = [&](Expr var) {
    if (var.defined()) on_var(var);
  };
  std::visit(program::Overloaded{[](const Stored&) {},
                                 [&](const Scanned& scanned) { known(scanned.var), known(scanned.position_var); },
                                 [&](const Opaque& opaque) {
                                   for (auto buffer : opaque.writes) on_buffer(buffer);
                                   for (auto& var : opaque.vars) known(var);
                                 }},
             computation.what);
}

// Everything that a graph becomes before it has loops.
struct Computations {
  struct CheckRecord {
    Apply node;                // that requested it
    int computation = -1;      // that makes it; -1: at entry
    bool is_expected = false;  // whether loops may run before it
  };
  std::vector<Computation> list;
  std::vector<CheckRecord> checks;  // by number
  program::Steps entry_checks;
  // Loads in lengths and indices, by number: the checks that guard them.
  std::unordered_map<std::uint32_t, std::vector<int>> load_guards;
};

// Whether both only store to the same buffer, and never to the same element: they may come in any order.
bool have_disjoint_stores(const Declarations& declared, const Computation& a, const Computation& b);
// Marks computations whose results are completely overwritten before they are read.
void drop_overwritten(const Program& program, const Declarations& declared, Computations& computations);
// Orders computations, lets them share loops and writes the program's steps.
void build_nests(Program& program, const Declarations& declared, Computations& computations);

}  // namespace bitale::lowering
