// latex: an expression as a notebook typesets it. Functions and operators are recognized by their text, not by op.
#include <array>
#include <cctype>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "bitale/core/error.hpp"
#include "bitale/core/text.hpp"
#include "ops/elementwise/elemwise.hpp"
#include "printing/formula.hpp"
#include "printing/leaf_text.hpp"
#include "printing/notebook.hpp"

namespace bitale {

namespace {

using Row = std::pair<std::string_view, std::string_view>;

constexpr auto latex_operators = std::to_array<Row>({{"*", "\\cdot"},
                                                     {"%", "\\bmod"},
                                                     {"==", "="},
                                                     {"!=", "\\ne"},
                                                     {"<=", "\\le"},
                                                     {">=", "\\ge"},
                                                     {"<<", "\\ll"},
                                                     {">>", "\\gg"},
                                                     {"&", "\\wedge"},
                                                     {"|", "\\vee"},
                                                     {"^", "\\oplus"},
                                                     {"~", "\\neg"}});

// Words that LaTeX has a command for: functions, and names of variables.
constexpr auto latex_functions = std::to_array<std::string_view>(
    {"exp", "log", "sin", "cos", "tan", "sinh", "cosh", "tanh", "arcsin", "arccos", "arctan", "max", "min", "det"});
constexpr auto latex_letters = std::to_array<std::string_view>(
    {"alpha", "beta",  "gamma",  "delta", "epsilon", "zeta",  "eta", "theta", "kappa", "lambda", "mu",
     "nu",    "xi",    "pi",     "rho",   "sigma",   "tau",   "phi", "chi",   "psi",   "omega",  "Gamma",
     "Delta", "Theta", "Lambda", "Xi",    "Pi",      "Sigma", "Phi", "Psi",   "Omega"});

template <class Words>
bool is_among(const Words& words, std::string_view word) {
  for (auto known : words)
    if (known == word) return true;
  return false;
}

bool is_word_char(char c) { return std::isalnum(static_cast<unsigned char>(c)) || (c & 0x80) != 0; }

// A character of upright text in math mode, escaped.
std::string escaped_char(char c) {
  if (c == '\\') return "\\backslash{}";
  if (c == '^') return "\\hat{}";
  if (c == '~') return "\\sim{}";
  if (std::string_view("_#%&${}").find(c) != std::string_view::npos) return {'\\', c};
  return {c};
}

std::string upright(std::string_view command, std::string_view word) {
  std::string out = cat("\\", command, "{");
  for (char c : word) out += escaped_char(c);
  return out + "}";
}

std::string word_text(std::string_view word) {
  if (word.size() == 1) return std::string(word);
  if (is_among(latex_letters, word)) return cat("{\\", word, "}");
  return upright("mathrm", word);
}

// "x_1": x with a subscript.
std::string name_text(const std::string& name) {
  const std::size_t bar = name.find('_');
  bool plain = !name.empty() && is_word_char(name[0]);
  for (char c : name) plain &= is_word_char(c) || c == '_';
  if (!plain) return upright("mathrm", name);
  if (bar == name.npos || bar + 1 == name.size()) return word_text(name);
  return cat(word_text(name.substr(0, bar)), "_{", upright("mathrm", name.substr(bar + 1)), "}");
}

std::string bracketed(const std::string& text) { return cat("\\left(", text, "\\right)"); }

std::string bracketed_if(bool needed, const FormulaPiece& piece) { return needed ? bracketed(piece.text) : piece.text; }

std::string function_text(const std::string& function, const std::vector<std::string>& arguments) {
  std::string head;
  if (is_among(latex_functions, function))
    head = cat("\\", function);
  else
    head = upright("operatorname", function);
  return cat(head, bracketed(join(arguments, ",\\,")));
}

// Functions with a special notation.
std::optional<FormulaPiece> own_notation(const std::string& function, std::span<const FormulaPiece> inputs) {
  if (inputs.size() != 1) return {};
  const std::string& x = inputs[0].text;
  if (function == "sqrt") return FormulaPiece{cat("\\sqrt{", x, "}")};
  if (function == "abs") return FormulaPiece{cat("\\left|", x, "\\right|")};
  if (function == "sqr")
    return FormulaPiece{cat("{", bracketed_if(inputs[0].precedence < binds_as_atom, inputs[0]), "}^{2}"), 8};
  if (function == "floor" || function == "ceil")
    return FormulaPiece{cat("\\left\\l", function, "{}", x, "\\right\\r", function)};
  return {};
}

FormulaPiece operator_piece(const ScalarOp& op, std::span<const FormulaPiece> inputs) {
  const int mine = op.precedence;
  std::string symbol(op.symbol);
  if (symbol == "1/") return {cat("\\frac{1}{", inputs[0].text, "}")};
  if (inputs.size() == 2 && symbol == "/") return {cat("\\frac{", inputs[0].text, "}{", inputs[1].text, "}")};
  if (inputs.size() == 2 && symbol == "//")
    return {cat("\\left\\lfloor\\frac{", inputs[0].text, "}{", inputs[1].text, "}\\right\\rfloor")};
  if (inputs.size() == 2 && symbol == "**")
    return {cat("{", bracketed_if(inputs[0].precedence < binds_as_atom, inputs[0]), "}^{", inputs[1].text, "}"), mine};
  std::string written;
  for (auto& [known, command] : latex_operators)
    if (known == symbol) written = command;
  if (written.empty())
    for (char c : symbol) written += escaped_char(c);
  if (inputs.size() == 1) return {cat(written, " ", bracketed_if(inputs[0].precedence <= mine, inputs[0])), mine};
  FormulaPiece out{{}, mine};
  const bool alone = op.has(comparison);
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const int theirs = inputs[i].precedence;
    if (i) out.text += cat(" ", written, " ");
    out.text += bracketed_if(theirs < mine || (theirs == mine && (alone || i > 0)), inputs[i]);
  }
  return out;
}

// In a text that an op builds from its inputs' texts, these marks stand for the inputs, with a space for inputs that
// need brackets as operands, so that atom_text treats the marks like the inputs.
constexpr char input_begins = '\x01', input_ends = '\x02';

std::string input_mark(std::size_t i, bool atom) { return cat(input_begins, i, atom ? "" : " ", input_ends); }

std::string translated(const std::string& text, std::span<const FormulaPiece> inputs) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    if (text[at] == input_begins) {
      const std::size_t end = text.find(input_ends, at);
      out += inputs[std::size_t(std::stoul(text.substr(at + 1, end - at - 1)))].text;
      at = end + 1;
    } else if (std::isalpha(static_cast<unsigned char>(text[at]))) {
      std::size_t end = at;
      while (end < text.size() && (is_word_char(text[end]) || text[end] == '_')) ++end;
      out += upright("mathrm", text.substr(at, end - at));
      at = end;
    } else {
      out += text[at] == ' ' ? "\\," : escaped_char(text[at]);
      ++at;
    }
  }
  return out;
}

