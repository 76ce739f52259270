#include "bitale/runtime/functions.hpp"

#include <map>
#include <mutex>

#include "bitale/core/error.hpp"
#include "bitale/core/text.hpp"
#include "core/keep_loaded.hpp"

namespace bitale::runtime {

namespace {

struct Table {
  std::mutex mutex;
  std::map<std::string_view, RuntimeFunction> rows;
};

Table& table() {
  static Table* const it = new Table;
  return *it;
}

}  // namespace

RegisterFunctions::RegisterFunctions(std::initializer_list<RuntimeFunction> functions) {
  const std::lock_guard lock(table().mutex);
  for (auto& function : functions) {
    keep_loaded(function.address);
    if (!table().rows.emplace(function.name, function).second)
      throw InternalError(cat("two runtime functions are called ", function.name));
  }
}

const RuntimeFunction* find_function(std::string_view name) {
  const std::lock_guard lock(table().mutex);
  const auto found = table().rows.find(name);
  return found == table().rows.end() ? nullptr : &found->second;
}

const RuntimeFunction& function_named(std::string_view name) {
  if (const RuntimeFunction* found = find_function(name)) return *found;
  throw InternalError(cat("there is no runtime function ", name));
}

const RuntimeFunction* version_for_batches(std::string_view name) {
  const std::size_t suffix = name.rfind('_');
  if (suffix == name.npos) return nullptr;
  return find_function(cat(name.substr(0, suffix), "_each", name.substr(suffix)));
}

std::vector<const RuntimeFunction*> all_functions() {
  const std::lock_guard lock(table().mutex);
  std::vector<const RuntimeFunction*> out;
  for (auto& [name, row] : table().rows) out.push_back(&row);
  return out;
}

void* find_symbol(std::string_view name) {
  const RuntimeFunction* found = find_function(name);
  return found ? found->address : nullptr;
}

std::size_t RuntimeFunction::argument_index(std::string_view parameter) const {
  for (std::size_t i = 0; i < parameters.size(); ++i)
    if (parameters[i].name == parameter) return i;
  throw InternalError(cat("the runtime function ", name, " has no parameter ", parameter));
}

std::vector<Parameter> ParameterList::parameters() const {
  std::vector<Parameter> out;
  for (std::string_view rest = names; !rest.empty();) {
    const std::size_t end = std::min(rest.find(' '), rest.size());
    std::string_view word = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    if (out.size() == kinds.size()) throw InternalError(cat("runtime functions: too many names in '", names, "'"));
    ParameterKind kind = kinds[out.size()];
    for (auto& [prefix, meant] : {std::pair<std::string_view, ParameterKind>{"inout:", ParameterKind::in_out},
                                  {"scratch:", ParameterKind::scratch}}) {
      if (!word.starts_with(prefix)) continue;
      word.remove_prefix(prefix.size());
      kind = meant;
    }
    out.push_back({word, kind});
  }
  if (out.size() != kinds.size()) throw InternalError(cat("runtime functions: too few names in '", names, "'"));
  return out;
}

}  // namespace bitale::runtime
