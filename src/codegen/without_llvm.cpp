// What takes the place of codegen/llvm in a library that is built without LLVM (BITALE_LLVM=OFF), for systems that it
// is not made for, or where it is too large: Programs are interpreted, and what needs an object file says why there is
// none.
#include "bitale/core/text.hpp"
#include "codegen/code.hpp"
#include "codegen/generate.hpp"
#include "codegen/llvm/export.hpp"

namespace bitale::codegen {

namespace {

[[noreturn]] void missing(std::string_view what, std::string_view instead) {
  throw MissingGenerator(cat(what, " needs LLVM, and this library was built without it (BITALE_LLVM=OFF); ", instead));
}

std::string identity() { return {}; }

}  // namespace

const Generator& llvm_generator() {
  static constexpr Generator it{"jit", identity, nullptr};
  return it;
}

const Generator& llvm_tiered_generator() {
  static constexpr Generator it{"tiered", identity, nullptr};
  return it;
}

std::string llvm_text(const program::Program&, const Target&) {
  missing("the text of LLVM's code", "the stages program and c show the function");
}

std::string object_file(const Interface&, const Target&) {
  missing("an object file", "export_c writes the function as C");
}

const std::string& generator_version() { missing("native code", "functions are interpreted"); }

}  // namespace bitale::codegen
