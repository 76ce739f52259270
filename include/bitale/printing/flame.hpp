// Pages of times: nested bars whose widths are proportional to times, for any tree of times.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace bitale {

struct Flame {
  std::string name;
  double seconds = 0;
  std::string kind = {};                                        // bars of one kind have one colour
  std::vector<std::pair<std::string, std::string>> facts = {};  // shown for a selected bar: a title and a text each
  std::vector<Flame> parts = {};                                // side by side, in order; the remainder is unnamed
};

struct FlamePage {
  std::string title = "profile";
  std::vector<Flame> charts;
  std::string text = {};  // below the charts
};

// A self-contained page of HTML: a click on a bar makes it as wide as the page and shows its facts; matches of a search
// are marked and summed up.
std::string flame_html(const FlamePage& page);

}  // namespace bitale
