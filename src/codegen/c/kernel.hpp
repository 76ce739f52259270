// Writes a Program as a C file for this process, with one function int32 entry(Frame*), as all code generators do.
#pragma once

#include <string>

#include "codegen/target.hpp"
#include "program/program.hpp"

namespace bitale::codegen::c {

std::string kernel_text(const program::Program& program, const Target& target);

}  // namespace bitale::codegen::c
