// Writes docs/rewrites.md from the registered rules, tests/rules_coverage/*.csv and the stability.md in that folder.
//
//   rewrites_doc CHECKOUT            prints it
//   rewrites_doc CHECKOUT --write    writes the file
//   rewrites_doc CHECKOUT --check    fails when the file is not up to date
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "bitale/core/text.hpp"
#include "bitale/rewriting/passes.hpp"
#include "bitale/rewriting/rewriting.hpp"

using namespace bitale;

namespace {

namespace fs = std::filesystem;

struct Coverage {
  std::string group, status, why;
};
using CoverageTable = std::map<std::string, Coverage>;  // by PyTensor's name

std::string read_file(const fs::path& path) {
  std::ifstream in(path);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

// The first `count - 1` cells of a line, and the rest of it.
std::vector<std::string> cells(const std::string& line, std::size_t count) {
  std::vector<std::string> out;
  std::size_t at = 0;
  for (std::size_t end; out.size() + 1 < count && (end = line.find(',', at)) != std::string::npos; at = end + 1)
    out.push_back(line.substr(at, end - at));
  out.push_back(line.substr(at));
  out.resize(count);
  return out;
}

template <class Each>
void each_row(const fs::path& path, std::size_t columns, Each&& each) {
  std::istringstream in(read_file(path));
  std::string line;
  std::getline(in, line);  // the header
  while (std::getline(in, line))
    if (!line.empty()) each(cells(line, columns));
}

CoverageTable read_coverage(const fs::path& folder) {
  CoverageTable out;
  each_row(folder / "names.csv", 2, [&](auto row) { out[row[1]] = {row[0], "not treated yet", ""}; });
  for (auto& entry : fs::directory_iterator(folder))
    if (entry.path().extension() == ".csv" && entry.path().filename() != "names.csv")
      each_row(entry.path(), 4, [&](auto row) {
        auto known = out.find(row[0]);
        if (known != out.end()) known->second = {known->second.group, row[2], row[3]};
      });
  return out;
}

// Text inside a table's cell.
std::string cell(std::string text) {
  std::string out;
  for (char c : text) {
    if (c == '|') out += '\\';
    out += c == '\n' ? ' ' : c;
  }
  return out;
}

std::string code(const std::string& text) { return text.empty() ? "" : "`" + cell(text) + "`"; }

std::string codes(const std::vector<std::string>& list) {
  std::vector<std::string> out;
  for (auto& each : list) out.push_back(code(each));
  return join(out, ", ");
}

std::string title(std::string topic) {
  if (topic.empty()) return "Added at run time";
  std::replace(topic.begin(), topic.end(), '_', ' ');
  topic[0] = char(std::toupper(static_cast<unsigned char>(topic[0])));
  return topic;
}

// The equation, or the description of the function, and what the rule claims or allows.
std::string effect(const RuleDescription& rule) {
  std::vector<std::string> parts;
  if (!rule.left.empty()) parts.push_back(cat("`", cell(rule.left), "` → `", cell(rule.right), "`"));
  if (!rule.doc.empty()) parts.push_back(cell(rule.doc));
  if (!rule.domain.empty()) parts.push_back(cat("assumes ", code(rule.domain)));
  if (rule.more_accurate) parts.push_back("*more accurate*");
  if (rule.wider_domain) parts.push_back("*wider domain*");
  if (rule.no_signed_zeros) parts.push_back("*no signed zeros*");
  if (!rule.differs_at.empty()) {
    std::vector<std::string> values;
    for (double value : rule.differs_at) values.push_back(number_text(value));
    parts.push_back(cat("*differs at ", join(values, ", "), "*"));
  }
  return join(parts, "; ");
}

void write_topic(std::string& out, const std::string& topic, const std::vector<const RuleDescription*>& rules,
                 const CoverageTable& coverage) {
  out +=
      cat("\n### ", title(topic), "\n\n| rule | effect | phases | root | tags | covers |\n|---|---|---|---|---|---|\n");
  for (auto* rule : rules) {
    std::vector<std::string> tags, covers;
    for (auto& tag : rule->tags) (coverage.count(tag) ? covers : tags).push_back(tag);
    if (coverage.count(rule->name)) covers.push_back(rule->name);
    out += cat("| ", code(rule->name), " | ", effect(*rule), " | ", join(rule->phases, ", "), " | ", cell(rule->root),
               " | ", codes(tags), " | ", codes(covers), " |\n");
  }
}

void write_passes(std::string& out, const CoverageTable& coverage) {
  out +=
      "\n## Passes\n\nFunctions over the whole graph, in order. The phases of rules stand at 0.6 to 3; `fast_run` "
      "holds no "
      "pass, a linker asks for the tags it wants.\n\n| position | pass | effect | tags | covers "
      "|\n|---|---|---|---|---|\n";
  for (auto& pass : rewriting::registered_passes())
    out += cat("| ", number_text(pass.position), " | ", code(pass.name), " | ", cell(pass.doc), " | ", codes(pass.tags),
               " | ", coverage.count(pass.name) ? code(pass.name) : "", " |\n");
}

void write_coverage(std::string& out, const CoverageTable& coverage) {
  std::map<std::string, std::map<std::string, int>> counts;
  std::map<std::string, int> total;
  for (auto& [name, row] : coverage) ++counts[row.group][row.status], ++total[row.status];
  out +=
      "\n## PyTensor's rules\n\nBy group of PyTensor's rules: how many are covered by rules here, how many are "
      "needless "
      "here, how many are missing.\n\n| group | rules | covered | needless | missing | not treated yet |\n"
      "|---|---|---|---|---|---|\n";
  auto line = [&](const std::string& label, std::map<std::string, int>& row) {
    int all = 0;
    for (auto& [status, count] : row) all += count;
    out += cat("| ", label, " | ", all, " | ", row["covered"], " | ", row["needless"], " | ", row["missing"], " | ",
               row["not treated yet"], " |\n");
  };
  for (auto& [group, row] : counts) line(group, row);
  line("all", total);
  for (const char* status : {"missing", "needless"}) {
    out += cat("\n### ", title(status), "\n\n| rule | group | why |\n|---|---|---|\n");
    for (auto& [name, row] : coverage)
      if (row.status == status) out += cat("| ", code(name), " | ", row.group, " | ", cell(row.why), " |\n");
  }
}

constexpr const char* promises =
    "## What rewriting promises\n\n"
    "- **Dtypes.** Each step is computed in the dtype in which it was written: no sign, term or factor moves across a "
    "conversion, explicit or by promotion. Integers and bools are exact, where they wrap, too.\n"
    "- **Rounding.** Where the result as written is well-conditioned, the rewritten one differs by a few units in the "
    "last place; exponentials and powers, by as many as their exponent is large. Where a difference cancels, the "
    "rewritten result may have more digits, not fewer: `x - (x + log(x))` at 1e308 is `-log(x)`, not 0. Two constants "
    "of "
    "a sum become one only where their sum is exact. Results below the smallest normal number may become 0.\n"
    "- **Infinities and nan.** What is finite as written stays finite, where no product of some of the factors of a "
    "product or quotient, and no sum of some of the terms of a sum, leaves the range of the dtype: factors and terms "
    "may be taken in another order, and those that occur twice cancel or are collected, so that `x * y * z / y` at "
    "1e200, 1e-200 and 1e200 overflows, and `x - y + x` at 1e308. A rule marked *wider domain* or *differs at* may "
    "give a finite value where a step as written overflows, underflows or is undefined. All of these carry the tag "
    "`domain`: a query that excludes it keeps every nan and infinity, but for the sign of one over a zero (*no signed "
    "zeros*).\n"
    "- **Empty axes.** The logarithm of a sum of exponentials over an axis of length 0 is `-inf` as written. Its "
    "stable form finds the largest exponent first, and raises the ValueError of `max` there, as `logsumexp` does.\n"
    "- **Discontinuous readers.** What reads a value at a jump or pole (comparisons, `floor`, `ceil`, `round`, "
    "`trunc`, "
    "`sign`, `mod`, `int_div`, conversions to integers and bool, poles such as that of `gammaln`) may find itself "
    "on the other side where rounding or a *wider domain* upstream decides: `floor(x * 1e308 / 1e308)` is `floor(x)`. "
    "Its "
    "result is then that for a value within the bounds above. Exclude `domain` and `cancelling` where it must not be.\n"
    "- **Lengths.** A length of 1 broadcasts where the type as built says so, before and after any rewrite. A graph "
    "that "
    "runs as written gives the same shape when rewritten. One that fails as written because lengths differ, also that "
    "of "
    "a mask from what it selects, may run: an operand "
    "that cancels, or a repetition that is dropped (`shape_unsafe`), takes its check along.\n"
    "- **No loops, no exceptions.** The default rules end on every graph, and raise on none; random graphs check it.\n";

std::string document(const fs::path& checkout) {
  const CoverageTable coverage = read_coverage(checkout / "tests" / "rules_coverage");
  const std::vector<RuleDescription> rules = describe_rules();
  std::map<std::string, std::vector<const RuleDescription*>> topics;
  for (auto& rule : rules) topics[rule.topic].push_back(&rule);
  std::string out = cat(
      "# Rewrite rules\n\nGenerated from the registered rules; don't edit. To bring it up to date: `rewrites_doc . "
      "--write` from the build tree.\n\n",
      rules.size(),
      " rules. An equation is read from left to right; x, y, z stand for anything, c for a constant. A rule belongs to "
      "the phases named; `fast_run` holds all but those tagged `opt_in`, `unsafe` or `unsafe_nan`. *More accurate*: "
      "the right side is nearer to the exact result; *wider domain*: it may be finite where the left side is not; *no "
      "signed zeros*: a zero may change its sign. Tests check each equation and each claim numerically.\n\n",
      promises, "\n## Rules\n");
  for (auto& [topic, members] : topics) write_topic(out, topic, members, coverage);
  write_passes(out, coverage);
  write_coverage(out, coverage);
  out += "\n" + read_file(checkout / "tests" / "rules_coverage" / "stability.md");
  return out;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2 || argc > 3) {
    std::fprintf(stderr, "usage: rewrites_doc CHECKOUT [--write | --check]\n");
    return 2;
  }
  const fs::path checkout = argv[1], file = checkout / "docs" / "rewrites.md";
  const std::string action = argc == 3 ? argv[2] : "", text = document(checkout);
  if (action == "--write") {
    std::ofstream(file) << text;
  } else if (action == "--check") {
    if (read_file(file) == text) return 0;
    std::fprintf(stderr, "docs/rewrites.md is not what the rules say; write it with: %s . --write\n", argv[0]);
    return 1;
  } else {
    std::fputs(text.c_str(), stdout);
  }
  return 0;
}
