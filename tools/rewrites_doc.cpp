// Writes docs/rewrite_rules.md from the registered rules, tests/rules_coverage/*.csv and the stability.md in that
// folder.
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
      "\n## Passes\n\nFunctions of the whole graph, in order. The phases of rules are at positions 0.6 to 3; each "
      "linker "
      "selects passes by the tags it needs.\n\n| position | pass | effect | tags | covers |\n|---|---|---|---|---|\n";
  for (auto& pass : rewriting::registered_passes())
    out += cat("| ", number_text(pass.position), " | ", code(pass.name), " | ", cell(pass.doc), " | ", codes(pass.tags),
               " | ", coverage.count(pass.name) ? code(pass.name) : "", " |\n");
}

void write_coverage(std::string& out, const CoverageTable& coverage) {
  std::map<std::string, std::map<std::string, int>> counts;
  std::map<std::string, int> total;
  for (auto& [name, row] : coverage) ++counts[row.group][row.status], ++total[row.status];
  out +=
      "\n## PyTensor's rules\n\nFor each group of PyTensor's rules: how many are covered by rules here, how many are "
      "unnecessary here, and how many are missing.\n\n| group | rules | covered | needless | missing | not treated yet "
      "|\n"
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

std::string document(const fs::path& checkout) {
  const CoverageTable coverage = read_coverage(checkout / "tests" / "rules_coverage");
  const std::vector<RuleDescription> rules = describe_rules();
  std::map<std::string, std::vector<const RuleDescription*>> topics;
  for (auto& rule : rules) topics[rule.topic].push_back(&rule);
  std::string out =
      cat("# All rewrite rules\n\nGenerated from the registered rules; don't edit. To update it, run `rewrites_doc . "
          "--write` "
          "from the build tree. [Rewrite rules](rewrites.md) explains what rewriting does and what it promises.\n\n",
          rules.size(),
          " rules. An equation is read from left to right; x, y, z stand for any expression, c for a constant. A rule "
          "runs in "
          "the phases that are listed; `fast_run` includes all rules except those tagged `opt_in`, `unsafe` or "
          "`unsafe_nan`. "
          "*More accurate*: the right side is closer to the exact result; *wider domain*: it may be finite where the "
          "left side "
          "is not; *no signed zeros*: a zero may change its sign. Tests check each equation and each claim "
          "numerically.\n\n## Rules\n");
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
  const fs::path checkout = argv[1], file = checkout / "docs" / "rewrite_rules.md";
  const std::string action = argc == 3 ? argv[2] : "", text = document(checkout);
  if (action == "--write") {
    std::ofstream(file) << text;
  } else if (action == "--check") {
    if (read_file(file) == text) return 0;
    std::fprintf(stderr, "docs/rewrite_rules.md is not what the rules say; write it with: %s . --write\n", argv[0]);
    return 1;
  } else {
    std::fputs(text.c_str(), stdout);
  }
  return 0;
}
