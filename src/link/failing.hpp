// When a program can fail. This decides whether results may be written directly to the caller's memory, which a failing
// call must leave untouched.
#pragma once

#include "program/program.hpp"

namespace bitale::link {

// Whether every check, host call and allocation of a result comes before the first write to a result.
bool writes_last(const program::Program& program);

}  // namespace bitale::link
