// function(): from a graph to a native callable. A Function is immutable code plus the containers of the shared
// variables it reads and updates; calls are re-entrant and may come from many threads.
#pragma once

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <initializer_list>
#include <iosfwd>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bitale/compile/mode.hpp"
#include "bitale/compile/shared.hpp"
#include "bitale/core/null_handle.hpp"
#include "bitale/core/receiver.hpp"
#include "bitale/core/view.hpp"
#include "bitale/graph/function_graph.hpp"
#include "bitale/graph/traversal.hpp"

namespace bitale {

struct Profile;
struct RewriteReport;
namespace link {
class DirectCode;
}

enum class OnUnusedInput { Raise, Warn, Ignore };
// From the value of the flag of that name: "raise", "warn" or "ignore". ValueError for another text.
OnUnusedInput on_unused_input_named(std::string_view text);

struct FunctionOptions {
  Replacements updates = {};  // shared variable -> expression; all computed first, stored after the outputs, together
  Replacements givens = {};   // variable that is not an input -> its replacement
  std::optional<Mode> mode = {};  // default: config.mode
  std::string name = {};
  std::optional<OnUnusedInput> on_unused_input = {};  // default: config
  // For each input, the argument that it is a part of; an argument is used if one of its inputs is. Default: each input
  // is an argument.
  std::vector<std::size_t> arguments_of_inputs = {};
  // Measure what compiling and calls take: see bitale/compile/profile.hpp. Native code is compiled with time stamps
  // around its loops. Default: the flag `profile`, with which it is also printed when the process ends.
  std::optional<bool> profile = {};
  Downcast allow_input_downcast = Downcast::FloatLiteral;  // PyTensor's None
  // Threads that one call may use, from 1; default: config.num_threads. Large loops are split among them, never among
  // more than there are processors the process may run on; small ones run in the caller's thread. Results are the same
  // to the last bit for any number. ValueError unless it is from 1 to 1024.
  std::optional<int> threads = {};
};

// The results of a call, in order. One result also converts to an Array, and one number to a double.
class Results {
 public:
  explicit Results(std::vector<Array> values) : values_(std::move(values)) {}
  std::size_t size() const { return values_.size(); }
  // IndexError for a result that does not exist.
  const Array& operator[](std::size_t i) const& {
    if (i >= values_.size()) [[unlikely]]
      refuse_position(i);
    return values_[i];
  }
  // A value, since the results of f(x)[0] end with the statement.
  Array operator[](std::size_t i) && {
    if (i >= values_.size()) [[unlikely]]
      refuse_position(i);
    return std::move(values_[i]);
  }
  auto begin() const { return values_.begin(); }
  auto end() const { return values_.end(); }
  operator Array() const { return single(); }
  operator double() const { return item(); }  // ValueError unless there is one element in all
  const Array& single() const&;               // ValueError unless there is exactly one
  Array single() && { return static_cast<const Results&>(*this).single(); }
  double item() const { return single().item(); }
  std::vector<Array> take() && { return std::move(values_); }
  // auto [value, gradient] = f(x).take<2>(): ValueError unless there are N results.
  template <std::size_t N>
  std::array<Array, N> take() const {
    if (values_.size() != N) [[unlikely]]
      refuse_count(N);
    std::array<Array, N> out;
    std::copy(values_.begin(), values_.end(), out.begin());
    return out;
  }

 private:
  [[noreturn, gnu::cold]] void refuse_position(std::size_t i) const;
  [[noreturn, gnu::cold]] void refuse_count(std::size_t expected) const;

  std::vector<Array> values_;
};
std::ostream& operator<<(std::ostream& stream, const Results& results);

// Milliseconds spent in the phases of function().
struct CompileTimes {
  double rewrite = 0, lower = 0, codegen = 0, total = 0;
};

// What a typed call's signature declares for an input or output.
struct Slot {
  DType dtype;
  int ndim;
};

template <class Signature>
class TypedFunction;

// By default there is no code behind it: `defined` is false, and every other use raises a ValueError.
class [[nodiscard]] Function {
 public:
  bool defined() const noexcept { return impl_ != nullptr; }
  // TypeError (count, rank, dtype, static shape; names the input), and whatever the computation raises.
  // Shared variables change only when the whole call succeeded.
  Results operator()(std::initializer_list<Array> inputs) const { return call({inputs.begin(), inputs.size()}); }
  Results operator()(std::span<const Array> inputs) const { return call(inputs); }
  Results operator()() const { return call({}); }
  // f(x, y) for f({x, y}).
  template <class... Inputs>
  requires(sizeof...(Inputs) > 0 && (std::convertible_to<const Inputs&, Array> && ...) &&
           !(std::convertible_to<const Inputs&, std::span<const Array>> && ...)) Results
  operator()(const Inputs&... inputs) const {
    return (*this)({static_cast<Array>(inputs)...});
  }
  Results call(std::span<const Array> inputs) const;
  // Some of the inputs are given by name, after the positional ones.
  Results call(std::span<const Array> inputs, std::span<const std::pair<std::string, Array>> named) const;

