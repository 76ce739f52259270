// Sections of a Program are the parts of a call that a profile distinguishes. with_probes adds a probe (runtime/probe)
// after each: an ordinary call with the section's number and its Work. A Program without probes is not changed.
#pragma once

#include <string_view>
#include <vector>

#include "program/program.hpp"

namespace bitale::link {

// Top-level steps from `begin` up to `end`: a single loop or call, or neighbouring steps of negligible cost.
struct Section {
  std::string_view kind;  // loop, branch, fill, call, perform, memory, scalars
  std::size_t begin, end;
  bool counted = false;  // whether the probe reports what was moved and computed
};
std::vector<Section> sections_of(const program::Program& program);

// The Program with a probe after each section. Sets `counted`.
program::Program with_probes(const program::Program& program, std::vector<Section>& sections);

}  // namespace bitale::link
