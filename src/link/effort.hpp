// Effort: how much a call of a program computes at most, judged by the longest length among its inputs. A call that
// surely is short is not worth telling others about (Python's interpreter lock stays held).
#pragma once

#include <cstdint>

#include "program/program.hpp"

namespace bitale::link {

// Inputs of which no length exceeds this make a short call: some microseconds. -1 when no call is surely short, as
// where lengths are computed from values, or the host is called back, unless its calls don't count.
std::int64_t short_call_length(const program::Program& program, bool host_calls_count = true);

}  // namespace bitale::link
