// pprint: an expression as one would write it. Each node's text is built once from its inputs' texts, only for the
// nodes nearest to the root, and parentheses are added where the text would otherwise parse as another expression.
#include <algorithm>
#include <cctype>
#include <deque>

#include "bitale/core/error.hpp"
#include "bitale/core/text.hpp"
#include "bitale/printing/printing.hpp"
#include "graph/pointer_map.hpp"
#include "ops/elementwise/elemwise.hpp"
#include "printing/formula.hpp"
#include "printing/leaf_text.hpp"

namespace bitale {

namespace {

std::string wrapped_if(bool needed, const FormulaPiece& piece) {
  return needed ? cat("(", piece.text, ")") : piece.text;
}

FormulaPiece function_piece(const std::string& function, std::vector<std::string> arguments) {
  return {cat(function, "(", join(arguments, ", "), ")"), binds_as_atom};
}

FormulaPiece infix_piece(const ScalarOp& op, std::span<const FormulaPiece> inputs) {
  const int mine = op.precedence;
  if (inputs.size() == 1) return {cat(op.symbol, wrapped_if(inputs[0].precedence <= mine, inputs[0])), mine};
  // x ** y ** z is x ** (y ** z); everything else groups to the left, and comparisons not at all.
  const bool to_the_right = op.symbol == "**", alone = op.has(comparison);
  FormulaPiece out{{}, mine};
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const bool keeps_equal = !alone && (to_the_right ? i + 1 == inputs.size() : i == 0);
    const int theirs = inputs[i].precedence;
    if (i) out.text += cat(" ", op.symbol, " ");
    out.text += wrapped_if(theirs < mine || (theirs == mine && !keeps_equal), inputs[i]);
  }
  return out;
}

// The text that an op provides itself. It may be that of an input (an op that only changes the layout is not shown).
FormulaPiece own_piece(std::string text, std::span<const FormulaPiece> inputs) {
  for (auto& input : inputs)
    if (input.text == text) return input;
  const bool is_atom = atom_text(text) == text;
  return {std::move(text), is_atom ? binds_as_atom : binds_loosest};
}

FormulaPiece node_piece(const Apply& node, std::span<const FormulaPiece> inputs) {
  std::vector<std::string> texts;
  for (auto& input : inputs) texts.push_back(input.text);
  if (std::string text = node.op().pprint_text(texts); !text.empty()) return own_piece(std::move(text), inputs);
  if (const ScalarOp* op = node.output_count() == 1 ? scalar_op_of(node.output()) : nullptr) {
    if (op->precedence > 0) return infix_piece(*op, inputs);
    return function_piece(std::string(op->symbol.empty() ? op->name : op->symbol), texts);
  }
  LabelParts parts = split_label(node.op().label());
  texts.insert(texts.end(), parts.settings.begin(), parts.settings.end());
  return function_piece(parts.function, std::move(texts));
}

FormulaPiece leaf_piece(const Variable& leaf) {
  std::string text = leaf_text(leaf);
  const bool signed_number = leaf.constant() && text.starts_with('-');
  return {std::move(text), signed_number ? binds_as_sign : binds_as_atom};
}

// An operand of elementwise arithmetic that is a single number with dimensions of length 1 is printed as that number,
// as it was before constant folding.
Variable without_dimensions(const Variable& operand) {
  const Array* value = operand.constant();
  if (!value || value->ndim() == 0 || value->size() != 1 || !operand.name().empty() || value->object()) return operand;
  return constant(value->reshape({}));
}

std::string output_text(const FormulaPiece& piece, int index) { return cat(atom_text(piece.text), ".", index); }

class FormulaWriter {
 public:
  // `named`: where variables are collected that are written as their names; null: none are.
  FormulaWriter(const Notation& notation, const PprintOptions& options, Variables* named = nullptr)
      : notation_(notation), options_(options), named_(named) {}

  std::string write(const Variable& root) {
    if (!root.has_owner()) return notation_.leaf(root).text;
    root_ = root.node();
    choose(root.node()->owner);
    write_chosen(root.node()->owner);
    return piece_of(root).text;
  }

 private:
  // Texts are bounded one by one, so their number must be bounded too.
  static constexpr std::size_t max_nodes = 10000;

  // The nodes nearest to the root, level by level.
  void choose(const ApplyNode* root) {
    std::vector<const ApplyNode*> level;
    if (options_.depth != 0) level.push_back(root);
    for (int depth = 0; !level.empty() && depth != options_.depth; ++depth) {
      std::vector<const ApplyNode*> below;
      for (auto* node : level) {
        if (chosen_.size() >= max_nodes) return;
        if (!chosen_.insert(node)) continue;
        recognise(node);
        for (auto& input : inputs_of(node))
          if (input.has_owner() && !is_name(input) && !chosen_.contains(input.node()->owner))
            below.push_back(input.node()->owner);
      }
      level = std::move(below);
    }
  }

