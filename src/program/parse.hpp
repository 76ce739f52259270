// Parses Programs from text, for tests of passes and emitters: the input and the output of a pass in readable form.
#pragma once

#include <string>
#include <string_view>

#include "program/program.hpp"

namespace bitale::program {

// The inverse of to_string(Program), and of `source_of`. For what to_string omits, numbers of checks and callbacks are
// counted, constants take the dtype of what they are combined with, and buffers that no step allocates are declared by
// lines "buffer t: f64[3]". Throws ValueError with the line and what was expected there.
Program parse(std::string_view text);

// A complete Program as machine-readable text: every field and dtype, shared expressions once, elementary functions as
// they are expanded, buffers and indices by number. parse(source_of(p)) has the digest of p.
std::string source_of(const Program& program);

}  // namespace bitale::program
