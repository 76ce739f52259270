// What linker `jax` compiles StableHLO modules with. The library writes modules and knows no XLA; whoever has one, as
// the Python package with jaxlib, says how.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "bitale/core/array.hpp"

namespace bitale {

class CompiledModule {
 public:
  virtual ~CompiledModule() = default;
  // Contiguous results of the module's function `main`. May be called from several threads at once.
  virtual std::vector<Array> run(std::span<const Array> inputs) const = 0;
};

using ModuleCompiler = std::shared_ptr<const CompiledModule> (*)(const std::string& module);
// For the process. Without one, functions of linker `jax` raise NotImplementedError when they are made.
void set_module_compiler(ModuleCompiler compiler);
bool has_module_compiler();

}  // namespace bitale
