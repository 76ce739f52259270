// Decomposition of steps. `visit_parts` reports, once for each kind of step, which expressions it evaluates, which
// buffers it accesses and how, which variables it defines, and which steps it contains; all walks over a Program,
// read-only or rewriting, are built on it. Steps are decomposed by structured bindings, and kinds by exhaustive
// overload sets: a new field, or a new kind of step, does not compile until it is described here and in each pass that
// distinguishes kinds.
#pragma once

#include <concepts>
#include <string_view>
#include <type_traits>
#include <utility>

#include "program/program.hpp"

namespace bitale::program {

// ---- by kind --------------------------------------------------------------------------------------------------------

template <class... Fs>
struct Overloaded : Fs... {
  using Fs::operator()...;
};

template <class S>
concept AnyStep = std::same_as<std::remove_const_t<S>, Step>;

// In an overload set: [](const OneOf<Let, Update> auto&) {...}.
template <class S, class... Kinds>
concept OneOf = (std::same_as<std::remove_const_t<S>, Kinds> || ...);

// Calls the function for the step's kind. There must be one for each kind: a list of kinds that a pass treats alike is
// written with OneOf, and never as "everything else".
template <AnyStep S, class... Fs>
decltype(auto) match(S& step, Fs&&... fs) {
  return std::visit(Overloaded<std::decay_t<Fs>...>{std::forward<Fs>(fs)...}, step.what);
}

// The step as a loop, or null. Passes over loops ask here, so that a new kind that contains steps is considered once
// for all of them.
template <AnyStep S>
auto* as_loop(S& step) {
  using Found = std::conditional_t<std::is_const_v<S>, const Loop, Loop>;
  return match(
      step, [](Found& loop) -> Found* { return &loop; },
      [](const OneOf<Store, Accumulate, Let, Update, Allocate, Fill, Call, Check, HostCall, Next, If> auto&) -> Found* {
        return nullptr;
      });
}

// The step as one of another kind, or null: for passes that treat one kind of step, and leave all others alone.
template <class Kind>
struct AsKind {
  template <AnyStep S>
  auto* operator()(S& step) const {
    return std::get_if<Kind>(&step.what);
  }
};
inline constexpr AsKind<Store> as_store;
inline constexpr AsKind<Accumulate> as_add;
inline constexpr AsKind<Let> as_let;
inline constexpr AsKind<Update> as_update;
inline constexpr AsKind<Allocate> as_allocate;
inline constexpr AsKind<Fill> as_fill;
inline constexpr AsKind<Call> as_call;
inline constexpr AsKind<Check> as_check;
inline constexpr AsKind<HostCall> as_host_call;
inline constexpr AsKind<Next> as_next;
inline constexpr AsKind<If> as_if;

// Whether the IR allows a step in a loop; the verifier enforces it. Loops may only contain steps that emitters can
// repeat; memory is allocated, and the host called, at the top level.
inline bool may_be_in_loop(const Step& step) {
  return match(
      step, [](const OneOf<Store, Accumulate, Let, Update, Loop, Call, Check, Next, If> auto&) { return true; },
      [](const OneOf<Allocate, Fill, HostCall> auto&) { return false; });
}

// Whether the IR also allows it in a side of an If: memory and results of the host would be known on one side only.
inline bool may_be_in_if(const Step& step) {
  return match(
      step, [](const OneOf<Store, Accumulate, Let, Update, Loop, Fill, Call, Check, If> auto&) { return true; },
      [](const OneOf<Allocate, HostCall, Next> auto&) { return false; });
}

// Whether iterations of a vector loop may run the step together, as lanes.
inline bool may_be_in_lanes(const Step& step) {
  return match(
      step, [](const OneOf<Store, Accumulate, Let, Update> auto&) { return true; },
      [](const OneOf<Loop, Allocate, Fill, Call, Check, HostCall, Next, If> auto&) { return false; });
}

// For messages: "a store", "a loop".
std::string_view kind_name(const Step& step);

// ---- parts ----------------------------------------------------------------------------------------------------------

enum class Reach : std::uint8_t {
  element,       // the element at `at`
  whole,         // every element
  runtime_call,  // memory that is passed to a runtime function
  host_call,     // an input of a host call; or an output, whose memory the host provides
};

// An access of the step itself to a buffer. Loads in its expressions are accesses, too, but are found in those.
template <class AnyId, class AnyIndices>
struct BasicAccess {
  AnyId& buffer;
  AnyIndices* at;  // of an element; null for all else
  AccessKind kind;
  Reach reach;
  bool reads() const { return kind != AccessKind::write; }
  bool writes() const { return kind != AccessKind::read; }
};
using Access = BasicAccess<const std::int64_t, const std::vector<Expr>>;
using MutableAccess = BasicAccess<std::int64_t, std::vector<Expr>>;

enum class Definition : std::uint8_t {
  index,     // of a loop: known in its body
  named,     // by a Let, or as the status of a call, from there on
  carried,   // by a loop: known after it; prefix scans also in each iteration, after their update
  combined,  // by an update, or as the next value of a state: a carried variable
};

// A visitor that ignores all parts. Derived visitors hide the functions for the parts that they need.
struct IgnoredParts {
  void expr(const Expr&) {}
  template <class Id, class Indices>
  void access(Id&, Indices*, AccessKind, Reach) {}
  template <class Var>
  void define(Var&, Definition) {}
  template <class Body>
  void body(Body&) {}
  void allocate(const std::int64_t&) {}
};

namespace parts {

// The indices of an access that is not to an element.
template <class S>
constexpr std::conditional_t<std::is_const_v<S>, const std::vector<Expr>, std::vector<Expr>>* nowhere = nullptr;

template <OneOf<Store> S, class V>
void visit(S& step, V& v) {
  auto& [buffer, at, value] = step;
  v.access(buffer, &at, AccessKind::write, Reach::element);
  for (auto& index : at) v.expr(index);
  v.expr(value);
}
template <OneOf<Accumulate> S, class V>
void visit(S& step, V& v) {
  auto& [buffer, at, combiner, value, by_runs] = step;
  v.access(buffer, &at, AccessKind::combine, Reach::element);
  for (auto& index : at) v.expr(index);
  v.expr(value);
}
template <OneOf<Let> S, class V>
void visit(S& step, V& v) {
  auto& [var, value] = step;
  v.expr(value);
  v.define(var, Definition::named);
}
template <OneOf<Update> S, class V>
void visit(S& step, V& v) {
  auto& [var, combiner, value, position_var, position] = step;
  v.expr(value);
  if (position.defined()) v.expr(position);
  v.define(var, Definition::combined);
  if (position_var.defined()) v.define(position_var, Definition::combined);
}
template <OneOf<Loop> S, class V>
void visit(S& step, V& v) {
  auto& [index, extent, carries, body, vector, prefetch_distance, transposes, until, parallel_cost, lane_order,
         schedule] = step;
  v.expr(extent);
  if (parallel_cost.defined()) v.expr(parallel_cost);
  for (auto& [var, kind, combiner, init] : carries)
    if (init.defined()) v.expr(init);
  v.define(index, Definition::index);
  for (auto& [var, kind, combiner, init] : carries) v.define(var, Definition::carried);
  v.body(body);
  if (until.defined()) v.expr(until);
}
template <OneOf<Next> S, class V>
void visit(S& step, V& v) {
  auto& [var, value] = step;
  v.expr(value);
  v.define(var, Definition::combined);
}
template <OneOf<If> S, class V>
void visit(S& step, V& v) {
  auto& [condition, then, otherwise] = step;
  v.expr(condition);
  v.body(then);
  v.body(otherwise);
}
template <OneOf<Allocate> S, class V>
void visit(S& step, V& v) {
  auto& [buffer] = step;
  v.allocate(buffer);
}
template <OneOf<Fill> S, class V>
void visit(S& step, V& v) {
  auto& [buffer, value] = step;
  v.access(buffer, nowhere<S>, AccessKind::write, Reach::whole);
  v.expr(value);
}
template <OneOf<Call> S, class V>
void visit(S& step, V& v) {
  auto& [function, arguments, status] = step;
  for (auto& argument : arguments) {
    if (auto* expr = std::get_if<Expr>(&argument)) {
      v.expr(*expr);
    } else {
      auto& [buffer, kind, offset] = std::get<BufferArgument>(argument);
      v.access(buffer, nowhere<S>, kind, Reach::runtime_call);
      if (offset.defined()) v.expr(offset);
    }
  }
  if (status.defined()) v.define(status, Definition::named);
}
template <OneOf<Check> S, class V>
void visit(S& step, V& v) {
  auto& [condition, check] = step;
  v.expr(condition);
}
template <OneOf<HostCall> S, class V>
void visit(S& step, V& v) {
  auto& [callback, inputs, outputs] = step;
  for (auto& buffer : inputs) v.access(buffer, nowhere<S>, AccessKind::read, Reach::host_call);
  for (auto& buffer : outputs) v.access(buffer, nowhere<S>, AccessKind::write, Reach::host_call);
}

}  // namespace parts

// Visits every part of one step; of nested steps, only the lists. An access comes before the expressions of its
// indices, and these come before the definitions of the step.
template <AnyStep S, class V>
void visit_parts(S& step, V&& visitor) {
  std::visit([&](auto& kind) { parts::visit(kind, visitor); }, step.what);
}

// ---- walks ----------------------------------------------------------------------------------------------------------

namespace parts {

template <class E, class Visit>
struct OfExprs : IgnoredParts {
  Visit& visit_expr;
  void expr(E& e) { visit_expr(e); }
};
template <class Visit>
struct OfAccesses : IgnoredParts {
  Visit& visit_access;
  template <class Id, class Indices>
  void access(Id& buffer, Indices* at, AccessKind kind, Reach reach) {
    visit_access(BasicAccess<Id, Indices>{buffer, at, kind, reach});
  }
};
template <class Visit>
struct OfBodies : IgnoredParts {
  Visit& visit_body;
  template <class Body>
  void body(Body& steps) {
    visit_body(steps);
  }
};
template <class Visit>
struct OfDefinitions : IgnoredParts {
  Visit& visit_definition;
  template <class Var>
  void define(Var& var, Definition kind) {
    visit_definition(var, kind);
  }
};

}  // namespace parts

// Every expression that one step evaluates, without those of nested steps: visit(Expr&), for a constant step
// visit(const Expr&).
template <AnyStep S, class Visit>
void for_each_expr(S& step, Visit&& visit) {
  using E = std::conditional_t<std::is_const_v<S>, const Expr, Expr>;
  visit_parts(step, parts::OfExprs<E, Visit>{{}, visit});
}
// Every access of one step: visit(Access), for a mutable step visit(MutableAccess).
template <AnyStep S, class Visit>
void for_each_access(S& step, Visit&& visit) {
  visit_parts(step, parts::OfAccesses<Visit>{{}, visit});
}
// Every list of steps in one step.
template <AnyStep S, class Visit>
void for_each_body(S& step, Visit&& visit) {
  visit_parts(step, parts::OfBodies<Visit>{{}, visit});
}
// Every variable or index that one step defines: visit(Expr&, Definition).
template <AnyStep S, class Visit>
void for_each_definition(S& step, Visit&& visit) {
  visit_parts(step, parts::OfDefinitions<Visit>{{}, visit});
}

// Every step, each before its nested steps. Nesting is as deep as arrays have dimensions.
template <class S, class Visit>
requires std::same_as<std::remove_const_t<S>, Steps>
void visit_steps(S& steps, Visit&& visit) {
  for (auto& step : steps) {
    visit(step);
    for_each_body(step, [&](auto& body) { visit_steps(body, visit); });
  }
}

// Every element that one step's expressions load, once over all calls with one walk: visit(Expr load).
template <AnyStep S, class Visit>
void for_each_load(S& step, ExprWalk& walk, Visit&& visit) {
  for_each_expr(step, [&](const Expr& root) {
    walk(root, [&](Expr expr) {
      if (expr.code() == Code::load) visit(expr);
    });
  });
}

// The expressions of one step and its nested steps.
template <AnyStep S, class Visit>
void for_each_expr_within(S& step, Visit&& visit) {
  for_each_expr(step, visit);
  for_each_body(step, [&](auto& body) { visit_steps(body, [&](auto& inner) { for_each_expr(inner, visit); }); });
}
// Every element that the lengths of buffers load, which their allocations read, once: visit(Expr load).
template <class Visit>
void for_each_load_of_lengths(const Program& program, Visit&& visit) {
  ExprWalk walk;
  for (auto& buffer : program.buffers)
    for (auto& length : buffer.shape)
      walk(length, [&](Expr expr) {
        if (expr.code() == Code::load) visit(expr);
      });
}

// The accesses of one step and its nested steps.
template <class Visit>
void for_each_access_within(const Step& step, Visit&& visit) {
  for_each_access(step, visit);
  for_each_body(
      step, [&](const Steps& body) { visit_steps(body, [&](const Step& inner) { for_each_access(inner, visit); }); });
}
// Every buffer that these read or write, some more than once: visit(buffer).
template <class Visit>
void for_each_buffer(const Step& step, Visit&& visit) {
  ExprWalk walk;
  for_each_expr_within(step, [&](const Expr& root) {
    walk(root, [&](Expr expr) {
      if (expr.code() == Code::load) visit(expr.payload());
    });
  });
  for_each_access_within(step, [&](const Access& access) { visit(access.buffer); });
}

// Whether one step, without its nested steps, may end the call with an error.
inline bool may_fail(const Step& step) {
  return match(
      step, [](const OneOf<Check, HostCall, Allocate> auto&) { return true; },
      [](const OneOf<Store, Accumulate, Let, Update, Loop, Fill, Call, Next, If> auto&) { return false; });
}

// Whether the step computes from expressions and memory alone, and contains no other steps.
inline bool is_simple(const Step& step) {
  return match(
      step, [](const OneOf<Store, Accumulate, Let, Update> auto&) { return true; },
      [](const OneOf<Loop, Allocate, Fill, Call, Check, HostCall, Next, If> auto&) { return false; });
}

}  // namespace bitale::program
