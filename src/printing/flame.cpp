// Times as an HTML page: the tree as JSON, and a script (page/flame.js) that draws it in the browser.
#include "bitale/printing/flame.hpp"

#include <printing_page_files.inc>  // page/, by cmake/EmbeddedTexts.cmake

#include "bitale/core/text.hpp"
#include "printing/page_text.hpp"

namespace bitale {

using printing::json;

namespace {

// {"n": name, "s": seconds, "k": kind, "f": [[title, text], ...], "p": [...]}. A tree is a few levels deep.
std::string write(const Flame& flame) {
  std::vector<std::string> facts, parts;
  for (auto& [title, text] : flame.facts) facts.push_back(cat("[", json(title), ",", json(text), "]"));
  for (auto& part : flame.parts) parts.push_back(write(part));
  return cat("{\"n\":", json(flame.name), ",\"s\":", flame.seconds, ",\"k\":", json(flame.kind), ",\"f\":[",
             join(facts, ","), "],\"p\":[", join(parts, ",\n"), "]}");
}

}  // namespace

std::string flame_html(const FlamePage& page) {
  std::vector<std::string> charts;
  for (auto& chart : page.charts) charts.push_back(write(chart));
  return cat(printing::page_head(page.title, flame_css),
             "<script type=\"application/json\" id=\"data\">{\"title\":", json(page.title),
             ",\"text\":", json(page.text), ",\"charts\":[", join(charts, ",\n"), "]}</script>\n<script>\n", flame_js,
             "</script>\n</body></html>\n");
}

}  // namespace bitale
