// Linkers: from a rewritten FunctionGraph to a Thunk that computes its outputs. `jit` compiles the whole graph to one
// native function, by LLVM; `c` does so by C text and the system's compiler; `jax` says it to XLA; the others run node
// by node, by one machine (link/machine.cpp). A Thunk is immutable and re-entrant: many threads may run it at once.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bitale/core/receiver.hpp"
#include "bitale/core/view.hpp"
#include "bitale/graph/function_graph.hpp"
#include "bitale/link/linker.hpp"

namespace bitale::link {

struct LinkTimes {
  double lower = 0, codegen = 0;  // milliseconds
  double generate = 0;            // of `codegen`: in the code generator
  std::string code = {};          // "generated", or where it was kept: "store", "memory"; "" where there is none
};

class DirectCode;
struct Measured;

class Thunk {
 public:
  virtual ~Thunk() = default;
  // Values of the graph's inputs, in order and of their types. Results are written where the receiver wants them; that
  // memory must not overlap the inputs'. Errors name the node.
  virtual void run(std::span<const View> inputs, Receiver& results) const = 0;
  // Whether nothing can fail any more once memory of a result has been written to.
  virtual bool writes_last() const = 0;
  // Only these results, which the receiver knows by their place in `wanted`. Linkers that can't do with less compute
  // all.
  virtual void run_some(std::span<const View> inputs, std::span<const int> wanted, Receiver& results) const;
  // The same with Arrays; the outputs share no memory with inputs, constants or each other.
  std::vector<Array> run(std::span<const Array> inputs) const;
  // Code that a caller with memory for all results may run without this Thunk's help, as long as the Thunk lives; null:
  // none.
  virtual const DirectCode* direct() const { return nullptr; }
  // Whether shared variables' values may be Arrays that hold a Resident: it asks the receiver what is behind an input.
  virtual bool keeps_values() const { return false; }
  // Lets go of memory that is kept for the next call.
  virtual void free() const {}
  // What calls have measured so far, when linked with `profile`.
  virtual Measured measured() const;
  // What to say of a node in dprint; "" for nothing.
  virtual std::string note(const Apply&) const { return {}; }
  // A later stage as text ("program", "llvm"). ValueError naming the linker's stages.
  virtual std::string text(std::string_view stage) const = 0;
  LinkTimes times;
};

// A graph that is linked must not change any more.
using LinkedGraph = std::shared_ptr<const FunctionGraph>;
struct LinkOptions {
  // Code for inputs with other strides is generated at the first call that has such, not when copies have cost as much.
  bool eager_strides = false;
  // What native code is generated for; "": what the flag `target` says.
  std::string target = {};
  // Whether native code is kept for later processes, and theirs is used, where the flag `cache` says so.
  bool cached = true;
  // Threads that a call may use, of which at most as many are used as there are processors for the process.
  int threads = 1;
  // Time what calls do, part by part.
  bool profile = false;
  // Which results are new values of which inputs (result, input): of shared variables that calls update.
  std::vector<std::pair<std::size_t, std::size_t>> updates = {};
  // For tests: loops are shared however little there is to do, by so many threads, whether there are processors or not.
  bool eager_threads = false;
};
std::unique_ptr<Thunk> link_vm(const LinkedGraph& graph, const LinkOptions& options = {});
std::unique_ptr<Thunk> link_jit(const LinkedGraph& graph, const LinkOptions& options = {});
std::unique_ptr<Thunk> link_c(const LinkedGraph& graph, const LinkOptions& options = {});
std::unique_ptr<Thunk> link_jax(const LinkedGraph& graph, const LinkOptions& options = {});
// What a StableHLO module is made of (stablehlo/module.hpp): the graph with what only one side of a choice needs inside
// that side.
LinkedGraph graph_for_module(const LinkedGraph& graph);
// Node by node, as the linker says.
std::unique_ptr<Thunk> link_nodes(const LinkedGraph& graph, const Linker& linker, const LinkOptions& options);
// The wrapper of linker `dual`.
NodeWrapper compare_ways(ValuesAgree agree);

// ValueError for a wrapper where there are no nodes to call it around.
std::unique_ptr<Thunk> link(const Linker& linker, const LinkedGraph& graph, const LinkOptions& options = {});
// Tags of rewrites that the linker wants besides those of fast_run.
std::vector<std::string> wanted_rewrites(const Linker& linker);

}  // namespace bitale::link
