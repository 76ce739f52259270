// Graphs as text: dprint draws the tree of nodes, pprint writes the mathematics, << shows values and variables.
#pragma once

#include <cstddef>
#include <functional>
#include <iosfwd>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "bitale/core/array.hpp"
#include "bitale/graph/function_graph.hpp"
#include "bitale/graph/op.hpp"
#include "bitale/rewriting/rewriting.hpp"

namespace bitale {

// The nodes printed by several calls of dprint, so that the calls share ids and don't repeat sub-graphs.
class PrintedNodes {
 public:
  PrintedNodes();
  ~PrintedNodes();
  PrintedNodes(const PrintedNodes&) = delete;
  PrintedNodes& operator=(const PrintedNodes&) = delete;

  // The nodes and leaves that have ids, in the order of their ids: an output of each node.
  const Variables& with_ids() const;
  bool is_expanded(const Apply& node) const;  // whether its inputs were printed
  // Treats a variable or node as printed: later ids continue behind it. No effect on one that has an id.
  void add_id(const Variable& variable);
  void add_expanded(const Apply& node);

 private:
  friend class TreePrinter;
  struct State;
  std::unique_ptr<State> state_;
};

struct DprintOptions {
  int depth = -1;                    // levels to print; -1: all
  bool print_type = false;           // "<Matrix(float64, shape=(?, 3))>"
  bool print_shape = false;          // "shape=(?, 3)"
  bool print_destroy_map = false;    // "d={0: [1]}": output 0 destroys input 1
  bool print_view_map = false;       // "v={0: [1]}": output 0 is a view of input 1
  bool provenance = false;           // "{log1p; model.py:3}": rules that created a node, user's line
  bool print_fgraph_inputs = false;  // the inputs of a FunctionGraph first
  bool print_inner_graphs = true;    // of ops that have some, after the tree: "Inner graphs:"
  bool stop_on_name = false;         // nothing below a node whose output has a name
  // "CHAR": [id A]; "int": [id 0]; "id": [id 94371234560], the address; "": none. ValueError otherwise.
  std::string id_type = "CHAR";
  PrintedNodes* printed = nullptr;                         // shared with other calls
  std::vector<std::string> outputs = {};                   // text after each root, such as "update of W"
  std::function<std::string(const Apply&)> note = {};      // text after a node, such as "host callback"
  std::function<std::string(const Variable&)> about = {};  // text after any variable, such as its value
  // Limits the text, since the indentation of a deep graph grows with its depth; a text that is cut says so at its end.
  std::size_t max_bytes = std::size_t(16) << 20;
};

// The tree below each variable, in PyTensor's format. A FunctionGraph's nodes show their position in its order. Inner
// graphs are listed after the tree, where "*0-x" is the first input of one.
std::string dprint(std::span<const Variable> variables, const DprintOptions& options = {});
std::string dprint(const Variable& variable, const DprintOptions& options = {});
std::string dprint(const Apply& node, const DprintOptions& options = {});
std::string dprint(const FunctionGraph& graph, const DprintOptions& options = {});

// For every node of the graph, in its order: the expression, the rules that created it (oldest first) and the user's
// line from which it derives.
std::string explain(const FunctionGraph& graph);

// The steps of trace_rewrite as one self-contained page of HTML: one picture per step, with the trees before and after
// it side by side and the changes marked; buttons and arrow keys lead to the previous and the next.
std::string steps_html(std::span<const RewriteReport::Step> steps);

struct PprintOptions {
  int depth = 100;                // levels of operations; deeper ones are "…"
  std::size_t max_length = 4000;  // characters of a sub-expression; longer ones are "…"
};

// The expression as you would write it: "a + a ** 10", "sum(x, axis=1)", "x[0:3]".
std::string pprint(const Variable& variable, const PprintOptions& options = {});
// The same in LaTeX's math notation, as notebooks typeset it.
std::string latex(const Variable& variable, const PprintOptions& options = {});

// Writes str().
std::ostream& operator<<(std::ostream& stream, const Variable& variable);
std::ostream& operator<<(std::ostream& stream, const Array& array);
// Writes dprint().
std::ostream& operator<<(std::ostream& stream, const FunctionGraph& graph);

}  // namespace bitale
