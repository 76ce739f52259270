// The key of a Program's code: equal keys mean equal code. It covers the steps and expressions, the target and the
// sources of the code generator. It covers neither names nor the values of constant arrays, whose addresses are passed
// to the call.
#pragma once

#include "codegen/target.hpp"
#include "program/program.hpp"

namespace bitale::codegen {

// The digest of the Program alone.
Digest digest_of(const program::Program& program);

// `generator`: the identity of the generator, on which the code depends too.
Digest key_of(const program::Program& program, const Target& target, std::string_view generator = {});

}  // namespace bitale::codegen
