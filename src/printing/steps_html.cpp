// The steps of rewriting as an HTML page: trees as dprint draws them, compared line by line.
#include <algorithm>
#include <vector>

#include "bitale/core/text.hpp"
#include "bitale/printing/printing.hpp"
#include "printing/markup.hpp"

namespace bitale {

namespace {

std::vector<std::string> lines_of(const Variables& outputs) {
  const std::string text = dprint(outputs, {.id_type = ""});
  std::vector<std::string> out;
  for (std::size_t at = 0, end; at < text.size(); at = end + 1) {
    end = std::min(text.find('\n', at), text.size());
    out.push_back(text.substr(at, end - at));
  }
  return out;
}

// The text of a line without the tree drawing before it.
std::string_view label_of(std::string_view line) {
  const std::size_t at = line.find_first_not_of(" \xe2\x94\x82\x9c\x94\x80");  // the bytes of what trees are drawn with
  return at == std::string_view::npos ? std::string_view() : line.substr(at);
}

using Marks = std::vector<bool>;  // the lines that have no counterpart

// Marks the lines outside the longest common subsequence of the differing parts; all lines of very long parts.
void mark_changes(const std::vector<std::string>& a, const std::vector<std::string>& b, Marks& in_a, Marks& in_b) {
  std::size_t begin = 0, end_a = a.size(), end_b = b.size();
  const auto same = [&](std::size_t i, std::size_t k) { return label_of(a[i]) == label_of(b[k]); };
  while (begin < end_a && begin < end_b && same(begin, begin)) ++begin;
  while (end_a > begin && end_b > begin && same(end_a - 1, end_b - 1)) --end_a, --end_b;
  in_a.assign(a.size(), false);
  in_b.assign(b.size(), false);
  const std::size_t rows = end_a - begin, columns = end_b - begin;
  constexpr std::size_t most = std::size_t(1) << 20;
  const bool compared = rows * columns <= most;
  std::vector<std::size_t> length(compared ? (rows + 1) * (columns + 1) : 0);
  const auto at = [&](std::size_t i, std::size_t k) -> std::size_t& { return length[i * (columns + 1) + k]; };
  if (compared)
    for (std::size_t i = rows; i-- > 0;)
      for (std::size_t k = columns; k-- > 0;)
        at(i, k) = same(begin + i, begin + k) ? at(i + 1, k + 1) + 1 : std::max(at(i + 1, k), at(i, k + 1));
  std::size_t i = 0, k = 0;
  while (i < rows || k < columns) {
    if (compared && i < rows && k < columns && same(begin + i, begin + k))
      ++i, ++k;
    else if (i < rows && (k == columns || !compared || at(i + 1, k) >= at(i, k + 1)))
      in_a[begin + i++] = true;
    else
      in_b[begin + k++] = true;
  }
}

std::string tree(const std::vector<std::string>& lines, const Marks& marks, std::string_view kind) {
  std::string out = "<pre>";
  for (std::size_t i = 0; i < lines.size(); ++i)
    out += marks[i] ? cat("<mark class=", kind, ">", escaped(lines[i]), "</mark>\n") : cat(escaped(lines[i]), "\n");
  return out + "</pre>\n";
}

constexpr std::string_view head = R"(<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>Rewriting, step by step</title><style>
body { font-family: sans-serif; margin: 2em }
section { display: none }
section.shown { display: block }
.sides { display: flex; gap: 3em; align-items: flex-start }
pre { line-height: 1.35; overflow: auto }
mark { border-radius: 3px; padding: 1px 3px }
mark.gone { background: #ffd9d4 }
mark.made { background: #d2f3d6 }
</style></head><body>
<p><button id="previous">&larr; previous</button> <button id="next">next &rarr;</button></p>
)";

constexpr std::string_view script = R"(<script>
const sections = document.querySelectorAll("section");
let at = 0;
function show(to) {
  at = Math.max(0, Math.min(sections.length - 1, to));
  sections.forEach((section, i) => section.classList.toggle("shown", i === at));
}
document.getElementById("previous").onclick = () => show(at - 1);
document.getElementById("next").onclick = () => show(at + 1);
document.onkeydown = event => { if (event.key === "ArrowLeft") show(at - 1); if (event.key === "ArrowRight") show(at + 1); };
show(0);
</script></body></html>
)";

}  // namespace

std::string steps_html(std::span<const RewriteReport::Step> steps) {
  std::string out(head);
  if (steps.empty()) out += "<section>Nothing was rewritten.</section>\n";
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const RewriteReport::Step& step = steps[i];
    const auto before = lines_of(step.outputs_before), after = lines_of(step.outputs_after);
    Marks gone, made;
    mark_changes(before, after, gone, made);
    out += cat("<section><h2>", i + 1, " of ", steps.size(), ": ", escaped(step.phase), "/", escaped(step.rule),
               "</h2>\n<p><code>", escaped(step.before), "</code> &rarr; <code>", escaped(step.after),
               "</code></p>\n<div class=\"sides\">\n", tree(before, gone, "gone"), tree(after, made, "made"),
               "</div></section>\n");
  }
  return out + std::string(script);
}

}  // namespace bitale