  // Computes only these outputs, in this order: the linkers that run node by node compute no more than they and the
  // updates need, others compute all. ValueError for an output given twice, IndexError for one that the function does
  // not have.
  Results call_some(std::span<const Array> inputs, std::span<const int> outputs) const;

  // A view of the function that takes and returns C++ values and memory, without Arrays:
  // f.as<double(std::span<const double>)>(); see bitale/compile/typed.hpp. TypeError when the signature is not the
  // function's.
  template <class Signature>
  TypedFunction<Signature> as() const;

  // Results into the caller's memory: nothing is allocated where that memory is C-contiguous, overlaps no input, and no
  // check has to wait until a result is written. ValueError (count, read-only, overlapping each other), TypeError
  // (dtype), ShapeError naming the output; after any error the outputs are unchanged.
  void run_into(std::span<const Array> inputs, std::span<const Array> outputs) const;

  // Below Arrays: takes the inputs' elements, of the inputs' dtypes and ranks (`accept` ensures that), and writes
  // results where the receiver allocates them. Memory of the receiver must not overlap an input's. Only an input with a
  // default (see FunctionMaker::create) may be without data.
  void run(std::span<const View> inputs, Receiver& results) const;
  // The same for some of the outputs, which the receiver knows by their position among those.
  void run_some(std::span<const View> inputs, std::span<const int> outputs, Receiver& results) const;
  // The same into the caller's memory, of the outputs' dtypes and ranks. Outputs without data are passed to `others`.
  void run_into(std::span<const View> inputs, std::span<const View> outputs, Receiver* others = nullptr) const;
  // TypeError naming the first input or output that does not match.
  void require_signature(std::span<const Slot> inputs, std::span<const Slot> outputs) const;
  // `value` in the form in which input i takes it: itself, or converted. TypeError naming the input.
  Array accept(std::size_t i, const Array& value) const;

  // Releases the memory that is kept between calls for temporaries; the next call allocates some again. Safe during
  // calls.
  void free() const;

  const std::string& name() const;
  const Variables& inputs() const;  // as the user gave them
  std::size_t output_count() const;
  const FunctionGraph& graph() const;  // after rewriting; update expressions follow the outputs
  const Variables& built() const;      // the same expressions before rewriting, as the user built them, with the givens
  // A label for each of these expressions: "update of W"; "" for an output.
  std::vector<std::string> output_labels() const;
  std::vector<Variable> shared_variables() const;
  std::vector<Variable> updated_variables() const;  // of these, in the order of the update expressions
  const Mode& mode() const;
  const CompileTimes& times() const;
  // What has been measured so far (bitale/compile/profile.hpp). ValueError unless compiled with `profile`.
  Profile profile() const;
  bool is_profiled() const;
  // What rewriting did: time, uses of rules, nodes before and after (bitale/rewriting/rewriting.hpp).
  const RewriteReport& rewrite_report() const;
  // For every node of the final graph, the rules that created it and the user's line.
  std::string explain() const;
  // The graph after rewriting; nodes that run through `perform` inside native code are marked. stage="program" shows
  // the loops, "llvm" the machine-independent code; ValueError for other stages or a linker that has none.
  enum class Provenance : bool { No, Yes };
  std::string dprint(std::string_view stage = "graph", Provenance provenance = Provenance::No) const;

 private:
  friend const link::DirectCode* direct_code_of(const Function& function);
  struct Impl;
  const Impl& impl() const {
    if (!impl_) [[unlikely]]
      refuse_null_handle("Function");
    return *impl_;
  }

  std::shared_ptr<const Impl> impl_;
  friend class FunctionMaker;
};

inline std::string dprint(const Function& function) { return function.dprint(); }

// An input may be a computed variable: the graph is cut off there, and the inputs of that computation are not needed.
// ValueError / UnusedInputError / MissingInputError / TypeError for what can't be compiled, naming the variable.
Function function(const Variables& inputs, const Variables& outputs, const FunctionOptions& options = {});
inline Function function(const Variables& inputs, const Variable& output, const FunctionOptions& options = {}) {
  return function(inputs, Variables{output}, options);
}

// Evaluates an expression by compiling it for these inputs.
Array eval(const Variable& expression, const std::vector<std::pair<Variable, Array>>& inputs = {});

}  // namespace bitale

#include "bitale/compile/typed.hpp"
