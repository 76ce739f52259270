#include "rewriting/database.hpp"

#include <algorithm>
#include <iterator>
#include <mutex>
#include <sstream>

#include "bitale/core/error.hpp"
#include "bitale/core/text.hpp"
#include "bitale/graph/test_value.hpp"
#include "bitale/rewriting/passes.hpp"
#include "core/keep_loaded.hpp"

namespace bitale::rewriting {

namespace {

bool has(const Tags& tags, std::string_view tag) { return std::find(tags.begin(), tags.end(), tag) != tags.end(); }

// PyTensor's tags, and its rewriters that no rule covers, which nothing is called here: queries may name them without
// an error. Rewriters that a rule covers are its tags; tests/rules_coverage lists all of them.
constexpr std::string_view reserved_names = R"(
    fast_run fast_compile minimum_compile merge fusion elemwise_fusion local_elemwise_fusion add_mul_fusion BlasOpt
    c_blas blas_opt_inplace infer_shape shape_unsafe random_unsafe unsafe unsafe_nan opt_in cxx_only py_only numba
    jax scan scan_save_mem more_mem inline_ofg symbolic_op_recognition compile_inner_graph canonicalize_db
    lower_xtensor blockwise local_cut_useless_reduce alloc_empty_to_zeros fuse_indexed_into_elemwise inline_einsum
    inplace_elemwise_opt inplace_elemwise_optimizer local_incsubtensor_of_allocs local_setsubtensor_of_allocs mlx
    pytorch scan_eqopt1 scan_eqopt2 scan_inline_invariant_constants scan_merge_duplicate_inputs scan_pushout
    scan_pushout_add scan_pushout_dot1 scan_pushout_nonseqs_ops scan_pushout_seqs_ops scan_remove_unused
    scan_save_mem_no_prealloc scan_save_mem_prealloc stable

