// dprint: the tree of nodes below a variable, one line each, depth first. A repeated node shows "···" instead of its
// inputs. The walk uses an explicit stack, and one indentation string that grows and shrinks with it. Inner graphs of
// ops follow, each distinct one once.
#include <ostream>
#include <unordered_map>

#include "bitale/core/error.hpp"
#include "bitale/core/text.hpp"
#include "bitale/graph/inner_graph.hpp"
#include "bitale/graph/provenance.hpp"
#include "bitale/printing/printing.hpp"
#include "graph/pointer_map.hpp"
#include "printing/leaf_text.hpp"

namespace bitale {

namespace {

struct HashOp {
  std::size_t operator()(const OpRef& op) const { return op->hash(); }
};
struct EqualOps {
  bool operator()(const OpRef& a, const OpRef& b) const { return a->equals(*b); }
};

}  // namespace

struct PrintedNodes::State {
  PointerMap<std::size_t> ids;  // of nodes and leaves, in order of appearance
  PointerSet expanded;          // nodes whose inputs were printed
  Variables alive;              // keeps addresses from being reused
  std::unordered_map<OpRef, std::size_t, HashOp, EqualOps> with_inner_graph;  // ops, and their indices
};

PrintedNodes::PrintedNodes() : state_(std::make_unique<State>()) {}
PrintedNodes::~PrintedNodes() = default;

namespace {

// The address that has an id: the node of an output, or a leaf.
const void* key_of(const Variable& variable) {
  return variable.has_owner() ? static_cast<const void*>(variable.node()->owner) : variable.node();
}

}  // namespace

const Variables& PrintedNodes::with_ids() const { return state_->alive; }
bool PrintedNodes::is_expanded(const Apply& node) const { return state_->expanded.contains(node.node()); }
void PrintedNodes::add_id(const Variable& variable) {
  if (state_->ids.insert(key_of(variable), state_->ids.size()).second) state_->alive.push_back(variable);
}
void PrintedNodes::add_expanded(const Apply& node) { state_->expanded.insert(node.node()); }

namespace {

// 0: A ... 25: Z, 26: BA: base 26.
std::string letters(std::size_t number) {
  std::string out;
  do {
    out.insert(out.begin(), char('A' + number % 26));
    number /= 26;
  } while (number);
  return out;
}

// "{0: [1]}", or nothing when no output has entries.
template <class InputsOf>
std::string map_text(const Apply& node, InputsOf inputs_of) {
  std::vector<std::string> entries;
  for (int output = 0; output < int(node.output_count()); ++output) {
    std::vector<std::string> inputs;
    for (int input : inputs_of(output)) inputs.push_back(std::to_string(input));
    if (!inputs.empty()) entries.push_back(cat(output, ": [", join(inputs, ", "), "]"));
  }
  return entries.empty() ? std::string() : cat("{", join(entries, ", "), "}");
}

}  // namespace

class TreePrinter {
 public:
  explicit TreePrinter(const DprintOptions& options)
      : options_(options), printed_(*(options.printed ? options.printed : &own_)->state_) {
    if (options.id_type != "CHAR" && options.id_type != "int" && options.id_type != "id" && !options.id_type.empty())
      throw ValueError(cat("dprint: id_type must be \"CHAR\", \"int\", \"id\" or \"\", not \"", options.id_type, "\""));
  }

  void set_order(const std::vector<Apply>& order) {
    for (std::size_t i = 0; i < order.size(); ++i) positions_.insert(order[i].node(), i);
  }

  void print_input(const Variable& variable) {
    indent_ = "→ ";
    line("", leaf_line(variable));
    indent_.clear();
  }

