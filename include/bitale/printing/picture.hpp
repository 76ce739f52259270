// Pictures of graphs. dot_text writes a graph in Graphviz's language, draw has Graphviz's program `dot` lay it out, and
// graph_html writes a page that lays its graphs out by itself. Colours distinguish the kinds of nodes: Apply nodes are
// blue, Variables red, Ops green, Types purple.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "bitale/graph/variable.hpp"

namespace bitale {

// The options of PyTensor's pydotprint.
struct PictureOptions {
  bool compact = true;                                  // leave out variables between nodes that have no name
  bool structure = false;                               // Ops and Types as nodes of their own, and nothing left out
  bool with_ids = false;                                // the index of every node in the order of the graph
  bool high_contrast = true;                            // colours fill the nodes; else they frame them
  bool var_with_name_simple = false;                    // for a variable that has a name, the name only
  std::size_t max_label_size = 70;                      // characters of a label; longer ones are cut
  std::map<std::string, std::string> color_codes = {};  // name of an op -> colour of its nodes
  Apply condition = {};                                 // what only one side of this choice (a Switch) needs is framed
  std::vector<std::string> outputs = {};                // a label for each output, such as "update of W"
};

// The graph below the outputs as "digraph { ... }". ValueError when an output is null.
std::string dot_text(std::span<const Variable> outputs, const PictureOptions& options = {});

// The output of Graphviz's `dot` for a text: format "svg", "png", "pdf", ...; "dot" and "gv" return the text itself and
// need no Graphviz. NotImplementedError where `dot` is not installed, ValueError with its message when it refuses.
std::string draw(const std::string& text, const std::string& format);

// dot_text and draw, into a file whose extension determines the format. Error when it can't be written.
void draw_to_file(std::span<const Variable> outputs, const std::string& file, const PictureOptions& options = {});

// One of the graphs that a page shows side by side.
struct PageGraph {
  std::string name;  // "after rewriting"
  Variables outputs;
  std::vector<std::string> output_names = {};        // a label for each output, such as "update of W"
  std::function<double(const Apply&)> seconds = {};  // time of a node, where it was measured; else negative
};

struct Page {
  std::string title = "graph";
  std::vector<PageGraph> graphs;
  std::string program = {};  // the loops, as text
};

// A self-contained page of HTML: the graphs side by side, to zoom, search and fold, and the program.
std::string graph_html(const Page& page);

}  // namespace bitale
