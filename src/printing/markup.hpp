// Escaping of text for HTML and XML.
#pragma once

#include <string>
#include <string_view>

namespace bitale {

// Escapes a line of text. Control characters become spaces, since XML does not allow them.
inline std::string escaped(std::string_view text) {
  std::string out;
  for (char c : text) {
    if (c == '&')
      out += "&amp;";
    else if (c == '<')
      out += "&lt;";
    else if (c == '>')
      out += "&gt;";
    else
      out += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
  }
  return out;
}

}  // namespace bitale