  void print_root(const Variable& root, const std::string& remark, const char* connector = "", const char* bar = "") {
    if (!root.defined()) throw ValueError("dprint: expected a variable, got none");
    if (options_.depth == 0) return;
    print(root, connector, remark, bar);
    while (!open_.empty() && !full_) {
      Frame& frame = open_.back();
      const Variables& inputs = frame.node->inputs;
      if (frame.next == inputs.size()) {
        indent_.resize(frame.outer_indent);
        open_.pop_back();
        continue;
      }
      const Variable& input = inputs[frame.next++];
      const bool last = frame.next == inputs.size();
      print(input, last ? " └─ " : " ├─ ", {}, last ? "   " : " │ ");
    }
    open_.clear();
    indent_.clear();
  }

  // The inner graphs of the printed ops, then those of the ops inside them.
  void print_inner_graphs() {
    for (std::size_t i = 0; i < inner_.size() && !full_; ++i) {
      if (i == 0) line("", "\nInner graphs:");
      const InnerGraph& graph = *inner_graph_of(*inner_[i].op);
      for (std::size_t k = 0; k < graph.inputs().size(); ++k) inner_inputs_.insert(graph.inputs()[k].node(), k);
      const std::string ids = options_.id_type.empty() ? "" : cat(" [id ", join(inner_[i].ids, ", "), "]");
      line("", cat("\n", inner_[i].op->label(), ids));
      for (auto& output : graph.outputs()) print_root(output, {}, " ← ", "   ");
    }
  }

  std::string take() && { return std::move(out_); }

 private:
  // A node whose inputs are being printed.
  struct Frame {
    const ApplyNode* node;
    std::size_t next;
    std::size_t outer_indent;  // length to return to
  };

  // Prints one variable's line; its inputs follow if they are neither too deep nor printed already. `bar` is the prefix
  // of the lines below it.
  void print(const Variable& variable, const char* connector, const std::string& remark, const char* bar = "") {
    if (!variable.has_owner()) {
      line(connector, leaf_line(variable) + (remark.empty() ? "" : cat(" (", remark, ")")));
      return;
    }
    const Apply node = variable.owner();
    line(connector, node_line(variable, node) + (remark.empty() ? "" : cat(" (", remark, ")")));
    const bool repeated = !printed_.expanded.insert(node.node());
    const std::size_t outer = indent_.size();
    if (repeated || (options_.stop_on_name && !variable.name().empty())) {
      indent_ += bar;
      line(" └─ ", "···");
      indent_.resize(outer);
      return;
    }
    if (options_.depth >= 0 && open_.size() + 1 >= std::size_t(options_.depth)) return;
    indent_ += bar;
    open_.push_back({node.node(), 0, outer});
  }

  void line(const char* connector, const std::string& text) {
    if (full_) return;
    if (out_.size() + indent_.size() + text.size() > options_.max_bytes) {
      full_ = true;
      out_ += cat("··· longer than ", options_.max_bytes, " bytes: print less with `depth`, or raise `max_bytes`\n");
      return;
    }
    out_.append(indent_).append(connector).append(text).append("\n");
  }

  // " [id A]" of a node or leaf.
  std::string id(const void* key, const Variable& variable) {
    auto [number, is_new] = printed_.ids.insert(key, printed_.ids.size());
    const std::string text = options_.id_type == "int"  ? std::to_string(*number)
                             : options_.id_type == "id" ? std::to_string(std::uintptr_t(key))
                                                        : letters(*number);
    if (is_new) {
      printed_.alive.push_back(variable);
      note_inner_graph(variable, text);
    }
    if (options_.id_type.empty()) return {};
    return cat(" [id ", text, "]");
  }

  void note_inner_graph(const Variable& variable, const std::string& id) {
    const Op* op = options_.print_inner_graphs ? variable.owner_op() : nullptr;
    if (!op || op->elementwise() || !inner_graph_of(*op)) return;
    const auto [entry, is_new] = printed_.with_inner_graph.try_emplace(OpRef(op), inner_.size());
    if (is_new) inner_.push_back({OpRef(op), {}});
    // An op that was listed by an earlier call is not listed again.
    if (entry->second < inner_.size() && inner_[entry->second].op->equals(*op)) inner_[entry->second].ids.push_back(id);
  }

