// Linker: how a compiled graph is run. `jit` and `c` compile it to one native function, `jax` to modules for XLA; `vm`,
// `opwise`, `dual` and `wrap` run nodes one at a time, and can call a user's function around each. That function is the
// only hook: callbacks, monitors, comparisons and profiles are all built on it. A linker that a user defines computes
// whole graphs by the user's function (graph_linker).
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
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
  NodeStep(const std::shared_ptr<const FunctionGraph>& given_graph, std::size_t given_index, const Apply& given_node,
           std::span<const Array> given_inputs, std::size_t given_linker_count)
      : graph(given_graph),
        index(given_index),
        node(given_node),
        inputs(given_inputs),
        linker_count(given_linker_count) {}
  ~NodeStep() = default;
};

// Called instead of running the node; must call run(0) itself (ValueError if it does not). What it throws ends the
// call. Like functions, it may be called from several threads at once.
using NodeWrapper = std::function<void(NodeStep&)>;
using InputCallback = std::function<void(const Variable&, const Array&)>;

// Computes the outputs of a graph from the values of its inputs. A result has the dtype and rank of its output, or a
// dtype that converts to it without loss. May be called from several threads at once.
using GraphCode = std::function<std::vector<Array>(std::span<const Array> inputs)>;
// Makes the code of a rewritten graph, which does not change any more. `updates`: pairs (output, input) of the outputs
// that are new values of shared variables.
using GraphLinker = std::function<GraphCode(const std::shared_ptr<const FunctionGraph>& graph,
                                            std::span<const std::pair<std::size_t, std::size_t>> updates)>;

struct Linker {
  // One of linker_names(), or an alias: "" and "auto" are jit, "c|py" is opwise, "py" is vm. ValueError with a
  // suggestion.
  Linker(std::string_view name);
  Linker(const std::string& given_name) : Linker(std::string_view(given_name)) {}
  Linker(const char* given_name) : Linker(std::string_view(given_name)) {}

  std::string name;
  // For linkers that run node by node:
  std::vector<std::string> node_linkers;  // the linkers that run each node alone; perform for "vm"
  NodeWrapper wrapper = {};
  InputCallback on_input = {};  // called with every input and constant, before the first node
  // Whether a value is released after its last use. Otherwise it is kept until the same node runs again, and code for
  // single nodes overwrites it. Default: the flag allow_gc.
  std::optional<bool> allow_gc = {};
  // For linkers of users (graph_linker), which have names of their own:
  GraphLinker link_graph = {};
  // Tags or names of rewrites that it needs, and of those whose results it can't run.
  std::vector<std::string> required_rewrites = {}, excluded_rewrites = {};
  // The object of another language that the linker was made from, if any.
  std::shared_ptr<void> origin = {};
};

// Runs every node by each of these linkers, as the wrapper requests. ValueError for no linker, or for an unknown one.
Linker wrap_linker(std::vector<std::string> node_linkers, NodeWrapper wrapper);
// The virtual machine; the callback is called after each node.
Linker vm_linker(NodeWrapper callback, InputCallback on_input = {});

// A linker that computes each graph as a whole, by the user's function. Its graphs have no nodes that overwrite their
// inputs.
Linker graph_linker(std::string name, GraphLinker link_graph);

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
// Other names of linkers: "auto", and those of PyTensor.
std::vector<std::string> other_linker_names();

}  // namespace bitale
