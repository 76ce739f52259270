// A function of labelled tensors is a record next to its definition: how it is called, and a signature that names the
// core dimensions of operands and results, as NumPy writes those of generalized ufuncs.
//
//   LABELLED("svd", svd, "x, *, dims, mode='mode'", "(row,column)->u(row,mode),s(mode),vt(mode,column)");
//   SingularValues svd(const XOperand& x, const CoreDims& dims, const Dim& mode) {
//     return lift<SingularValues>("svd", dims, {x}, [](const Variable& v) { return bitale::svd(v, {.full_matrices =
//     false}); }, {mode});
//   }
//
// The functions of bitale.xtensor, methods and docstrings follow from the records.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "bitale/xtensor/align.hpp"
#include "bitale/xtensor/linalg.hpp"
#include "core/unique_name.hpp"
#include "ops/option_names.hpp"

namespace bitale::xtensor {

// ---- functions of tensors as ones of labelled tensors ---------------------------------------------------------------

// "(row,column),(row,k?)->x(column,k?)". Names of operands stand for the names that a caller gives, in the order in
// which they appear first; one with a question mark need not be given. Other names of results are new dimensions.
struct CoreSignature {
  explicit CoreSignature(std::string_view text);

  std::vector<CoreDims> operands, results;
  std::vector<std::string> result_names;  // empty texts where results have none
  CoreDims given;                         // the names of operands, without question marks
  std::size_t required = 0;               // how many of these must be given
  CoreDims created;
};

// The function of labelled tensors that a function of tensors is whose last axes are the core dimensions. `created`:
// the new dimensions of results, in the order of the signature.
XVariables lift(std::string_view who, const CoreSignature& signature, const CoreDims& dims, const XOperands& operands,
                const BatchedFunction& function, const DimList& created);

// Of a struct that has tensors alone.
template <class Element, class Parts>
std::vector<Element> members(const Parts& parts) {
  constexpr std::size_t count = sizeof(Parts) / sizeof(Element);
  if constexpr (count == 2) {
    const auto& [a, b] = parts;
    return {a, b};
  } else if constexpr (count == 3) {
    const auto& [a, b, c] = parts;
    return {a, b, c};
  } else if constexpr (count == 4) {
    const auto& [a, b, c, d] = parts;
    return {a, b, c, d};
  } else {
    const auto& [a, b, c, d, e, f] = parts;
    return {a, b, c, d, e, f};
  }
}
template <class Element, class Result>
std::vector<Element> as_list(const Result& result) {
  if constexpr (std::is_same_v<Result, Element>)
    return {result};
  else if constexpr (std::is_same_v<Result, std::vector<Element>>)
    return result;
  else
    return members<Element>(result);
}

// The same for a function of one to three tensors, which returns a tensor, several, or a struct of them; `Result` is
// the labelled counterpart.
template <class Result, class Function>
Result lift(std::string_view who, const CoreSignature& signature, const CoreDims& dims, const XOperands& operands,
            const Function& function, const DimList& created = {}) {
  using V = const Variable&;
  const BatchedFunction of_tensors = [&](const Variables& v) {
    if constexpr (std::is_invocable_v<const Function&, V>)
      return as_list<Variable>(function(v[0]));
    else if constexpr (std::is_invocable_v<const Function&, V, V>)
      return as_list<Variable>(function(v[0], v[1]));
    else
      return as_list<Variable>(function(v[0], v[1], v[2]));
  };
  const XVariables found = lift(who, signature, dims, operands, of_tensors, created);
  if constexpr (std::is_same_v<Result, XVariables>) {
    return found;
  } else {
    const auto result = [&]<std::size_t... k>(std::index_sequence<k...>) { return Result{found[k]...}; };
    return result(std::make_index_sequence<sizeof(Result) / sizeof(XVariable)>());
  }
}

// ---- records --------------------------------------------------------------------------------------------------------

// An argument as any language has it; the first alternative is one that is left out.
using Argument = std::variant<std::monostate, bool, std::int64_t, double, std::string, Names, Dim, XVariable>;
// What a parameter takes. Core: names of core dimensions; Names: dimensions, by default all; Any: a scalar of any kind.
enum class ArgumentKind { Operand, Core, Names, Dim, Flag, Integer, Number, Text, Any };

struct LabelledParameter {
  std::string name;
  std::string initial_text = {};  // as Python writes it; empty: it must be given
  bool is_keyword = false;        // it is given by name
  bool is_ignored = false;        // it is there for compatibility
  // Positions among the parameters of C++, and their kinds: one, or those of the parts of a tuple.
  std::vector<std::size_t> positions = {};
  std::vector<ArgumentKind> kinds = {};
  std::string parts = {};  // "(factor, lower)", of a tuple
};

struct NamedArgument {
  std::string_view name;
  Argument value;
};

struct LabelledFunction {
  std::string_view name;
  std::vector<LabelledParameter> parameters;
  std::optional<CoreSignature> signature;
  std::string_view lines;  // of the description, as python/src/reference has it
  bool is_method;
  std::size_t parameter_count;  // in C++
  std::size_t results;          // 0: it depends on the arguments
  XVariables (*call)(std::string_view who, std::span<const NamedArgument> arguments);
};

using LabelledFunctions = std::map<std::string_view, LabelledFunction>;
const LabelledFunctions& labelled_functions();

template <class T>
constexpr ArgumentKind argument_kind() {
  if constexpr (std::is_same_v<T, XOperand>) return ArgumentKind::Operand;
  if constexpr (std::is_same_v<T, CoreDims>) return ArgumentKind::Core;
  if constexpr (std::is_same_v<T, Names>) return ArgumentKind::Names;
  if constexpr (std::is_same_v<T, Dim>) return ArgumentKind::Dim;
  if constexpr (std::is_same_v<T, bool>) return ArgumentKind::Flag;
  if constexpr (std::is_integral_v<T>) return ArgumentKind::Integer;
  if constexpr (std::is_same_v<T, std::optional<double>>) return ArgumentKind::Number;
  if constexpr (std::is_same_v<T, Argument>) return ArgumentKind::Any;
  return ArgumentKind::Text;  // the name of an option
}

template <class T>
T argument_as(std::string_view who, const NamedArgument& given) {
  if constexpr (std::is_same_v<T, XOperand>) {
    return std::get<XVariable>(given.value);
  } else if constexpr (std::is_same_v<T, CoreDims>) {
    return *std::get<Names>(given.value);
  } else if constexpr (std::is_same_v<T, Argument>) {
    return given.value;
  } else if constexpr (std::is_same_v<T, std::optional<double>>) {
    const auto* number = std::get_if<double>(&given.value);
    return number ? T(*number) : T();
  } else if constexpr (std::is_enum_v<T>) {
    const auto* text = std::get_if<std::string>(&given.value);
    return option_named<T>(text ? *text : "", cat(who, ": expected ", given.name));
  } else if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) {
    return T(std::get<std::int64_t>(given.value));
  } else {
    return std::get<T>(given.value);
  }
}

