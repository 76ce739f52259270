// A graph as an HTML page: its nodes as JSON, and the scripts (page/) that lay them out, fold and search them in the
// browser, since folding requires a new layout. Nothing is fetched, which a content security policy enforces.
#include <cmath>

#include <printing_page_files.inc>  // page/, by cmake/EmbeddedTexts.cmake
#include "bitale/core/error.hpp"
#include "bitale/core/text.hpp"
#include "bitale/graph/provenance.hpp"
#include "bitale/graph/traversal.hpp"
#include "bitale/printing/picture.hpp"
#include "bitale/printing/printing.hpp"
#include "graph/pointer_map.hpp"
#include "printing/leaf_text.hpp"
#include "printing/page_text.hpp"

namespace bitale {

using printing::json;
using printing::page_head;

namespace {

class NodeList {
 public:
  explicit NodeList(const PageGraph& graph) : graph_(graph) {}

  // [{"k": kind, "l": label, "t": type, "i": [[input, what it is], ...], ...}, ...], inputs before their readers.
  // Fields that would be empty are left out.
  std::string write() {
    for (std::size_t i = 0; i < graph_.outputs.size(); ++i) {
      const Variable& output = graph_.outputs[i];
      if (!output.defined()) throw ValueError("graph_html: expected variables, got none");
      const bool named = i < graph_.output_names.size() && !graph_.output_names[i].empty();
      std::string& marks = *output_marks_.insert(key_of(output)).first;
      marks += cat(marks.empty() ? "" : ", ", named ? graph_.output_names[i] : cat("output ", i));
    }
    for (const Apply& node : toposort(graph_.outputs)) add(node);
    for (auto& output : graph_.outputs)
      if (!output.has_owner()) leaf(output);
    return cat("[", join(entries_, ",\n"), "]");
  }

 private:
  static const void* key_of(const Variable& variable) {
    return variable.has_owner() ? static_cast<const void*>(variable.node()->owner) : variable.node();
  }

  std::size_t put(const std::vector<std::pair<const char*, std::string>>& texts, const std::string& rest) {
    std::vector<std::string> fields;
    for (auto& [name, text] : texts)
      if (!text.empty()) fields.push_back(cat("\"", name, "\":", json(text)));
    entries_.push_back(cat("{", join(fields, ","), rest, "}"));
    return entries_.size() - 1;
  }

  std::string mark(const void* key) const {
    const std::string* found = output_marks_.find(key);
    return found ? *found : std::string();
  }

  // A constant is drawn once for each use, so that it does not connect unrelated nodes.
  std::size_t leaf(const Variable& variable) {
    if (const std::size_t* known = indices_.find(variable.node())) return *known;
    const bool is_constant = variable.is_constant();
    const char* kind = is_constant ? "constant" : variable.node()->leaf ? "shared" : "input";
    const std::size_t index = put({{"k", kind},
                                   {"l", leaf_text(variable)},
                                   {"t", short_type_text(variable.type())},
                                   {"o", mark(variable.node())},
                                   {"w", variable.where().str()}},
                                  ",\"i\":[]");
    if (!is_constant) indices_.insert(variable.node(), index);
    return index;
  }

  void add(const Apply& node) {
    std::vector<std::string> inputs, names, types;
    for (std::size_t i = 0; i < node.inputs().size(); ++i) {
      const Variable& variable = node.inputs()[i];
      const std::size_t from = variable.has_owner() ? *indices_.find(variable.node()->owner) : leaf(variable);
      const std::string which =
          variable.has_owner() && variable.owner().output_count() > 1 ? cat(", its output ", variable.index()) : "";
      inputs.push_back(cat("[", from, ",", json(cat("input ", i, which, ": ", short_type_text(variable.type()))), "]"));
    }
    for (auto& output : node.outputs()) {
      if (!output.name().empty()) names.push_back(output.name());
      types.push_back(short_type_text(output.type()));
    }
    std::string rest = cat(",\"i\":[", join(inputs, ","), "]");
    const double seconds = graph_.seconds ? graph_.seconds(node) : -1;
    if (seconds >= 0 && std::isfinite(seconds)) rest += cat(",\"s\":", seconds);
    const Provenance& provenance = node.provenance();
    const std::size_t index = put({{"k", "apply"},
                                   {"l", node.op().label()},
                                   {"n", join(names, ", ")},
                                   {"t", join(types, ", ")},
                                   {"o", mark(node.node())},
                                   {"w", provenance.where.str()},
                                   {"r", join(rules_of(provenance), ", then ")},
                                   {"e", pprint(node.output(), {.depth = 4, .max_length = 200})}},
                                  rest);
    indices_.insert(node.node(), index);
  }

  const PageGraph& graph_;
  std::vector<std::string> entries_;
  PointerMap<std::size_t> indices_;
  PointerMap<std::string> output_marks_;
};

}  // namespace

std::string graph_html(const Page& page) {
  if (page.graphs.empty()) throw ValueError("graph_html: expected at least one graph, got none");
  std::vector<std::string> graphs;
  for (auto& graph : page.graphs)
    graphs.push_back(cat("{\"name\":", json(graph.name), ",\"nodes\":", NodeList(graph).write(), "}"));
  return cat(page_head(page.title, page_css),
             "<script type=\"application/json\" id=\"data\">{\"title\":", json(page.title),
             ",\"program\":", json(page.program), ",\"graphs\":[", join(graphs, ","), "]}</script>\n<script>\n",
             layout_js, fold_js, view_js, "</script>\n</body></html>\n");
}

}  // namespace bitale
