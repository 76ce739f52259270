// The functions that generated code may call, by name. Generated code refers to nothing else, so that this table is all
// a code generator needs to resolve. A part of the runtime adds its own with RegisterSymbols.
#pragma once

#include <initializer_list>
#include <string_view>
#include <vector>

namespace bitale::runtime {

struct Symbol {
  std::string_view name;  // lives for ever
  void* address;
};

// The address, or nullptr for an unknown name.
void* find_symbol(std::string_view name);
std::vector<Symbol> all_symbols();  // by name

// Registration at load time.
struct RegisterSymbols {
  RegisterSymbols(std::initializer_list<Symbol> symbols);
};

template <class Result, class... Args>
Symbol symbol(std::string_view name, Result (*function)(Args...)) {
  return {name, reinterpret_cast<void*>(function)};
}

}  // namespace bitale::runtime