  std::string type_and_shape(const Variable& variable) const {
    std::string out;
    if (options_.print_type) out += cat(" <", short_type_text(variable.type()), ">");
    const TensorType* tensor = options_.print_shape ? as_tensor(variable.type()) : nullptr;
    if (tensor) {
      std::vector<std::string> lengths;
      for (auto length : tensor->shape) lengths.push_back(length == unknown_length ? "?" : std::to_string(length));
      out += cat(" shape=(", join(lengths, ", "), lengths.size() == 1 ? ",)" : ")");
    }
    return out;
  }

  std::string leaf_line(const Variable& leaf) {
    const std::size_t* index = inner_inputs_.find(leaf.node());
    return cat(index ? cat("*", *index, "-") : "", leaf_text(leaf), id(leaf.node(), leaf), type_and_shape(leaf),
               about(leaf));
  }

  std::string node_line(const Variable& variable, const Apply& node) {
    std::string out = node.op().label();
    if (node.output_count() > 1) out += cat(".", variable.index());
    out += id(node.node(), variable);
    out += type_and_shape(variable);
    if (!variable.name().empty()) out += cat(" '", variable.name(), "'");
    if (options_.print_destroy_map) {
      const auto text = map_text(node, [&](int output) { return node.op().destroys(node, output); });
      if (!text.empty()) out += " d=" + text;
    }
    if (options_.print_view_map) {
      const auto text = map_text(node, [&](int output) { return node.op().view_of(node, output); });
      if (!text.empty()) out += " v=" + text;
    }
    if (auto* position = positions_.find(node.node())) out += cat(" ", *position);
    if (options_.provenance)
      if (const std::string text = provenance_text(node.provenance()); !text.empty()) out += cat(" {", text, "}");
    if (options_.note)
      if (const std::string note = options_.note(node); !note.empty()) out += cat(" (", note, ")");
    return out + about(variable);
  }

  std::string about(const Variable& variable) const {
    const std::string text = options_.about ? options_.about(variable) : std::string();
    return text.empty() ? text : " " + text;
  }

  const DprintOptions& options_;
  PrintedNodes own_;
  PrintedNodes::State& printed_;
  struct Inner {
    OpRef op;
    std::vector<std::string> ids;  // of the op's nodes
  };

  PointerMap<std::size_t> positions_;
  std::vector<Inner> inner_;              // in order of appearance
  PointerMap<std::size_t> inner_inputs_;  // leaves of inner graphs, and their positions
  std::vector<Frame> open_;
  std::string indent_;
  std::string out_;
  bool full_ = false;
};

namespace {

std::string print_roots(TreePrinter& printer, std::span<const Variable> roots, const DprintOptions& options) {
  for (std::size_t i = 0; i < roots.size(); ++i)
    printer.print_root(roots[i], i < options.outputs.size() ? options.outputs[i] : std::string());
  printer.print_inner_graphs();
  return std::move(printer).take();
}

}  // namespace

std::string dprint(std::span<const Variable> variables, const DprintOptions& options) {
  TreePrinter printer(options);
  return print_roots(printer, variables, options);
}

std::string dprint(const Variable& variable, const DprintOptions& options) {
  return dprint(std::span(&variable, 1), options);
}

std::string dprint(const Apply& node, const DprintOptions& options) { return dprint(node.outputs(), options); }

std::string dprint(const FunctionGraph& graph, const DprintOptions& options) {
  TreePrinter printer(options);
  printer.set_order(graph.toposort());
  if (options.print_fgraph_inputs)
    for (auto& input : graph.inputs()) printer.print_input(input);
  return print_roots(printer, graph.outputs(), options);
}

std::ostream& operator<<(std::ostream& stream, const Variable& variable) { return stream << variable.str(); }
std::ostream& operator<<(std::ostream& stream, const Array& array) { return stream << array.str(); }
std::ostream& operator<<(std::ostream& stream, const FunctionGraph& graph) { return stream << dprint(graph); }

}  // namespace bitale