FormulaPiece latex_node(const Apply& node, std::span<const FormulaPiece> inputs) {
  std::vector<std::string> marks, texts;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    marks.push_back(input_mark(i, inputs[i].precedence == binds_as_atom));
    texts.push_back(inputs[i].text);
  }
  if (std::string text = node.op().pprint_text(marks); !text.empty()) {
    for (std::size_t i = 0; i < inputs.size(); ++i)
      if (text == marks[i]) return inputs[i];
    const bool is_atom = atom_text(text) == text;
    if (text.ends_with(".T"))
      return {cat("{", translated(text.substr(0, text.size() - 2), inputs), "}^{\\top}"), binds_as_atom};
    return {translated(text, inputs), is_atom ? binds_as_atom : binds_loosest};
  }
  if (const ScalarOp* op = node.output_count() == 1 ? scalar_op_of(node.output()) : nullptr) {
    if (op->precedence > 0) return operator_piece(*op, inputs);
    const std::string function(op->symbol.empty() ? op->name : op->symbol);
    if (auto own = own_notation(function, inputs)) return *own;
    return {function_text(function, texts)};
  }
  const LabelParts parts = split_label(node.op().label());
  for (auto& setting : parts.settings) texts.push_back(translated(setting, {}));
  return {function_text(parts.function, texts)};
}

FormulaPiece latex_leaf(const Variable& leaf) {
  if (!leaf.name().empty()) return {name_text(leaf.name())};
  const std::string text = leaf_text(leaf);
  if (!leaf.constant()) return {upright("mathrm", text)};
  std::string out;
  for (char c : text) out += c == ' ' ? "\\," : c == 'e' && leaf.ndim() == 0 ? "\\mathrm{e}" : escaped_char(c);
  return {out, text.starts_with('-') ? binds_as_sign : binds_as_atom};
}

std::string latex_output(const FormulaPiece& piece, int index) {
  return cat("{", bracketed_if(piece.precedence < binds_as_atom, piece), "}_{", index, "}");
}

FormulaPiece latex_call(const StatisticCall& call, const FormulaPiece& x) {
  std::vector<std::string> texts{x.text};
  for (auto& setting : call.settings) texts.push_back(translated(setting, {}));
  return {function_text(std::string(call.function), texts)};
}

}  // namespace

std::string notebook_latex(const Variable& variable) {
  if (!variable.defined()) throw ValueError("notebook_latex: expected a variable, got none");
  constexpr std::size_t max_names = 12;
  const Notation notation{latex_node, latex_leaf, latex_output, "\\ldots{}", latex_call};
  const PprintOptions options{.depth = 40, .max_length = 1500};
  Variables shown{variable};
  std::vector<std::string> formulas;
  for (std::size_t i = 0; i < shown.size() && i < max_names; ++i)
    formulas.push_back(write_formula_by_names(Variable(shown[i]), notation, options, shown));
  const bool has_name = variable.has_owner() && !variable.name().empty();
  if (formulas.size() == 1) return has_name ? cat(name_text(variable.name()), " = ", formulas[0]) : formulas[0];
  std::string out = "\\begin{aligned}";
  for (std::size_t i = 0; i < formulas.size(); ++i) {
    if (i > 0) out += " \\\\ ";
    out += i > 0 || has_name ? cat(name_text(shown[i].name()), " &= ", formulas[i]) : cat("&", formulas[i]);
  }
  return out + " \\end{aligned}";
}

std::string latex(const Variable& variable, const PprintOptions& options) {
  if (!variable.defined()) throw ValueError("latex: expected a variable, got none");
  return write_formula(variable, {latex_node, latex_leaf, latex_output, "\\ldots{}"}, options);
}

}  // namespace bitale
