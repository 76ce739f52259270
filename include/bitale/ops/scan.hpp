// scan: a loop whose steps are given by a function of symbolic values, called once to build the step's graph.
//
//   auto y = scan({.sequences = {x}, .initial = {y0}}, [&](Variable x_t, Variable y) { return a * y + x_t; });
//   y.traces[0]    // y after each step
//   y.finals[0]    // y after the last step
#pragma once

#include <concepts>
#include <cstdint>
#include <memory>
#include <optional>
#include <source_location>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "bitale/graph/traversal.hpp"
#include "bitale/ops/operand.hpp"

namespace bitale {

// A sequence that is stepped through along its first axis. A tap k gives the element k steps ahead (behind, if
// negative); steps are made where all taps have an element.
struct ScanSequence {
  ScanSequence(const Variable& given_input, std::vector<int> given_taps = {0})
      : input(given_input), taps(std::move(given_taps)) {}
  Variable input;
  std::vector<int> taps;
};
// The initial value of a result. Taps (negative) select the earlier values that a step takes: with {-1} the initial
// value is one value; with others it is a stack of as many as the furthest tap goes back, the oldest first. Null: the
// step takes no earlier value.
struct ScanInitial {
  ScanInitial() = default;
  ScanInitial(const Operand& given_value, std::vector<int> given_taps = {-1})
      : value(given_value.variable), taps(std::move(given_taps)) {}
  ScanInitial(const Variable& given_value, std::vector<int> given_taps = {-1})
      : value(given_value), taps(std::move(given_taps)) {}
  template <Element T>
  ScanInitial(T number, std::vector<int> given_taps = {-1})
      : value(Operand(number).variable), taps(std::move(given_taps)), is_weak(true) {}
  Variable value;
  std::vector<int> taps;
  bool is_weak = false;  // a number whose dtype adapts to that of the next value
};

struct ScanArguments {
  std::vector<ScanSequence> sequences = {};
  std::vector<ScanInitial> initial = {};
  Variables non_sequences = {};
  std::optional<Operand> n_steps = {};  // none: as many as the sequences have elements
  bool go_backwards = false;            // step through the sequences from their ends
  std::int64_t truncate_gradient = -1;  // how many of the last steps the gradient goes back; -1: all
  bool strict = false;                  // refuse shared variables that are not among non_sequences
  std::string name = {};
};

// The result of a step: one value per result, in the order of `initial`; where `initial` is empty, results have no
// earlier values. `until`: a scalar bool; the step in which it holds is the last. `updates`: of shared variables.
struct ScanStep {
  ScanStep(Variable output) : outputs{std::move(output)} {}
  ScanStep(Variables given_outputs, Variable given_until = {}, Replacements given_updates = {})
      : outputs(std::move(given_outputs)), until(std::move(given_until)), updates(std::move(given_updates)) {}
  Variables outputs;
  Variable until;
  Replacements updates;
};

struct ScanParts;  // ops/scan/scan.hpp

struct ScanResult {
  Variables traces;  // each result after each step, stacked along a new first axis; initial values are left out
  Variables finals;  // after the last step; null for results without an earlier value
  Variable steps;    // number of steps made
  Replacements updates;
};

// Builds a scan in two phases, for callers that call the step themselves: `arguments` are elements of sequences,
// earlier values by tap, and non_sequences, in this order; `finish` builds the loop from the step's result for them.
// ValueError: no sequence and no n_steps, a negative n_steps, taps that reach before the start, a different number of
// results than initial values. TypeError: a state whose dtype, rank or static length changes, an `until` that is not a
// scalar bool. ShapeError, when it is built or when it runs: sequences of different lengths, or shorter than n_steps.
class ScanBuilder {
 public:
  // where: of the caller, for the nodes outside of the step.
  explicit ScanBuilder(ScanArguments arguments, const Location& where = {});
  const Variables& arguments() const { return leaves_; }
  // Whether an initial number takes another dtype for these results. If so, `arguments` have been replaced, and the
  // step must be called again.
  bool adapts_to(const ScanStep& step);
  ScanResult finish(const ScanStep& step) const;

 private:
  void make_leaves();
  std::string called() const;
  void require_known_leaves(const Variables& results, const ScanParts& parts, const Replacements& updated) const;
  void name_values(const Variables& results, const Replacements& updated, ScanParts& parts) const;
  Variables with_states(const Variables& results, const Replacements& updated, ScanParts& parts) const;

  ScanArguments given_;
  Location where_;
  Variable n_steps_;
  Variables slices_, elements_;              // of sequences, by tap
  std::vector<Variables> initial_, states_;  // of each result, by how far they go back
  Variables leaves_;
};

namespace scan_detail {
template <std::size_t>
using AnyVariable = Variable;
template <class F, std::size_t... I>
constexpr bool takes(std::index_sequence<I...>) {
  return std::is_invocable_v<F, AnyVariable<I>...>;
}
template <class F, std::size_t N = 0>
constexpr std::size_t arity() {
  static_assert(N <= 24, "scan: the step must take symbolic values (Variable), at most 24 of them");
  if constexpr (takes<F>(std::make_index_sequence<N>()))
    return N;
  else
    return arity<F, N + 1>();
}
[[noreturn]] void refuse_arity(std::size_t taken, std::size_t given);
}  // namespace scan_detail

// Calls `step` with elements of the sequences and earlier values. It returns a Variable, Variables, or a ScanStep, and
// may use any variable of its environment.
template <class F>
ScanResult scan(ScanArguments arguments, F&& step, std::source_location where = std::source_location::current()) {
  ScanBuilder builder(std::move(arguments), where);
  constexpr std::size_t count = scan_detail::arity<F>();
  for (;;) {
    const Variables& leaves = builder.arguments();
    if (leaves.size() != count) scan_detail::refuse_arity(count, leaves.size());
    const ScanStep result = [&]<std::size_t... I>(std::index_sequence<I...>) { return ScanStep(step(leaves[I]...)); }
    (std::make_index_sequence<count>());
    if (!builder.adapts_to(result)) return builder.finish(result);
  }
}

}  // namespace bitale
