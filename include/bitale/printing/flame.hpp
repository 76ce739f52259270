// Pages of times: nested bars as wide as what they stand for took, for whatever is a tree of times.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace bitale {

struct Flame {
  std::string name;
  double seconds = 0;
  std::string kind = {};                                        // bars of one kind have one colour
  std::vector<std::pair<std::string, std::string>> facts = {};  // what is shown of a chosen bar: a title and a text
  std::vector<Flame> parts = {};                                // beside each other, in order; what is left is unnamed
};

struct FlamePage {
  std::string title = "profile";
  std::vector<Flame> charts;
  std::string text = {};  // below the charts
};

// A page of HTML that needs nothing else: a click on a bar makes it as wide as the page and shows its facts, and what
// is searched for is marked and summed up.
std::string flame_html(const FlamePage& page);

}  // namespace bitale
