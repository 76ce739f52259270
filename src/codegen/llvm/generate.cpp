// Turns a Program into an object file: IR, a few passes, machine code.
#include "codegen/generate.hpp"

#include <memory>

#include "codegen/code.hpp"
#include "codegen/llvm/background.hpp"
#include "codegen/llvm/pieces.hpp"

namespace bitale::codegen {

namespace {

// Instructions that take LLVM longer than some tens of milliseconds.
constexpr std::size_t takes_long = 2000;

}  // namespace

const Generator& llvm_generator() {
  static constexpr Generator it{"jit", [] { return std::string(); },
                                [](const program::Program& program, const Target& target) {
                                  const auto module = std::make_shared<Module>(program.name, target);
                                  module->add(program, entry_name);
                                  const auto generate = [module] { return object_of(*module, function_passes); };
                                  return module->instruction_count() < takes_long ? generate()
                                                                                  : in_background(generate);
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
