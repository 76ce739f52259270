#include "runtime/symbols.hpp"

#include <map>
#include <mutex>

#include "bitale/core/error.hpp"
#include "bitale/core/text.hpp"

namespace bitale::runtime {

namespace {

struct Table {
  std::mutex mutex;
  std::map<std::string_view, void*> addresses;
};

Table& table() {
  static Table* const it = new Table;
  return *it;
}

}  // namespace

RegisterSymbols::RegisterSymbols(std::initializer_list<Symbol> symbols) {
  const std::lock_guard lock(table().mutex);
  for (auto& symbol : symbols)
    if (!table().addresses.emplace(symbol.name, symbol.address).second)
      throw InternalError(cat("two runtime functions are called ", symbol.name));
}

void* find_symbol(std::string_view name) {
  const std::lock_guard lock(table().mutex);
  const auto found = table().addresses.find(name);
  return found == table().addresses.end() ? nullptr : found->second;
}

std::vector<Symbol> all_symbols() {
  const std::lock_guard lock(table().mutex);
  std::vector<Symbol> out;
  for (auto& [name, address] : table().addresses) out.push_back({name, address});
  return out;
}

}  // namespace bitale::runtime
