// The schedule of a loop as part of the loop's head in a Program's text: " of 8 x 4, pairwise".
#pragma once

#include <string>

#include "bitale/core/text.hpp"
#include "program/program.hpp"

namespace bitale::program {

// Empty for a loop without a schedule. `name`: gives the name of a buffer by its number.
template <class Name>
std::string schedule_text(const Schedule& schedule, const Name& name) {
  auto& [lanes, accumulators, single_pass, pairwise, straight_passes, runs_of, streamed] = schedule;
  if (!schedule) return {};
  std::string text = cat(" of ", lanes);
  if (accumulators != 1) text += cat(" x ", accumulators);
  if (single_pass) text += ", in one pass";
  if (pairwise) text += ", pairwise";
  if (straight_passes) text += cat(", straight up to ", straight_passes);
  if (runs_of >= 0) text += cat(", by runs of step ", runs_of);
  if (!streamed.empty()) text += ", streaming";
  for (auto buffer : streamed) text += cat(" ", name(buffer));
  return text;
}

}  // namespace bitale::program
