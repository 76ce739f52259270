// Emitters create expressions of their own while they write code. They do it in a copy of the Program, so that a
// Program that several threads read is not changed.
#pragma once

#include "program/program.hpp"

namespace bitale::program {

// The same Program with a pool of its own, in which every expression keeps its number. Linear in the size of the pool.
Program detached(const Program& program);

}  // namespace bitale::program
