// A graph in Graphviz's language. Red boxes are Variables and blue boxes are Apply nodes, with their Op in green and
// Types in purple; the line around the box of a variable shows its kind. With the option `structure`, Ops and Types are
// nodes of their own, as in textbook pictures of the data structure.
#include <algorithm>

#include "bitale/core/error.hpp"
#include "bitale/core/text.hpp"
#include "bitale/graph/op.hpp"
#include "bitale/graph/traversal.hpp"
#include "bitale/printing/picture.hpp"
#include "graph/pointer_map.hpp"
#include "printing/leaf_text.hpp"
#include "printing/markup.hpp"

namespace bitale {

namespace {

struct Colour {
  const char* line;
  const char* fill;
};
constexpr Colour of_apply{"#2a62a8", "#c3d9f4"}, of_variable{"#c22f2f", "#f9cdcb"}, of_op{"#2e7d32", "#bfe5bd"},
    of_type{"#7339ab", "#e0ccf3"};

std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c == '\n' ? ' ' : c;
  }
  return out + "\"";
}

// The first `most` characters (UTF-8 continuation bytes are not counted).
std::string shortened(const std::string& text, std::size_t most) {
  std::size_t characters = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if ((static_cast<unsigned char>(text[i]) & 0xC0) == 0x80) continue;
    if (++characters > most) return text.substr(0, i) + "…";
  }
  return text;
}

// The variables that a variable is computed from, and itself.
PointerSet needed_by(const Variable& variable) {
  PointerSet out;
  for (auto& each : ancestors(std::span(&variable, 1))) out.insert(each.node());
  return out;
}

class DotWriter {
 public:
  DotWriter(std::span<const Variable> outputs, const PictureOptions& options)
      : options_(options), outputs_(outputs.begin(), outputs.end()) {
    for (std::size_t i = 0; i < outputs_.size(); ++i) {
      if (!outputs_[i].defined()) throw ValueError("picture: expected variables, got none");
      final_.insert(outputs_[i].node(), i);
    }
    if (options.condition.defined()) {
      if (options.condition.inputs().size() < 3)
        throw ValueError(cat("picture: expected as a condition a node with a choice and two sides, got ",
                             options.condition.op().label()));
      left_ = needed_by(options.condition.input(1));
      right_ = needed_by(options.condition.input(2));
    }
  }

  std::string write() {
    out_ =
        "digraph {\n  graph [ranksep=0.35, nodesep=0.25];\n  node [fontname=\"Helvetica,Arial,sans-serif\", "
        "fontsize=11, penwidth=1.4, margin=\"0.1,0.04\", height=0.3];\n  edge "
        "[fontname=\"Helvetica,Arial,sans-serif\", "
        "fontsize=9, arrowsize=0.7, color=\"#555555\"];\n";
    std::size_t position = 0;
    for (const Apply& node : toposort(outputs_)) apply(node, position++);
    for (auto& output : outputs_) box(output);
    return std::move(out_) + "}\n";
  }

 private:
  bool everything() const { return options_.structure || !options_.compact; }
  bool is_shown(const Variable& variable) const {
    return everything() || !variable.has_owner() || !variable.name().empty() || final_.contains(variable.node());
  }

  std::string colours(const Colour& colour, std::string_view styles = {}) const {
    const std::string style =
        cat(options_.high_contrast ? "filled" : "", options_.high_contrast && !styles.empty() ? "," : "", styles);
    return cat(", color=\"", colour.line, "\"", style.empty() ? "" : cat(", style=\"", style, "\""),
               options_.high_contrast ? cat(", fillcolor=\"", colour.fill, "\"") : std::string());
  }

  std::string id_text(std::size_t position) const { return options_.with_ids ? cat(position, ": ") : std::string(); }

  std::string shown_type(const Variable& variable) const {
    return shortened(short_type_text(variable.type()), options_.max_label_size);
  }

  // A frame whose color shows which side of the condition needs the variable.
  std::string side(const VariableNode* variable) const {
    const bool left = left_.contains(variable), right = right_.contains(variable);
    if (!left && !right) return {};
    return cat(", penwidth=4, color=\"", left && right ? "orange" : left ? "seagreen" : "deeppink", "\"");
  }

