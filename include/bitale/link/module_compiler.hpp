// What linker `jax` compiles StableHLO modules with. The library writes modules and knows no XLA; whoever has one, as
// the Python package with jaxlib, says how.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "bitale/core/resident.hpp"

namespace bitale {

class CompiledModule {
 public:
  virtual ~CompiledModule() = default;
  // Contiguous results of the module's function `main`, which are nobody else's. Inputs may be Arrays that hold a
  // Resident, and results are such where `stay` says so. May be called from several threads at once.
  virtual std::vector<Array> run(std::span<const Array> inputs, const std::vector<bool>& stay) const = 0;
};

struct ModuleSource {
  struct Tensor {
    DType dtype;
    Dims lengths;
  };
  std::string text;
  std::vector<Tensor> inputs, results;
  std::vector<int> donated;  // inputs whose memory results may have; a Resident among them is of no use afterwards
};

struct ModuleCompiler {
  std::string (*platform)();  // that modules are run on: stablehlo::ModuleOptions
  std::shared_ptr<const CompiledModule> (*compile)(const ModuleSource& module);
  Array (*to_device)(const Array& value);  // an Array that holds a Resident; the value's memory must not change
  Array (*copy)(const Array& resident);    // another Resident
};
// For the process, which keeps the address. Without one, functions of linker `jax` raise NotImplementedError when they
// are made.
void set_module_compiler(const ModuleCompiler* compiler);
bool has_module_compiler();

}  // namespace bitale
