// Linker: how a compiled graph is run. `jit` and `c` make one native function of it, `jax` modules for XLA; `vm`,
// `opwise`, `dual` and `wrap` run one node after the other, and can call a function of the user's around each. That
// function is the only hook: callbacks, monitors, comparisons and profiles are all made of it.
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

// One node of a running call. There is a way to run it for each of the linker's `ways`; the call goes on with the
// results of the first. Arrays are valid until the wrapper returns: copy() what is to be kept.
class NodeStep {
 public:
  const std::shared_ptr<const FunctionGraph>& graph;
  const std::size_t index;  // of the node among the graph's, in the order of FunctionGraph::toposort
  const Apply& node;
  // Values; a 0-d zero stands for an input that a lazy node does not need.
  const std::span<const Array> inputs;
  const std::size_t ways;

  // Computes the outputs; may be called again. What the node raises, it raises.
  virtual void run(std::size_t way = 0) = 0;
  // Empty before run(way).
  virtual std::span<const Array> outputs(std::size_t way = 0) const = 0;

 protected:
  NodeStep(const std::shared_ptr<const FunctionGraph>& graph, std::size_t index, const Apply& node,
           std::span<const Array> inputs, std::size_t ways)
      : graph(graph), index(index), node(node), inputs(inputs), ways(ways) {}
  ~NodeStep() = default;
};

// Called instead of running the node; calls run(0) itself (ValueError if it does not). What it throws ends the call.
// Functions may be called from several threads at once, and so is it.
using NodeWrapper = std::function<void(NodeStep&)>;
using InputCallback = std::function<void(const Variable&, const Array&)>;

struct Linker {
  // One of linker_names(), or another name of one: "" and "auto" are jit, "c|py" is opwise, "py" is vm. ValueError with
  // a suggestion.
  Linker(std::string_view name);
  Linker(const std::string& name) : Linker(std::string_view(name)) {}
  Linker(const char* name) : Linker(std::string_view(name)) {}

  std::string name;
  // Of a linker that runs node by node:
  std::vector<std::string> ways;  // the linkers that run each node alone; perform for "vm"
  NodeWrapper wrapper = {};
  InputCallback on_input = {};  // called with every input and constant, before the first node
  // Whether a value is let go of as soon as nobody needs it. Else it stays until the same node runs again, and code for
  // single nodes writes over it. Default: the flag allow_gc.
  std::optional<bool> allow_gc = {};
};

// Every node by each of these linkers, as the wrapper says. ValueError for no linker, or for an unknown one.
Linker wrap_linker(std::vector<std::string> ways, NodeWrapper wrapper);
// The virtual machine; the callback comes after each node.
Linker vm_linker(NodeWrapper callback, InputCallback on_input = {});

// Two results of one node that should be equal, as linker `dual` compares them.
class DualLinkerError : public Error {
 public:
  using Error::Error;
};
// Whether two values of one variable may pass for the same.
using ValuesAgree = std::function<bool(const Array& first, const Array& second)>;
// Both linkers run every node on the inputs that the first has computed; the first node whose results differ raises a
// DualLinkerError that shows it, its inputs and both values. Without `agree`, integers and truths are to be equal, and
// floats to be equal but for what rounding can do in sums of another order: 1e-9 (float32: 1e-4) of the values
// themselves and of the largest input.
Linker dual_linker(std::string_view first = "vm", std::string_view second = "jit", ValuesAgree agree = {});
// What such a linker was given to compare by, maybe nothing; nullptr for another linker.
const ValuesAgree* agreement_of(const Linker& linker);

// Those that this process can use: `jax` where there is a compiler of modules (link/module_compiler.hpp).
std::vector<std::string> linker_names();

}  // namespace bitale
