// Emitters make expressions of their own while they write code. They do it in a copy of the Program, so that a Program
// that several threads read stays as it was.
#pragma once

#include "program/program.hpp"

namespace bitale::program {

// The same Program with a pool of its own, in which every expression has the number it had. Linear in the pool.
Program detached(const Program& program);

}  // namespace bitale::program
