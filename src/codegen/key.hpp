// The key of a Program's code: equal keys, equal code. It covers the steps and expressions, the target and the sources
// of the code generator; not names, nor the values of constant arrays, whose addresses come with the call.
#pragma once

#include "codegen/target.hpp"
#include "program/program.hpp"

namespace bitale::codegen {

// Of the Program alone.
Digest digest_of(const program::Program& program);

// `generator`: what else the code depends on.
Digest key_of(const program::Program& program, const Target& target, std::string_view generator = {});

}  // namespace bitale::codegen
