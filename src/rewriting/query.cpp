// Rewrite queries, and the table of named queries.
#include <algorithm>
#include <mutex>

#include "bitale/core/error.hpp"
#include "bitale/core/text.hpp"
#include "bitale/rewriting/rewriting.hpp"

namespace bitale {

namespace {

void extend(std::vector<std::string>& list, const std::vector<std::string>& more) {
  for (auto& tag : more)
    if (std::find(list.begin(), list.end(), tag) == list.end()) list.push_back(tag);
}

// The phases up to stabilize.
constexpr double after_stabilize = 1.5000001;

using NamedQueries = std::vector<std::pair<std::string, RewriteQuery>>;

const NamedQueries& optimizers() {
  static const RewriteQuery fast_run{{"fast_run"}}, fast_compile{{"fast_compile"}};
  static const NamedQueries table{
      {"None", {}},
      {"merge", {{"merge"}}},
      {"minimum_compile", {{"minimum_compile"}}},
      {"fast_compile", fast_compile},
      {"fast_run", fast_run},
      {"fast_run_stable", fast_run.requiring({"stabilize"})},
      {"stabilize", {{"fast_run"}, {}, {}, after_stabilize}},
      {"o1", fast_compile},
      {"o2", fast_compile.including({"fusion"})},
      {"o3", fast_run.excluding({"inplace"})},
      {"o4", fast_run},
      {"unsafe", fast_run.excluding({"inplace"}).including({"unsafe", "unsafe_nan"})},
  };
  return table;
}

// Those that were registered.
struct OwnOptimizers {
  std::mutex mutex;
  NamedQueries table;
  static OwnOptimizers& instance() {
    static auto& all = *new OwnOptimizers;
    return all;
  }
};

const RewriteQuery* find(const NamedQueries& table, std::string_view optimizer) {
  for (auto& [name, query] : table)
    if (name == optimizer) return &query;
  return nullptr;
}

}  // namespace

RewriteQuery RewriteQuery::including(const std::vector<std::string>& tags) const {
  RewriteQuery out = *this;
  extend(out.include, tags);
  return out;
}

RewriteQuery RewriteQuery::excluding(const std::vector<std::string>& tags) const {
  RewriteQuery out = *this;
  extend(out.exclude, tags);
  return out;
}

RewriteQuery RewriteQuery::requiring(const std::vector<std::string>& tags) const {
  RewriteQuery out = *this;
  extend(out.require, tags);
  return out;
}

RewriteQuery RewriteQuery::registering(std::vector<ExtraRewrite> rewrites) const {
  RewriteQuery out = *this;
  for (auto& rewrite : rewrites) {
    if (rewrite.name.empty() || !rewrite.function) throw ValueError("an extra rewrite needs a name and a function");
    out.extra.push_back(std::make_shared<const ExtraRewrite>(std::move(rewrite)));
  }
  return out;
}

RewriteQuery RewriteQuery::parse(const std::vector<std::string>& terms) {
  RewriteQuery out;
  for (auto& term : terms) {
    const std::string tag = term.empty() ? "" : term.substr(1);
    if (term.starts_with('+'))
      extend(out.include, {tag});
    else if (term.starts_with('&'))
      extend(out.require, {tag});
    else if (term.starts_with('-'))
      extend(out.exclude, {tag});
    else
      throw ValueError(cat("a term of a query starts with +, & or -, got \"", term, "\""));
  }
  return out;
}

std::string RewriteQuery::str() const {
  std::vector<std::string> terms;
  for (auto& tag : include) terms.push_back("+" + tag);
  for (auto& tag : require) terms.push_back("&" + tag);
  for (auto& tag : exclude) terms.push_back("-" + tag);
  if (position_cutoff != std::numeric_limits<double>::infinity()) terms.push_back(cat("<=", position_cutoff));
  for (auto& [phase, query] : subqueries) terms.push_back(cat(phase, ": (", query->str(), ")"));
  return join(terms, ", ");
}

RewriteQuery query_of(std::string_view optimizer) {
  if (const RewriteQuery* query = find(optimizers(), optimizer)) return *query;
  {
    OwnOptimizers& own = OwnOptimizers::instance();
    std::lock_guard lock(own.mutex);
    if (const RewriteQuery* query = find(own.table, optimizer)) return *query;
  }
  const auto names = optimizer_names();
  const std::string near = closest(optimizer, names);
  throw ValueError(cat("no optimizer is called \"", optimizer, "\"; known: ", join(names, ", "),
                       near.empty() ? "" : cat(". Did you mean \"", near, "\"?")));
}

std::vector<std::string> optimizer_names() {
  std::vector<std::string> out;
  for (auto& [name, query] : optimizers()) out.push_back(name);
  OwnOptimizers& own = OwnOptimizers::instance();
  std::lock_guard lock(own.mutex);
  for (auto& [name, query] : own.table) out.push_back(name);
  return out;
}

void register_optimizer(const std::string& name, RewriteQuery query) {
  OwnOptimizers& own = OwnOptimizers::instance();
  std::lock_guard lock(own.mutex);
  if (find(optimizers(), name) || find(own.table, name))
    throw ValueError(cat("register_optimizer: there is an optimizer \"", name, "\" already"));
  own.table.emplace_back(name, std::move(query));
}

namespace {
// Never destroyed, since destructors of the program's own objects may use them.
const RewriteQuery& constant_query(std::string_view name) { return *new RewriteQuery(query_of(name)); }
}  // namespace

const RewriteQuery &OPT_NONE = constant_query("None"), &OPT_MERGE = constant_query("merge"),
                   &OPT_FAST_COMPILE = constant_query("fast_compile"), &OPT_FAST_RUN = constant_query("fast_run"),
                   &OPT_FAST_RUN_STABLE = constant_query("fast_run_stable"),
                   &OPT_STABILIZE = constant_query("stabilize"), &OPT_UNSAFE = constant_query("unsafe");

}  // namespace bitale