    local_neg_to_mul local_reciprocal_canon local_useless_conj local_upcast_elemwise_constant_inputs
    local_sum_prod_all_to_none useless_Conj_of_Conj local_log_kv local_log_iv late_inline_OpFromGraph
    inline_symbolic_for_fusion merge_inlined_symbolic inline_ofg_expansion_xtensor optimize_einsum_inner_graph
    inline_optimized_einsum ofg_inner_graph optimize_inner_graph scan_inner_graph
    remove_constants_and_duplicate_inputs_scipy specialize_matmul_to_batched_dot local_dot_to_dot22 gemm_optimizer
    local_gemm_to_gemv local_dot22_to_dot22scalar use_c_blas InplaceBlasOpt c_blas_destructive merge1 merge1.1
    merge1.2 merge2 merge3 CheckStackTrace Print1.21 Print1.51 cond_make_inplace typed_list_inplace_rewrite
    paired_triangular_solves_to_cho_solve reuse_decomposition_multiple_solves_jax
    scan_split_non_sequence_decomposition_and_solve_jax jax_bilinear_lyapunov_to_direct local_tensor_scalar_tensor
    local_scalar_tensor_scalar local_alloc_sink_dimshuffle local_alloc_empty_to_zeros local_join_to_repeat
    local_useless_split remove_tensor_copy extract_diag_of_transpose flatten_nested_add_mul
    constant_fold_branches_of_add_mul composite_elemwise_fusion local_useless_composite_outputs
    local_careduce_fusion local_inline_composite_constants local_useless_2f1grad_loop split_2f1grad_loop
    local_Unique_scalar local_Unique_lift wrap_reduced_gather_in_elemwise fuse_elemwise UnShapeOpt
    local_specify_shape_alloc local_split_dims local_join_dims local_adv_idx_to_diagonal local_uint_constant_indices
    local_blockwise_of_subtensor local_blockwise_inc_subtensor bool_idx_to_nonzero extract_diag_lift_pass
    random_make_inplace sidestep_unused_rng_consumer cast_rv_float_params_to_float64
    introduce_explicit_core_shape_rv jax_size_parameter_as_tuple jax_random_vars_rewrites local_rv_size_lift
    local_dimshuffle_rv_lift local_subtensor_rv_lift)";

Tags words(std::string_view text) {
  std::istringstream in{std::string(text)};
  return {std::istream_iterator<std::string>(in), std::istream_iterator<std::string>()};
}

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
// What files declare while they are loaded. Once optdb exists, a library that is opened adds to it instead.
struct Declared {
  std::mutex mutex;
  std::vector<TopicEntry> topics;
  std::vector<Pass> passes;
  bool is_taken = false;
};
Declared& declared() {
  static auto& all = *new Declared;
  return all;
}

// The entry of that name, or null.
template <class Entries>
auto* named(Entries& entries, std::string_view name) {
  const auto at = std::ranges::find_if(entries, [&](auto& each) { return each.name == name; });
  return at == entries.end() ? nullptr : &*at;
}

template <class Entry>
std::vector<Entry> taken_out(std::vector<Entry>& entries, std::string_view name) {
  const auto at = std::stable_partition(entries.begin(), entries.end(), [&](auto& each) { return each.name != name; });
  std::vector<Entry> out(std::make_move_iterator(at), std::make_move_iterator(entries.end()));
  entries.erase(at, entries.end());
  return out;
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

RegisterRules::RegisterRules(const char* name, Topic topic) {
  keep_loaded(reinterpret_cast<const void*>(topic));
  {
    const std::lock_guard lock(declared().mutex);
    if (!declared().is_taken) {
      declared().topics.push_back({name, topic});
      return;
    }
  }
  register_rules(topic);
}

RegisterPasses::RegisterPasses(std::initializer_list<Pass> list) {
  for (auto& pass : list) keep_loaded(reinterpret_cast<const void*>(pass.run));
  {
    const std::lock_guard lock(declared().mutex);
    declared().passes.insert(declared().passes.end(), list.begin(), list.end());
    if (!declared().is_taken) return;
  }
  for (auto& pass : list) register_pass(pass.name, pass.position, pass.tags, pass.run);
}

std::vector<Pass> registered_passes() {
  std::unique_lock lock(declared().mutex);
  std::vector<Pass> out = declared().passes;
  lock.unlock();
  std::sort(out.begin(), out.end(), [](auto& a, auto& b) { return a.position < b.position; });
  return out;
}

void register_rules(const std::function<void(Rules&)>& topic, Overwrite overwrite) {
  const TestValuesOff of_patterns;
  Rules rules;
  topic(rules);
  OptDB::instance().add(rules.take(), overwrite);
}

void register_rule(std::string_view phase, std::shared_ptr<const Rule> rule, std::vector<std::string> tags,
                   Overwrite overwrite) {
  if (!rule) throw ValueError("register_rule: there is no rule");
  std::string name = rule->name();
  OptDB::instance().add(phase, {std::move(name), std::move(tags), {.rewrite = {.rule = std::move(rule)}}}, overwrite);
}

void register_pass(const std::string& name, double position, std::vector<std::string> tags, GraphPass run,
                   Overwrite overwrite) {
  if (name.empty() || !run) throw ValueError("register_pass: a pass needs a name and a function");
  OptDB::instance().add({name, position, std::move(tags), nullptr, {.rewrite = {.pass = std::move(run)}}}, overwrite);
}

bool selects(const RewriteQuery& query, const Tags& tags) {
  auto tagged = [&](const std::string& tag) { return has(tags, tag); };
  return std::any_of(query.include.begin(), query.include.end(), tagged) &&
         std::all_of(query.require.begin(), query.require.end(), tagged) &&
         std::none_of(query.exclude.begin(), query.exclude.end(), tagged);
}

std::shared_ptr<const Stage> Draft::finished() {
  for (auto& [name, source, role] : pending) {
    Rewrite made = source(query);
    if (made.rule) rules.push_back(std::move(made.rule));
    if (!made.pass) continue;
    if (is_pass)
      stage.pass = std::move(made.pass);
    else
      (role == Role::first ? stage.first : stage.last).emplace_back(name, std::move(made.pass));
  }
  if (!stage.pass && rules.empty() && stage.first.empty() && stage.last.empty()) return nullptr;
  std::stable_sort(rules.begin(), rules.end(), [](auto& a, auto& b) { return a->priority() > b->priority(); });
  stage.rules = RuleIndex(std::move(rules));
  return std::make_shared<const Stage>(std::move(stage));
}

// ---- EquilibriumDB --------------------------------------------------------------------------------------------------

std::vector<EquilibriumDB::Entry> EquilibriumDB::remove(std::string_view name) { return taken_out(entries_, name); }

bool EquilibriumDB::contains(std::string_view name) const { return named(entries_, name) != nullptr; }

Tags* EquilibriumDB::tags_of(std::string_view name) {
  auto* entry = named(entries_, name);
  return entry ? &entry->tags : nullptr;
}

void EquilibriumDB::query(const RewriteQuery& query, Draft& into) const {
  for (auto& [name, tags, member, role] : entries_) {
    if (!selects(query, tags)) continue;
    if (member.source) into.pending.push_back({name, member.source, role});
    if (member.rewrite.rule) into.rules.push_back(member.rewrite.rule);
    if (member.rewrite.pass)
      (role == Role::first ? into.stage.first : into.stage.last).emplace_back(name, member.rewrite.pass);
  }
}

void EquilibriumDB::collect_tags(std::vector<std::string>& into) const {
  for (auto& entry : entries_) {
    into.insert(into.end(), entry.tags.begin(), entry.tags.end());
    into.push_back(entry.name);
  }
}

// ---- SequenceDB -----------------------------------------------------------------------------------------------------

void SequenceDB::add(Entry entry) {
  if (!has(entry.tags, entry.name) && !entry.rules) entry.tags.push_back(entry.name);
  auto later = [](const Entry& a, const Entry& b) {
    return std::tie(a.position, a.name) < std::tie(b.position, b.name);
  };
  if (contains(entry.name)) throw ValueError(cat("optdb has a phase called \"", entry.name, "\" already"));
  entries_.insert(std::upper_bound(entries_.begin(), entries_.end(), entry, later), std::move(entry));
}

std::vector<SequenceDB::Entry> SequenceDB::remove(std::string_view name) { return taken_out(entries_, name); }

bool SequenceDB::contains(std::string_view name) const { return named(entries_, name) != nullptr; }

Tags* SequenceDB::tags_of(std::string_view name) {
  auto* entry = named(entries_, name);
  return entry ? &entry->tags : nullptr;
}

EquilibriumDB* SequenceDB::phase(std::string_view name) {
  auto* entry = named(entries_, name);
  return entry ? entry->rules.get() : nullptr;
}

void SequenceDB::collect_tags(std::vector<std::string>& into) const {
  for (auto& entry : entries_) {
    into.push_back(entry.name);
    into.insert(into.end(), entry.tags.begin(), entry.tags.end());
    if (entry.rules) entry.rules->collect_tags(into);
  }
}

std::vector<Draft> SequenceDB::query(const RewriteQuery& query, const std::vector<std::string>& known) const {
  for (auto* asked : {&query.include, &query.require, &query.exclude}) refuse_unknown(*asked, known);
  for (auto& [phase, own] : query.subqueries)
    for (auto* asked : {&own->include, &own->require, &own->exclude}) refuse_unknown(*asked, known);
  std::vector<Draft> out;
  for (auto& entry : entries_) {
    if (entry.position > query.position_cutoff || has(query.exclude, entry.name)) continue;
    const auto special = query.subqueries.find(entry.name);
    Draft draft{.stage = {.name = entry.name, .position = entry.position}, .is_pass = !entry.rules};
    draft.query = special == query.subqueries.end() ? query : *special->second;
    draft.query.extra.clear();  // those belong to the sequence
    // A phase needs no tags of its own: it runs if some of its rules are selected.
    if (entry.rules)
      entry.rules->query(draft.query, draft);
    else if (selects(query, entry.tags)) {
      draft.stage.pass = entry.member.rewrite.pass;
      if (entry.member.source) draft.pending.push_back({entry.name, entry.member.source});
    }
    out.push_back(std::move(draft));
  }
  return out;
}

// ---- OptDB ----------------------------------------------------------------------------------------------------------

OptDB& OptDB::instance() {
  static auto& db = *new OptDB;  // never destroyed: static variables of programs may compile until the end
  return db;
}

OptDB::OptDB() {
  const TestValuesOff of_patterns;
  std::unique_lock lock(declared().mutex);
  declared().is_taken = true;
  auto list = declared().topics;
  const auto passes = declared().passes;
  lock.unlock();
  for (auto& row : phase_table) {
    Tags tags{"fast_run"};
    if (row.in_fast_compile) tags.push_back("fast_compile");
    sequence_.add({std::string(row.name), row.position, tags, std::make_unique<EquilibriumDB>(), {}});
  }
  for (auto& pass : passes)
    sequence_.add({pass.name, pass.position, pass.tags, nullptr, {.rewrite = {.pass = pass.run}}});
  Discarded nothing;
  // Sorted by name, so that nothing depends on the order of static initialization.
  std::sort(list.begin(), list.end(), [](auto& a, auto& b) { return std::string_view(a.name) < b.name; });
  for (auto& entry : list) {
    Rules rules;
    entry.topic(rules);
    for (auto& rule : rules.take()) {
      topics_[rule.get()] = entry.name;
      add_locked(std::move(rule), Overwrite::No, nothing);
    }
  }
}

void OptDB::note_change(Discarded& discarded) {
  discarded.plans.swap(plans_);
  known_.clear();
  ++changes_;
}

void OptDB::add(std::vector<std::unique_ptr<Rule>> rules, Overwrite overwrite) {
  Discarded discarded;
  std::lock_guard lock(mutex_);
  note_change(discarded);
  for (auto& rule : rules) add_locked(std::move(rule), overwrite, discarded);
}

void OptDB::add(std::string_view phase, EquilibriumDB::Entry entry, Overwrite overwrite) {
  if (!has(entry.tags, entry.name)) entry.tags.push_back(entry.name);
  Discarded discarded;
  std::lock_guard lock(mutex_);
  EquilibriumDB& home = phase_called(phase);
  if (overwrite == Overwrite::No && home.contains(entry.name))
    throw ValueError(cat("a rewrite called \"", entry.name, "\" exists already in ", phase));
  if (entry.member.rewrite.rule) take_name(entry.member.rewrite.rule, overwrite, discarded);
  for (auto& old : home.remove(entry.name)) discarded.members.push_back(std::move(old));
  note_change(discarded);
  home.add(std::move(entry));
}

void OptDB::add(SequenceDB::Entry entry, Overwrite overwrite) {
  Discarded discarded;
  std::lock_guard lock(mutex_);
  note_change(discarded);
  if (overwrite == Overwrite::Yes && !sequence_.phase(entry.name)) discarded.phases = sequence_.remove(entry.name);
  sequence_.add(std::move(entry));
}

void OptDB::change_tags(std::string_view phase, std::string_view name, const Tags& added, const Tags& removed) {
  Discarded discarded;
  std::lock_guard lock(mutex_);
  Tags* tags = phase.empty() ? sequence_.tags_of(name) : phase_called(phase).tags_of(name);
  if (!tags) throw KeyError(cat("optdb has no rewrite called \"", name, "\"", phase.empty() ? "" : cat(" in ", phase)));
  note_change(discarded);
  for (auto& tag : added)
    if (!has(*tags, tag)) tags->push_back(tag);
  std::erase_if(*tags, [&](const std::string& tag) { return has(removed, tag); });
}

void OptDB::note_tags(const Tags& tags) {
  Discarded discarded;
  std::lock_guard lock(mutex_);
  note_change(discarded);
  for (auto& tag : tags)
    if (!has(noted_, tag)) noted_.push_back(tag);
}

EquilibriumDB& OptDB::phase_called(std::string_view name) {
  if (EquilibriumDB* found = sequence_.phase(name)) return *found;
  std::vector<std::string> known;
  for (auto& entry : sequence_.entries())
    if (entry.rules) known.push_back(entry.name);
  throw ValueError(cat("optdb has no phase of rules called \"", name, "\"; there are ", join(known, ", ")));
}

// Names of rules are unique over all phases, since reports and provenance name rules. A rule that is overwritten leaves
// all of its phases.
void OptDB::take_name(const std::shared_ptr<const Rule>& rule, Overwrite overwrite, Discarded& discarded) {
  auto& holder = by_name_[rule->name()];
  if (holder && holder != rule) {
    if (overwrite == Overwrite::No)
      throw ValueError(cat("a rewrite rule called \"", rule->name(), "\" exists already"));
    for (auto& row : phase_table)
      for (auto& entry : sequence_.phase(row.name)->remove(rule->name())) discarded.members.push_back(std::move(entry));
    topics_.erase(holder.get());
    discarded.rules.push_back(holder);
  }
  holder = rule;
}

void OptDB::add_locked(std::unique_ptr<Rule> rule, Overwrite overwrite, Discarded& discarded) {
  std::vector<std::string_view> homes;
  for (auto& row : phase_table)
    if (rule->has_tag(row.name)) homes.push_back(row.name);
  if (homes.empty())
    throw ValueError(cat("rule \"", rule->name(),
                         "\" belongs to no phase: tag it with canonicalize, stabilize, specialize, "
                         "useless or uncanonicalize"));
  const std::shared_ptr<const Rule> shared(std::move(rule));
  take_name(shared, overwrite, discarded);
  for (auto name : homes)
    sequence_.phase(name)->add({shared->name(), tags_in_phase(*shared, name), {.rewrite = {.rule = shared}}});
}

std::shared_ptr<const Plan> OptDB::plan(const RewriteQuery& query) {
  const std::string text = query.str();
  std::uint64_t changes = 0;
  std::vector<Draft> drafts;
  {
    std::lock_guard lock(mutex_);
    if (auto known = plans_.find(text); known != plans_.end()) return known->second;
    drafts = sequence_.query(query, known_tags());
    changes = changes_;
  }
  Plan plan;
  for (auto& draft : drafts)
    if (auto stage = draft.finished()) plan.push_back(std::move(stage));
  auto made = std::make_shared<const Plan>(std::move(plan));
  std::lock_guard lock(mutex_);
  if (changes != changes_) return made;  // the next call makes it anew
  return plans_.try_emplace(text, std::move(made)).first->second;
}

const Tags& OptDB::known_tags() {
  if (known_.empty()) {
    known_ = words(reserved_names);
    known_.insert(known_.end(), noted_.begin(), noted_.end());
    sequence_.collect_tags(known_);
    std::ranges::sort(known_);
    const auto repeated = std::ranges::unique(known_);
    known_.erase(repeated.begin(), repeated.end());
  }
  return known_;
}

bool OptDB::has_tag(std::string_view tag) {
  std::lock_guard lock(mutex_);
  return std::ranges::binary_search(known_tags(), tag);
}

std::vector<DatabaseEntry> OptDB::entries() {
  std::lock_guard lock(mutex_);
  std::vector<DatabaseEntry> out;
  for (auto& entry : sequence_.entries()) {
    DatabaseEntry row{entry.name, entry.position, entry.tags, entry.rules != nullptr, {}, entry.member};
    if (entry.rules)
      for (auto& each : entry.rules->entries())
        row.members.push_back({each.name, 0, each.tags, false, {}, each.member});
    out.push_back(std::move(row));
  }
  return out;
}

SharedRules OptDB::rules() {
  std::lock_guard lock(mutex_);
  SharedRules out;
  for (auto& [name, rule] : by_name_) out.push_back(rule);
  std::sort(out.begin(), out.end(), [](auto& a, auto& b) { return a->name() < b->name(); });
  return out;
}

std::shared_ptr<const Rule> OptDB::find_rule(std::string_view name) {
  std::lock_guard lock(mutex_);
  const auto found = by_name_.find(std::string(name));
  return found == by_name_.end() ? nullptr : found->second;
}

std::shared_ptr<const Rule> OptDB::rule(std::string_view name) {
  if (auto found = find_rule(name)) return found;
  std::lock_guard lock(mutex_);
  std::vector<std::string> names;
  for (auto& [known, rule] : by_name_) names.push_back(known);
  const std::string near = closest(name, names);
  throw KeyError(
      cat("no rewrite rule is called \"", name, "\"", near.empty() ? "" : cat("; did you mean \"", near, "\"?")));
}

std::vector<std::string> OptDB::phases_of(const Rule& rule) {
  std::lock_guard lock(mutex_);
  std::vector<std::string> out;
  for (auto& row : phase_table)
    if (sequence_.phase(row.name)->contains(rule.name())) out.emplace_back(row.name);
  return out;
}

std::string OptDB::topic_of(const Rule& rule) const {
  const auto found = topics_.find(&rule);
  return found == topics_.end() ? "" : found->second;
}

}  // namespace bitale::rewriting

namespace bitale {

bool is_rewrite_tag(std::string_view tag) { return rewriting::OptDB::instance().has_tag(tag); }

}  // namespace bitale
