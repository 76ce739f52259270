// scan along a named dimension: the steps get and give labelled tensors without that dimension, and the results have it
// in front. Arguments and errors are those of bitale/ops/scan.hpp otherwise.
//
//   auto out = xtensor::scan({.sequences = {x}, .initial = {start}}, "time",
//                            [&](XVariable x, XVariable level) { return rate * (x - level) + level; });
//   XVariable levels = out.traces[0];
#pragma once

#include <cstdint>
#include <optional>
#include <source_location>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "bitale/ops/scan.hpp"
#include "bitale/xtensor/variable.hpp"

namespace bitale::xtensor {

// A labelled tensor, or one without names, which is stepped through along its first axis.
class AnyTensor : public std::variant<Variable, XVariable> {
 public:
  using variant::variant;
  AnyTensor() = default;
  // TypeError for a tensor with dimensions that have no names.
  operator XVariable() const;
  operator Variable() const { return tensor(); }  // its values
  bool is_labelled() const { return std::holds_alternative<XVariable>(*this); }
  const Variable& tensor() const;
};

// Sequences along the dimension are at the same position in each step, the first one at which all taps of all of them
// are there.
struct ScanSequence {
  ScanSequence(AnyTensor given_input, std::vector<int> given_taps = {0})
      : input(std::move(given_input)), taps(std::move(given_taps)) {}
  ScanSequence(const XVariable& given_input, std::vector<int> given_taps = {0})
      : ScanSequence(AnyTensor(given_input), std::move(given_taps)) {}
  AnyTensor input;
  std::vector<int> taps;
};
// With other taps than {-1} the initial values are along the dimension of the steps. A null tensor: the step takes no
// earlier value.
struct ScanInitial {
  ScanInitial() = default;
  ScanInitial(AnyTensor given_value, std::vector<int> given_taps = {-1})
      : value(std::move(given_value)), taps(std::move(given_taps)) {}
  ScanInitial(const XVariable& given_value, std::vector<int> given_taps = {-1})
      : ScanInitial(AnyTensor(given_value), std::move(given_taps)) {}
  AnyTensor value;
  std::vector<int> taps = {-1};
  bool is_weak = false;  // a number whose dtype adapts to that of the next value
};

struct ScanArguments {
  std::vector<ScanSequence> sequences = {};
  std::vector<ScanInitial> initial = {};
  std::vector<AnyTensor> non_sequences = {};
  std::optional<Operand> n_steps = {};  // none: as many as the sequences have positions, or the dimension a length
  bool go_backwards = false;
  std::int64_t truncate_gradient = -1;
  bool strict = false;
  std::string name = {};
};

struct ScanStep {
  ScanStep(const XVariable& output) : outputs{output} {}
  ScanStep(const XVariables& given_outputs, Variable given_until = {}, Replacements given_updates = {})
      : outputs(given_outputs.begin(), given_outputs.end()),
        until(std::move(given_until)),
        updates(std::move(given_updates)) {}
  ScanStep(std::vector<AnyTensor> given_outputs, Variable given_until = {}, Replacements given_updates = {})
      : outputs(std::move(given_outputs)), until(std::move(given_until)), updates(std::move(given_updates)) {}
  std::vector<AnyTensor> outputs;
  Variable until;
  Replacements updates;
};

struct ScanResult {
  std::vector<AnyTensor> traces;  // each result after each step; initial values are left out
  std::vector<AnyTensor> finals;  // after the last step; null for results without an earlier value
  Variable steps;
  Replacements updates;
};

// As bitale::ScanBuilder: for callers that call the step themselves.
// ValueError for a sequence without the dimension, an initial state with it, taps that reach further than a sequence, a
// result with other dimensions than its initial state, and sequences whose coordinates along the dimension differ.
class ScanBuilder {
 public:
  ScanBuilder(ScanArguments arguments, const Dim& along, const Location& where = {});
  std::vector<AnyTensor> arguments() const;
  bool adapts_to(const ScanStep& step) { return builder_->adapts_to(of_tensors(step)); }
  ScanResult finish(const ScanStep& step) const;

 private:
  using AnyDims = std::optional<DimList>;  // none: of a tensor without names
  void add_sequences(const std::vector<ScanSequence>& sequences, bitale::ScanArguments& to);
  void add_initial(const ScanInitial& initial, bitale::ScanArguments& to);
  AnyTensor result_of(std::size_t k, const AnyTensor& given) const;
  bitale::ScanStep of_tensors(const ScanStep& step) const;
  Dim steps_of(const Variable& trace) const;

  Dim along_;  // of the steps
  Location where_;
  std::vector<AnyDims> argument_dims_, state_dims_;
  std::optional<bitale::ScanBuilder> builder_;
};

namespace scan_detail {
template <std::size_t>
using Any = AnyTensor;
template <class F, std::size_t... I>
constexpr bool takes(std::index_sequence<I...>) {
  return std::is_invocable_v<F, Any<I>...>;
}
template <class F, std::size_t N = 0>
constexpr std::size_t arity() {
  static_assert(N <= 24, "scan: the step must take labelled tensors (XVariable), at most 24 of them");
  if constexpr (takes<F>(std::make_index_sequence<N>()))
    return N;
  else
    return arity<F, N + 1>();
}
}  // namespace scan_detail

// Calls `step` with elements of the sequences, earlier values by tap, and non_sequences. It takes XVariables, and
// returns an XVariable, XVariables, or a ScanStep; it may use any variable of its environment.
template <class F>
ScanResult scan(ScanArguments arguments, const Dim& along, F&& step,
                std::source_location where = std::source_location::current()) {
  ScanBuilder builder(std::move(arguments), along, where);
  constexpr std::size_t count = scan_detail::arity<F>();
  for (;;) {
    const std::vector<AnyTensor> given = builder.arguments();
    if (given.size() != count) bitale::scan_detail::refuse_arity(count, given.size());
    const ScanStep result = [&]<std::size_t... I>(std::index_sequence<I...>) { return ScanStep(step(given[I]...)); }
    (std::make_index_sequence<count>());
    if (!builder.adapts_to(result)) return builder.finish(result);
  }
}

}  // namespace bitale::xtensor
