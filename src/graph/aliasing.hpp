// Alias analysis: which variables may share memory, as their ops' view_of declares, and which nodes may overwrite that
// memory.
#pragma once

#include <span>
#include <utility>
#include <vector>

#include "bitale/graph/function_graph.hpp"
#include "graph/pointer_map.hpp"

namespace bitale {

// The variables whose memory `v` may be a view of, itself included when it is a view of none.
Variables memory_roots(const Variable& v);
// `root` and all variables of the graph that may be views of its memory.
Variables views_of(const FunctionGraph& graph, const Variable& root);
// The inputs that some output of the node destroys, without duplicates.
std::vector<int> destroyed_inputs(const Apply& node);
// Shared memory in a run in a given order: variables that may share memory form a set (union-find).
class Aliasing {
 public:
  // `order`: the graph's nodes in execution order.
  Aliasing(const FunctionGraph& graph, std::span<const Apply> order);
  // Whether order[position] may overwrite its input: the memory is not read later, it belongs to no leaf and no output
  // of the graph, and no other input of the node shares it.
  bool may_destroy(std::size_t position, int input) const;

 private:
  struct Set {
    int parent;
    std::size_t last_use = 0;
    bool kept = false;
  };
  int set_of(const Variable& v);
  int root(int set) const;
  void unite(int a, int b);

  std::vector<Apply> order_;
  PointerMap<int> sets_of_;
  std::vector<Set> sets_;
};

}  // namespace bitale
