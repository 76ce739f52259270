// Scalar expressions in C: computed and named where they are known, or written in place.
#include <algorithm>

#include "bitale/core/error.hpp"
#include "bitale/core/interruption.hpp"
#include "bitale/core/text.hpp"
#include "codegen/c/emit.hpp"
#include "program/hoisted_load.hpp"
#include "program/index_runs.hpp"
#include "program/steps.hpp"

namespace bitale::codegen::c {

using program::Code;

namespace {
constexpr std::size_t longest_text = 96;  // a longer expression gets a name
}

// ---- how often each expression is used ------------------------------------------------------------------------------

void Emitter::count_uses() {
  uses_.assign(pool_.size(), 0);
  program::ExprWalk walk;
  const auto use = [&](Expr root) {
    ++uses_[root.id()];
    walk(root, [&](Expr expr) {
      for (std::size_t i = 0; i < expr.argument_count(); ++i) ++uses_[expr.argument(i).id()];
      // Both sides of a select are computed, so they get names before it. GCC 12 makes masked loads of `c ? a : x[i]`,
      // and with -fno-trapping-math loses elements of x where a is converted from a narrower dtype.
      if (expr.code() == Code::select)
        for (std::size_t i = 1; i < 3; ++i) ++uses_[expr.argument(i).id()];
    });
  };
  program::visit_steps(program_.steps, [&](const program::Step& step) {
    program::for_each_expr(step, use);
    if (auto* allocate = program::as_allocate(step))
      for (auto& length : buffer(allocate->buffer).shape) use(length);
  });
}

// ---- where an expression is known -----------------------------------------------------------------------------------

// Whether an integer can't overflow: indices and lengths, and small sums and products of these.
bool Emitter::is_plain(Expr expr, int depth) {
  if (depth > 12 || expr.dtype() != DType::Int64) return false;
  const auto argument = [&](std::size_t i) { return is_plain(expr.argument(i), depth + 1); };
  switch (expr.code()) {
    case Code::index:
    case Code::dim: return true;
    case Code::constant: return expr.payload() < INT32_MAX && expr.payload() > -INT32_MAX;
    case Code::neg: return argument(0);
    case Code::add:
    case Code::sub:
    case Code::mul:
    case Code::min:
    case Code::max: return argument(0) && argument(1);
    default: return false;
  }
}

// Whether an expression is too short to need a name: i + 1, n - i.
bool Emitter::is_simple(Expr expr) {
  const auto is_atom = [](Expr e) {
    return e.code() == Code::constant || e.code() == Code::index || e.code() == Code::dim || e.code() == Code::var;
  };
  if (is_atom(expr)) return true;
  if (!is_plain(expr) || (expr.code() != Code::add && expr.code() != Code::sub)) return false;
  return is_atom(expr.argument(0)) && is_atom(expr.argument(1));
}

std::string Emitter::name_for(Expr expr) {
  if (expr.code() == Code::load) return names_.take(cat(data_name(expr.payload()), "_here"));
  if (expr.code() == Code::dim) return names_.take(cat(data_name(expr.payload() >> 8), "_n", expr.payload() & 0xff));
  if (expr.dtype() == DType::Int64 && is_plain(expr)) return names_.take("at");
  if (auto* meaning = pool_.source_call(expr)) return names_.take(cat(meaning->function, "_value"));
  return names_.take(expr.dtype() == DType::Bool ? "is_1" : "v1");
}

// ---- texts ----------------------------------------------------------------------------------------------------------

std::size_t Emitter::level_for(Expr expr) {
  return nest_.level_of(expr, [&](std::size_t level) { return levels_[level].values.count(expr.id()) != 0; });
}

Text Emitter::value(Expr root) {
  std::unordered_map<std::uint32_t, Text> in_place;  // texts of expressions without a name
  const auto known = [&](Expr expr) -> const Text* {
    const auto& values = levels_[level_for(expr)].values;
    if (auto found = values.find(expr.id()); found != values.end()) return &found->second;
    auto found = in_place.find(expr.id());
    return found == in_place.end() ? nullptr : &found->second;
  };
  std::vector<Expr> stack{root};
  while (!stack.empty()) {
    throw_if_interrupted();
    const Expr expr = stack.back();
    if (known(expr)) {
      stack.pop_back();
      continue;
    }
    // A call of the named function that the expression stands for, or the operation itself.
    const std::string function = operations_.function_for(expr);
    std::vector<Expr> needed;
    if (!function.empty()) {
      for (auto& argument : pool_.source_call(expr)->arguments)
        if (!argument.is_constant() && std::find(needed.begin(), needed.end(), argument) == needed.end())
          needed.push_back(argument);
    } else if (expr.code() != Code::load) {  // a load evaluates its indices itself
      needed = program::arguments_of(expr);
    }
    const std::size_t before = stack.size();
    for (std::size_t i = needed.size(); i-- > 0;)
      if (!known(needed[i])) stack.push_back(needed[i]);
    if (stack.size() != before) continue;
    stack.pop_back();
    std::vector<Text> arguments;
    for (auto& argument : needed) arguments.push_back(*known(argument));

    const std::size_t at = level_for(expr);
    const bool hoisted = at + 1 < levels_.size();
    std::vector<Level> inner;  // statements of an outer level must not refer to inner levels
    while (levels_.size() > at + 1) {
      inner.push_back(std::move(levels_.back()));
      levels_.pop_back();
    }
    Text text;
    if (!function.empty()) {
      std::vector<std::string> parts;
      for (auto& argument : arguments) parts.push_back(argument.text);
      text = {cat(function, "(", join(parts, ", "), ")"), Text::atom};
    } else {
      text = build(expr, arguments, hoisted);
    }
    const bool is_length = expr.code() == Code::dim && text.text.ends_with("]");  // read from a table, once
    const bool named =
        is_length || (!is_simple(expr) && (hoisted || uses(expr) > 1 || text.text.size() > longest_text));
    if (named) {
      const std::string name = name_for(expr);
      line(cat("const ", value_type(expr.dtype()), " ", name, " = ", text.text, ";"));
      levels_.back().values[expr.id()] = {name, Text::atom};
      kept_.keep(expr);
    } else {
      in_place[expr.id()] = std::move(text);
    }
    while (!inner.empty()) {
      levels_.push_back(std::move(inner.back()));
      inner.pop_back();
    }
  }
  return *known(root);
}

Text Emitter::build(Expr expr, std::span<const Text> arguments, bool hoisted) {
  switch (expr.code()) {
    case Code::constant: {
      std::string text = constant_text(expr.dtype(), expr.payload());
      const auto binding = text[0] == '-' ? Text::unary : Text::atom;
      return {std::move(text), binding};
    }
    case Code::index: return {index_names_.at(expr.payload()), Text::atom};
    case Code::var: return {var_names_.at(expr.payload()), Text::atom};
    case Code::dim: return {length(expr.payload() >> 8, int(expr.payload() & 0xff)), Text::atom};
    case Code::load: return element(expr.payload(), program::arguments_of(expr), hoisted);
    default: return operations_(expr, arguments, is_plain(expr));
  }
}

// A load that is hoisted out of the loop that needs it is guarded by a test that the element exists.
Text Emitter::element(std::int64_t id, std::span<const Expr> at, bool checked) {
  const DType dtype = buffer(id).dtype;
  std::string text = at.empty() ? single(id) : target(id, at);
  const bool is_bool = dtype == DType::Bool;
  Text out{is_bool ? text + " != 0" : text, is_bool ? Text::other : Text::atom};
  if (!checked) return out;
  std::vector<std::string> conditions;
  for (auto [index, length] : program::bounds_of_hoisted_load(program_, id, at))
    conditions.push_back(
        cat("(uint64_t)", value(index).inside(Text::atom), " < (uint64_t)", value(length).inside(Text::atom)));
  if (conditions.empty()) return out;
  return {cat(join(conditions, " && "), " ? ", out.inside(Text::sum), " : ", constant_text(dtype, 0)), Text::other};
}

// Row-major: the row's offset is an expression of its own, so that it is computed once per row.
std::string Emitter::target(std::int64_t id, std::span<const Expr> at) {
  if (at.empty()) return data_name(id) + "[0]";
  return cat(data_name(id), "[", value(offset_of(program_, id, at)).text, "]");
}

}  // namespace bitale::codegen::c
