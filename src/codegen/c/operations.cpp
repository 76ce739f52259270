#include "codegen/c/operations.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <vector>

#include "bitale/core/error.hpp"
#include "bitale/core/text.hpp"
#include "bitale/runtime/functions.hpp"
#include "program/residual.hpp"

namespace bitale::codegen::c {

using program::Code;
using program::Combiner;
using program::Expr;

namespace {

std::string arguments_text(std::span<const Text> arguments) {
  std::vector<std::string> parts;
  for (auto& argument : arguments) parts.push_back(argument.text);
  return join(parts, ", ");
}

Text call_text(std::string_view function, std::span<const Text> arguments) {
  return {cat(function, "(", arguments_text(arguments), ")"), Text::atom};
}

// C's function for an operation of floats, or nothing.
std::string_view standard_function(Code code) {
  switch (code) {
    case Code::rem: return "fmod";
    case Code::abs: return "fabs";
    case Code::sqrt: return "sqrt";
    case Code::floor: return "floor";
    case Code::ceil: return "ceil";
    case Code::trunc: return "trunc";
    case Code::rint: return "rint";
    case Code::copysign: return "copysign";
    default: return {};
  }
}

std::string_view support_function(Code code) {
  switch (code) {
    case Code::div: return "bt_div";
    case Code::rem: return "bt_rem";
    case Code::abs: return "bt_abs";
    case Code::shl: return "bt_shl";
    case Code::shr: return "bt_shr";
    default: return {};
  }
}

std::string_view symbol_of(Code code) {
  switch (code) {
    case Code::eq: return "==";
    case Code::ne: return "!=";
    case Code::lt: return "<";
    case Code::le: return "<=";
    case Code::gt: return ">";
    case Code::ge: return ">=";
    case Code::bit_and: return "&";
    case Code::bit_or: return "|";
    default: return "^";
  }
}

std::string_view compare_function(Code code) {
  switch (code) {
    case Code::lt: return "bt_lt";
    case Code::le: return "bt_le";
    case Code::gt: return "bt_gt";
    default: return "bt_ge";
  }
}

// Whether this is the least or greatest value of an integer dtype: compilers warn of comparisons that are always true.
bool is_extreme(Expr expr) {
  if (!expr.is_constant() || !is_integer(expr.dtype())) return false;
  return visit_dtype(expr.dtype(), [&]<class T>() {
    if constexpr (std::is_integral_v<T>)
      return T(expr.payload()) == std::numeric_limits<T>::min() || T(expr.payload()) == std::numeric_limits<T>::max();
    else
      return false;
  });
}

}  // namespace

std::string prototype(const std::string& function, DType result, std::span<const DType> arguments) {
  std::vector<std::string> types;
  for (auto dtype : arguments) types.emplace_back(value_type(dtype));
  return cat(value_type(result), " ", function, "(", join(types, ", "), ");\n");
}

void Operations::require(const std::string& function, DType result, std::span<const DType> arguments) {
  const runtime::RuntimeFunction* row = runtime::find_function(function);
  if (!row || !row->is_standard) declare_(function, prototype(function, result, arguments));
}

Text Operations::called(std::string_view function, DType dtype, std::span<const Text> arguments) {
  return call_text(support_.use(function, dtype), arguments);
}

// Integers are added as unsigned numbers, which wrap.
Text Operations::arithmetic(const char* symbol, Expr expr, std::span<const Text> arguments, bool plain) {
  const DType dtype = expr.dtype();
  const auto binding = expr.code() == Code::mul || expr.code() == Code::div ? Text::product : Text::sum;
  const auto tighter = expr.code() == Code::mul || expr.code() == Code::div ? Text::unary : Text::product;
  // Operations on floats, and on integers that can't overflow, are written plainly, from left to right.
  if (is_float(dtype) || plain)
    return {cat(arguments[0].inside(binding), " ", symbol, " ", arguments[1].inside(tighter)), binding};
  const std::string_view wide = unsigned_type(dtype);
  if (wide == value_type(dtype))
    return {cat(arguments[0].inside(binding), " ", symbol, " ", arguments[1].inside(tighter)), binding};
  return {cat("(", value_type(dtype), ")((", wide, ")", arguments[0].inside(Text::atom), " ", symbol, " (", wide, ")",
              arguments[1].inside(Text::atom), ")"),
          Text::unary};
}

Text Operations::compared(Expr expr, std::span<const Text> arguments) {
  const Expr a = expr.argument(0), b = expr.argument(1);
  const bool is_order = expr.code() != Code::eq && expr.code() != Code::ne;
  if (is_order && (is_extreme(a) || is_extreme(b) || a.dtype() == DType::Bool))
    return called(compare_function(expr.code()), a.dtype(), arguments);
  return {cat(arguments[0].inside(Text::sum), " ", symbol_of(expr.code()), " ", arguments[1].inside(Text::sum)),
          Text::other};
}

Text Operations::cast(const Text& value, DType from, DType to) {
  if (from == to) return value;
  if (to == DType::Bool) return {cat(value.inside(Text::sum), " != 0"), Text::other};
  if (is_float(from) && !is_float(to))
    return {cat(support_.use("bt_cast", from, to), "(", value.text, ")"), Text::atom};
  // GCC 12 vectorises a gather whose index is a converted comparison of narrow integers, and reads wrong elements.
  if (from == DType::Bool && is_integer(to))
    return {cat("(", value_type(to), ")(1 - !", value.inside(Text::atom), ")"), Text::unary};
  return {cat("(", value_type(to), ")", value.inside(Text::atom)), Text::unary};
}

Text Operations::bitcast(const Text& value, DType from, DType to) {
  if (!is_float(from) && !is_float(to)) return {cat("(", value_type(to), ")", value.inside(Text::atom)), Text::unary};
  return {cat(support_.use("bt_bits", from, to), "(", value.text, ")"), Text::atom};
}

Text Operations::operator()(Expr expr, std::span<const Text> arguments, bool plain) {
  const DType dtype = expr.dtype();
  const bool real = is_float(dtype);
  const Code code = expr.code();
  const auto argument_dtypes = [&](std::size_t first) {
    std::vector<DType> dtypes;
    for (std::size_t i = first; i < expr.argument_count(); ++i) dtypes.push_back(expr.argument(i).dtype());
    return dtypes;
  };
  switch (code) {
    case Code::call: {
      const std::string& function = expr.pool().function_name(expr.payload());
      if (const program::Function* own = program_.function_of(expr)) {
        std::string& name = own_functions_[expr.payload()];
        if (name.empty()) name = define(own->body, own->parameters, function, 0);
        if (name.empty())
          throw InternalError(cat("codegen: the function ", function, " depends on more than its parameters"));
        return call_text(name, arguments);
      }
      require(function, dtype, argument_dtypes(0));
      return call_text(function, arguments);
    }
    case Code::rare_call: {
      const std::string& function = expr.pool().function_name(expr.payload());
      require(function, dtype, argument_dtypes(2));
      return {cat(arguments[0].inside(Text::sum), " ? ", function, "(", arguments_text(arguments.subspan(2)),
                  ") : ", arguments[1].inside(Text::sum)),
              Text::other};
    }
    case Code::add: return arithmetic("+", expr, arguments, plain);
    case Code::sub: return arithmetic("-", expr, arguments, plain);
    case Code::mul: return arithmetic("*", expr, arguments, plain);
    case Code::div:
      if (real) return arithmetic("/", expr, arguments, plain);
      break;
    case Code::fma:
      if (!real)
        return {cat("(", value_type(dtype), ")((", unsigned_type(dtype), ")", arguments[0].inside(Text::atom), " * (",
                    unsigned_type(dtype), ")", arguments[1].inside(Text::atom), " + (", unsigned_type(dtype), ")",
                    arguments[2].inside(Text::atom), ")"),
                Text::unary};
      return called(is_residual(expr) ? "bt_residual" : "bt_fma", dtype, arguments);
    case Code::neg:
      if (real || plain) return {cat("-", arguments[0].inside(Text::atom)), Text::unary};
      return {cat("(", value_type(dtype), ")(0 - (", unsigned_type(dtype), ")", arguments[0].inside(Text::atom), ")"),
              Text::unary};
    case Code::abs:
      if (!real && !is_signed_int(dtype)) return arguments[0];
      break;
    case Code::min:
    case Code::max: return called(code == Code::min ? "bt_min" : "bt_max", dtype, arguments);
    case Code::bit_and:
    case Code::bit_or:
    case Code::bit_xor: {
      if (dtype == DType::Bool && code != Code::bit_xor)
        return {cat(arguments[0].inside(Text::sum), code == Code::bit_and ? " && " : " || ",
                    arguments[1].inside(Text::sum)),
                Text::other};
      const std::string text =
          cat(arguments[0].inside(Text::unary), " ", symbol_of(code), " ", arguments[1].inside(Text::unary));
      if (itemsize(dtype) >= 4) return {text, Text::other};
      return {cat("(", value_type(dtype), ")(", text, ")"), Text::unary};
    }
    case Code::bit_not:
      if (dtype == DType::Bool) return {cat("!", arguments[0].inside(Text::atom)), Text::unary};
      return {cat("(", value_type(dtype), ")~", arguments[0].inside(Text::atom)), Text::unary};
    case Code::eq:
    case Code::ne:
    case Code::lt:
    case Code::le:
    case Code::gt:
    case Code::ge: return compared(expr, arguments);
    case Code::lookup: {
      const std::string elements =
          cat("[", arguments.size() - 1, "] = {", arguments_text(arguments.subspan(1)), "};\n");
      auto [known, is_new] =
          tables_.try_emplace(cat(value_type(dtype), elements), cat("bt_table_", tables_.size() + 1));
      if (is_new) support_.add(known->second, cat("static const ", value_type(dtype), " ", known->second, elements));
      return {cat(known->second, "[", arguments[0].inside(Text::unary), " & ", arguments.size() - 2, "]"), Text::atom};
    }
    case Code::select:
      return {cat(arguments[0].inside(Text::sum), " ? ", arguments[1].inside(Text::sum), " : ",
                  arguments[2].inside(Text::sum)),
              Text::other};
    case Code::cast: return cast(arguments[0], expr.argument(0).dtype(), dtype);
    case Code::bitcast: return bitcast(arguments[0], expr.argument(0).dtype(), dtype);
    default: break;
  }
  if (real)
    if (const auto function = standard_function(code); !function.empty())
      return call_text(cat(function, dtype == DType::Float32 ? "f" : ""), arguments);
  if (const auto function = support_function(code); !real && !function.empty())
    return called(function, dtype, arguments);
  throw InternalError(cat("codegen: no C for ", program::code_name(code), " of ", dtype_short_name(dtype)));
}

std::string Operations::combined(Combiner combiner, DType dtype, const Text& a, const Text& b) {
  const bool real = is_float(dtype);
  const std::array<Text, 2> both{a, b};
  switch (combiner) {
    case Combiner::add:
    case Combiner::mul: {
      const std::string_view symbol = combiner == Combiner::add ? " + " : " * ";
      if (real) return cat(a.inside(Text::unary), symbol, b.inside(Text::unary));
      const std::string_view wide = unsigned_type(dtype);
      return cat("(", value_type(dtype), ")((", wide, ")", a.inside(Text::atom), symbol, "(", wide, ")",
                 b.inside(Text::atom), ")");
    }
    case Combiner::min: return called(real ? "bt_least" : "bt_min", dtype, both).text;
    case Combiner::max: return called(real ? "bt_most" : "bt_max", dtype, both).text;
    case Combiner::bit_and:
      if (dtype == DType::Bool) return cat(a.inside(Text::sum), " && ", b.inside(Text::sum));
      return cat("(", value_type(dtype), ")(", a.inside(Text::unary), " & ", b.inside(Text::unary), ")");
    case Combiner::bit_or:
      if (dtype == DType::Bool) return cat(a.inside(Text::sum), " || ", b.inside(Text::sum));
      return cat("(", value_type(dtype), ")(", a.inside(Text::unary), " | ", b.inside(Text::unary), ")");
  }
  throw InternalError("codegen: unknown combiner");
}

// ---- elementary functions -------------------------------------------------------------------------------------------

std::string Operations::function_for(Expr expr) {
  if (!expr.pool().source_call(expr)) return {};
  if (auto found = functions_.find(expr.id()); found != functions_.end()) return found->second;
  const auto& meaning = *expr.pool().source_call(expr);
  std::string name = define(expr, meaning.arguments, meaning.function, shortest_function);
  functions_[expr.id()] = name;
  return name;
}

namespace {

bool is_leaf(Expr expr) {
  return expr.code() == Code::index || expr.code() == Code::dim || expr.code() == Code::var ||
         expr.code() == Code::load;
}

}  // namespace

std::string Operations::define(Expr root, std::span<const Expr> arguments_of, std::string_view called,
                               std::size_t shortest) {
  std::unordered_map<std::uint32_t, Text> texts;
  std::vector<std::string> parameters;
  for (auto& argument : arguments_of) {
    if (argument.is_constant() || texts.count(argument.id())) continue;
    static constexpr std::string_view letters[] = {"x", "y", "z", "w"};
    if (parameters.size() == std::size(letters)) return {};
    const std::string name(letters[parameters.size()]);
    parameters.push_back(cat(value_type(argument.dtype()), " ", name));
    texts[argument.id()] = {name, Text::atom};
  }
  // The expressions that it consists of, in topological order, and how often each is used.
  std::vector<Expr> order, stack{root};
  std::unordered_map<std::uint32_t, int> uses;
  std::unordered_map<std::uint32_t, bool> done;
  while (!stack.empty()) {
    const Expr expr = stack.back();
    if (done[expr.id()] || texts.count(expr.id())) {
      stack.pop_back();
      continue;
    }
    if (is_leaf(expr)) return {};
    const std::size_t before = stack.size();
    for (std::size_t i = expr.argument_count(); i-- > 0;)
      if (!done[expr.argument(i).id()] && !texts.count(expr.argument(i).id())) stack.push_back(expr.argument(i));
    if (stack.size() != before) continue;
    stack.pop_back();
    done[expr.id()] = true;
    order.push_back(expr);
    for (std::size_t i = 0; i < expr.argument_count(); ++i) ++uses[expr.argument(i).id()];
  }
  if (order.size() < shortest) return {};
  std::string body;
  int count = 0;
  for (auto& expr : order) {
    Text text;
    if (expr.is_constant()) {
      text = {constant_text(expr.dtype(), expr.payload()), Text::atom};
      if (text.text[0] == '-') text.binding = Text::unary;
    } else {
      std::vector<Text> arguments;
      for (std::size_t i = 0; i < expr.argument_count(); ++i) arguments.push_back(texts.at(expr.argument(i).id()));
      text = (*this)(expr, arguments);
      if (!(expr == root) && (uses[expr.id()] > 1 || text.text.size() > 90)) {
        const std::string name = cat("v", ++count);
        body += cat("  const ", value_type(expr.dtype()), " ", name, " = ", text.text, ";\n");
        text = {name, Text::atom};
      }
    }
    texts[expr.id()] = text;
  }
  const std::string rest =
      cat("(", join(parameters, ", "), ") {\n", body, "  return ", texts.at(root.id()).text, ";\n}\n");
  const std::string wanted = cat("bt_", identifier(called), "_", dtype_short_name(root.dtype()));
  auto [known, is_new] = bodies_.try_emplace(wanted + rest);
  if (!is_new) return known->second;
  std::string name = wanted;
  const std::string start = cat("static inline ", value_type(root.dtype()), " ");
  for (int n = 2; !support_.add(name, cat(start, name, rest)); ++n) name = cat(wanted, "_", n);
  return known->second = name;
}

}  // namespace bitale::codegen::c
