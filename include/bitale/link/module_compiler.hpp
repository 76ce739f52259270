// The compiler that linker `jax` uses for StableHLO modules. The library writes modules but does not contain XLA; a
// program that has XLA, such as the Python package with jaxlib, registers a compiler.
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
  // Contiguous results of the module's function `main`, which have no other owner. Inputs may be Arrays that hold a
  // Resident, and so are the results for which `stay` is set. May be called from several threads at once.
  virtual std::vector<Array> run(std::span<const Array> inputs, const std::vector<bool>& stay) const = 0;
};

struct ModuleSource {
  struct Tensor {
    DType dtype;
    Dims lengths;
  };
  std::string text;
  std::vector<Tensor> inputs, results;
  std::vector<int> donated;  // inputs whose memory results may reuse; a Resident among them is invalid afterwards
};

struct ModuleCompiler {
  bool (*is_available)();     // false where a package that it needs is missing; asked when linkers are named or used
  std::string (*platform)();  // on which modules are run: stablehlo::ModuleOptions
  std::shared_ptr<const CompiledModule> (*compile)(const ModuleSource& module);
  Array (*to_device)(const Array& value);  // an Array that holds a Resident; the value's memory must not change
  Array (*copy)(const Array& resident);    // another Resident
};
// Sets the compiler of the process, which keeps the address. Without one that is available, functions of linker `jax`
// raise NotImplementedError when they are created.
void set_module_compiler(const ModuleCompiler* compiler);
bool has_module_compiler();

}  // namespace bitale
