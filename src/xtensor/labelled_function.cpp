#include "xtensor/labelled_function.hpp"

#include <algorithm>
#include <cctype>

#include "bitale/core/error.hpp"
#include "bitale/core/text.hpp"

namespace bitale::xtensor {

CoreSignature::CoreSignature(std::string_view text) {
  std::vector<CoreDims>* side = &operands;
  std::string word;
  for (const char c : text) {
    if (std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '?') {
      word += c;
    } else if (c == '(') {
      side->emplace_back();
      if (side == &results) result_names.push_back(word);
      word.clear();
    } else if (c == '>') {
      side = &results;
    } else if (!word.empty()) {
      const bool is_optional = word.back() == '?';
      if (is_optional) word.pop_back();
      const bool is_known = std::ranges::find(given, word) != given.end();
      if (side == &operands && !is_known) {
        given.push_back(word);
        required += !is_optional;
      } else if (!is_known && std::ranges::find(created, word) == created.end()) {
        created.push_back(word);
      }
      side->back().push_back(std::exchange(word, {}));
    }
  }
}

XVariables lift(std::string_view who, const CoreSignature& signature, const CoreDims& dims, const XOperands& operands,
                const BatchedFunction& function, const DimList& created) {
  const LocationScope here(operands[0].where);
  const int most = int(signature.given.size()), fewest = int(signature.required);
  const CoreDims names = fewest == most ? core_names(who, dims, {most}) : core_names(who, dims, {fewest, most});
  const auto with_dims = [&](const CoreDims& group) {
    DimList out;
    for (const auto& name : group) {
      const auto at = std::size_t(std::ranges::find(signature.given, name) - signature.given.begin());
      if (at < names.size()) out.emplace_back(names[at]);
      if (at == signature.given.size())
        out.push_back(created[std::size_t(std::ranges::find(signature.created, name) - signature.created.begin())]);
    }
    return out;
  };
  XVariables variables;
  std::vector<CoreDims> core;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    variables.push_back(operands[i].variable);
    auto& own = core.emplace_back();
    for (const Dim& dim : with_dims(signature.operands[i])) own.push_back(dim.name());
  }
  std::vector<DimList> results;
  for (const auto& each : signature.results) results.push_back(with_dims(each));
  return blockwise(who, variables, core, results, function);
}

namespace {

LabelledFunctions& table() {
  static auto& all = *new LabelledFunctions;
  return all;
}

// One of the parameters that a text lists, without its position.
LabelledParameter parsed(std::string_view text) {
  LabelledParameter out;
  if (const std::size_t equals = text.find('='); equals != std::string_view::npos) {
    out.initial_text = text.substr(equals + 1);
    text = text.substr(0, equals);
  }
  out.is_ignored = text.starts_with('-');
  if (out.is_ignored) text.remove_prefix(1);
  if (const std::size_t open = text.find('['); open != std::string_view::npos) {
    const std::string_view parts = text.substr(open + 1, text.size() - open - 2);
    const std::size_t middle = parts.find(' ');
    out.parts = cat('(', parts.substr(0, middle), ", ", parts.substr(middle + 1), ')');
    text = text.substr(0, open);
  }
  out.name = text;
  return out;
}

}  // namespace

RegisterLabelled::RegisterLabelled(LabelledFunction function, std::string_view text,
                                   const std::vector<ArgumentKind>& kinds) {
  function.parameter_count = kinds.size();
  std::size_t next = 0;
  const auto take = [&](LabelledParameter& parameter) {
    const auto core = std::size_t(std::ranges::find(kinds, ArgumentKind::Core) - kinds.begin());
    next += next == core;
    const std::size_t position = parameter.name == "dims" ? core : next++;
    parameter.positions.push_back(position);
    parameter.kinds.push_back(kinds[position]);
  };
  bool is_keyword = false;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(", "), text.size());
    const std::string_view each = text.substr(0, end);
    text.remove_prefix(std::min(end + 2, text.size()));
    if (each == "*") {
      is_keyword = true;
      continue;
    }
    LabelledParameter& parameter = function.parameters.emplace_back(parsed(each));
    parameter.is_keyword = is_keyword;
    if (parameter.is_ignored) continue;
    take(parameter);
    if (!parameter.parts.empty()) take(parameter);
  }
  const std::string_view name = function.name;
  table().emplace(name, std::move(function));
}

const LabelledFunctions& labelled_functions() { return table(); }

}  // namespace bitale::xtensor
