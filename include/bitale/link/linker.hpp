// Linker: how a compiled graph is run. `jit` and `c` compile it to one native function, `jax` to modules for XLA; `vm`,
// `opwise`, `dual` and `wrap` run nodes one at a time, and can call a user's function around each. That function is the
// only hook: callbacks, monitors, comparisons and profiles are all built on it.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bitale/core/array.hpp"
#include "bitale/core/error.hpp"
#include "bitale/graph/function_graph.hpp"

namespace bitale {

// One node of a running call. Each of its node linkers can run it; the call continues with the results of the first.
// Arrays are valid until the wrapper returns: copy() those that are to be kept.
class NodeStep {
 public:
  const std::shared_ptr<const FunctionGraph>& graph;
  const std::size_t index;  // of the node in FunctionGraph::toposort
  const Apply& node;
  // Values; a 0-d zero stands for an input that a lazy node does not need.
  const std::span<const Array> inputs;
  const std::size_t linker_count;

  // Computes the outputs; may be called again. Errors of the node propagate.
  virtual void run(std::size_t linker = 0) = 0;
  // Empty before run(linker).
  virtual std::span<const Array> outputs(std::size_t linker = 0) const = 0;

 protected:
  NodeStep(const std::shared_ptr<const FunctionGraph>& graph, std::size_t index, const Apply& node,
           std::span<const Array> inputs, std::size_t linker_count)
      : graph(graph), index(index), node(node), inputs(inputs), linker_count(linker_count) {}
  ~NodeStep() = default;
};

// Called instead of running the node; must call run(0) itself (ValueError if it does not). What it throws ends the
// call. Like functions, it may be called from several threads at once.
using NodeWrapper = std::function<void(NodeStep&)>;
using InputCallback = std::function<void(const Variable&, const Array&)>;

struct Linker {
  // One of linker_names(), or an alias: "" and "auto" are jit, "c|py" is opwise, "py" is vm. ValueError with a
  // suggestion.
  Linker(std::string_view name);
  Linker(const std::string& name) : Linker(std::string_view(name)) {}
  Linker(const char* name) : Linker(std::string_view(name)) {}

  std::string name;
  // For linkers that run node by node:
  std::vector<std::string> node_linkers;  // the linkers that run each node alone; perform for "vm"
  NodeWrapper wrapper = {};
  InputCallback on_input = {};  // called with every input and constant, before the first node
  // Whether a value is released after its last use. Otherwise it is kept until the same node runs again, and code for
  // single nodes overwrites it. Default: the flag allow_gc.
  std::optional<bool> allow_gc = {};
};

// Runs every node by each of these linkers, as the wrapper requests. ValueError for no linker, or for an unknown one.
Linker wrap_linker(std::vector<std::string> node_linkers, NodeWrapper wrapper);
// The virtual machine; the callback is called after each node.
Linker vm_linker(NodeWrapper callback, InputCallback on_input = {});

// Two results of one node that should be equal, as linker `dual` compares them.
class DualLinkerError : public Error {
 public:
  using Error::Error;
};
// Whether two values of one variable count as equal.
using ValuesAgree = std::function<bool(const Array& first, const Array& second)>;
// Both linkers run every node on the inputs that the first has computed; the first node whose results differ raises a
// DualLinkerError that shows it, its inputs and both values. Without `agree`, integers and bools must be equal, and
// floats must be equal up to the rounding of sums in another order: 1e-9 (float32: 1e-4) of the values themselves and
// of the largest input.
Linker dual_linker(std::string_view first = "vm", std::string_view second = "jit", ValuesAgree agree = {});
// The comparison that such a linker was given, possibly empty; nullptr for another linker.
const ValuesAgree* agreement_of(const Linker& linker);

// The linkers that this process can use: `jax` only where there is a compiler of modules (link/module_compiler.hpp).
std::vector<std::string> linker_names();

}  // namespace bitale
