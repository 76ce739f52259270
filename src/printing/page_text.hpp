// Scripts and data embedded in an HTML page.
#pragma once

#include <string>
#include <string_view>

namespace bitale::printing {

// A JSON string that is safe inside HTML: no tag begins in it.
std::string json(std::string_view text);
// The page from the doctype to the beginning of the body, with a content security policy that forbids all fetches.
std::string page_head(std::string_view title, std::string_view css);

}  // namespace bitale::printing
