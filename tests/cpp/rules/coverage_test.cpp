// The status of every rule of PyTensor in the groups that this library treats: tests/rules_coverage/*.csv says covered
// (by which rule), needless (why) or missing. A covered name must be a tag of a rule, or the name of a rule, phase or
// pass.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>

#include "bitale/core/text.hpp"
#include "bitale/rewriting/passes.hpp"
#include "bitale/rewriting/rewriting.hpp"

using namespace bitale;

namespace {

struct Row {
  std::string file, name, status, why;
};

std::filesystem::path folder() {
  const char* found = std::getenv("BITALE_TEST_COVERAGE");
  return found ? found : "tests/rules_coverage";
}

// The cells of a line; the last one may hold commas.
std::vector<std::string> cells(const std::string& line, std::size_t count) {
  std::vector<std::string> out;
  std::size_t at = 0;
  while (out.size() + 1 < count) {
    const std::size_t end = line.find(',', at);
    if (end == std::string::npos) break;
    out.push_back(line.substr(at, end - at));
    at = end + 1;
  }
  out.push_back(line.substr(at));
  return out;
}

std::vector<std::vector<std::string>> read(const std::filesystem::path& path, std::size_t columns) {
  std::ifstream in(path);
  REQUIRE_MESSAGE(in.good(), path.string());
  std::vector<std::vector<std::string>> out;
  std::string line;
  std::getline(in, line);  // the header
  while (std::getline(in, line)) {
    if (!line.empty() && line.back() == '\r') line.pop_back();
    if (line.empty()) continue;
    out.push_back(cells(line, columns));
    CHECK_MESSAGE(out.back().size() == columns, path.filename().string() << ": " << line);
    out.back().resize(columns);
  }
  return out;
}

std::vector<Row> all_rows() {
  std::vector<Row> out;
  for (auto& entry : std::filesystem::directory_iterator(folder())) {
    if (entry.path().extension() != ".csv" || entry.path().filename() == "names.csv") continue;
    for (auto& row : read(entry.path(), 4)) out.push_back({entry.path().filename().string(), row[0], row[2], row[3]});
  }
  return out;
}

}  // namespace

TEST_CASE("every rule of PyTensor's groups is covered, needless, or listed as missing") {
  std::map<std::string, std::string> group_of;
  for (auto& row : read(folder() / "names.csv", 2)) {
    CHECK_MESSAGE(group_of.emplace(row[1], row[0]).second, "named twice in names.csv: " << row[1]);
  }
  REQUIRE(group_of.size() > 200);

  std::set<std::string> tags;
  for (auto& rule : describe_rules()) {
    tags.insert(rule.name);
    tags.insert(rule.tags.begin(), rule.tags.end());
    tags.insert(rule.phases.begin(), rule.phases.end());
  }
  for (auto& pass : rewriting::registered_passes()) {
    tags.insert(pass.name);
    tags.insert(pass.tags.begin(), pass.tags.end());
  }

  std::map<std::string, std::string> status_of;
  std::map<std::string, std::map<std::string, int>> counts;  // group -> status
  for (auto& row : all_rows()) {
    CAPTURE(row.file);
    CAPTURE(row.name);
    CHECK_MESSAGE(status_of.emplace(row.name, row.status).second, "listed twice");
    const auto group = group_of.find(row.name);
    CHECK_MESSAGE(group != group_of.end(), "PyTensor has no such rule in these groups");
    if (group == group_of.end()) continue;
    ++counts[group->second][row.status];
    CHECK_MESSAGE((row.status == "covered" || row.status == "needless" || row.status == "missing"), row.status);
    CHECK_MESSAGE(!row.why.empty(), "gives neither a rule nor a reason");
    if (row.status == "covered") CHECK_MESSAGE(tags.count(row.name) == 1, "listed as covered, but no tag or name");
    CHECK_NOTHROW(describe_optdb(OPT_FAST_RUN.excluding({row.name})));  // queries may name all of them
  }
  // A group with any entry has all of them.
  for (auto& [name, group] : group_of)
    if (counts.count(group)) CHECK_MESSAGE(status_of.count(name) == 1, group << ": no entry for " << name);

  std::map<std::string, int> total;
  for (auto& [group, statuses] : counts) {
    std::string text;
    for (auto& [status, count] : statuses) {
      text += cat("  ", status, " ", count);
      total[status] += count;
    }
    MESSAGE(group << ":" << text);
  }
  MESSAGE("of " << group_of.size() << ": covered " << total["covered"] << ", needless " << total["needless"]
                << ", missing " << total["missing"]);
}
