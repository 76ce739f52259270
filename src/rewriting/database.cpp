#include "rewriting/database.hpp"

#include <algorithm>

#include "bitale/core/error.hpp"
#include "bitale/core/text.hpp"
#include "bitale/graph/test_value.hpp"
#include "bitale/rewriting/passes.hpp"

namespace bitale::rewriting {

namespace {

bool has(const Tags& tags, std::string_view tag) { return std::find(tags.begin(), tags.end(), tag) != tags.end(); }

// PyTensor's tags that nothing has here (yet): queries may name them without an error.
constexpr std::string_view reserved_tags[] = {"fast_run",
                                              "fast_compile",
                                              "minimum_compile",
                                              "merge",
                                              "fusion",
                                              "elemwise_fusion",
                                              "local_elemwise_fusion",
                                              "add_mul_fusion",
                                              "BlasOpt",
                                              "c_blas",
                                              "blas_opt_inplace",
                                              "infer_shape",
                                              "shape_unsafe",
                                              "random_unsafe",
                                              "unsafe",
                                              "unsafe_nan",
                                              "opt_in",
                                              "cxx_only",
                                              "py_only",
                                              "numba",
                                              "jax",
                                              "scan",
                                              "scan_save_mem",
                                              "more_mem",
                                              "inline_ofg",
                                              "symbolic_op_recognition",
                                              "compile_inner_graph",
                                              "canonicalize_db",
                                              "lower_xtensor",
                                              "blockwise",
                                              "local_cut_useless_reduce"};

struct PhaseRow {
  std::string_view name;
  double position;
  bool in_fast_compile;
};
// Names and positions are PyTensor's. Merging has no phase: it is an invariant of FunctionGraph.
constexpr PhaseRow phase_table[] = {
    {useless, 0.6, true},  {canonicalize, 1, true},    {stabilize, 1.5, true},
    {specialize, 2, true}, {uncanonicalize, 3, false},
};

bool is_phase(std::string_view tag) {
  return std::any_of(std::begin(phase_table), std::end(phase_table), [&](auto& row) { return row.name == tag; });
}

// The rule's own tags without the names of phases; those of the phase are added. Opt-in rules are not selected by
// naming the phase.
Tags tags_in_phase(const Rule& rule, std::string_view phase) {
  Tags out{rule.name()};
  for (auto& tag : rule.tags())
    if (!is_phase(tag)) out.push_back(tag);
  if (rule.has_tag(opt_in) || rule.has_tag(unsafe) || rule.has_tag(unsafe_nan)) return out;
  out.emplace_back(phase);
  out.emplace_back("fast_run");
  if (phase == canonicalize) out.emplace_back("fast_compile");
  return out;
}

struct TopicEntry {
  const char* name;
  Topic topic;
};
std::vector<TopicEntry>& topics() {
  static auto& list = *new std::vector<TopicEntry>;
  return list;
}

std::vector<Pass>& passes() {
  static auto& list = *new std::vector<Pass>;
  return list;
}

void refuse_unknown(const std::vector<std::string>& asked, const std::vector<std::string>& known) {
  for (auto& tag : asked) {
    if (has(known, tag)) continue;
    const std::string near = closest(tag, known);
    throw ValueError(
        cat("no rewrite is called or tagged \"", tag, "\"", near.empty() ? "" : cat("; did you mean \"", near, "\"?")));
  }
}

}  // namespace

RegisterRules::RegisterRules(const char* name, Topic topic) { topics().push_back({name, topic}); }

RegisterPasses::RegisterPasses(std::initializer_list<Pass> list) {
  passes().insert(passes().end(), list.begin(), list.end());
}

std::vector<Pass> registered_passes() {
  std::vector<Pass> out = passes();
  std::sort(out.begin(), out.end(), [](auto& a, auto& b) { return a.position < b.position; });
  return out;
}

void register_rules(const std::function<void(Rules&)>& topic, bool overwrite) {
  const TestValuesOff of_patterns;
  Rules rules;
  topic(rules);
  OptDB::instance().add(rules.take(), overwrite);
}

bool selects(const RewriteQuery& query, const Tags& tags) {
  auto tagged = [&](const std::string& tag) { return has(tags, tag); };
  return std::any_of(query.include.begin(), query.include.end(), tagged) &&
         std::all_of(query.require.begin(), query.require.end(), tagged) &&
         std::none_of(query.exclude.begin(), query.exclude.end(), tagged);
}

// ---- EquilibriumDB --------------------------------------------------------------------------------------------------

void EquilibriumDB::add(const Rule& rule, Tags tags) { entries_.push_back({&rule, std::move(tags)}); }

void EquilibriumDB::remove(const Rule& rule) {
  std::erase_if(entries_, [&](const Entry& entry) { return entry.rule == &rule; });
}

std::vector<const Rule*> EquilibriumDB::query(const RewriteQuery& query) const {
  std::vector<const Rule*> out;
  for (auto& entry : entries_)
    if (selects(query, entry.tags)) out.push_back(entry.rule);
  std::stable_sort(out.begin(), out.end(), [](auto* a, auto* b) { return a->priority() > b->priority(); });
  return out;
}

void EquilibriumDB::collect_tags(std::vector<std::string>& into) const {
  for (auto& entry : entries_) {
    into.insert(into.end(), entry.tags.begin(), entry.tags.end());
    into.push_back(entry.rule->name());
  }
}

// ---- SequenceDB -----------------------------------------------------------------------------------------------------

void SequenceDB::insert(Entry entry) {
  auto later = [](const Entry& a, const Entry& b) {
    return std::tie(a.position, a.name) < std::tie(b.position, b.name);
  };
  for (auto& known : entries_)
    if (known.name == entry.name) throw InternalError(cat("two phases of optdb are called ", entry.name));
  entries_.insert(std::upper_bound(entries_.begin(), entries_.end(), entry, later), std::move(entry));
}

EquilibriumDB& SequenceDB::add_phase(std::string name, double position, Tags tags) {
  auto rules = std::make_unique<EquilibriumDB>();
  EquilibriumDB& out = *rules;
  insert({std::move(name), position, std::move(tags), std::move(rules), {}});
  return out;
}

void SequenceDB::add_pass(std::string name, double position, Tags tags, GraphPass pass) {
  tags.push_back(name);
  insert({std::move(name), position, std::move(tags), nullptr, std::move(pass)});
}

EquilibriumDB* SequenceDB::phase(std::string_view name) {
  for (auto& entry : entries_)
    if (entry.name == name) return entry.rules.get();
  return nullptr;
}

void SequenceDB::collect_tags(std::vector<std::string>& into) const {
  for (auto& entry : entries_) {
    into.push_back(entry.name);
    into.insert(into.end(), entry.tags.begin(), entry.tags.end());
    if (entry.rules) entry.rules->collect_tags(into);
  }
}

Plan SequenceDB::query(const RewriteQuery& query) const {
  std::vector<std::string> known(std::begin(reserved_tags), std::end(reserved_tags));
  collect_tags(known);
  for (auto* asked : {&query.include, &query.require, &query.exclude}) refuse_unknown(*asked, known);
  Plan out;
  for (auto& entry : entries_) {
    if (entry.position > query.position_cutoff || has(query.exclude, entry.name)) continue;
    // A phase needs no tags of its own: it runs if some of its rules are selected.
    std::vector<const Rule*> rules = entry.rules ? entry.rules->query(query) : std::vector<const Rule*>{};
    if (rules.empty() && !(entry.pass && selects(query, entry.tags))) continue;
    out.push_back(std::make_unique<const Stage>(entry.name, entry.position, RuleIndex(std::move(rules)), entry.pass));
  }
  return out;
}

// ---- OptDB ----------------------------------------------------------------------------------------------------------

OptDB& OptDB::instance() {
  static auto& db = *new OptDB;  // never destroyed: nodes point to rule names
  return db;
}

OptDB::OptDB() {
  const TestValuesOff of_patterns;
  for (auto& row : phase_table) {
    Tags tags{"fast_run"};
    if (row.in_fast_compile) tags.push_back("fast_compile");
    sequence_.add_phase(std::string(row.name), row.position, tags);
  }
  for (auto& pass : registered_passes()) sequence_.add_pass(pass.name, pass.position, pass.tags, pass.run);
  // Sorted by name, so that nothing depends on the order of static initialization.
  auto list = topics();
  std::sort(list.begin(), list.end(), [](auto& a, auto& b) { return std::string_view(a.name) < b.name; });
  for (auto& entry : list) {
    Rules rules;
    entry.topic(rules);
    for (auto& rule : rules.take()) {
      topics_[rule.get()] = entry.name;
      add_locked(std::move(rule), false);
    }
  }
}

void OptDB::add(std::vector<std::unique_ptr<Rule>> rules, bool overwrite) {
  std::lock_guard lock(mutex_);
  for (auto& rule : rules) add_locked(std::move(rule), overwrite);
  plans_.clear();
}

void OptDB::keep(std::shared_ptr<const Rule> rule) {
  std::lock_guard lock(mutex_);
  if (std::find(storage_.begin(), storage_.end(), rule) == storage_.end()) storage_.push_back(std::move(rule));
}

void OptDB::add_locked(std::unique_ptr<Rule> rule, bool overwrite) {
  const auto known = by_name_.find(rule->name());
  if (known != by_name_.end() && !overwrite)
    throw ValueError(cat("a rewrite rule called \"", rule->name(), "\" exists already"));
  std::vector<EquilibriumDB*> homes;
  for (auto& row : phase_table)
    if (rule->has_tag(row.name)) homes.push_back(sequence_.phase(row.name));
  if (homes.empty())
    throw ValueError(cat("rule \"", rule->name(),
                         "\" belongs to no phase: tag it with canonicalize, stabilize, specialize, "
                         "useless or uncanonicalize"));
  if (known != by_name_.end())
    for (auto& row : phase_table) sequence_.phase(row.name)->remove(*known->second);
  for (auto& row : phase_table)
    if (rule->has_tag(row.name)) sequence_.phase(row.name)->add(*rule, tags_in_phase(*rule, row.name));
  by_name_[rule->name()] = rule.get();
  storage_.push_back(std::move(rule));
}

std::shared_ptr<const Plan> OptDB::plan(const RewriteQuery& query) {
  std::lock_guard lock(mutex_);
  auto& known = plans_[query.str()];
  if (!known) known = std::make_shared<const Plan>(sequence_.query(query));
  return known;
}

std::vector<const Rule*> OptDB::rules() {
  std::lock_guard lock(mutex_);
  std::vector<const Rule*> out;
  for (auto& [name, rule] : by_name_) out.push_back(rule);
  std::sort(out.begin(), out.end(), [](auto* a, auto* b) { return a->name() < b->name(); });
  return out;
}

const Rule& OptDB::rule(std::string_view name) {
  std::lock_guard lock(mutex_);
  if (auto found = by_name_.find(std::string(name)); found != by_name_.end()) return *found->second;
  std::vector<std::string> names;
  for (auto& [known, rule] : by_name_) names.push_back(known);
  const std::string near = closest(name, names);
  throw KeyError(
      cat("no rewrite rule is called \"", name, "\"", near.empty() ? "" : cat("; did you mean \"", near, "\"?")));
}

std::vector<std::string> OptDB::phases_of(const Rule& rule) const {
  std::vector<std::string> out;
  for (auto& row : phase_table)
    if (rule.has_tag(row.name)) out.emplace_back(row.name);
  return out;
}

std::string OptDB::topic_of(const Rule& rule) const {
  const auto found = topics_.find(&rule);
  return found == topics_.end() ? "" : found->second;
}

}  // namespace bitale::rewriting
