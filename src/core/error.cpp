// Errors collect context lines as they propagate.
#include "bitale/core/error.hpp"

#include <algorithm>

namespace bitale {

Error& Error::add(const std::string& label, const std::string& text) {
  // Labels share a column, and so do the further lines of a text.
  constexpr std::size_t label_width = 9;
  std::string line = "\n  " + label;
  line.append(label.size() < label_width ? label_width - label.size() : 1, ' ');
  const std::string indent = "\n" + std::string(line.size() - 1, ' ');
  for (char c : text) {
    if (c == '\n')
      line += indent;
    else
      line += c;
  }
  message_ += line;
  return *this;
}

}  // namespace bitale
