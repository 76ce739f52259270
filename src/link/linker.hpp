// Linkers: from a rewritten FunctionGraph to a Thunk that computes its outputs. `vm` runs each op's perform; `jit`
// compiles the whole graph to one native function. A Thunk is immutable and re-entrant: many threads may run it at
// once.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bitale/graph/function_graph.hpp"

namespace bitale::link {

struct LinkTimes {
  double lower = 0, codegen = 0;  // milliseconds
};

class Thunk {
 public:
  virtual ~Thunk() = default;
  // Values of the graph's inputs, in order and of their types; the outputs are fresh arrays that share no memory with
  // inputs, constants or each other. Errors name the node.
  virtual std::vector<Array> run(std::span<const Array> inputs) const = 0;
  // For a graph of float64 scalars with one output: the same without Arrays.
  virtual double run_scalars(std::span<const double> inputs) const = 0;
  // What to say of a node in dprint; "" for nothing.
  virtual std::string note(const Apply&) const { return {}; }
  // A later stage as text ("program", "llvm"). ValueError naming the linker's stages.
  virtual std::string text(std::string_view stage) const = 0;
  LinkTimes times;
};

// A graph that is linked must not change any more.
using LinkedGraph = std::shared_ptr<const FunctionGraph>;
std::unique_ptr<Thunk> link_vm(const LinkedGraph& graph);
std::unique_ptr<Thunk> link_jit(const LinkedGraph& graph);

// By name; ValueError with a suggestion for an unknown one.
std::unique_ptr<Thunk> link(std::string_view linker, const LinkedGraph& graph);
std::vector<std::string> linker_names();

}  // namespace bitale::link
