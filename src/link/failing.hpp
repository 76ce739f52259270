// When a program can fail: whether the memory of its results may be the caller's own, who wants it untouched by a call
// that fails.
#pragma once

#include "program/program.hpp"

namespace bitale::link {

// Whether every check, call of the host and place of a result comes before the first write to a result.
bool writes_last(const program::Program& program);

}  // namespace bitale::link
