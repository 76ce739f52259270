// A part of the verifier (verify.hpp).
#pragma once

#include "program/program.hpp"

namespace bitale::program {

// Throws InternalError where a step reads an element that no step can have written.
void verify_reads(const Program& program);

}  // namespace bitale::program
