#include "printing/page_text.hpp"

#include <cstdio>

#include "bitale/core/text.hpp"
#include "printing/markup.hpp"

namespace bitale::printing {

std::string json(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (c == '<' || c == '>' || c == '&' || static_cast<unsigned char>(c) < 0x20) {
      char code[8];
      std::snprintf(code, sizeof code, "\\u%04x", unsigned(c));
      out += code;
    } else {
      out += c;
    }
  }
  return out + "\"";
}

std::string page_head(std::string_view title, std::string_view css) {
  return cat(
      "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; "
      "script-src 'unsafe-inline'\">\n<title>",
      escaped(title), "</title>\n<style>\n", css, "</style></head>\n<body>\n");
}

}  // namespace bitale::printing
