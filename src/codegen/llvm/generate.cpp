// From a Program to an object file: IR, a few passes, machine code.
#include "codegen/generate.hpp"

#include "codegen/code.hpp"
#include "codegen/llvm/module.hpp"

namespace bitale::codegen {

namespace {

// Filled in: a Module is no value.
void generate(Module& module, const program::Program& program) {
  module.add(program, entry_name);
  module.optimise(function_passes);
}

}  // namespace

const Generator& llvm_generator() {
  static constexpr Generator it{"jit", [] { return std::string(); },
                                [](const program::Program& program, const Target& target) {
                                  Module module(program.name, target);
                                  generate(module, program);
                                  return module.object();
                                }};
  return it;
}

std::string llvm_text(const program::Program& program, const Target& target) {
  Module module(program.name, target);
  generate(module, program);
  return module.text();
}

}  // namespace bitale::codegen
