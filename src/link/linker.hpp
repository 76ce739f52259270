// Linkers turn a rewritten FunctionGraph into a Thunk that computes its outputs. `jit` compiles the whole graph to one
// native function with LLVM; `c` does so with C text and the system's compiler; `jax` translates it for XLA; the others
// run it node by node on one machine (link/machine.cpp). A Thunk is immutable and re-entrant: many threads may run it
// at once.
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
  double generate = 0;            // of `codegen`: time in the code generator
  std::string code = {};  // "generated"; the cache that had it: "store", "memory"; "interpreted": none yet; "": no code
};

class DirectCode;
struct Measured;

class Thunk {
 public:
  virtual ~Thunk() = default;
  // Takes values of the graph's inputs, in order and of their types. Results are written to the memory that the
  // receiver provides, which must not overlap the inputs'. Errors name the node.
  virtual void run(std::span<const View> inputs, Receiver& results) const = 0;
  // Whether nothing can fail any more after the first write to the memory of a result.
  virtual bool writes_last() const = 0;
  // Computes only these results; the receiver knows them by their position in `wanted`. Linkers that can't compute
  // fewer results compute all.
  virtual void run_some(std::span<const View> inputs, std::span<const int> wanted, Receiver& results) const;
  // The same with Arrays; the outputs share no memory with inputs, constants or each other.
  std::vector<Array> run(std::span<const Array> inputs) const;
  // Code that a caller with memory for all results may run without this Thunk's help while the Thunk is alive; null if
  // there is none.
  virtual const DirectCode* direct() const { return nullptr; }
  // Whether the values of shared variables may be Arrays that hold a Resident: the Thunk then queries the receiver for
  // the Array behind an input.
  virtual bool keeps_values() const { return false; }
  // Releases memory that is kept for the next call.
  virtual void free() const {}
  // The measurements of the calls so far, when linked with `profile`.
  virtual Measured measured() const;
  // The annotation of a node in dprint; "" for none.
  virtual std::string note(const Apply&) const { return {}; }
  // A later stage as text ("program", "llvm"). Throws a ValueError that lists the linker's stages for an unknown one.
  virtual std::string text(std::string_view stage) const = 0;
  LinkTimes times;
};

// A graph that is linked must not change any more.
using LinkedGraph = std::shared_ptr<const FunctionGraph>;
struct LinkOptions {
  // Generate code for inputs with other strides at the first call that has them, not when copies have cost as much as
  // that.
  bool eager_strides = false;
  // The target of native code; "": the value of the flag `target`.
  std::string target = {};
  // Whether native code is stored for later processes, and code stored by others is used, if the flag `cache` permits
  // it.
  bool cached = true;
  // The number of threads that a call may use; at most as many are used as there are processors for the process.
  int threads = 1;
  // Measure the time of each part of a call.
  bool profile = false;
  // Pairs (result, input): results that are the new values of shared variables that calls update.
  std::vector<std::pair<std::size_t, std::size_t>> updates = {};
  // For tests: loops are parallelized however little work there is, with this many threads even if there are fewer
  // processors.
  bool eager_threads = false;
};
std::unique_ptr<Thunk> link_vm(const LinkedGraph& graph, const LinkOptions& options = {});
std::unique_ptr<Thunk> link_jit(const LinkedGraph& graph, const LinkOptions& options = {});
std::unique_ptr<Thunk> link_tiered(const LinkedGraph& graph, const LinkOptions& options);
std::unique_ptr<Thunk> link_c(const LinkedGraph& graph, const LinkOptions& options = {});
std::unique_ptr<Thunk> link_jax(const LinkedGraph& graph, const LinkOptions& options = {});
// The graph that a StableHLO module is written from (stablehlo/module.hpp): nodes that only one side of a choice needs
// are inside that side.
LinkedGraph graph_for_module(const LinkedGraph& graph);
// Runs node by node, as the linker specifies.
std::unique_ptr<Thunk> link_nodes(const LinkedGraph& graph, const Linker& linker, const LinkOptions& options);
// Runs the user's code of the graph (graph_linker).
std::unique_ptr<Thunk> link_by(const Linker& linker, const LinkedGraph& graph, const LinkOptions& options);
// The wrapper of linker `dual`.
NodeWrapper compare_linkers(ValuesAgree agree);

// Throws a ValueError for a wrapper if the linker has no nodes to call it around.
std::unique_ptr<Thunk> link(const Linker& linker, const LinkedGraph& graph, const LinkOptions& options = {});
// Tags of rewrites that the linker needs in addition to those of fast_run.
std::vector<std::string> required_rewrites(const Linker& linker);

}  // namespace bitale::link
