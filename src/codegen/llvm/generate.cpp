// Turns a Program into an object file: IR, a few passes, machine code.
#include "codegen/generate.hpp"

#include "codegen/code.hpp"
#include "codegen/llvm/pieces.hpp"

namespace bitale::codegen {

const Generator& llvm_generator() {
  static constexpr Generator it{"jit", [] { return std::string(); },
                                [](const program::Program& program, const Target& target) {
                                  Module module(program.name, target);
                                  module.add(program, entry_name);
                                  return object_of(module, function_passes);
                                }};
  return it;
}

std::string llvm_text(const program::Program& program, const Target& target) {
  Module module(program.name, target);
  module.add(program, entry_name);
  module.optimise(function_passes);
  return module.text();
}

}  // namespace bitale::codegen