  // The node of the picture for a variable; written at the first request.
  std::string box(const Variable& variable) {
    auto [number, is_new] = boxes_.insert(variable.node(), boxes_.size());
    const std::string name = cat("v", *number);
    if (!is_new) return name;
    std::string text = variable.has_owner() ? variable.name() : leaf_text(variable);
    if (options_.with_ids) text = cat(*number, text.empty() ? "" : ": ", text);
    if (const std::size_t* i = final_.find(variable.node()))
      if (*i < options_.outputs.size() && !options_.outputs[*i].empty())
        text += cat(text.empty() ? "" : " ", "(", options_.outputs[*i], ")");
    // The type is left out where it is a node of its own, or already the text of an unnamed leaf.
    const bool named = !variable.name().empty() && options_.var_with_name_simple;
    std::string label = escaped(shortened(text, options_.max_label_size));
    if (options_.structure) {
      if (label.empty()) label = "Variable";
    } else if (!named && (variable.has_owner() || !variable.name().empty() || variable.is_constant())) {
      label += cat(label.empty() ? "" : "<BR/>", "<FONT COLOR=\"", of_type.line, "\" POINT-SIZE=\"9\">",
                   escaped(shown_type(variable)), "</FONT>");
    }
    const bool is_input = !variable.has_owner() && !variable.is_constant();
    out_ += cat("  ", name, " [shape=box, label=<", label, ">",
                colours(of_variable, variable.is_constant() ? "rounded,dashed"
                                     : is_input             ? "bold"
                                                            : ""),
                final_.contains(variable.node()) ? ", peripheries=2" : "", is_input ? ", penwidth=2.6" : "",
                side(variable.node()), "];\n");
    if (options_.structure) {
      out_ += cat("  t", name, " [shape=box, label=", quoted(shown_type(variable)), colours(of_type), "];\n");
      out_ += cat("  ", name, " -> t", name, " [style=dashed, label=type, arrowhead=empty];\n");
    }
    return name;
  }

  void apply(const Apply& node, std::size_t position) {
    const std::string name = cat("n", position), op = shortened(node.op().label(), options_.max_label_size);
    indices_.insert(node.node(), position);
    Colour colour = of_apply;
    const auto coded = options_.color_codes.find(std::string(node.op().name()));
    if (coded != options_.color_codes.end()) colour.line = colour.fill = coded->second.c_str();
    std::string label;
    if (options_.structure)
      label = cat(id_text(position), "Apply");
    else if (options_.high_contrast)
      label = cat("<TABLE BORDER=\"0\" CELLBORDER=\"0\" CELLPADDING=\"3\"><TR><TD STYLE=\"ROUNDED\" BGCOLOR=\"",
                  of_op.fill, "\">", id_text(position), escaped(op), "</TD></TR></TABLE>");
    else
      label = cat("<FONT COLOR=\"", of_op.line, "\">", id_text(position), escaped(op), "</FONT>");
    out_ += cat("  ", name, " [shape=box, label=<", label, ">", colours(colour), side(node.output().node()), "];\n");
    if (options_.structure) {
      out_ += cat("  o", position, " [shape=ellipse, label=", quoted(op), colours(of_op), "];\n");
      out_ += cat("  o", position, " -> ", name, " [style=dashed, label=op, arrowtail=empty, dir=back];\n");
    }
    for (std::size_t i = 0; i < node.inputs().size(); ++i) input(node, i, name);
    for (auto& output : node.outputs())
      if (is_shown(output)) {
        const std::string to = box(output);
        out_ += cat("  ", name, " -> ", to,
                    node.output_count() > 1 ? cat(" [label=\"", output.index(), "\"]") : std::string(), ";\n");
      }
  }

  void input(const Apply& node, std::size_t i, const std::string& to) {
    const Variable& variable = node.inputs()[i];
    const bool shown = is_shown(variable);
    const std::string from = shown ? box(variable) : cat("n", *indices_.find(variable.node()->owner));
    std::string label = node.inputs().size() > 1 ? std::to_string(i) : std::string();
    // The type of a variable without a box is written on the edge.
    if (!shown)
      label += cat(label.empty() ? "" : " ", "<FONT COLOR=\"", of_type.line, "\">", escaped(shown_type(variable)),
                   "</FONT>");
    out_ += cat("  ", from, " -> ", to, label.empty() ? "" : cat(" [label=<", label, ">]"), ";\n");
  }

  const PictureOptions& options_;
  Variables outputs_;
  PointerMap<std::size_t> final_;    // the outputs, and their positions
  PointerMap<std::size_t> indices_;  // of Apply nodes, in topological order
  PointerMap<std::size_t> boxes_;    // of variables, in order of appearance
  PointerSet left_, right_;          // what each side of the condition needs
  std::string out_;
};

}  // namespace

std::string dot_text(std::span<const Variable> outputs, const PictureOptions& options) {
  return DotWriter(outputs, options).write();
}

}  // namespace bitale