template <auto function>
struct Erased;
template <class Result, class... Parameters, Result (*function)(Parameters...)>
struct Erased<function> {
  static constexpr std::size_t results = std::is_same_v<Result, XVariables> ? 0 : sizeof(Result) / sizeof(XVariable);
  static std::vector<ArgumentKind> kinds() { return {argument_kind<std::decay_t<Parameters>>()...}; }
  static XVariables call(std::string_view who, std::span<const NamedArgument> arguments) {
    return [&]<std::size_t... k>(std::index_sequence<k...>) {
      return as_list<XVariable>(function(argument_as<std::decay_t<Parameters>>(who, arguments[k])...));
    }
    (std::index_sequence_for<Parameters...>());
  }
};

// parameters: as Python writes them, without types. One with a hyphen is there for compatibility alone, and
// "pair[a b]" stands for a tuple of two. They are those of C++ in their order, but for `dims`, which may be elsewhere.
// lines: what the description has in addition to what follows from that of the tensor function of the name; without a
// signature all of it.
struct RegisterLabelled {
  RegisterLabelled(LabelledFunction function, std::string_view parameters, const std::vector<ArgumentKind>& kinds);
};
#define BITALE_LABELLED(name, function, is_method, parameters, signature, lines)                                 \
  static const RegisterLabelled BITALE_UNIQUE_NAME(labelled_)(                                                   \
      {name, {}, signature, lines, is_method, 0, Erased<function>::results, Erased<function>::call}, parameters, \
      Erased<function>::kinds())
#define LABELLED(name, function, parameters, signature, ...) \
  BITALE_LABELLED(name, function, false, parameters, CoreSignature(signature), std::string_view{__VA_ARGS__})
// A method as well, which has no core dimensions.
#define LABELLED_METHOD(name, function, parameters, lines) \
  BITALE_LABELLED(name, function, true, parameters, std::nullopt, lines)

// The same by the signature of the record.
template <class Result, class Function>
Result lift(std::string_view who, const CoreDims& dims, const XOperands& operands, const Function& function,
            const DimList& created = {}) {
  return lift<Result>(who, *labelled_functions().find(who)->second.signature, dims, operands, function, created);
}

}  // namespace bitale::xtensor