  // Depth first, inputs before their node.
  void write_chosen(const ApplyNode* root) {
    if (!chosen_.contains(root)) return;
    struct Frame {
      const ApplyNode* node;
      std::size_t next;
    };
    std::vector<Frame> open{{root, 0}};
    while (!open.empty()) {
      auto& [node, next] = open.back();
      const std::span<const Variable> inputs = inputs_of(node);
      if (next == inputs.size()) {
        finish(node, node == root);
        open.pop_back();
        continue;
      }
      const Variable& variable = inputs[next++];
      const ApplyNode* input = variable.node()->owner;
      if (input && !is_name(variable) && chosen_.contains(input) && !indices_.contains(input))
        open.push_back({input, 0});
    }
  }

  void finish(const ApplyNode* node, bool is_root) {
    std::vector<FormulaPiece> inputs;
    const bool is_elementwise = node->op->elementwise();
    for (auto& input : inputs_of(node)) inputs.push_back(piece_of(is_elementwise ? without_dimensions(input) : input));
    const StatisticCall* call = call_of(node);
    FormulaPiece piece =
        call ? notation_.call(*call, inputs[0]) : notation_.node(Apply::of(const_cast<ApplyNode*>(node)), inputs);
    if (piece.text.size() > options_.max_length && !is_root) piece = left_out();
    indices_.insert(node, pieces_.size());
    pieces_.push_back(std::move(piece));
  }

  FormulaPiece left_out() const { return {notation_.left_out, binds_as_atom}; }

  FormulaPiece piece_of(const Variable& variable) {
    const ApplyNode* owner = variable.node()->owner;
    if (!owner) return notation_.leaf(variable);
    if (is_name(variable)) {
      if (std::none_of(named_->begin(), named_->end(), [&](auto& each) { return each.same_as(variable); }))
        named_->push_back(variable);
      return notation_.leaf(variable);
    }
    const std::size_t* index = indices_.find(owner);
    if (!index) return left_out();
    const FormulaPiece& piece = pieces_[*index];
    if (owner->output_count == 1 || piece.text == notation_.left_out) return piece;
    return {notation_.output(piece, variable.index()), binds_as_atom};
  }

  bool is_name(const Variable& variable) const {
    return named_ && variable.node() != root_ && !variable.name().empty();
  }

  // Building what an expression is compared with takes some microseconds for each node.
  static constexpr std::size_t max_recognised = 1000;

  void recognise(const ApplyNode* node) {
    if (!notation_.call || chosen_.size() > max_recognised) return;
    if (auto call = recognised_statistic(Apply::of(const_cast<ApplyNode*>(node)).output())) {
      call_indices_.insert(node, calls_.size());
      calls_.push_back(std::move(*call));
    }
  }
  const StatisticCall* call_of(const ApplyNode* node) const {
    const std::size_t* index = call_indices_.find(node);
    return index ? &calls_[*index] : nullptr;
  }
  std::span<const Variable> inputs_of(const ApplyNode* node) const {
    const StatisticCall* call = call_of(node);
    return call ? std::span(&call->x, 1) : std::span<const Variable>(node->inputs);
  }

  const Notation& notation_;
  const PprintOptions& options_;
  Variables* named_;
  const VariableNode* root_ = nullptr;
  PointerMap<std::size_t> call_indices_;
  std::deque<StatisticCall> calls_;  // at addresses that stay
  PointerSet chosen_;
  PointerMap<std::size_t> indices_;
  std::vector<FormulaPiece> pieces_;
};

}  // namespace

LabelParts split_label(const std::string& label) {
  LabelParts parts;
  const std::size_t brace = label.find('{');
  for (char c : label.substr(0, brace)) parts.function += char(std::tolower(static_cast<unsigned char>(c)));
  if (brace == label.npos || label.back() != '}') return parts;
  const std::string inside = label.substr(brace + 1, label.size() - brace - 2);
  int depth = 0;
  std::string setting;
  for (std::size_t i = 0; i <= inside.size(); ++i) {
    const char c = i < inside.size() ? inside[i] : ',';
    if (c == '(' || c == '[' || c == '{') ++depth;
    if (c == ')' || c == ']' || c == '}') --depth;
    if (c == ',' && (depth == 0 || i == inside.size())) {
      if (setting.find('=') == setting.npos) {
        // Not a keyword: part of the name, as in "cast{float64}".
        parts.function += cat("{", inside, "}");
        parts.settings.clear();
        return parts;
      }
      // None is the default of such arguments.
      if (!setting.ends_with("=None")) parts.settings.push_back(setting);
      setting.clear();
    } else if (c != ' ' || !setting.empty()) {
      setting += c;
    }
  }
  for (auto& text : parts.settings)
    if (text.starts_with("axes=")) text = "axis" + text.substr(4);  // the functions' keyword
  return parts;
}

std::string write_formula(const Variable& root, const Notation& notation, const PprintOptions& options) {
  return FormulaWriter(notation, options).write(root);
}

std::string write_formula_by_names(const Variable& root, const Notation& notation, const PprintOptions& options,
                                   Variables& named) {
  return FormulaWriter(notation, options, &named).write(root);
}

std::string pprint(const Variable& variable, const PprintOptions& options) {
  if (!variable.defined()) throw ValueError("pprint: expected a variable, got none");
  return write_formula(variable, {node_piece, leaf_piece, output_text, "…"}, options);
}

}  // namespace bitale
