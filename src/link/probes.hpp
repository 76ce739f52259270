// Sections of a Program, the parts of a call that a profile tells apart, and the Program with a probe (runtime/probe)
// after each: an ordinary call with the section's number and its Work. A Program without probes stays as it is.
#pragma once

#include <string_view>
#include <vector>

#include "program/program.hpp"

namespace bitale::link {

// Steps at the top from `begin` up to `end`: a loop or call alone, or neighbours of no weight of their own.
struct Section {
  std::string_view kind;  // loop, fill, call, perform, memory, scalars
  std::size_t begin, end;
  bool counted = false;  // the probe says what was moved and computed
};
std::vector<Section> sections_of(const program::Program& program);

// Sets `counted`.
program::Program with_probes(const program::Program& program, std::vector<Section>& sections);

}  // namespace bitale::link
