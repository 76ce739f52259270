// Scripts and data inside a page of HTML.
#pragma once

#include <string>
#include <string_view>

namespace bitale::printing {

// A string of JSON that may stand in HTML: no tag begins in it.
std::string json(std::string_view text);
// From the doctype on: the head, with a content security policy that fetches nothing, and the beginning of the body.
std::string page_head(std::string_view title, std::string_view css);

}  // namespace bitale::printing
