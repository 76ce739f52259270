// One line of text for an expression: formulas for elementwise operations, label(inputs) for others.
#include "bitale/core/text.hpp"
#include "ops/elementwise/elemwise.hpp"
#include "rewriting/engine.hpp"

namespace bitale::rewriting {

namespace {

constexpr int atom = 100;

struct Text {
  std::string text;
  int precedence = atom;
};

std::string in_context(const Text& part, int precedence) {
  return part.precedence < precedence ? cat("(", part.text, ")") : part.text;
}

// Recursion is limited by the requested number of levels.
Text text_of(const Variable& v, int levels) {
  if (const std::optional<double> number = scalar_constant(v); number && v.name().empty()) {
    std::string text = number_text(*number);
    if (text.ends_with(".0")) text.resize(text.size() - 2);
    return {text, *number < 0 ? 0 : atom};
  }
  if (!v.has_owner() || !v.name().empty()) return {v.str()};
  const Apply owner = v.owner();
  if (levels == 0) return {"..."};
  std::vector<Text> parts;
  for (auto& input : owner.inputs()) parts.push_back(text_of(input, levels - 1));
  const ScalarOp* scalar = scalar_op_of(v);
  if (scalar && scalar->precedence > 0 && parts.size() == 2)
    return {cat(in_context(parts[0], scalar->precedence), " ", scalar->symbol, " ",
                in_context(parts[1], scalar->precedence + 1)),
            scalar->precedence};
  if (scalar && scalar->precedence > 0 && parts.size() == 1 && scalar->symbol.size() == 1)
    return {cat(scalar->symbol, in_context(parts[0], scalar->precedence)), scalar->precedence};
  std::vector<std::string> inputs;
  for (auto& part : parts) inputs.push_back(part.text);
  const std::string call = cat(scalar ? std::string(scalar->name) : owner.op().label(), "(", join(inputs, ", "), ")");
  return {owner.output_count() > 1 ? cat(call, ".", v.index()) : call};
}

}  // namespace

std::string expression_text(const Variable& expression, int levels) { return text_of(expression, levels).text; }

}  // namespace bitale::rewriting
