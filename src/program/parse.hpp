// Programs from text, for tests of passes and emitters: what a pass is given and what it leaves, as one reads it.
#pragma once

#include <string>
#include <string_view>

#include "program/program.hpp"

namespace bitale::program {

// The inverse of to_string(Program), and of `source_of`. Of what to_string leaves out, numbers of checks and callbacks
// are counted, constants have the dtype of what they are combined with, and buffers that no step allocates are declared
// by lines "buffer t: f64[3]". ValueError that names the line and what was expected there.
Program parse(std::string_view text);

// The whole of a Program as text that a machine reads: every field and dtype, shared expressions once, elementary
// functions as they are expanded, buffers and indices by number. parse(source_of(p)) has the digest of p.
std::string source_of(const Program& program);

}  // namespace bitale::program
