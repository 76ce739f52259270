// Effort: an upper bound of what a call of a program computes, given the longest length among its inputs. For a call
// that is surely short, it is not worthwhile to let other threads run (Python's interpreter lock is kept).
#pragma once

#include <cstdint>

#include "program/program.hpp"

namespace bitale::link {

// A call whose inputs have no length above this is short: it takes some microseconds. -1 when no call is surely short,
// because lengths are computed from values or the host is called back (unless host calls don't count).
std::int64_t short_call_length(const program::Program& program, bool host_calls_count = true);

}  // namespace bitale::link
