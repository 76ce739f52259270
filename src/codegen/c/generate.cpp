// Generates an object file by way of C. The loader and the cache are the same as for all generated code.
#include "codegen/generate.hpp"

#include "codegen/c/compiler.hpp"
#include "codegen/c/kernel.hpp"
#include "codegen/code.hpp"

namespace bitale::codegen {

const Generator& c_generator() {
  static constexpr Generator it{"c", [] { return c::find_compiler(this_target()).identity(); },
                                [](const program::Program& program, const Target& target) {
                                  return c::compile_text(c::find_compiler(target), c::kernel_text(program, target));
                                }};
  return it;
}

std::string c_text(const program::Program& program, const Target& target) { return c::kernel_text(program, target); }

}  // namespace bitale::codegen
